# frozen_string_literal: true

require "test_helper"
require "rbs"

# sig/ declares the public API: the declarations are consistent, each declared method exists and takes the declared
# arguments, and what documents show is declared.
class TestSignatures < Minitest::Test
  # For developers of Cuttle itself, and generated code.
  INSIDE = %w[architecture contributing studies].freeze

  PATH = /\bCuttle(?:::[A-Z]\w*)+/
  NAME = /[a-z_]\w*[?!]?/

  def test_every_declared_method_is_there
    missing = declared.reject { |owner, name, _| found(owner, name) }
    assert_empty(missing.map { |owner, name, _| "#{owner}##{name}" })
    assert_operator declared.size, :>, 80
  end

  def test_every_declared_attribute_and_constant_is_there
    attributes = ours.flat_map do |name, entry|
      members(entry).grep(RBS::AST::Members::Attribute).map { |member| [Object.const_get(name.to_s), member.name] }
    end
    assert_empty(attributes.reject { |owner, name| found(owner, name) })
    assert_operator attributes.size, :>, 15
    assert_empty(constants.reject { |name| Object.const_defined?(name.to_s) })
  end

  # A program that does as the documents show can be checked.
  def test_what_documents_show_is_declared
    shown = documents.flat_map { |text| text.scan(PATH) + calls(text) }.uniq
    assert_includes shown, "Cuttle::Load::Result#marks"
    assert_includes shown, "Cuttle::Lab::Analysis#verdict"
    assert_empty shown - names
  end

  # A method in C may take any number (-1): it checks them itself.
  def test_every_declared_method_takes_as_many_arguments
    wrong = declared.filter_map do |owner, name, types|
      arity = found(owner, name)&.arity or next
      counts = types.map { |type| type.type.required_positionals.size + (type.type.required_keywords.any? ? 1 : 0) }
      "#{owner}##{name}: #{arity}" unless arity == -1 || counts.include?(arity.negative? ? -arity - 1 : arity)
    end
    assert_empty wrong
  end

  def test_the_declarations_hold_together
    assert_operator ours.size, :>, 20
    ours.each_key do |name|
      definitions.build_instance(name)
      definitions.build_singleton(name)
    end
  end

  private

  def documents
    paths = Dir["#{Serving::ROOT}/docs/*.md"].reject { |path| INSIDE.include?(File.basename(path, ".md")) }
    ["#{Serving::ROOT}/README.md", *paths].map { |path| File.read(path) }
  end

  # The methods that a document calls: of constants, of what these return, and of variables that have it. As
  # "Cuttle::Load.run" and "Cuttle::Load::Result#rate".
  def calls(text)
    chained = text.scan(/(#{PATH})\.(#{NAME})\([^()]*\)\.(#{NAME})/)
    kept = text.scan(/^```ruby\n.*?^```|(?:^ {4}[^\n]*\n)+/m).flat_map do |code|
      code.scan(/(\w+) = (#{PATH})\.(#{NAME})/).flat_map do |variable, type, method|
        code.scan(/\b#{variable}\.(#{NAME})/).map { |(name)| [type, method, name] }
      end
    end
    text.scan(/(#{PATH})([.#])(#{NAME})/).map(&:join) +
      (chained + kept).map { |type, method, name| "#{returned(type, method)}##{name}" }
  end

  # The class of what a method of a class returns.
  def returned(type, method)
    definition = definitions.build_singleton(RBS::TypeName.parse("::#{type}"))
    definition.methods[method.to_sym]&.method_types&.first&.type&.return_type.to_s.delete_prefix("::")
  end

  # What is declared, in the same form.
  def names
    methods = ours.keys.flat_map do |name|
      type = name.to_s.delete_prefix("::")
      [type, *definitions.build_singleton(name).methods.keys.map { |method| "#{type}.#{method}" },
       *definitions.build_instance(name).methods.keys.map { |method| "#{type}##{method}" }]
    end
    methods + constants.map { |name| name.to_s.delete_prefix("::") }
  end

  def definitions
    @definitions ||= RBS::DefinitionBuilder.new(env: environment)
  end

  # Our classes and modules, each with its declarations.
  def ours
    environment.class_decls.select { |name, _| name.to_s.start_with?("::Cuttle") }
  end

  def constants
    environment.constant_decls.keys.select { |name| name.to_s.start_with?("::Cuttle") }
  end

  def environment
    @environment ||= begin
      loader = RBS::EnvironmentLoader.new
      loader.add(path: Pathname("#{Serving::ROOT}/sig"))
      loader.add(library: "socket")
      RBS::Environment.from_loader(loader).resolve_type_names
    end
  end

  # [owner, :name, [type …]] of each method of a class or module of ours.
  def declared
    ours.flat_map do |name, entry|
      owner = Object.const_get(name.to_s)
      members(entry).grep(RBS::AST::Members::MethodDefinition).map do |member|
        [member.singleton? ? owner.singleton_class : owner, member.name, member.overloads.map(&:method_type)]
      end
    end
  end

  def members(entry)
    decls = entry.respond_to?(:each_decl) ? entry.each_decl.to_a : entry.decls.map(&:decl)
    decls.flat_map(&:members)
  end

  def found(owner, name)
    return owner.instance_method(:initialize) if name == :initialize

    owner.public_instance_method(name)
  rescue NameError
    nil
  end
end

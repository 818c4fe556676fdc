# frozen_string_literal: true

require "test_helper"
require "rbs"

# sig/ declares the public API: the declarations hold together, and each declared method is there and takes as many
# arguments.
class TestSignatures < Minitest::Test
  def test_every_declared_method_is_there
    missing = declared.reject { |owner, name, _| found(owner, name) }
    assert_empty(missing.map { |owner, name, _| "#{owner}##{name}" })
    assert_operator declared.size, :>, 80
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
    definitions = RBS::DefinitionBuilder.new(env: environment)
    ours = environment.class_decls.keys.select { |name| name.to_s.start_with?("::Cuttle") }
    assert_operator ours.size, :>, 20
    ours.each do |name|
      definitions.build_instance(name)
      definitions.build_singleton(name)
    end
  end

  private

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
    environment.class_decls.select { |name, _| name.to_s.start_with?("::Cuttle") }.flat_map do |name, entry|
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

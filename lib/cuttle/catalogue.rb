# frozen_string_literal: true

module Cuttle
  # A seam's implementations under the names that users say. A module extends itself with this and lists them; each is
  # loaded when it is first asked for.
  module Catalogue
    # The names there are.
    def names
      @entries.keys
    end

    # When to use that one, in one line. Raises UsageError for an unknown name.
    def describe(name)
      entry(name).last
    end

    # The class of that name. Raises UsageError for an unknown name.
    def fetch(name)
      const_get(entry(name).first)
    end

    private

    # +entries+: name => [constant, one line on when to use it]. +kind+ is what an error calls one of them, +directory+
    # has a file of each name.
    def list(kind, directory, entries)
      @kind = kind
      @entries = entries.freeze
      entries.each { |name, (constant, _)| autoload constant, "#{directory}/#{name}" }
    end

    def entry(name)
      @entries.fetch(name.to_s) { raise UsageError, "unknown #{@kind} #{name.inspect}: #{names.join(", ")}" }
    end
  end
end

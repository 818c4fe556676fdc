# frozen_string_literal: true

module Cuttle
  # The implementations of a seam, under the names that users type. A module extends itself with this and lists them.
  # Each one is loaded when it is first used.
  module Catalogue
    # All names.
    def names
      @entries.keys
    end

    # One line on when to use that implementation. Raises UsageError for an unknown name.
    def describe(name)
      entry(name)[1]
    end

    # The class of that name. Raises UsageError for an unknown name.
    def fetch(name)
      const_get(entry(name).first)
    end

    private

    # +entries+: name => [constant, one line on when to use it, the file if several share one]. +kind+ is the word for
    # one of them in errors. +directory+ has the files, otherwise one for each name.
    def list(kind, directory, entries)
      @kind = kind
      @entries = entries.freeze
      entries.each { |name, (constant, _, file)| autoload constant, "#{directory}/#{file || name}" }
    end

    def entry(name)
      @entries.fetch(name.to_s) { raise UsageError, "unknown #{@kind} #{name.inspect}: #{names.join(", ")}" }
    end
  end
end

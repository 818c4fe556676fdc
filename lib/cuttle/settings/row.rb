# frozen_string_literal: true

module Cuttle
  class Settings
    # Everything about one setting. Readers, layers, --help, README's table and rackup's options are made from it.
    #
    #   name      of the reader, and of the keyword in a program
    #   kind      the method of Kinds that coerces the value, or [method, further arguments …]
    #   default   as a user would write it, or a Proc of the other settings that returns the final value; nil for none
    #   tells     the text for a default that is a Proc, in documents
    #   fixed     a Proc of the other settings: the value if they leave no choice, else nil. Then the environment and
    #             --like are ignored. A flag is not ignored, and Checks may reject it.
    #   follows   the setting whose value applies if a layer has that setting and not this one
    #   yields    the setting with which a stronger layer replaces this one too, with its default
    #   joined    a Proc of the given value, the other settings and the values of the same layer: the value that applies
    #   variables environment variables; the first that is set applies
    #   minimum   a variable; together with theirs, its value makes a MIN:MAX
    #   unheard   a Proc of a variable's text that raises ArgumentError if only flags and files may say that
    #   flags     as OptionParser takes them, the long one last; none: no option of the command line
    #   words     its names in a configuration file, ours first
    #   repeated  whether the flag may be repeated and collects all values
    #   group     the title above the option in --help
    #   help      the meaning in one line, without the default
    #   readme    the same in Markdown, if README says more
    #   check     a Proc of the coerced value that raises ArgumentError if the value is invalid
    #   secret    whether documents and `cuttle check` must not show the value
    #   source    whether the source (Poller, Acceptor) takes it, as a keyword of the same name
    #   engine    whether the engine takes it, as a keyword of the same name
    Row = Struct.new(:name, :kind, :default, :tells, :fixed, :follows, :yields, :joined, :variables, :minimum, :unheard,
                     :flags, :words, :repeated, :group, :help, :readme, :check, :secret, :source, :engine,
                     keyword_init: true) do
      def initialize(name:, variables: [], flags: [], words: [name.to_s], **others)
        super
        freeze
      end

      # +value+ in its final form. +blame+ is the flag or place that gave it, or the +variable+. Raises UsageError.
      def coerce(value, blame = flag, variable: false)
        unheard&.call(value) if variable
        method, *arguments = kind
        Kinds.public_send(method, value, *arguments).tap { |coerced| check&.call(coerced) }
      rescue ArgumentError => error
        said = secret ? "" : " #{value.is_a?(Array) ? value.join(" ") : value}"
        raise UsageError, "#{blame}#{said}: #{error.message}"
      end

      # The default value.
      def otherwise(settings)
        return default.call(settings) if default.is_a?(Proc)

        coerce(default) unless default.nil?
      end

      # [variable, its value], or nil if no variable is set. An empty variable counts as not set.
      def heard(environment)
        variable = variables.find { |name| present(environment, name) } or return
        least = minimum && present(environment, minimum)
        [variable, [least, environment[variable]].compact.join(":")]
      end

      # The flag on the command line: "--keep-alive".
      def flag
        flags.empty? ? name.to_s : flags.last[/\A--(?:\[no-\])?([\w-]+)/, 1].prepend("--")
      end

      # The argument of the flag ("MIN:MAX"); nil for a switch.
      def argument
        flags.last&.[](/ (.+)/, 1)
      end

      # +value+, in its final form, as a user would write it.
      def write(value)
        return "(set)" if secret && value

        case value
        when nil, [] then "none"
        when true, false then value ? "on" : "off"
        when Engines::Auto then "auto"
        when Range then value.minmax.uniq.join(":")
        else Array(value).join(" ")
        end
      end

      # The default as text for documents; nil if there is none.
      def default_text
        default.is_a?(Proc) ? tells : default&.to_s
      end

      private

      def present(environment, variable)
        value = environment[variable]
        value unless value.nil? || value.empty?
      end
    end
  end
end

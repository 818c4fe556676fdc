# frozen_string_literal: true

module Cuttle
  class Settings
    # All that there is to know of one setting: readers, layers, --help, README's table and rackup's options are made of
    # it.
    #
    #   name      of the reader, and of the keyword in a program
    #   kind      the method of Kinds that coerces it, or [method, further arguments …]
    #   default   as a user would say it, or a Proc of the other settings that returns the value itself; nil for none
    #   tells     what documents say of a default that is a Proc
    #   fixed     Proc of the other settings: the value where they leave no choice, else nil. The environment and --like
    #             are not heard then; a flag is, and Checks have their say on it.
    #   follows   the setting whose value counts where a layer says that one and not this one
    #   joined    Proc of a value that was said and of the other settings: the value that counts
    #   variables environment variables, of which the first that is set counts
    #   minimum   variable whose value makes a MIN:MAX of theirs
    #   flags     as OptionParser takes them, the long one last; none: no option of the command line
    #   repeated  whether the flag may be given again, and has all values
    #   group     title that --help has it under
    #   help      one line of meaning, without the default
    #   readme    the same in Markdown, where README says more
    #   check     Proc of the coerced value that raises ArgumentError where it won't do
    #   source    whether the source (Poller, Acceptor) takes it, as a keyword of the same name
    #   engine    whether the engine does
    Row = Struct.new(:name, :kind, :default, :tells, :fixed, :follows, :joined, :variables, :minimum, :flags, :repeated,
                     :group, :help, :readme, :check, :source, :engine, keyword_init: true) do
      def initialize(variables: [], flags: [], **others)
        super
        freeze
      end

      # +value+ in its final form. +blame+ is who said it. Raises UsageError.
      def coerce(value, blame = flag)
        method, *arguments = kind
        Kinds.public_send(method, value, *arguments).tap { |coerced| check&.call(coerced) }
      rescue ArgumentError => error
        raise UsageError, "#{blame} #{value.is_a?(Array) ? value.join(" ") : value}: #{error.message}"
      end

      # The value where nobody said one.
      def otherwise(settings)
        return default.call(settings) if default.is_a?(Proc)

        coerce(default) unless default.nil?
      end

      # [variable, what it says], or nil where none says anything: an empty one doesn't.
      def heard(environment)
        variable = variables.find { |name| present(environment, name) } or return
        least = minimum && present(environment, minimum)
        [variable, [least, environment[variable]].compact.join(":")]
      end

      # How the command line writes it: "--keep-alive".
      def flag
        flags.empty? ? name.to_s : flags.last[/\A--(?:\[no-\])?([\w-]+)/, 1].prepend("--")
      end

      # What the flag takes ("MIN:MAX"); nil for a switch.
      def argument
        flags.last&.[](/ (.+)/, 1)
      end

      # The default, as documents say it; nil where there is none.
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

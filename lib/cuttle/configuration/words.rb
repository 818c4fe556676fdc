# frozen_string_literal: true

module Cuttle
  class Configuration
    # What a configuration file may say: a word for each setting of Settings::TABLE, with an argument as its flag has
    # one, the hooks, and the words below. A file is evaluated in such an object. Where Puma has a word that means the
    # same, that word is understood.
    class Words
      # The words that are made from the table.
      module Table
        Settings::TABLE.each do |row|
          row.words.each do |word|
            if %i[on_off activated].include?(row.kind)
              define_method(word) { |value = true| @configuration.set(row, value, place, word) }
            else
              define_method(word) { |value| @configuration.set(row, value, place, word) }
            end
          end
        end
      end
      include Table

      # The words for hooks: each takes a block.
      module Moments
        Cuttle::Hooks::NAMES.each do |name, others|
          [name, *others].each do |word|
            define_method(word) do |&block|
              raise UsageError, "#{place}: #{word}: give a block" unless block

              @configuration.hooks.add(name, place, &block)
            end
          end
        end
      end
      include Moments

      # All that a file may say.
      def self.all
        [self, Table, Moments].flat_map { |words| words.instance_methods(false) }
      end

      # Whether a file may say +word+.
      def self.understands?(word)
        all.include?(word.to_sym)
      end

      def initialize(configuration)
        @configuration = configuration
      end

      # Threads of each process: threads 5, threads 1, 5.
      def threads(least, most = nil)
        @configuration.set(Settings.row(:threads), [least, most].compact.join(":"), place)
      end

      # A TCP port, and the address to listen on if it is not the default.
      def port(number, host = nil)
        return bind("tcp://#{host.include?(":") ? "[#{host}]" : host}:#{number}") if host

        if @configuration.values.key?(:port)
          raise UsageError, "#{place}: port has a value from #{@configuration.places[:port]}; use bind for a second one"
        end

        @configuration.set(Settings.row(:port), number, place)
      end

      # The files for standard output and standard error (nil: as they are), and whether to keep what is in them.
      def stdout_redirect(out, err = nil, append = false)
        { redirect_stdout: out, redirect_stderr: err, redirect_append: append }.compact.each do |name, value|
          @configuration.set(Settings.row(name), value, place, :stdout_redirect)
        end
      end

      # The Rack app, as an object or a block.
      def app(object = nil, &block)
        raise UsageError, "#{place}: app: give an object that responds to call, or a block" unless object || block

        @configuration.app = object || block
      end

      # What answers for an app that raises, as an object or a block: called with the exception, the env and the status
      # 500, it returns a Rack response.
      def lowlevel_error_handler(object = nil, &block)
        unless object || block
          raise UsageError, "#{place}: lowlevel_error_handler: give an object that responds to call, or a block"
        end

        handler = object || block
        @configuration.hooks.failure = handler.is_a?(Proc) ? handler : handler.method(:call)
      end

      # A plugin, by its name, with its options (see Plugin).
      def plugin(name, **options)
        @configuration.plugins << Plugin.named(name, **options).tap { |found| found.config(self) }
      rescue UsageError => error
        raise UsageError, "#{place}: #{error.message.delete_prefix("#{place}: ")}"
      end

      # The control listener, as Puma's: activate_control_app "unix:///run/app/control.sock". The options are
      # auth_token: (the token) and no_token: (true, for a Unix socket: there is none).
      def activate_control_app(url = "auto", options = {}, **others)
        options = options.merge(others)
        unknown = options.keys - %i[auth_token no_token]
        raise UsageError, "#{place}: activate_control_app: unknown option #{unknown.first}" if unknown.any?

        @configuration.set(Settings.row(:control_url), url, place, "activate_control_app")
        token = options[:no_token] ? Settings::NO_TOKEN : options[:auth_token]
        @configuration.set(Settings.row(:control_token), token, place, "activate_control_app") if token
      end

      # Reads another file, whose path is relative to the working directory.
      def load(path)
        @configuration.read(path)
      end

      private

      # The line of the file that says it.
      def place
        files = @configuration.files
        line = caller_locations.find { |location| files.include?(File.expand_path(location.path)) }
        "#{line.path}:#{line.lineno}"
      end

      def method_missing(word, *)
        raise UsageError, ["#{place}: unknown word #{word}", foreign(word) || similar(word)].compact.join(": ")
      end

      def respond_to_missing?(*)
        false
      end

      # A similar word of ours would mean something else.
      def foreign(word)
        "it is Puma's; cuttle import FILE -o config/cuttle.rb translates Puma's file" if Import::Puma.known?(word.to_s)
      end

      def similar(word)
        return unless defined?(DidYouMean::SpellChecker)

        known = DidYouMean::SpellChecker.new(dictionary: Words.all.map(&:to_s))
        known.correct(word.to_s).first&.then { |found| "did you mean #{found}?" }
      end
    end
  end
end

# frozen_string_literal: true

require "json"

module Cuttle
  class CLI
    # `cuttle tune [APP.ru]` and its subcommands. Exit statuses:
    #
    #   0 done · 1 nothing could be measured, or no setting keeps the limits · 2 wrong usage · 3 check: the present
    #   setting is worse than the best · 130 interrupted (what was measured is kept)
    class Tune
      autoload :Check, "cuttle/cli/tune/check"
      autoload :Options, "cuttle/cli/tune/options"
      autoload :Present, "cuttle/cli/tune/present"
      autoload :Requests, "cuttle/cli/tune/requests"
      autoload :Show, "cuttle/cli/tune/show"
      autoload :WhatIf, "cuttle/cli/tune/what_if"

      COMMANDS = { "check" => :Check, "show" => :Show }.freeze

      def initialize(out:, err:)
        @out = out
        @err = err
      end

      # Returns the exit status; raises UsageError and Error.
      def run(arguments)
        name = COMMANDS[arguments.first]
        return self.class.const_get(name).new(out: @out, err: @err).run(arguments.drop(1)) if name

        options = Options.parse(arguments)
        return WhatIf.new(out: @out, err: @err).run(options) if options.questions.any?

        tune(options)
      end

      # The Advice of a new tune, or of one that is resumed, as +options+ (Options) say. Yields the Tuner::Session.
      def self.advice(options, err:)
        folder = if options.resume
                   Tuner::Folder.new(options.resume).tap(&:refuse_changes)
                 else
                   Tuner::Folder.create(options.to_tuner)
                 end
        session = Tuner::Session.new(folder, out: err, budget: options.budget)
        advice = session.run
        yield session if block_given?
        advice
      rescue Interrupt
        err.puts "interrupted: cuttle tune --resume #{folder.path} continues it" if folder
        raise
      end

      private

      def tune(options)
        options.refuse_to_write
        session = nil
        advice = self.class.advice(options, err: @err) { |each| session = each }
        show = Show.new(out: @out, err: @err)
        show.print(advice, session.folder, json: options.json)
        return interrupted(session.folder, options) if session.interrupted?

        show.write(advice) if options.write
        advice.kind == :none ? 1 : 0
      end

      # An answer from a part of the measurements is shown, but changes no file.
      def interrupted(folder, options)
        @err.puts "not written: cuttle tune show #{folder.path} --write writes it" if options.write
        130
      end
    end
  end
end

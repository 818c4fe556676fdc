# frozen_string_literal: true

module Cuttle
  class CLI
    # `cuttle load URL` and its subcommands. Exit statuses:
    #
    #   0 done · 1 nothing could be measured, an output could not be written, or a self-test failed · 2 wrong usage
    #   3 an assertion does not hold · 130 interrupted (results so far were printed)
    class Load
      autoload :Agent, "cuttle/cli/load/agent"
      autoload :Compare, "cuttle/cli/load/compare"
      autoload :Options, "cuttle/cli/load/options"
      autoload :Outputs, "cuttle/cli/load/outputs"
      autoload :SelfTest, "cuttle/cli/load/self_test"

      def initialize(out:, err:)
        @out = out
        @err = err
      end

      # Returns the exit status; raises UsageError and Error.
      def run(arguments)
        case arguments.first
        when "compare" then Compare.new(out: @out, err: @err).run(arguments.drop(1))
        when "self-test" then SelfTest.new(out: @out, err: @err).run(arguments.drop(1))
        else load(Options.parse(arguments))
        end
      end

      private

      def load(options)
        return Agent.new(out: @out, err: @err).run(options) if options.listen

        plan = Cuttle::Load::Plan.build(options.url, **options.plan) do |count, which|
          @err.puts "cuttle: #{options.plan[:har]}: #{count} left out: #{which}"
        end
        outputs = Outputs.new(options, out: @out, err: @err) # before the run: a wrong file is reported at once
        generator = generator(plan, options)
        interruptible(generator) do
          result = measure(generator, panel(plan, options))
          written = outputs.write(result)
          status(result, options.assertions, written)
        rescue Cuttle::Load::Generator::Incomplete => error
          outputs.write(error.result)
          raise
        end
      end

      def generator(plan, options)
        return Cuttle::Load::Generator.new(plan) unless options.agents

        Cuttle::Load::Agents.new(plan, options.agents, token: options.token)
      end

      def panel(plan, options)
        Cuttle::Load::Reports::Panel.new(@err, plan) unless options.quiet
      end

      def measure(generator, panel)
        generator.run(on_window: panel && panel.method(:window), on_tick: panel && panel.method(:tick))
      ensure
        panel&.finish
      end

      # The first signal ends the run and keeps its results, which are still written. The second ends the process.
      def interruptible(generator)
        interrupted = false
        previous = %w[INT TERM].to_h do |signal|
          handler = proc do
            exit!(130) if interrupted
            interrupted = true
            generator.interrupt
          end
          [signal, trap(signal, handler)]
        end
        yield
      ensure
        previous&.each { |signal, handler| trap(signal, handler || "DEFAULT") }
      end

      # written: whether all outputs were.
      def status(result, assertions, written)
        failures = assertions.flat_map { |each| each.failures(result) }
        failures.each { |failure| @err.puts "cuttle: assertion failed: #{failure}" }
        return 130 if result.interrupted?
        return 3 if failures.any?
        return written ? 0 : 1 if result.responses.positive?

        @err.puts "cuttle: nothing was answered"
        1
      end
    end
  end
end

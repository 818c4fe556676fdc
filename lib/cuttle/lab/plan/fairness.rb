# frozen_string_literal: true

module Cuttle
  module Lab
    class Plan
      # Lists what is equal for all configurations of a lab and what is not: [{ what, same, detail }], for the header. A
      # difference is not an error (the lab may compare models), but it must be visible.
      class Fairness
        def initialize(plan, app:, cores:)
          @configurations = plan.present
          @app = app
          @cores = cores
        end

        def to_a
          [app, cores, backlog, slots, workers, keep_alive, rubies, order]
        end

        private

        def entry(what, same, detail)
          { "what" => what, "same" => same, "detail" => detail }
        end

        def app
          entry("app and body", true,
                "#{@app.name}: one rackup file, and one environment for all (RACK_ENV production)")
        end

        def cores
          entry("cores", !@cores.shared?, "servers on #{@cores.server.join(",")}, load on #{@cores.load.join(",")}" \
                                          "#{": shared" if @cores.shared?}")
        end

        def backlog
          asked = Configurations::BACKLOG
          setup = Servers::Setup.new(backlog: asked)
          servers = @configurations.map(&:server).uniq
          others = servers.reject { |name| Servers::Peers.find(name).backlog(setup) == asked }
          detail = "#{asked} requested"
          detail += "; no option for it: #{others.join(", ")}" if others.any?
          entry("backlog", others.empty?, detail)
        end

        def slots
          numbers = values(&:slots)
          entry("slots", numbers.length < 2, numbered(numbers, "request", &method(:slots_of)))
        end

        def workers
          numbers = values { |each| [each.workers, 1].max }
          entry("processes", numbers.length < 2, numbered(numbers, "process"))
        end

        def keep_alive
          habits = values(&:keep_alive)
          entry("keep-alive", habits.length < 2, habits.map { |on| on ? "on" : "off" }.join(" and "))
        end

        def rubies
          versions = values(&:ruby)
          entry("Ruby", versions.length < 2, versions.join(", "))
        end

        def order
          entry("order", true,
                "a new order in each round, from the seed; a new server for each configuration of a round")
        end

        def values(&block)
          @configurations.map(&block).uniq
        end

        def numbered(numbers, noun, &named)
          bounded = numbers.compact.sort
          range = bounded.minmax.uniq.join(" to ")
          plural = noun.end_with?("s") ? "es" : "s" unless bounded == [1]
          text = "#{range} #{noun}#{plural} at once" unless bounded.empty?
          [text, (named&.call(numbers) if numbers.include?(nil))].compact.join(", and ")
        end

        def slots_of(_numbers)
          free = @configurations.select { |each| each.slots.nil? }.map(&:name)
          "without a bound: #{free.join(", ")}"
        end
      end
    end
  end
end

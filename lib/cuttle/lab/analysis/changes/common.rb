# frozen_string_literal: true

module Cuttle
  module Lab
    class Analysis
      class Changes
        # The configurations and loads that two labs have in common. Frozen.
        #
        # Rule: they are the same if everything is that a plan says about them, and not only their names. If the labs
        # served different apps, or sent different requests, they have nothing in common. Versions, Rubies and machines
        # may differ: their effects are what a comparison shows.
        class Common
          CONFIGURATION = %w[name server model workers threads keep_alive environment like flags].freeze
          LOAD = %w[name loop connections rate poisson keep_alive path requests delay bandwidth tester trial].freeze

          # apart: what differs in all requests, { "app" => [in one, in the other] }. pairs: [configuration, load, and
          # their counterparts in the other lab]. names: of the configurations that both have.
          attr_reader :apart, :pairs, :names

          # requests: as of Changes.
          def initialize(one, other, requests)
            @labs = [one, other]
            @apart = differing(*@labs.zip(requests).map { |results, sent| app(results).merge(sent) }).freeze
            same = apart.empty? ? [matches(:loads, LOAD), matches(:configurations, CONFIGURATION)] : [[], []]
            @pairs = same[0].product(same[1]).map { |loads, members| [members, loads].transpose.flatten(1) }.freeze
            @names = same[1].map { |member, _| member.name }.freeze
            freeze
          end

          # The app's "name" and "profile". A profile from the command line has Strings, another one has numbers.
          def self.app(results)
            app = results.app.to_h.slice("name", "profile")
            app["profile"] ? app.merge("profile" => app["profile"].transform_values(&:to_s)) : app
          end

          # Names of configurations and loads that only one lab has: [of the first, of the second].
          def unmatched
            names = @labs.map { |results| (originals(results) + results.loads).map(&:name) }
            [names[0] - names[1], names[1] - names[0]]
          end

          # Configurations and loads that have the same name and are not the same: { name => { key => [in one, in the
          # other] } }.
          def altered
            named = namesakes(:configurations, CONFIGURATION).merge(namesakes(:loads, LOAD))
            named.transform_values { |pair| differing(*pair) }.reject { |_, differences| differences.empty? }
          end

          private

          # An app of one's own may lie in another directory, and then has another name.
          def app(results)
            name, profile = self.class.app(results).values_at("name", "profile")
            { "app" => Apps::NAMES.key?(name) ? name : "of one's own", "profile" => profile }
          end

          def differing(one, other)
            (one.keys | other.keys).to_h { |key| [key, [one[key], other[key]]] }.reject { |_, (a, b)| a == b }
          end

          # [thing, its counterpart] of each that both labs have.
          def matches(kind, keys)
            mine, others = @labs.map { |results| things(results, kind) }
            mine.filter_map do |thing|
              found = others.find { |each| specification(each, keys) == specification(thing, keys) }
              [thing, found] if found
            end
          end

          # { name => [its specification in one, in the other] } of each name that both labs have.
          def namesakes(kind, keys)
            mine, others = @labs.map do |results|
              things(results, kind).to_h { |each| [each.name, specification(each, keys)] }
            end
            mine.slice(*others.keys).to_h { |name, own| [name, [own, others[name]]] }
          end

          def specification(thing, keys)
            thing.to_h.slice(*keys).compact
          end

          def things(results, kind)
            kind == :loads ? results.loads : originals(results)
          end

          def originals(results)
            results.configurations.reject(&:control_of)
          end
        end
      end
    end
  end
end

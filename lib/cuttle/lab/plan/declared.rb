# frozen_string_literal: true

module Cuttle
  module Lab
    class Plan
      # A plan of configurations and loads that are declared in pairs, by a study or a benchmark. Equal ones are merged,
      # and a server with several loads is started once per round for all of them.
      class Declared
        # pairs: [configuration, load] each, Hashes with the keys of Results::Configuration and LoadSpec but without
        # ids. A configuration may name a "series" of Ruby; then "ruby_path" is its path, or nil if it is not installed.
        def initialize(pairs, peers: Servers::Peers)
          @configurations = numbered("c", pairs.map(&:first))
          @loads = numbered("l", pairs.map(&:last))
          @pairs = pairs.group_by(&:first).to_h do |configuration, group|
            [@configurations.key(configuration), group.map { |_, load| @loads.key(load) }]
          end
          @peers = peers
        end

        # settings: the plan's seed, rounds, duration and warmup.
        def plan(**settings)
          Plan.new(configurations: @configurations.map { |id, hash| configuration(id, hash) }, missing: missing,
                   loads: @loads.map { |id, hash| Results::LoadSpec.new(hash.merge("id" => id)) }, pairs: @pairs,
                   cut: [], **settings)
        end

        private

        def numbered(letter, hashes)
          hashes.uniq.map.with_index(1) { |hash, number| ["#{letter}#{number}", hash] }.to_h
        end

        def configuration(id, hash)
          peer = @peers.find(hash["server"])
          slots = peer.slots(Configurations.setup(hash))
          version = peer.version unless peer.unavailable
          Results::Configuration.new(hash.merge("id" => id, "ruby" => hash["series"] || RUBY_VERSION, "slots" => slots,
                                                "version" => version))
        end

        # Configuration id => why it can't be measured here.
        def missing
          @configurations.transform_values { |hash| reason_against(hash) }.compact
        end

        def reason_against(hash)
          peer = @peers.find(hash["server"])
          return "Ruby #{hash["series"]} is not here: name it in RUBIES" if hash["series"] && !hash["ruby_path"]

          peer.unavailable || peer.supports?(Configurations.setup(hash))
        end
      end
    end
  end
end

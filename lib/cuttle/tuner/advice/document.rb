# frozen_string_literal: true

module Cuttle
  module Tuner
    class Advice
      # Converts Advice to JSON and back. An Estimate is an object with value, low, high and count. Infinity is null.
      module Document
        module_function

        def plain(value)
          case value
          when Struct then plain(value.to_h)
          when Hash then value.to_h { |key, each| [key.to_s, plain(each)] }
          when Array then value.map { |each| plain(each) }
          when Symbol then value.to_s
          when Float then value if value.finite?
          else value
          end
        end

        # The Advice for a Hash parsed from JSON.
        def read(hash)
          raise KeyError unless hash.delete("schema") == SCHEMA

          given = hash.transform_keys(&:to_sym)
          Advice.new(**given, kind: given.fetch(:kind).to_sym, limits: Limits.new(**symbols(given[:limits])),
                              **outcomes(given), gains: estimates(given[:gains]), threads: threads(given[:threads]),
                              what_ifs: given[:what_ifs].map { |each| what_if(each) },
                              map: given[:map] && Map.new(**symbols(given[:map])),
                              checks: given[:checks].map { |each| check(each) },
                              changes: given[:changes].map { |each| change(each) })
        end

        def outcomes(given)
          { choice: outcome(given.fetch(:choice)), present: given[:present] && outcome(given[:present]),
            capped: given[:capped] && outcome(given[:capped]),
            alternatives: given[:alternatives].map { |each| outcome(each) } }
        end

        def outcome(hash)
          given = symbols(hash)
          Outcome.new(**given, setting: setting(given[:setting]), demand: Demand.new(**symbols(given[:demand])).freeze,
                               limit: given[:limit]&.to_sym, stand_in: given[:stand_in] && setting(given[:stand_in]),
                               **Outcome::ESTIMATES.to_h { |name| [name, estimate(given[name])] })
        end

        def threads(hash)
          return unless hash

          given = symbols(hash)
          Threads.new(**given, auto: outcome(given[:auto]), number: outcome(given[:number]))
        end

        def what_if(hash)
          WhatIf.new(**symbols(hash).transform_values { |each| outcome(each) })
        end

        def check(hash)
          given = symbols(hash)
          Check.new(setting: setting(given[:setting]), demand: Demand.new(**symbols(given[:demand])).freeze,
                    figure: given[:figure].to_sym, predicted: estimate(given[:predicted]),
                    measured: estimate(given[:measured]))
        end

        def change(hash)
          given = symbols(hash)
          Change.new(**given, what: given[:what].to_sym, outcome: outcome(given[:outcome]))
        end

        def estimates(hash)
          hash&.to_h { |name, each| [name.to_sym, estimate(each)] }
        end

        # A null value stands for Infinity.
        def estimate(hash)
          return unless hash

          Lab::Statistics::Estimate.new(hash["value"] || Float::INFINITY, *hash.values_at("low", "high", "count"))
        end

        def setting(hash)
          Setting.new(**symbols(hash))
        end

        def symbols(hash)
          hash.transform_keys(&:to_sym)
        end
      end
    end
  end
end

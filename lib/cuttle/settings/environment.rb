# frozen_string_literal: true

module Cuttle
  class Settings
    # The layer of environment variables, with Puma's names and precedence. An empty variable says nothing.
    module Environment
      # The first variable that is set counts.
      VARIABLES = {
        workers: %w[WEB_CONCURRENCY],
        port: %w[PORT],
        environment: %w[APP_ENV RACK_ENV RAILS_ENV]
      }.freeze

      def self.read(environment)
        said = VARIABLES.transform_values { |names| names.find { |name| present(environment, name) } }.compact
        values = Values.coerce(said.transform_values { |name| environment[name] }) { |option| said[option] }
        values.merge(threads(environment))
      end

      # Rails' names for the pool: RAILS_MIN_THREADS is RAILS_MAX_THREADS where it isn't set.
      def self.threads(environment)
        max = present(environment, "RAILS_MAX_THREADS")
        return {} unless max

        min = present(environment, "RAILS_MIN_THREADS")
        Values.coerce({ threads: min ? "#{min}:#{max}" : max }) { "RAILS_MAX_THREADS" }
      end

      def self.present(environment, name)
        value = environment[name]
        value unless value.nil? || value.empty?
      end
    end
  end
end

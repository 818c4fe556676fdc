# frozen_string_literal: true

require "digest/sha2"
require "json"
require "uri"

module Cuttle
  class Control
    # The answers of the control listener: JSON, except the metrics. Several threads call it.
    #
    #   GET  /live, /ready                        200 or 503; for probes, no token needed
    #   GET  /stats, /gc-stats, /top              figures; what `cuttle top` shows
    #   GET  /metrics                             Prometheus' text format
    #   POST /stop, /restart, … (see COMMANDS)    passed on to the process; also GET, as Puma's
    #   POST /gc                                  collects garbage, in this process
    #
    #   403 the token is missing or wrong · 404 no such path · 405 other method · 409 the process can't do that
    class App
      # The commands for a process.
      COMMANDS = %w[stop halt restart phased-restart reload-logs add-worker remove-worker thread-backtraces].freeze

      PROBES = %w[live ready].freeze

      FIGURES = %w[stats gc-stats top metrics].freeze

      OK = { status: "ok" }.freeze

      HEAD = { "content-type" => "application/json", "cache-control" => "no-store" }.freeze

      # +process+ is described at Control#initialize; +token+ may be nil.
      def initialize(process, token)
        @process = process
        @token = token && digest(token)
      end

      # Rack's method.
      def call(env)
        name = env["PATH_INFO"].delete_prefix("/")
        return probe(name, env) if PROBES.include?(name)
        return answer(403, error: "the token is missing or wrong") unless allowed?(env)

        respond(name, env)
      rescue UsageError => error
        answer(409, error: error.message)
      rescue StandardError => error
        answer(500, error: "#{error.message} (#{error.class})")
      end

      private

      def respond(name, env)
        if FIGURES.include?(name)
          reading(env) { figures(name) }
        elsif name == "gc" || COMMANDS.include?(name)
          acting(env) { answer(200, name == "gc" ? collect : command(name)) }
        else
          answer(404, error: "no such path: #{"/#{name}"[0, 100].inspect}")
        end
      end

      def figures(name)
        case name
        when "metrics" then metrics
        when "gc-stats" then answer(200, GC.stat)
        else answer(200, @process.public_send(name))
        end
      end

      def metrics
        text = Telemetry::Prometheus.text(Telemetry::Metrics.of(@process.measures))
        message(200, text, "content-type" => Telemetry::Prometheus::TYPE)
      end

      def probe(name, env)
        reading(env) do
          good = name == "live" ? @process.live? : @process.ready?
          answer(good ? 200 : 503, status: good ? "ok" : "not #{name}")
        end
      end

      def command(name)
        said = @process.command(name)
        name == "thread-backtraces" && said.is_a?(Array) ? said : OK
      end

      def collect
        GC.start
        OK
      end

      def reading(env, &block) = accepting(env, %w[GET HEAD], &block)

      def acting(env, &block) = accepting(env, %w[POST GET], &block)

      def accepting(env, methods)
        return yield if methods.include?(env["REQUEST_METHOD"])

        answer(405, { error: "use #{methods.join(" or ")}" }, "allow" => methods.join(", "))
      end

      def answer(status, content, fields = {})
        message(status, "#{JSON.generate(content)}\n", fields)
      end

      def message(status, body, fields)
        [status, HEAD.merge(fields, "content-length" => body.bytesize.to_s), [body]]
      end

      def allowed?(env)
        @token.nil? || same?(digest(given(env)), @token)
      end

      # The token of the request; "" without one.
      def given(env)
        env["HTTP_AUTHORIZATION"].to_s[/\ABearer +(\S+)\z/i, 1] ||
          URI.decode_www_form_component(env["QUERY_STRING"].to_s[/(?:\A|&)token=([^&]*)/, 1].to_s)
      rescue ArgumentError
        "" # a percent sign without digits
      end

      # Takes the same time for any two strings.
      def same?(one, other)
        one.bytes.zip(other.bytes).reduce(0) { |sum, (first, second)| sum | (first ^ second) }.zero?
      end

      def digest(text)
        Digest::SHA256.digest(text)
      end
    end
  end
end

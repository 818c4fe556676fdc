# frozen_string_literal: true

module Cuttle
  class Import
    # Unicorn's words.
    module Unicorn
      CONSTANTS = {}.freeze

      # As in Puma::WORDS.
      WORDS = {
        "worker_processes" => ->(count) { [["like", "unicorn"], ["workers", count]] },
        "listen" => ->(address, _options = {}) { [["bind", Unicorn.uri(address)]] },
        "timeout" => ->(seconds) { [["app_timeout", seconds]] },
        "working_directory" => ->(path) { [["directory", path]] },
        "pid" => ->(path) { Configuration::Words.understands?("pidfile") ? [["pidfile", path]] : Unicorn.none },
        "preload_app" => ->(on) { Configuration::Words.understands?("preload") ? [["preload", on]] : Unicorn.none },
        "stderr_path" => "has no equal; redirect the output of the server",
        "stdout_path" => "has no equal; redirect the output of the server",
        "logger" => "has no equal; messages go to standard error",
        "user" => "let systemd or another supervisor choose the user",
        "check_client_connection" => "a request whose client has gone never runs; leave it out",
        "client_body_buffer_size" => "large bodies go to an unnamed file by themselves; leave it out",
        "rewindable_input" => "rack.input is always rewindable; leave it out",
        "default_middleware" => "no middleware is added; leave it out",
        "early_hints" => "rack.early_hints is always there; leave it out",
        "before_fork" => "has no equal", "after_fork" => "has no equal", "before_exec" => "has no equal",
        "after_worker_exit" => "has no equal", "after_worker_ready" => "has no equal", "worker_exec" => "has no equal"
      }.freeze

      class << self
        def known?(word) = WORDS.key?(word)

        # Our lines for +call+. Raises NoEqual.
        def translate(call)
          equal = WORDS.fetch(call.word)
          equal.is_a?(String) ? raise(NoEqual, equal) : equal.call(*call.arguments)
        end

        # 8080, "127.0.0.1:8080", "*:8080", ":8080", "/path", "unix:/path"
        def uri(address)
          case address.to_s
          when %r{\A(?:unix:)?(/.*)} then "unix://#{$1}"
          when /\A(\d+)\z/, /\A\*?:(\d+)\z/ then "tcp://0.0.0.0:#{$1}"
          else "tcp://#{address}"
          end
        end

        def none = raise(NoEqual, "has no equal")
      end
    end
  end
end

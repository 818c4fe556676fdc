# frozen_string_literal: true

require "json"

module Cuttle
  class PidFile
    # The content of a state file: lines of a key and a value, which are YAML, with the keys that Puma uses.
    #
    #   pid: 4711
    #   control_url: "unix:///run/app/control.sock"
    #   control_auth_token: "9f0c…"
    #   running_from: "/srv/app"
    module State
      class << self
        # The state of this process. +url+ and +token+ are those of its control listener; nil: it has none.
        def text(url: nil, token: nil)
          { pid: Process.pid, control_url: url, control_auth_token: token, running_from: Dir.pwd }
            .compact.map { |key, value| "#{key}: #{value.to_json}\n" }.unshift("---\n").join
        end

        # key => value (String) of a state file's +text+. Other lines count for nothing.
        def parse(text)
          text.to_s.b.scan(/^(\w+): (.*)$/).to_h.transform_values do |value|
            value = value.delete_suffix("\r").force_encoding(Encoding::UTF_8)
            value.start_with?('"') ? JSON.parse(value) : value
          rescue JSON::ParserError
            value
          end
        end
      end
    end
  end
end

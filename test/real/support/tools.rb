# frozen_string_literal: true

require "open3"

module Real
  # Clients that are programs. A test of one that isn't installed is skipped, and says which Debian package has it.
  module Tools
    PACKAGES = { "ab" => "apache2-utils", "curl" => "curl", "h2load" => "nghttp2-client", "wrk" => "wrk" }.freeze

    # Runs the program and returns what it printed, on stdout and stderr.
    def tool(name, *arguments, stdin_data: "")
      unless ENV["PATH"].split(":").any? { |directory| File.executable?("#{directory}/#{name}") }
        skip "#{name} is not installed (Debian package #{PACKAGES.fetch(name)})"
      end

      server.wait_until_idle
      output, status = Open3.capture2e(name, *arguments.map(&:to_s), stdin_data: stdin_data, binmode: true)
      assert_predicate status, :success?, output
      output
    end
  end
end

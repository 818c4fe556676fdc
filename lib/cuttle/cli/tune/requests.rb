# frozen_string_literal: true

require "cuttle/cli/load"

module Cuttle
  class CLI
    class Tune
      # The options that say which requests a tune sends: --mix, --har and --from, one of them, and --header.
      class Requests
        def initialize
          @files = [] # [option, path]
          @headers = []
        end

        # Adds the options to an OptionParser.
        def add(parser)
          { mix: ["--mix FILE", "several requests, as for cuttle load"],
            har: ["--har FILE", "the requests that a browser saved"],
            from: ["--from LOG", "the requests of an access log: of Cuttle, Puma or Rails"] }.each do |option, about|
            parser.on(*about) { |path| @files << [option, path] }
          end
          parser.on("-H", "--header 'NAME: VALUE'", "add a field to each request; may be repeated") do |text|
            @headers << Load::Options.header(text)
          end
        end

        # The names of the options that were given.
        def given
          [*@files.map(&:first), *(:header if @headers.any?)]
        end

        # Path of the --mix, or nil.
        def mix
          @files.to_h[:mix]
        end

        # What they make of requests, for that app and the --path that was given or nil: an Array, or nil if the lab
        # knows the requests. Raises UsageError.
        def read(app, path)
          raise UsageError, "--path, --mix, --har or --from: one of them" if [*path, *@files].length > 1

          requests = in_file(*@files.first)
          return requests if @headers.empty?

          (requests || single(app, path)).map { |request| with_headers(request) }
        end

        private

        # Also a mix that the lab will read, so that it fails before anything is made or measured.
        def in_file(option = nil, path = nil)
          left_out = ->(count, reason) { warn "#{path}: #{count} left out: #{reason}" }
          case option
          when :mix then Cuttle::Load::Mix.read(path).then { |requests| requests if @headers.any? }
          when :har then Tuner::Requests.from_har(path, &left_out).tap { |requests| warn_of_changes(path, requests) }
          when :from then Tuner::Mix.from_log(path, &left_out)
          end
        end

        # What a browser did once is done thousands of times.
        def warn_of_changes(path, requests)
          changing = requests.reject { |request| Tuner::Mix::Log::SAFE.include?(request.method) }
          return if changing.empty?

          count = Cuttle::Load::Units.plural(changing.length, "request")
          warn "#{path}: #{count} may change data, thousands of times (the first is #{changing.first.name})"
        end

        def single(app, path)
          raise UsageError, "--header: #{app} is one of our apps, and has its own requests" if
            Cuttle::Lab::Apps::NAMES.key?(app)

          [Cuttle::Load::Request.new(path: path || Tuner::Options::DEFAULTS[:path])]
        end

        # A request's own field counts.
        def with_headers(request)
          own = request.headers.map { |name,| name.downcase }
          request.with(headers: @headers.reject { |name,| own.include?(name.downcase) } + request.headers)
        end
      end
    end
  end
end

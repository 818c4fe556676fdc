# frozen_string_literal: true

module Cuttle
  module Tuner
    module Mix
      # Makes requests from an access log: the most frequent kinds, each with a few of its paths.
      class Log
        SAFE = %w[GET HEAD].freeze
        KINDS = 40 # the most frequent ones
        PATHS = 10 # of a kind, at most
        KEPT = 100_000 # different paths; a later path counts only if its kind is known
        LOOK = 200 # lines, one of which must be a request
        GZIP = "\x1F\x8B".b # a compressed file begins so

        # unsafe: see Mix.from_log.
        def initialize(path, unsafe: false)
          @path = path
          @unsafe = unsafe
          @counts = Hash.new(0) # [method, path] => requests
          @left_out = Hash.new(0)
        end

        # An Array of Load::Request. For each reason to leave requests out, yields their number and the reason. Raises
        # UsageError.
        def requests(&left_out)
          read
          kinds = group
          made = kinds.first(KINDS).flat_map { |_name, counts| representatives(counts) }
          @left_out["of rare kinds"] += kinds.drop(KINDS).sum { |_, counts| counts.sum(&:last) }
          @left_out.select { |_, count| count.positive? }.each { |reason, count| left_out&.call(count, reason) }
          made.empty? ? nothing : made
        end

        private

        def read
          lines = 0
          File.foreach(@path, encoding: "UTF-8") do |line|
            lines += 1
            compressed if lines == 1 && line.b.start_with?(GZIP)
            seen = Line.read(line.scrub)
            seen ? take(seen) : @left_out["not understood"] += (line.include?("HTTP/1.") ? 1 : 0)
            break if lines == LOOK && nothing_seen?
          end
        rescue SystemCallError => error
          raise UsageError, "--from: #{@path}: #{Load.reason(error)}"
        end

        def compressed
          raise UsageError, "--from: #{@path}: it is compressed: zcat #{@path} > access.log, and give that file"
        end

        def nothing_seen?
          @counts.empty? && @left_out.values.sum.zero?
        end

        def take(seen)
          reason = reason_against(seen)
          return @left_out[reason] += 1 if reason

          key = [seen.method, seen.path]
          return @left_out["of too many different paths"] += 1 if @counts.length >= KEPT && !@counts.key?(key)

          @counts[key] += 1
        end

        def reason_against(seen)
          if !@unsafe && !SAFE.include?(seen.method) then "of a method other than GET and HEAD (it may change data)"
          elsif seen.status && seen.status >= 400 then "answered with an error (status 400 or higher)"
          elsif seen.status && seen.status < 200 then "of a connection that became another protocol's"
          elsif !Load::Request::PATH.match?(seen.path) || seen.path == "*" then "without a path that can be sent again"
          end
        end

        # [name, [[[method, path], requests], …]] of each kind, the most frequent first.
        def group
          shapes = Path::Shapes.new(@counts.keys)
          @counts.group_by { |(method, path), _| shapes.name(method, path) }
                 .sort_by { |_name, counts| -counts.sum(&:last) }
        end

        # A few paths that stand for all paths of a kind. They are spread evenly over its requests, the frequent paths
        # first, and together have the kind's weight.
        def representatives(counts)
          total = counts.sum(&:last)
          number = [counts.length, PATHS].min
          spread(counts.sort_by { |_, count| -count }, total, number).map do |(method, path), places|
            Load::Request.new(method: method, path: path, weight: (total * places.fdiv(number)).round(4))
          end
        end

        # [[method, path], how many of the +number+ positions it gets] of each path that gets any.
        def spread(counts, total, number)
          places = Array.new(number) { |index| total * (index + 0.5) / number }
          sum = 0
          counts.filter_map do |key, count|
            sum += count
            taken = places.shift(places.count { |place| place < sum }).length
            [key, taken] if taken.positive?
          end
        end

        def nothing
          raise UsageError, "--from: #{@path}: no request in it can be sent again (cuttle tune reads access logs of " \
                            "Cuttle, of Puma's --log-requests, and Rails' production.log)"
        end
      end
    end
  end
end

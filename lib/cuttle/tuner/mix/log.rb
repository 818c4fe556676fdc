# frozen_string_literal: true

module Cuttle
  module Tuner
    module Mix
      # Makes requests from an access log: the most frequent kinds, each with a few of its paths.
      class Log
        SAFE = %w[GET HEAD].freeze
        KINDS = 40 # the most frequent ones
        PATHS = 10 # of a kind, at most
        KEPT = 100_000 # different paths; a later path counts for its kind, if that is known
        LOOK = 100_000 # lines, one of which must be a request: a log may begin with thousands of lines of jobs
        GZIP = "\x1F\x8B".b # a compressed file begins so

        # counts: [[[method, path], requests], …]. total: the requests, with those of paths that were not kept.
        Kind = Struct.new(:counts, :total)

        # unsafe: see Mix.from_log. kept: the number of different paths to keep. look: see LOOK.
        def initialize(path, unsafe: false, kept: KEPT, look: LOOK)
          @path = path
          @unsafe = unsafe
          @kept = kept
          @look = look
          @counts = Hash.new(0) # [method, path] => requests
          @further = Hash.new(0) # name of a kind => requests of paths that were not kept
          @left_out = Hash.new(0)
        end

        # An Array of Load::Request. For each reason to leave requests out, yields their number and the reason. Raises
        # UsageError.
        def requests(&left_out)
          read
          kinds = kinds().sort_by { |kind| -kind.total }
          made = kinds.first(KINDS).flat_map { |kind| representatives(kind) }
          @left_out["of rare kinds"] += kinds.drop(KINDS).sum(&:total)
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
            nothing("its first #{Load::Units.count(@look)} lines") if lines == @look && nothing_seen?
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
          return @counts[key] += 1 if @counts.length < @kept || @counts.key?(key)

          name = shapes.name(*key)
          paths.key?(name) ? @further[name] += 1 : @left_out["of too many different paths"] += 1
        end

        def reason_against(seen)
          if !@unsafe && !SAFE.include?(seen.method) then "of a method other than GET and HEAD (it may change data)"
          elsif seen.status && seen.status >= 400 then "answered with an error (status 400 or higher)"
          elsif seen.status && seen.status < 200 then "of a connection that became another protocol's"
          elsif !Load::Request::PATH.match?(seen.path) || seen.path == "*" then "without a path that can be sent again"
          end
        end

        def kinds
          paths.map do |name, keys|
            counts = keys.map { |key| [key, @counts[key]] }
            Kind.new(counts, counts.sum(&:last) + @further[name])
          end
        end

        # Name of a kind => its paths. Computed once no further path is kept.
        def paths
          @paths ||= @counts.keys.group_by { |key| shapes.name(*key) }
        end

        def shapes
          @shapes ||= Path::Shapes.new(@counts.keys)
        end

        # A few paths that stand for all paths of a kind. They are spread evenly over its requests, the frequent paths
        # first, and together have the kind's weight.
        def representatives(kind)
          counts = kind.counts.sort_by { |_, count| -count }
          number = [counts.length, PATHS].min
          spread(counts, counts.sum(&:last), number).map do |(method, path), places|
            Load::Request.new(method: method, path: path, weight: (kind.total * places.fdiv(number)).round(4))
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

        # in_what: where no request was found.
        def nothing(in_what = "it")
          raise UsageError, "--from: #{@path}: no request in #{in_what} can be sent again (cuttle tune reads access " \
                            "logs of Cuttle, of Puma's --log-requests, and Rails' production.log)"
        end
      end
    end
  end
end

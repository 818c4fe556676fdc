# frozen_string_literal: true

module Cuttle
  module Tuner
    # The requests that a profile is measured with, by kind: /posts/17 and /posts/18 are of the kind GET /posts/:id.
    #
    #   Mix.from_log("production.log") { |count, reason| warn "left out: #{count} #{reason}" }   # => [Load::Request, …]
    #   Mix.shapes(requests)                                                                     # => [Mix::Shape, …]
    module Mix
      autoload :Line, "cuttle/tuner/mix/line"
      autoload :Log, "cuttle/tuner/mix/log"
      autoload :Path, "cuttle/tuner/mix/path"

      # Requests of one kind. weight: the sum of their weights. Equal if identical.
      class Shape
        attr_reader :name, :requests, :weight

        def initialize(name, requests)
          @name = name
          @requests = requests.freeze
          @weight = requests.sum(&:weight).to_f
          freeze
        end
      end

      module_function

      # The requests in an access log: Cuttle's (common, combined, json), Puma's (--log-requests), or Rails'
      # (production.log). Each kind has a few of its paths, and its weight is its number of requests in the log. unsafe:
      # whether to include requests that may change data; they are sent without a body, because no log has it. Yields
      # the number of requests that are left out, and which ones ("answered with an error"). Raises UsageError.
      def from_log(path, unsafe: false, &left_out)
        Log.new(path, unsafe: unsafe).requests(&left_out)
      end

      # The Shapes of these requests, each at the position of its first request.
      def shapes(requests)
        paths = Path::Shapes.new(requests.map { |request| [request.method, request.path] })
        requests.group_by { |request| paths.name(request.method, request.path) }
                .map { |name, group| Shape.new(name, group) }
      end
    end
  end
end

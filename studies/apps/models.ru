# frozen_string_literal: true

# Four kinds of request, for an app that ractors may share: nothing but constants that are frozen. MODELS_KEPT is the
# number of objects that it keeps from its start on, as an app does that loads much code: what each process has to hold.
#
#   /           hello
#   /compute    arithmetic, about 2 ms of it with YJIT
#   /allocate   as long, but nearly all of it makes objects
#   /wait       10 ms asleep
module Models
  HEADERS = { "content-type" => "text/plain", "content-length" => "13" }.freeze
  KEPT = Array.new(ENV.fetch("MODELS_KEPT", "0").to_i) { |number| "object number #{number}".freeze }.freeze

  class << self
    def call(env)
      case env["PATH_INFO"]
      when "/compute" then fibonacci(27)
      when "/allocate" then allocate
      when "/wait" then sleep 0.01
      end
      [200, HEADERS.dup, ["Hello, world!"]]
    end

    def fibonacci(number) = number < 2 ? number : fibonacci(number - 1) + fibonacci(number - 2)

    def allocate
      kept = Array.new(2_000) { |number| { "number" => number.to_s } }
      kept.sum { |entry| entry["number"].length }
    end
  end
end

run Models

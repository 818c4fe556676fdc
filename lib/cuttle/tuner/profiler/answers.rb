# frozen_string_literal: true

module Cuttle
  module Tuner
    class Profiler
      # Sends each request of the mix once before the measurements, because a server answers with errors very fast.
      class Answers
        # stop: returns whether to end immediately. warn: called with each warning, a sentence.
        def initialize(site, shapes, stop:, warn:)
          @site = site
          @shapes = shapes
          @stop = stop
          @warn = warn
        end

        # Whether that status is right for the request.
        def self.right?(request, status)
          request.expect ? status == request.expect : status < 400
        end

        # What is wrong with the answer, in one line.
        def self.wrong(request, status)
          wanted = request.expect ? ", not #{request.expect}" : ""
          advice = if status >= 500 then "the app fails; cuttle serve shows its log"
                   else "remove it from the mix, or give it what it needs"
                   end
          "#{request.method} #{request.path} answered #{status}#{wanted}: #{advice}"
        end

        # Raises Failure for the first wrong answer, and for an app that answers nothing over http. Raises Interrupt.
        def check
          answers = @shapes.flat_map(&:requests).map { |request| ask(request) }
          return unless answers.all? { |status, place| status.between?(300, 399) && place }

          secured if answers.all? { |_, place| place.start_with?("https:") }
          warn_of_login
        end

        private

        # [status, the location of a redirect or nil]
        def ask(request)
          raise Interrupt if @stop.call

          response = @site.client.call(request)
          @place = response.field("location")
          return [response.status, @place] if self.class.right?(request, response.status)

          raise Failure, "#{self.class.wrong(request, response.status)}#{last_words if response.status >= 500}"
        end

        def last_words
          said = Lab::Servers::Server.last_words(@site.server.output, 1)
          " (it ends #{said.inspect})" unless said.empty?
        end

        def secured
          raise Failure, "every request is redirected to https (#{@place}): give the requests what the proxy in " \
                         "front of the app gives them, such as -H 'X-Forwarded-Proto: https'"
        end

        def warn_of_login
          @warn.call("every request is redirected (to #{@place}): if the app needs a login, give the mix a session's " \
                     "Cookie header")
        end
      end
    end
  end
end

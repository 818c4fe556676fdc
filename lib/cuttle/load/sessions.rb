# frozen_string_literal: true

module Cuttle
  module Load
    # The sessions of a plan: the state of each connection's user (session.h). A plan has sessions if a request checks a
    # response or takes a value from it, and with --cookies, --follow and --in-order.
    class Sessions
      # Returns nil if the plan needs none. Raises UsageError.
      def self.of(plan)
        asked = plan.requests.any? { |request| request.check.any? || request.take.any? }
        new(plan).check if asked || plan.cookies || plan.follow.positive? || plan.options[:in_order]
      end

      attr_reader :values

      def initialize(plan)
        @plan = plan
        @requests = plan.requests
        @values = @requests.flat_map { |request| request.take.keys }.uniq
      end

      # Returns self.
      def check
        check_names
        check_order
        check_combinations
        self
      end

      # The form that Run.new takes.
      def to_core
        { cookies: @plan.cookies, follow: @plan.follow, origin: @plan.target.origin,
          providers: values.map { |name| @requests.index(provider(name)) } }
      end

      # The Script of a request.
      def script(request)
        Script.new(request, values: values, host: @plan.target.authority, close: !@plan.keep_alive,
                            cookies: @plan.cookies, follow: @plan.follow.positive?).to_core
      end

      private

      def provider(name)
        @requests.find { |request| request.take.key?(name) }
      end

      # If the mix takes no values, such marks may have another meaning.
      def check_names
        return if values.empty?

        unknown = @requests.flat_map { |request| Script.names(request) } - values
        raise UsageError, "{{#{unknown.first}}}: no request takes it (\"take\")" if unknown.any?
      end

      # A request can never be sent if it needs a value that is taken only from a later request.
      def check_order
        known = []
        loop do
          found = values.select { |name| (Script.names(provider(name)) - known).empty? } - known
          break if found.empty?

          known |= found
        end
        never = values - known
        raise UsageError, "{{#{never.first}}}: the request that takes it depends on it" if never.any?
      end

      # With several requests in flight, the second one can't use a value from the first response.
      def check_combinations
        needed = @plan.cookies || @plan.follow.positive? || values.any?
        return unless @plan.pipeline > 1 && needed

        raise UsageError, "--pipeline can't be used with cookies, redirects or values from responses"
      end
    end
  end
end

# frozen_string_literal: true

module Real
  # A test class of one app served one way. Its first test starts the server and its last one stops it.
  class ServedTest < Minitest::Test
    include Web

    class << self
      attr_accessor :app, :way

      # Makes the class NameOnWay of `checks` for each of the ways.
      def for_each(ways, app, checks)
        ways.each do |way|
          served = Class.new(self) { include checks }
          served.app = app
          served.way = way
          Object.const_set("#{checks.name.delete_suffix("Checks")}On#{way.camel}", served)
        end
      end

      # nil when it had been tried and failed.
      def server
        return @server if defined?(@server)

        @server = nil
        Minitest.after_run { finish }
        @server = Server.new(app, way, environment).wait_until_ready
      end

      # More environment for the app, made when the server is.
      def environment
        {}
      end

      # Nothing is left of the server, however the tests went.
      def run(...)
        super
      ensure
        finish
      end

      # After all tests of this class; where they run in several processes, in each of them that ran some.
      def finish
        @server&.kill
      end

      # What comes last stays the last.
      def test_order = :alpha

      def runnable_methods
        return [] unless way

        methods_matching(/\Atest_/).shuffle(random: Random.new(Minitest.seed))
                                   .sort_by { |name| name == "test_term_ends_it" ? 1 : 0 }
      end
    end

    def setup
      skip self.class.app.missing if self.class.app.missing
    end

    # If a server doesn't start, the first test that tried reports it, once.
    def server
      self.class.server or skip "#{self.class.app.name} on #{way} did not start"
    end

    def way
      self.class.way
    end

    # The last one: after everything that the others did, TERM ends the server, and in peace.
    def test_term_ends_it
      status = server.stop
      assert status.success? || status.termsig == Signal.list["TERM"], "#{status}\n#{server.log}"
    end
  end
end

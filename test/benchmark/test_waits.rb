# frozen_string_literal: true

require "test_helper"
require_relative "../../benchmark/support/bench"
require_relative "../../benchmark/support/waits"

# The app of benchmark/waits, and what answers it.
class TestBenchmarkWaits < Minitest::Test
  Services = Bench::Lab::Apps::Services
  LONG = 4 # seconds; Ruby's resolver asks again after five

  def test_each_call_is_answered
    with("upstream", "answers") do |server|
      %w[/ /socket /dns /name /http].each { |path| assert_answered server, path }
    end
  end

  # Each of them gets its own: they arrive together.
  def test_answers_at_the_same_time
    with("answers") do |server|
      all = Array.new(8) { Thread.new { 5.times { assert_answered server, "/dns" } } }
      assert(all.map { |thread| thread.join(LONG) }.all?)
    end
  end

  def test_postgresql
    skip Services::Postgres.unavailable if Services::Postgres.unavailable

    with("postgres", "answers", **driver) do |server|
      assert_answered server, "/pg"
    end
  end

  private

  # Yields a server of the app with these services.
  def with(*names, **env, &block)
    services = names.map { |name| Services.find(name).start }
    env = env.transform_keys(&:to_s).merge(*services.map(&:environment))
    Bench.serve(Bench::Peers.find("cuttle"), Bench.cores.server, model: "fibers", app: Bench.app("waits"), env: env,
                &block)
  ensure
    services&.each(&:stop)
  end

  def driver
    Bench::Lab::Apps::Driver.environment("waits", RbConfig.ruby).transform_keys(&:to_sym)
  rescue Bench::Lab::Failure => error
    skip error.message
  end

  def assert_answered(server, path)
    answer = server.get(path)
    assert_equal [200, "Hello, world!"], [answer.status, answer.body], path
  end
end

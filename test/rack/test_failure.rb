# frozen_string_literal: true

require "test_helper"

# lowlevel_error_handler: what answers for an app that raises.
class TestFailure < Minitest::Test
  include Serving

  APP = ->(env) { env["PATH_INFO"] == "/good" ? [200, {}, ["good"]] : raise("broken") }

  # As many arguments as it takes, as Puma's.
  HANDLERS = [
    ->(error) { [503, { "x-why" => error.message }, ["sorry"]] },
    ->(error, env) { [503, { "x-why" => error.message }, ["sor", "ry"].first(env.key?("PATH_INFO") ? 2 : 0)] },
    ->(error, _env, status) { [status + 3, { "x-why" => error.message }, ["sorry"]] },
    proc { |error, _env, status| [status + 3, { "x-why" => error.message }, ["sorry"]] }
  ].freeze

  def test_it_gets_what_it_takes
    HANDLERS.each do |handler|
      answer, = ask(handler)
      assert_equal [503, "broken", "sorry"], [answer.status, answer["x-why"], answer.body]
    end
  end

  def test_a_handler_that_fails_leaves_a_500
    [->(*) { raise "worse" }, ->(*) { [200, {}, nil] }, ->(*) { ["x", {}, ["a"]] }, ->(*) {},
     ->(*) { [200, { "a\n" => "b" }, []] }].each do |handler|
      answer, errors = ask(handler)
      assert_equal [500, "Internal Server Error\n"], [answer.status, answer.body]
      assert_includes errors, "broken"
      refute_equal 1, errors.scan(/\(\w*(Error|Response)/).length, errors
    end
  end

  # What the handler returns, with a body that counts how often it is closed.
  class Body
    attr_reader :closed

    def initialize(&each)
      @each = each
      @closed = 0
    end

    def each(&block) = @each.call(&block)

    # An error here changes nothing for the client.
    def close
      @closed += 1
      raise "not closed"
    end
  end

  def test_its_body_is_closed
    { Body.new { |&block| block.call("sorry") } => [503, "sorry"],
      Body.new { raise "worse" } => [500, "Internal Server Error\n"] }.each do |body, answered|
      answer, errors = ask(->(*) { [503, {}, body] })
      assert_equal [*answered, 1], [answer.status, answer.body, body.closed]
      assert_includes errors, "not closed"
    end
  end

  def test_it_is_not_asked_for_what_has_begun
    asked = 0
    body = Enumerator.new { |lines| (lines << ("x" * 100_000)) && raise("late") }
    quietly do
      serving(->(_env) { [200, {}, body] }, failure: ->(*) { asked += 1 }) do |server|
        client(server) { |client| client.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n").read_to_end }
      end
    end
    assert_equal 0, asked
  end

  def test_in_a_configuration_file
    { "{ |error| [503, {}, [error.message]] }" => 503, "->(error) { [504, {}, [error.message]] }" => 504 }
      .each do |handler, status|
        Dir.mktmpdir do |directory|
          File.write("#{directory}/cuttle.rb", "lowlevel_error_handler#{handler}".sub("r-", "r -"))
          File.write("#{directory}/config.ru", "run ->(_) { raise 'broken' }")
          %w[0 1].each do |workers|
            serving_process("-C", "cuttle.rb", "-w", workers, chdir: directory, forked: true) do |process|
              assert_equal [status, "broken"], get(process).then { |answer| [answer.status, answer.body] }
            end
          end
        end
      end
  end

  private

  # The answer, and what was written to standard error.
  def ask(handler)
    answer = nil
    errors = quietly do
      serving(APP, failure: handler) do |server|
        answer = get(server)
        assert_equal "good", get(server, "/good").body
      end
    end
    [answer, errors]
  end

  def quietly(&block) = capture_io(&block).last
end

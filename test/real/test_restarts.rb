# frozen_string_literal: true

require_relative "real"

# Restarts under load, as benchmark/restarts measures them, with fewer of them.
class TestRestartsUnderLoad < Minitest::Test
  include Serving

  SCRIPT = "#{ROOT}/benchmark/restarts"

  def test_no_request_is_lost
    lossless("--engines", Serving::ENGINES.join(","))
  end

  def test_an_only_process_loses_none
    lossless("--engines", "hybrid", "--workers", "0", "--signals", "USR2")
  end

  private

  def lossless(*flags)
    output = IO.popen([RbConfig.ruby, SCRIPT, "--restarts", "2", "--rate", "20", *flags], err: %i[child out], &:read)
    assert Process.last_status.success?, output
  end
end

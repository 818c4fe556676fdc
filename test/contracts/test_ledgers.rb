# frozen_string_literal: true

require "test_helper"
require_relative "ledger_contract"

# Each engine's ledger over each core, in this process. (Ractors take only apps that can be shared: see TestLedger.)
class TestLedgers < Minitest::Test
  def test_both_cores_divide_times_alike
    times = Array.new(500) { |number| (1.1**number).to_i } + Cuttle::Ledger::BOUNDS.grep(Integer).flat_map do |bound|
      [bound - 1, bound, bound + 1]
    end
    times.each do |time|
      bucket = Cuttle::Cores::Pure::Ledgers.bucket(time)
      assert_operator time, :<=, Cuttle::Ledger::BOUNDS[bucket]
      assert bucket.zero? || time > Cuttle::Ledger::BOUNDS[bucket - 1], time
    end
    cores = LedgerContract::CORES.map { |name| Cuttle::Cores.fetch(name)::Scoreboard.new(1).ledger }
    assert_equal [Cuttle::Ledger::BOUNDS.size], cores.flat_map(&:values).map { |phase| phase[:buckets].size }.uniq
  end

  LedgerContract::CORES.product(Serving::ENGINES).each { |core, engine| LedgerContract.suite(core, engine) }
end

# frozen_string_literal: true

require "test_helper"

# Two test classes of one name become one where their files run in one process: the setup of the one replaces the
# other's.
class TestNames < Minitest::Test
  TESTS = File.expand_path("..", __dir__)

  def test_no_two_files_define_the_same_test_class
    files = Dir["**/test_*.rb", base: TESTS]
    names = files.flat_map do |path|
      File.read("#{TESTS}/#{path}").scan(/^class (\w+) </).flatten.map { |name| [name, path] }
    end
    shared = names.group_by(&:first).transform_values { |pairs| pairs.map(&:last) }.select { |_, all| all.length > 1 }
    assert_empty shared
  end
end

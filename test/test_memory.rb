# frozen_string_literal: true

require "test_helper"
require "fileutils"
require "tmpdir"

# Each case is a machine in a directory: what its /proc and /sys would say.
class TestMemory < Minitest::Test
  V2 = "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"
  V1 = "33 31 0:30 / /sys/fs/cgroup/memory rw shared:10 - cgroup cgroup rw,memory\n"
  MB = 1 << 20

  def test_threads_have_a_quarter_of_the_machine
    assert_equal 64, threads(machine(16_384))
    assert_equal 1 + 32, threads(machine(1024))
    assert_equal 1 + 8, threads(machine(1024), 4)
    assert_equal 1, threads(machine(16))
  end

  def test_a_control_group_has_less
    assert_equal 1 + 8, threads(machine(16_384).merge(v2("memory.max" => 256 * MB)))
    assert_equal 64, threads(machine(16_384).merge(v2("memory.max" => "max")))
    assert_equal 1 + 4, threads(machine(16_384).merge(v1("memory.limit_in_bytes" => 128 * MB)))
    assert_equal 64, threads(machine(16_384).merge(v1("memory.limit_in_bytes" => (1 << 63) - 4096)))
  end

  def test_a_system_without_figures_of_memory
    assert_equal 64, threads({})
    assert room?({})
  end

  def test_room_for_another_thread
    assert room?(machine(1024, 16))
    refute room?(machine(1024, 15))
    stat = "anon 9\ninactive_file #{10 * MB}\nactive_file #{5 * MB}\n"
    limits = { "memory.max" => 100 * MB, "memory.stat" => stat }
    assert room?(machine(1024).merge(v2(**limits, "memory.current" => 99 * MB))), "cached files make room"
    refute room?(machine(1024).merge(v2(**limits, "memory.current" => 100 * MB)))
  end

  def test_room_in_a_control_group_of_version_1
    stat = "inactive_file 0\nactive_file 0\ntotal_inactive_file #{15 * MB}\ntotal_active_file 0\n"
    limits = { "memory.limit_in_bytes" => 100 * MB, "memory.stat" => stat }
    assert room?(machine(1024).merge(v1(**limits, "memory.usage_in_bytes" => 99 * MB)))
    refute room?(machine(1024).merge(v1(**limits, "memory.usage_in_bytes" => 100 * MB)))
  end

  def test_workers_have_all_memory
    assert_equal 8, workers(machine(16_384), 150)
    assert_equal 2, workers(machine(16_384).merge(v2("memory.max" => 512 * MB)), 150)
    assert_equal 1, workers(machine(16_384).merge(v2("memory.max" => 512 * MB)), 600)
    assert_equal 8, workers({}, 150)
    assert_equal 8, workers(machine(64), nil)
  end

  private

  # In megabytes.
  def machine(total, available = total)
    { "proc/meminfo" => "MemTotal: #{total << 10} kB\nMemFree: 1 kB\nMemAvailable: #{available << 10} kB\n" }
  end

  def v2(files)
    files.transform_keys { |name| "sys/fs/cgroup/app/#{name}" }
         .merge("proc/self/cgroup" => "0::/app\n", "proc/self/mountinfo" => V2)
  end

  def v1(files)
    files.transform_keys { |name| "sys/fs/cgroup/memory/app/#{name}" }
         .merge("proc/self/cgroup" => "4:memory:/app\n", "proc/self/mountinfo" => V1)
  end

  def threads(files, processes = 0) = on(files) { |root| Cuttle::Memory.threads(processes, 64, root: root) }

  def workers(files, megabytes)
    on(files) { |root| Cuttle::Memory.workers(megabytes && (megabytes * MB), 8, root: root) }
  end

  def room?(files) = on(files) { |root| Cuttle::Memory.room?(root: root) }

  def on(files)
    Dir.mktmpdir do |root|
      files.each do |path, text|
        FileUtils.mkdir_p(File.dirname("#{root}/#{path}"))
        File.write("#{root}/#{path}", "#{text.to_s.chomp}\n")
      end
      yield root
    end
  end
end

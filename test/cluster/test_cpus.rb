# frozen_string_literal: true

require "test_helper"
require "fileutils"
require "tmpdir"

# Each case is a machine in a directory: what its /proc and /sys would say.
class TestCpus < Minitest::Test
  V2 = "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"
  V1 = "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw shared:9 - cgroup cgroup rw,cpu,cpuacct\n" \
       "33 31 0:30 / /sys/fs/cgroup/memory rw shared:10 - cgroup cgroup rw,memory\n"

  def test_without_any_limit_it_is_the_machines
    assert_equal 8, count({}, online: 8)
  end

  def test_the_affinity_counts
    assert_equal 1, count({ "proc/self/status" => "Name:\truby\nCpus_allowed_list:\t3\n" }, online: 8)
    assert_equal 6, count({ "proc/self/status" => "Name:\truby\nCpus_allowed_list:\t0-3,8,10\n" }, online: 16)
  end

  def test_version_2_quota_of_the_own_group
    assert_equal 2, count(v2("0::/system.slice/app.service\n", "/system.slice/app.service" => "200000 100000\n"))
  end

  def test_version_2_strictest_ancestor
    assert_equal 1, count(v2("0::/a/b\n", "/a" => "150000 100000\n", "/a/b" => "400000 100000\n"))
  end

  def test_version_2_without_a_limit
    assert_equal 8, count(v2("0::/a\n", "/a" => "max 100000\n"))
  end

  def test_version_2_in_a_container_with_a_namespace
    assert_equal 3, count(v2("0::/\n", "" => "300000 100000\n"))
  end

  def test_version_2_in_a_container_without_one
    mount = V2.sub(" / ", " /docker/abc ")
    files = { "proc/self/cgroup" => "0::/docker/abc\n", "proc/self/mountinfo" => mount,
              "sys/fs/cgroup/cpu.max" => "250000 100000\n" }
    assert_equal 2, count(files)
  end

  def test_version_1_quota
    assert_equal 4, count(v1("/docker/abc", "sys/fs/cgroup/cpu,cpuacct/docker/abc", "400000"))
  end

  def test_version_1_without_a_limit
    assert_equal 8, count(v1("/", "sys/fs/cgroup/cpu,cpuacct", "-1"))
  end

  def test_version_1_group_that_is_named_from_outside_the_container
    assert_equal 2, count(v1("/docker/abc", "sys/fs/cgroup/cpu,cpuacct", "200000"))
  end

  def test_less_than_one_processor_is_one
    assert_equal 1, count(v2("0::/\n", "" => "50000 100000\n"))
  end

  def test_this_machine
    assert_includes 1..Etc.nprocessors, Cuttle::Cluster::Cpus.count
  end

  private

  def v2(cgroup, limits)
    limits.transform_keys { |group| "sys/fs/cgroup#{group}/cpu.max" }
          .merge("proc/self/cgroup" => cgroup, "proc/self/mountinfo" => V2)
  end

  def v1(group, directory, quota)
    { "proc/self/cgroup" => "4:memory:/x\n3:cpu,cpuacct:#{group}\n1:name=systemd:/y\n",
      "proc/self/mountinfo" => V1,
      "#{directory}/cpu.cfs_quota_us" => "#{quota}\n", "#{directory}/cpu.cfs_period_us" => "100000\n" }
  end

  def count(files, online: 8)
    Dir.mktmpdir do |root|
      files.each do |path, text|
        FileUtils.mkdir_p(File.dirname("#{root}/#{path}"))
        File.write("#{root}/#{path}", text)
      end
      Cuttle::Cluster::Cpus.count(root: root, online: online)
    end
  end
end

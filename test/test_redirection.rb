# frozen_string_literal: true

require "test_helper"
require "open3"

# Standard output and standard error in files: at the start, and when a program for logs has moved them.
class TestRedirection < Minitest::Test
  include Serving
  include TemporaryDirectory

  # Numbers lines of four kinds as fast as it can, each in a thread of its own, and reopens the files at HUP.
  WRITER = <<~'RUBY'
    require "cuttle"
    out, err = ARGV
    settings = Cuttle::Settings.build(variables: {}, redirect_stdout: out, redirect_stderr: err)
    redirection = Cuttle::Redirection.new(settings)
    redirection.apply
    log = Cuttle::Telemetry::Output.new($stdout)
    ways = { "log" => log.method(:write), "out" => $stdout.method(:write), "err" => $stderr.method(:write),
             "c" => ->(line) { IO.for_fd(2, autoclose: false).syswrite(line) } }
    hup = Queue.new
    trap("HUP") { hup << :reopen }
    trap("TERM") { hup << nil }
    stop = false
    threads = ways.map do |name, write|
      Thread.new { (0..).each { |number| stop ? break : write.call("#{name} #{number}\n"); sleep 0.0001 } }
    end
    while hup.pop
      redirection.reopen
      system("echo child")
    end
    stop = true
    threads.each(&:join)
  RUBY

  # What Redirection says of a file is on standard error of the server, or in its file.
  def setup
    @out = "#{@directory}/out"
    @err = "#{@directory}/err"
  end

  def test_a_server
    File.write(@out, "before\n")
    serving_into(@out, "-w", "1", "-v", "--redirect-stdout", @out, "--redirect-stderr", @err) do |process|
      assert_equal 200, get(process).status
      process.stop
      assert_match(/\ACuttle .*"GET \/ HTTP\/1.1" 200 /m, File.read(@out)) # it was emptied
    end
    assert_equal "", File.read(@err)
  end

  def test_a_configuration_file_with_pumas_word
    File.write(@err, "before\n")
    app = "warn 'loaded'; run ->(_env) { [200, {}, []] }"
    File.write("#{@directory}/config.ru", app)
    FileUtils.mkdir("#{@directory}/config")
    File.write("#{@directory}/config/cuttle.rb", "stdout_redirect 'out', 'err', true")
    serving_into(@out, path: [], chdir: @directory) { |process| assert_predicate process, :running? }
    assert_equal "before\nloaded\n", File.read(@err)
  end

  def test_what_the_word_means
    { "stdout_redirect 'a', 'b', true" => ["a", "b", true], "stdout_redirect 'a'" => ["a", nil, false],
      "stdout_redirect nil, 'b'" => [nil, "b", false], "redirect_stdout 'a'\nredirect_append" => ["a", nil, true] }
      .each do |text, values|
      File.write("#{@directory}/cuttle.rb", text)
      settings = Cuttle::Settings.build(variables: {},
                                        configuration: Cuttle::Configuration.read("#{@directory}/cuttle.rb"))
      assert_equal values, [settings.redirect_stdout, settings.redirect_stderr, settings.redirect_append], text
    end
  end

  def test_a_file_that_can_not_be
    Dir.mkdir(@err)
    { "#{@directory}/no/out" => "its directory does not exist", @err => "it is a directory" }.each do |path, reason|
      out, err, status = Open3.capture3(*ruby, "#{ROOT}/exe/cuttle", "serve", "--redirect-stdout", path,
                                        "#{ROOT}/examples/hello.ru")
      assert_equal ["", "cuttle: can't write to #{path}: #{reason}\n", 1], [out, err, status.exitstatus]
    end
  end

  # Nothing is lost, and no line is torn.
  def test_files_that_were_moved_while_threads_write
    writing do |pid|
      5.times do |time|
        [@out, @err].each { |path| File.rename(path, "#{path}.#{time}") }
        Process.kill("HUP", pid)
        eventually("the next files") { [@out, @err].all? { |path| File.size?(path) } }
      end
    end
    assert_all_there Dir["#{@out}*"] + Dir["#{@err}*"]
  end

  def test_one_file_for_both
    @err = @out
    writing do |pid|
      File.rename(@out, "#{@out}.1")
      Process.kill("HUP", pid)
      eventually("all in it") { File.exist?(@out) && WAYS.all? { |way| File.read(@out).include?(way) } }
    end
    assert_all_there Dir["#{@out}*"]
  end

  # The old file stays, and the other stream follows.
  def test_a_file_that_can_not_be_opened_again
    writing do |pid|
      File.rename(@out, "#{@out}.1")
      File.rename(@err, "#{@err}.1")
      Dir.mkdir(@out)
      Process.kill("HUP", pid)
      line = "cuttle: can't write to #{@out}: it is a directory\n"
      eventually("the report") { File.read("#{@err}.1").include?(line) }
      eventually("what follows") { File.size?(@err) }
      size = File.size("#{@out}.1")
      eventually("more in the old one") { File.size("#{@out}.1") > size }
    end
    assert_all_there Dir["{#{@out}.*,#{@err}*}"], 1
  end

  # A restart in place begins with a file that has the last lines of its predecessor.
  def test_a_file_that_is_written_already_is_not_emptied
    script = "require 'cuttle'; 2.times { Cuttle::Redirection.new(Cuttle::Settings.build(variables: {}, " \
             "redirect_stdout: ARGV.first)).apply; puts 'line' }"
    assert system(*ruby, "-e", script, @out)
    assert_equal "line\nline\n", File.read(@out)
  end

  def test_logrotate_moves_and_copies
    logrotate = %w[/usr/sbin/logrotate /usr/bin/logrotate].find { |path| File.executable?(path) }
    skip "logrotate is not installed (Debian package logrotate)" unless logrotate

    { "nocopytruncate" => true, "copytruncate" => false }.each do |mode, complete|
      writing do |pid|
        rotate(logrotate, mode, pid)
        eventually("lines in the new file") { File.size?(@out) && File.size?("#{@out}.1") }
      end
      assert_all_there(Dir["#{@directory}/{out,err}*"]) if complete
      refute_includes File.read(@out), "\0" # as it has where a writer goes on at its old place
      Dir["#{@directory}/{out,err}*"].each { |path| File.unlink(path) }
    end
  end

  WAYS = %w[log out err c].freeze

  private

  def ruby
    [*ServingProcess::RUBY, "--disable=gems", *ServingProcess::PATHS.map { |path| "-I#{path}" }]
  end

  # A server whose output is in +file+.
  def serving_into(file, *arguments, path: ["#{ROOT}/examples/hello.ru"], chdir: ROOT)
    process = ServingProcess.new(["#{ROOT}/exe/cuttle", "serve", *path, *arguments, "-b", "tcp://127.0.0.1:0"],
                                 chdir: chdir)
    process.define_singleton_method(:out) { File.exist?(file) ? File.read(file) : "" }
    process.wait_until_ready
    yield process
  ensure
    process&.finish
  end

  # Yields the process that writes, and ends it.
  def writing
    pid = spawn(*ruby, "-e", WRITER, @out, @err)
    eventually("lines of each kind") { [@out, @err].all? { |path| File.exist?(path) } && complete?(all([@out, @err])) }
    yield pid
  ensure
    Process.kill("TERM", pid)
    Process.wait(pid)
  end

  def all(paths)
    paths.uniq.flat_map { |path| File.readlines(path, chomp: true) }
  end

  def complete?(lines)
    WAYS.all? { |way| lines.any? { |line| line.start_with?("#{way} ") } }
  end

  # The lines of each writer, from the first to the last, and those of the other kinds: that many reports, and one child
  # at a time.
  def assert_all_there(paths, reports = 0)
    lines = all(paths)
    WAYS.each do |way|
      numbers = lines.grep(/\A#{way} \d+\z/).map { |line| line[/\d+/].to_i }.sort
      assert_equal (0...numbers.length).to_a, numbers, way
    end
    others = lines.grep_v(/\A(#{WAYS.join("|")}) \d+\z/)
    assert_equal reports, others.grep(/\Acuttle: /).length
    assert_empty others.grep_v(/\A(child|cuttle: .*)\z/)
  end

  def rotate(logrotate, mode, pid)
    File.write("#{@directory}/logrotate.conf", <<~TEXT, perm: 0o644)
      #{@out} #{@err} {
        rotate 3
        nocreate
        nocompress
        #{mode}
        sharedscripts
        postrotate
          kill -HUP #{pid}
        endscript
      }
    TEXT
    out, status = Open3.capture2e(logrotate, "--force", "--state", "#{@directory}/state",
                                  "#{@directory}/logrotate.conf")
    assert_predicate status, :success?, out
  end
end

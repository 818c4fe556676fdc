# frozen_string_literal: true

require "test_helper"
require "open3"

# `ruby -w` has nothing to say of our own files. Gems warn on their own.
class TestWarnings < Minitest::Test
  include Serving
  include TemporaryDirectory

  def setup
    File.write("#{@directory}/config.ru", "run ->(_) { [200, { 'content-type' => 'text/plain' }, ['hello']] }\n")
  end

  def test_files_are_compiled
    files = Dir["#{ROOT}/{lib,test,bin,fuzz,studies,examples,rakelib}/**/*.{rb,ru,rake}"] + ["#{ROOT}/exe/cuttle"]
    code = "ARGF.each_line(chomp: true) { |path| RubyVM::InstructionSequence.compile_file(path) }"
    assert_quiet("-e", code, stdin: files.join("\n"))
  end

  def test_all_that_loads_lazily_is_loaded
    assert_quiet("-rcuttle", "-e", <<~RUBY)
      seen = []
      load = lambda do |room|
        seen << room
        room.constants(false).each do |name|
          each = room.const_get(name)
          load.call(each) if each.is_a?(Module) && each.to_s.start_with?("Cuttle::") && !seen.include?(each)
        end
      end
      load.call(Cuttle)
      abort "only \#{seen.length} rooms" unless seen.length > 200
    RUBY
  end

  def test_serve
    command = ["-w", "#{ROOT}/exe/cuttle", "serve", "#{@directory}/config.ru", "-b", "tcp://127.0.0.1:0"]
    process = ServingProcess.new([*command, "--log-requests", "--docroot", @directory])
    process.wait_until_ready
    2.times { assert_includes raw(process, "GET / HTTP/1.0\r\n\r\n"), "hello" }
    process.stop
    assert_empty warnings(process.err)
  ensure
    process&.finish
  end

  def test_load
    serving(->(_) { [200, {}, ["hello"]] }) do |server|
      cuttle("load", server.url, "-n", "20", "--json", "#{@directory}/load.json")
      cuttle("load", "compare", "#{@directory}/load.json", "#{@directory}/load.json")
    end
  end

  def test_lab_and_study
    cuttle("lab", "#{@directory}/config.ru", "--engines", "reactor", "--concurrency", "2", "--rounds", "1",
           "--duration", "100ms", "--warmup", "0")
    cuttle("lab", "report", Dir["#{@directory}/lab-results/*"].first)
    cuttle("study")
  end

  private

  # The command does its work, without a warning.
  def cuttle(*arguments)
    assert_quiet("#{ROOT}/exe/cuttle", *arguments)
  end

  def assert_quiet(*arguments, stdin: "")
    environment = { "TMPDIR" => @directory } # the lock is another than that of a lab which runs meanwhile
    command = [environment, RbConfig.ruby, "-w", "-I#{ROOT}/lib", *arguments]
    _, err, status = Open3.capture3(*command, stdin_data: stdin, chdir: @directory)
    assert_equal 0, status.exitstatus, err
    assert_empty warnings(err), arguments.join(" ")
  end

  def warnings(text)
    text.lines.grep(%r{#{ROOT}/(?!vendor/)}).grep(/:\d+: warning: /)
  end
end

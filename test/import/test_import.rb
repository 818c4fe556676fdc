# frozen_string_literal: true

require "test_helper"
require "tmpdir"
require "cuttle/cli/import"

# `cuttle import`: our configuration file from another server's.
class TestImport < Minitest::Test
  def setup
    @directory = Dir.mktmpdir("cuttle")
  end

  def teardown
    FileUtils.remove_entry(@directory)
  end

  def test_words_that_mean_the_same_are_taken_with_their_values
    import = puma(<<~RUBY)
      count = ENV.fetch("CUTTLE_NO_SUCH", 3)
      threads count, count
      environment "production"
      rackup DefaultRackup
      port Integer(ENV["CUTTLE_NO_SUCH"] || 3000)
      bind "unix:///tmp/x" if 1 > 0
      persistent_timeout 20
      log_requests
    RUBY
    assert_equal ["threads 3, 3", 'environment "production"', 'rackup "config.ru"', "port 3000",
                  'bind "unix:///tmp/x"', "persistent_timeout 20", "log_requests"], body(import)
    assert_equal ["puma.rb:1: depends on CUTTLE_NO_SUCH (not set)", "puma.rb:5: depends on CUTTLE_NO_SUCH (not set)"],
                 remarks(import)
  end

  def test_what_is_made_is_a_configuration_file_with_the_same_settings
    import = puma("threads 2, 4\nbind 'unix:///tmp/x'\nfirst_data_timeout 9\nforce_shutdown_after 8\n" \
                  "app do |env|\n  [200, {}, [env.fetch('PATH_INFO')]]\nend\n")
    File.write("#{@directory}/cuttle.rb", import.text)
    configuration = Cuttle::Configuration.read("#{@directory}/cuttle.rb")
    settings = Cuttle::Settings.build(variables: {}, configuration: configuration)
    assert_equal [2..4, ["unix:///tmp/x"], 9, 8],
                 [settings.threads, settings.binds, settings.request_timeout, settings.shutdown_timeout]
    assert_equal [200, {}, ["/a"]], configuration.app.call("PATH_INFO" => "/a")
  end

  def test_what_has_no_equal_is_told_with_its_line_and_why
    import = puma("queue_requests false\n\nssl_bind '0.0.0.0', 443, key: 'a'\nactivate_control_app\n" \
                  "force_shutdown_after :forever\nworkers 2")
    assert_equal ["workers 2"], body(import)
    ["puma.rb:1: queue_requests: the event loop ", "puma.rb:3: ssl_bind: serves without TLS",
     "puma.rb:4: activate_control_app: has no equal", "puma.rb:5: force_shutdown_after: a shutdown "]
      .zip(remarks(import)) { |beginning, remark| assert_operator remark, :start_with?, beginning }
    assert_equal 4, import.remarks.length
  end

  def test_blocks_are_copied_whole
    block = "app do |env|\n  if env.key?('A')\n    [200, {}, ['}']]\n  else\n    [404, {}, []]\n  end\nend"
    assert_equal block, puma("workers 1\n#{block}\nthreads 2").text[/^app.*^end$/m]
    assert_includes puma("app { |_| [200, { 'a' => \"{\" }, []] } # c").text, "app { |_| [200, { 'a' => \"{\" }, []] }"
  end

  def test_every_word_of_pumas_is_known
    puma = Cuttle::Import::Puma
    (puma::WORDS.keys + puma::OTHERS).each { |word| assert puma.known?(word), word }
    assert_empty puma::WORDS.keys & puma::OTHERS
  end

  def test_unicorn
    import = import("unicorn.conf.rb", <<~RUBY)
      worker_processes 4
      working_directory File.expand_path("..", __FILE__)
      listen "/run/x.sock", backlog: 64
      listen 8080
      listen ":8081"
      listen "127.0.0.1:8082"
      timeout 30
      check_client_connection false
      after_fork { |server, worker| exit! }
    RUBY
    assert_equal ['like "unicorn"', "workers 4", "directory #{@directory.inspect}", 'bind "unix:///run/x.sock"',
                  'bind "tcp://0.0.0.0:8080"', 'bind "tcp://0.0.0.0:8081"', 'bind "tcp://127.0.0.1:8082"',
                  "app_timeout 30"], body(import)
    assert_equal %w[8 9], remarks(import).map { |text| text[/\d+/] }
  end

  FAULTS = {
    "workerz 2" => /\A.*puma.rb:1: undefined .*workerz/, "raise 'no'" => /\A.*puma.rb:1: no \(RuntimeError\)\z/,
    "first_data_timeout" => /\A.*puma.rb:1: first_data_timeout: wrong number of arguments/,
    "if" => /syntax error/
  }.freeze

  def test_what_is_wrong_in_the_file
    FAULTS.each do |text, message|
      assert_match message, assert_raises(Cuttle::Error) { puma(text) }.message
    end
    assert_equal "no file /no/such", assert_raises(Cuttle::Error) { Cuttle::Import.new("/no/such") }.message
    assert_raises(Cuttle::UsageError) { Cuttle::Import.new("/no/such", server: "thin") }
  end

  def test_the_command_never_writes_over_a_file
    path = write("puma.rb", "workers 2\nplugin :x")
    out, err, status = command(path)
    assert_equal [0, "cuttle: #{path}:2: plugin: has no equal\n"], [status, err]
    assert_match(/^workers 2$/, out)
    made = "#{@directory}/cuttle.rb"
    assert_equal ["", 0], command(path, "-o", made).values_at(0, 2)
    assert_equal out, File.read(made)
    assert_equal ["", "cuttle: can't write #{made}: File exists\n", 1], command(path, "-o", made)
    assert_equal 2, command.last
  end

  private

  def write(name, text)
    "#{@directory}/#{name}".tap { |path| File.write(path, text) }
  end

  def import(name, text) = Cuttle::Import.new(write(name, text))

  def puma(text) = import("puma.rb", text)

  # The lines that say something.
  def body(import) = import.text.lines.map(&:chomp).reject { |line| line.empty? || line.start_with?("#") }

  def remarks(import) = import.remarks.map { |remark| remark.to_s.delete_prefix("#{@directory}/") }

  def command(*arguments)
    out = StringIO.new
    err = StringIO.new
    status = Cuttle::CLI.new(out: out, err: err).run(["import", *arguments])
    [out.string, err.string, status]
  end
end

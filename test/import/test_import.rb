# frozen_string_literal: true

require "test_helper"
require "cuttle/cli/import"

# `cuttle import`: our configuration file from another server's.
class TestImport < Minitest::Test
  include TemporaryDirectory

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
    assert_equal ["puma.rb:1: depends on CUTTLE_NO_SUCH (not set)", "puma.rb:5: depends on CUTTLE_NO_SUCH (not set)",
                  "puma.rb:6: bind: #{Cuttle::Import::SOCKET}"], remarks(import).sort
  end

  # Also those that did nothing this time.
  def test_lines_that_read_the_environment_are_comments_of_what_is_made
    text = "count = ENV.fetch('NO_SUCH', 3)\nthreads count, count\n  port 1\nplugin :x if ENV['NO_SUCH']\n"
    assert_equal ["#   count = ENV.fetch('NO_SUCH', 3)", "#   plugin :x if ENV['NO_SUCH']", "threads 3, 3",
                  "port 1"], puma(text).text.lines(chomp: true).drop(4)
    refute_includes puma("port 1").text, "depend"
  end

  def test_what_is_made_is_a_configuration_file_with_the_same_settings
    import = puma("threads 2, 4\nbind 'unix:///tmp/x'\nfirst_data_timeout 9\nforce_shutdown_after 8\n" \
                  "app do |env|\n  [200, {}, [env.fetch('PATH_INFO')]]\nend\n")
    made = settings(import)
    assert_equal [2..4, ["unix:///tmp/x"], 9, 8],
                 [made.threads, made.binds, made.request_timeout, made.shutdown_timeout]
    app = Cuttle::Configuration.read("#{@directory}/cuttle.rb").app
    assert_equal [200, {}, ["/a"]], app.call("PATH_INFO" => "/a")
  end

  def test_remarks_name_the_line_and_the_reason_of_what_has_no_equal
    import = puma("queue_requests false\n\nssl_bind '0.0.0.0', 443, key_pem: 'a'\nworker_check_interval 3\n" \
                  "force_shutdown_after :forever\nworkers 2")
    assert_equal ["workers 2"], body(import)
    ["puma.rb:1: queue_requests: the event loop ", "puma.rb:3: ssl_bind: key_pem: write the key ",
     "puma.rb:4: worker_check_interval: workers give ", "puma.rb:5: force_shutdown_after: a shutdown ",
     "puma.rb:6: workers: the app is loaded before the fork"]
      .zip(remarks(import)) { |beginning, remark| assert_operator remark, :start_with?, beginning }
    assert_equal 5, import.remarks.length
  end

  def test_sockets_and_output
    lines = ['bind "unix:///tmp/x?umask=0111"', 'bind_to_activated_sockets "only"', 'stdout_redirect "o", "e", true']
    import = puma([*lines, 'bind "tcp://[::1]:80"'].join("\n"))
    assert_equal [*lines, 'bind "tcp://[::1]:80"'], body(import)
  end

  def test_tls
    import = puma("bind 'ssl://0.0.0.0:1?cert=a&key=b&verify_mode=peer&ca=c'\n" \
                  "ssl_bind '::', 2, cert: '/a b.pem', key: 'k', ssl_cipher_filter: 'ECDHE+AESGCM', ca: nil\n" \
                  "bind 'ssl://0.0.0.0:3?cert=a&keystore=b'\nbind 'ssl://[::]:6'")
    assert_equal ['bind "ssl://0.0.0.0:1?cert=a&key=b&verify_mode=peer&ca=c"',
                  'bind "ssl://[::]:2?cert=/a%20b.pem&key=k&ssl_cipher_filter=ECDHE+AESGCM"'], body(import)
    assert_equal ["puma.rb:3: bind: keystore: is for JRuby; take cert and key",
                  "puma.rb:4: bind: ssl:// without cert: take ssl://host:port with --dev-tls (dev_tls true)"],
                 remarks(import)
  end

  # Puma believes everyone.
  def test_the_address_in_a_proxys_header_needs_a_trusted_proxy
    import = puma("set_remote_address proxy_protocol: :v1\nset_remote_address header: 'X-Real-IP'\n" \
                  "set_remote_address :localhost")
    assert_empty body(import)
    assert_equal ["puma.rb:1: set_remote_address: name your balancers with trust, and say proxy_protocol",
                  "puma.rb:2: set_remote_address: name your proxies with trust; then REMOTE_ADDR is the client that " \
                  "their X-Forwarded-For names",
                  "puma.rb:3: set_remote_address: REMOTE_ADDR is the client's address; a middleware may set it"],
                 remarks(import)
  end

  def test_blocks_are_copied_whole
    block = "app do |env|\n  if env.key?('A')\n    [200, {}, ['}']]\n  else\n    [404, {}, []]\n  end\nend"
    assert_equal block, puma("workers 1\n#{block}\nthreads 2").text[/^app.*^end$/m]
    assert_includes puma("app { |_| [200, { 'a' => \"{\" }, []] } # c").text, "app { |_| [200, { 'a' => \"{\" }, []] }"
  end

  def test_every_word_of_pumas_is_known
    puma = Cuttle::Import::Puma
    all = puma::WORDS.keys + puma::RUN.keys
    all.each { |word| assert puma.known?(word), word }
    assert_equal all, all.uniq
  end

  # A word of ours that means something else there.
  def test_words_that_mean_something_else
    import = puma("idle_timeout 3\nquiet\nmax_keep_alive Float::INFINITY\nhttp_content_length_limit nil\n" \
                  "set_remote_address :socket\nset_remote_address header: 'X-Real-IP'\nplugin :yabeda\n" \
                  "plugin :systemd\nplugin 'tmp_restart'\nstate_permission 0640")
    assert_equal ["log_requests false", 'max_keep_alive "none"', 'http_content_length_limit "none"',
                  "plugin :tmp_restart", 'state_permission "0640"'], body(import)
    assert_equal %w[1:\ idle_timeout 6:\ set_remote_address 7:\ plugin 8:\ plugin],
                 remarks(import).map { |text| text[/\d+: \w+/] }
  end

  def test_a_refork
    import = puma("fork_worker\nbefore_refork { 1 }\nafter_refork { 2 }")
    assert_equal ['refork_after "1000,none"', "before_refork { 1 }"], body(import)
    assert_equal ["3: after_refork"], remarks(import).map { |text| text[/\d+: \w+/] }
    assert_equal ['refork_after "50,none"'], body(puma("fork_worker 50"))
    assert_equal [["threads 1"], 1], [body(import = puma("fork_worker 0\nthreads 1")), remarks(import).length]
  end

  def test_addresses
    import = puma("bind 'tcp://[::1]:1'\nport 2\nclear_binds!\nport 3\nport 4\nport 5, '::1'\nbind 'ssl://[::]:6'")
    assert_equal ["port 3", 'port 4, "0.0.0.0"', 'port 5, "::1"'], body(import)
    assert_match(/\Apuma.rb:7: bind: ssl:/, remarks(import).join)
    assert_equal ['port 3, "::1"'], body(puma("set_default_host '::1'\nport 3"))
  end

  # Puma reads the files after the one that names them, and the blocks after all.
  def test_files_and_blocks_that_puma_reads_later
    other = write("other.rb", "threads Integer(ENV.fetch('CUTTLE_NO_SUCH', 2))\nworkerz")
    text = "load #{other.inspect}\ncluster { port 1 }\nsingle { port 2 }\nworkers get(:workers, 2)\ninject { tag 'x' }"
    assert_match(/other.rb:2: undefined .*workerz/, assert_raises(Cuttle::Error) { puma(text) }.message)
    File.write(other, File.read(other).lines.first)
    import = puma(text)
    assert_equal ["workers 2", 'tag "x"', "threads 2", "port 1"], body(import)
    assert_equal ["puma.rb:4: workers: #{Cuttle::Import::Puma::PRELOADS}",
                  "other.rb:1: depends on CUTTLE_NO_SUCH (not set)"], remarks(import)
    assert_equal ["port 2"], body(puma("cluster { port 1 }\nsingle { port 2 }\nworkers 0")).drop(1)
  end

  def test_what_only_puma_has
    import = puma("@config.options[:x] + 1\nsupported_http_methods Puma::Const::SOME + ['PROPFIND']\nthreads 1")
    assert_equal ["threads 1"], body(import)
    assert_equal %w[2 1 2], remarks(import).map { |text| text[/\d+/] }
    assert_equal "puma.rb:1: uses what only Puma has; look at it", remarks(import)[1]
  end

  def test_values_that_are_objects
    import = puma("app Object.new\ndirectory Pathname.new('/tmp')\ntag :x\nport 1..2", wrong: true)
    assert_equal ['directory "/tmp"', "tag :x", "port (1..2)"], body(import)
    assert_equal "puma.rb:1: app: the value is an object; copy it by hand", remarks(import).first
  end

  def test_unicorn
    import = import("unicorn.conf.rb", <<~RUBY)
      worker_processes 4
      working_directory File.expand_path("..", __FILE__)
      listen "/run/x.sock", backlog: 64, umask: 0117, tries: 5
      listen 8080, reuseport: true, backlog: -1
      listen ":8081"
      listen "127.0.0.1:8082"
      timeout 30
      check_client_connection false
      stdout_path "log/out"
      before_fork { |server, worker| server.kill }
      after_fork do |server, worker|
        exit!
      end
    RUBY
    assert_equal ['like "unicorn"', "preload_app false", "workers 4", "directory #{@directory.inspect}",
                  'bind "unix:///run/x.sock?backlog=64&umask=0117"', 'bind "tcp://0.0.0.0:8080?reuse_port=true"',
                  'bind "tcp://0.0.0.0:8081"', 'bind "tcp://127.0.0.1:8082"', "worker_timeout 30",
                  'redirect_stdout "log/out"', "redirect_append true",
                  "before_worker_boot do |server, worker|", "  exit!", "end"], body(import)
    assert_equal %w[7 8 10], remarks(import).map { |text| text[/\d+/] }
  end

  # What the file of another server means for the settings => that file.
  UNICORNS = {
    { engine: "single", workers: 4, keep_alive: false, worker_timeout: 30, preload: false } =>
      "worker_processes 4\ntimeout 30",
    { engine: "single", workers: 1, keep_alive: false, worker_timeout: 60, preload: false } => "listen 8080",
    { engine: "single", workers: 2, keep_alive: false, worker_timeout: 60, preload: true } =>
      "preload_app true\nworker_processes 2"
  }.freeze
  PUMAS = {
    { engine: "hybrid", workers: 2, threads: 1..5, preload: true } => "threads 1, 5\nworkers 2",
    { workers: 2, preload: false } => "workers 2\npreload_app! false",
    { workers: 3, preload: false, prune_bundler: true } => "prune_bundler\nworkers 3",
    { workers: 3, preload: true, prune_bundler: true } => "prune_bundler\nworkers 3\npreload_app!",
    { workers: 3, preload: true, prune_bundler: false } => "prune_bundler false\nworkers 3"
  }.freeze

  def test_what_the_other_servers_do_without_a_word
    { "unicorn.rb" => UNICORNS, "puma.rb" => PUMAS }.each do |name, files|
      files.each { |meant, text| assert_equal meant, settings(import(name, text)).to_h.slice(*meant.keys), text }
    end
  end

  def test_where_versions_of_puma_differ
    preloads = /\Apuma.rb:1: workers: the app is loaded before the fork, .* add preload_app false\z/
    ["workers 2", "workers 1", "workers :auto", "workers 2\nprune_bundler false"].each do |text|
      assert_match preloads, remarks(puma(text)).join, text
    end
    ["workers 0", "workers 2\npreload_app!", "workers 2\npreload_app! false", "workers 2\nprune_bundler",
     "threads 1"].each { |text| assert_empty remarks(puma(text)), text }
  end

  # Puma enters its directory before it opens them.
  def test_paths_below_the_directory
    import = puma("directory #{@directory.inspect}\npidfile 'tmp/pid'\nstate_path 'state'\n" \
                  "activate_control_app 'unix://c'")
    assert_equal ["#{@directory}/tmp/pid", "#{@directory}/state", "unix://#{@directory}/c"],
                 settings(import).to_h.values_at(:pidfile, :state_path, :control_url)
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
    path = write("puma.rb", "workers 2\ndaemonize")
    out, err, status = command(path)
    assert_equal [0, "cuttle: #{path}:1: workers: #{Cuttle::Import::Puma::PRELOADS}\n" \
                     "cuttle: #{path}:2: daemonize: #{Cuttle::Import::Puma::WORDS.fetch("daemonize")}\n"], [status, err]
    assert_match(/^workers 2$/, out)
    made = "#{@directory}/cuttle.rb"
    assert_equal ["", 0], command(path, "-o", made).values_at(0, 2)
    assert_equal out, File.read(made)
    assert_equal ["", "cuttle: can't write #{made}: File exists\n", 1], command(path, "-o", made)
    assert_equal 2, command.last
  end

  # Puma and Unicorn make it for everybody.
  def test_who_may_connect_to_a_unix_socket
    [puma("bind 'unix:///tmp/x'"), import("unicorn.conf.rb", "listen '/tmp/x'")].each do |import|
      assert_equal 1, remarks(import).grep(/:1: (bind|listen): that server lets every user connect/).length
    end
    assert_empty remarks(puma("bind 'unix:///tmp/x?umask=0117'\nbind 'unix:///tmp/y?mode=0660'\nbind 'unix://@z'"))
    assert_empty remarks(import("unicorn.conf.rb", "listen '/tmp/x', umask: 0117\nlisten 8080"))
  end

  private

  def write(name, text)
    "#{@directory}/#{name}".tap { |path| File.write(path, text) }
  end

  # A server has to start with every file that is made, unless +wrong+ says that the other one has no valid value.
  def import(name, text, wrong: false)
    Cuttle::Import.new(write(name, text)).tap { |import| settings(import) unless wrong }
  end

  def puma(text, **options) = import("puma.rb", text, **options)

  def settings(import)
    Cuttle::Settings.build(variables: {}, configuration: Cuttle::Configuration.read(write("cuttle.rb", import.text)))
  end

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

# frozen_string_literal: true

require "test_helper"
require "fileutils"
require "json"
require "open3"
require "rbconfig"

# The recipe of docs/lab.md for a further server, followed to the letter: its own file, and a row in the table.
class TestLabPeerRecipe < Minitest::Test
  include TemporaryDirectory

  ROOT = File.expand_path("../../..", __dir__)
  PEERS = "cuttle/lab/servers/peers"

  # A server of one process, for which `toy` stands in the recipe.
  TOY = <<~RUBY
    #!#{RbConfig.ruby} --disable=gems
    require "socket"
    puts("toy 1.2.3") || exit if ARGV.first == "--version"
    listener = TCPServer.new("127.0.0.1", Integer(ARGV.fetch(1)))
    loop do
      client = listener.accept
      nil until client.gets.to_s.strip.empty?
      client.write("HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\nConnection: close\\r\\n\\r\\nok")
      client.close
    end
  RUBY

  # Starts it as a lab does; prints the names of its proofs and what each says.
  START = <<~RUBY
    require "cuttle"
    require "json"
    servers = Cuttle::Lab::Servers
    peer = servers::Peers.find("toy")
    setup = servers::Setup.new(workers: 0, threads: 1, keep_alive: false, app: "config.ru", port: Integer(ARGV[0]),
                               log: ARGV[1])
    server = servers::Server.start(peer, setup)
    begin
      puts JSON.generate(server.proof.to_h { |each| [each.setting, each.proved] })
    ensure
      server.stop
    end
  RUBY

  def setup
    text = File.read("#{ROOT}/docs/lab.md")[/^## To add a server\n.*?(?=^## )/m]
    own, row = text.scan(/^```ruby\n(.*?)^```/m).flatten
    put "#{PEERS}/toy.rb", own
    put "#{PEERS}.rb", File.read("#{ROOT}/lib/#{PEERS}.rb").sub(/^ +"cuttle" => \[/) { "#{row}#{$&}" }
    put "bin/toy", TOY
    File.chmod(0o755, "#{@directory}/bin/toy")
  end

  def test_it_is_listed
    out = ruby("-rcuttle", "-rcuttle/cli/lab", "-e", "Cuttle::CLI::Lab.new(out: $stdout, err: $stderr).run(%w[peers])")
    assert_match(/^toy +1\.2\.3 +one process, one connection at a time$/, out)
  end

  def test_it_starts_and_is_proved
    port = Addrinfo.tcp("127.0.0.1", 0).bind { |socket| socket.local_address.ip_port }
    proofs = JSON.parse(ruby("-e", START, port.to_s, "#{@directory}/log").lines.last)
    assert_equal %w[port backlog keep-alive workers], proofs.keys
    assert_equal [true, nil, true, true], proofs.values
  end

  private

  def put(path, text)
    FileUtils.mkdir_p(File.dirname("#{@directory}/#{path}"))
    File.write("#{@directory}/#{path}", text)
  end

  # Standard output of a Ruby that finds the recipe's files before ours.
  def ruby(*arguments)
    path = "#{@directory}/bin:#{ENV.fetch("PATH")}"
    out, err, status = Open3.capture3({ "PATH" => path }, RbConfig.ruby, "-I#{@directory}", "-I#{ROOT}/lib", *arguments)
    assert status.success?, err
    out
  end
end

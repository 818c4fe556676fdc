# frozen_string_literal: true

require "test_helper"
require "ripper"

# Which room may import which: DESIGN's rooms, as rules that a file breaks by naming a constant or requiring a file.
class TestImports < Minitest::Test
  LIB = File.expand_path("../../lib", __dir__)
  EXT = File.expand_path("../../ext", __dir__)

  # Room => the constants of Cuttle that belong to it. (Error, UsageError, VERSION, Catalogue and InvalidResponse are
  # everybody's.)
  ROOMS = {
    "core" => %w[Connection Poller Acceptor Scoreboard Beneath Hijacked Descriptors Orphans Malloc],
    "cores" => %w[Cores], "http" => %w[Http],
    "rack" => %w[Rack], "static" => %w[Static],
    "service" => %w[Service], "engines" => %w[Engines], "telemetry" => %w[Telemetry], "ledger" => %w[Ledger],
    "listeners" => %w[Listeners],
    "settings" => %w[Settings], "configuration" => %w[Configuration], "ruby_file" => %w[RubyFile],
    "import" => %w[Import], "hooks" => %w[Hooks], "database_pools" => %w[DatabasePools],
    "memory" => %w[Memory], "control_groups" => %w[ControlGroups],
    "plugin" => %w[Plugin],
    "restart" => %w[Restart], "backtraces" => %w[Backtraces],
    "control" => %w[Control], "pid_file" => %w[PidFile], "stats" => %w[Stats],
    "watchdog" => %w[Watchdog], "server" => %w[Server], "signals" => %w[Signals],
    "worker" => %w[Worker], "notify" => %w[Notify], "warmup" => %w[Warmup],
    "redirection" => %w[Redirection], "turns" => %w[Turns],
    "cluster" => %w[Cluster], "launcher" => %w[Launcher], "cli" => %w[CLI], "report" => %w[Report], "load" => %w[Load],
    "lab" => %w[Lab], "studies" => %w[Studies], "tuner" => %w[Tuner]
  }.freeze

  # Below lib/cuttle, the longest prefix counts: the rooms that its files may name beside their own.
  MAY = {
    "cores" => %w[core http ledger],
    "engines" => [],
    "engines/ractors" => %w[watchdog], # each ractor needs its own
    "http" => %w[core], # the native parser
    "static" => %w[core],
    "telemetry" => %w[ledger],
    "listeners" => %w[turns],
    "catalogue" => [],
    "signals" => [],
    "notify" => [],
    "warmup" => %w[cores],
    "redirection" => %w[cores],
    "report" => [],
    "load" => %w[report],
    "load/reports/prometheus" => %w[report telemetry], # its text format
    "lab" => %w[load report],
    "lab/machine/cores" => %w[load report cluster], # CPUs to count
    "lab/servers/peers/cuttle" => %w[load report engines], # which engines there are, and what each is
    "studies" => %w[load lab report],
    "studies/forecasts" => %w[lab tuner], # the model
    "tuner" => %w[load lab report engines], # what each engine is
    "tuner/production" => %w[load lab report engines ledger], # a running server's
    "rack" => %w[core http],
    "rack/loader" => %w[ruby_file],
    "rack/handler" => %w[settings configuration launcher restart], # an entry point, as exe/cuttle is
    "service" => %w[core http rack static telemetry],
    "settings" => %w[cores engines http listeners cluster telemetry memory], # names to check, CPUs to count
    "configuration" => %w[settings ruby_file hooks plugin],
    "configuration/words" => %w[settings hooks plugin import], # whether an unknown word is Puma's
    "plugin" => %w[telemetry ledger], # two send metrics
    "hooks" => [],
    "database_pools" => [],
    "control_groups" => [],
    "memory" => %w[control_groups],
    "backtraces" => [],
    "restart" => %w[signals notify],
    "ruby_file" => [],
    "import" => %w[configuration ruby_file],
    "watchdog" => [],
    "server" => %w[settings listeners cores engines http rack service static telemetry watchdog database_pools
                   memory],
    "worker" => %w[signals notify backtraces stats ledger warmup],
    "stats" => [],
    "pid_file" => %w[turns],
    "turns" => [],
    "control" => %w[settings listeners server signals stats telemetry ledger], # it is a server, whose app is its own
    "cluster" => %w[control_groups cores engines memory server worker signals notify backtraces stats ledger warmup],
    "launcher" => %w[engines hooks database_pools restart redirection settings listeners cores rack server worker
                     cluster control pid_file signals notify backtraces],
    "cli" => ROOMS.keys
  }.freeze

  # Constants that a room has of its own, by the name of another's: a server of the lab is a process.
  OWN = { "lab" => %w[Server Listeners Cores Configuration Memory],
          "cores" => %w[Connection Poller Acceptor Scoreboard Beneath Hijacked] }.freeze

  # Directories of lib/ outside Cuttle's own: the handlers that rackup looks for.
  HANDLERS = %w[rack/handler/cuttle.rb rackup/handler/cuttle.rb].freeze

  def test_rooms_name_only_the_rooms_that_they_may
    wrong = files.flat_map do |path, code|
      (imports(code, path[/\A\w+/]) - allowed(path)).map { |room| "#{path} names #{room}" }
    end
    assert_empty wrong
  end

  def test_only_the_rack_room_names_the_rack_library
    wrong = files.reject { |path, _| path.start_with?("rack") }.select do |_, code|
      code.top_level.include?("Rack") || code.requires.any? { |name| name.match?(%r{\Arack(up)?(/|\z)}) }
    end
    assert_empty wrong.map(&:first)
  end

  def test_every_file_is_in_a_room
    assert_empty(files.reject { |path, _| prefix(path) }.map(&:first))
    others = Dir["**/*.rb", base: LIB].reject { |path| path.start_with?("cuttle/") || path == "cuttle.rb" }
    assert_equal HANDLERS, others.sort
  end

  # What a reader of the lab begins with, and a head for each of its rooms; the rest lies in a room.
  def test_nothing_of_the_lab_lies_outside_a_room
    rooms = Dir["*/", base: "#{LIB}/cuttle/lab"].map { |path| path.chomp("/") }
    loose = Dir["*.rb", base: "#{LIB}/cuttle/lab"].map { |path| path.delete_suffix(".rb") } - rooms
    assert_equal %w[options], loose
    tested = Dir["*/", base: File.expand_path("../lab", __dir__)].map { |path| path.chomp("/") } - %w[support]
    assert_equal rooms.sort, tested.sort
  end

  def test_no_engine_names_another
    Serving::ENGINES.each do |name|
      own = constant(name)
      others = Cuttle::Engines.names.map { |other| constant(other) } - [own]
      assert_empty others & code_of("engines/#{name}.rb").constants, name
    end
  end

  # README has the numbers: of lines in an engine's file, and in the folder that some have beside it.
  def test_engines_are_as_short_as_readme_says
    readme = File.read("#{LIB}/../README.md").gsub(/\s+/, " ")
    most = readme[/An engine is one Ruby file of fewer than (\d+) lines/, 1].to_i
    Dir["#{LIB}/cuttle/engines/*.rb"].each { |path| assert_operator lines(path), :<, most, path }
    beside = readme.scan(/`(\w+)` (?:has )?fewer than (\d+)/).to_h
    assert_equal Dir["*/", base: "#{LIB}/cuttle/engines"].map { |path| path.chomp("/") }.sort, beside.keys.sort
    beside.each do |name, number|
      assert_operator lines(*Dir["#{LIB}/cuttle/engines/#{name}/**/*.rb"]), :<, number.to_i, name
    end
  end

  def test_the_checker_sees_constants_and_requires
    code = Code.new("require 'rack'\nmodule Cuttle\n  " \
                    "class Http; X = Settings::Values; ::Rack::Builder; a.b(Foo::Bar) end\nend\n")
    assert_equal %w[Foo Settings], code.constants.sort
    assert_equal %w[Rack], code.top_level
    assert_equal %w[rack], code.requires
  end

  # Parsers are fuzzed and read without Ruby.
  def test_parser_sources_know_nothing_of_ruby
    %w[parser chunked usual].each do |name|
      included = included_by("#{EXT}/cuttle/#{name}.c")
      assert_empty included.grep(/ruby/), name
      assert_includes included, "parser.h"
    end
  end

  # Nor does what keeps files inside their root.
  def test_beneath_knows_nothing_of_ruby
    %w[beneath beneath_linux beneath_walk].each do |name|
      assert_empty included_by("#{EXT}/cuttle/#{name}.c").grep(/ruby/), name
    end
  end

  # Rack's and CGI's names. rack.hijack is also a header that apps return.
  def test_only_the_envs_c_files_know_its_names
    names = /"(?:HTTPS?[_"]|REQUEST_|REMOTE_|SERVER_|SSL_|CONTENT_|PATH_INFO|QUERY_STRING|rack\.(?!hijack)\w)/
    naming = Dir["*/*.{c,h}", base: EXT].select { |path| File.read("#{EXT}/#{path}").match?(names) }
    assert_includes naming, "cuttle/rb_env.c"
    assert_empty naming.grep_v(%r{\Acuttle/rb_env})
  end

  private

  def lines(*paths)
    paths.sum { |path| File.foreach(path).count }
  end

  # A Ruby file's constants (the first name of each path, definitions apart) and what it requires.
  class Code
    attr_reader :constants, :top_level, :requires

    def initialize(source)
      @constants = []
      @top_level = []
      @requires = source.scan(/^\s*require(?:_relative)? ["']([^"']+)["']/).flatten
      walk(Ripper.sexp(source))
      [@constants, @top_level].each(&:uniq!)
    end

    private

    def walk(node)
      return unless node.is_a?(Array)

      case node.first
      when :module, :class then node.drop(2).each { |part| walk(part) } # its own name is no import
      when :var_ref then node[1][0] == :@const ? @constants << node[1][1] : walk(node[1])
      when :top_const_ref then @top_level << node[1][1]
      when :const_path_ref then walk(node[1])
      else node.each { |part| walk(part) }
      end
    end
  end

  # [path below lib/cuttle, Code]
  def files
    @files ||= Dir["**/*.rb", base: "#{LIB}/cuttle"].sort.map { |path| [path, code_of(path)] }
  end

  def code_of(path)
    Code.new(File.read("#{LIB}/cuttle/#{path}"))
  end

  # Rooms that a file of +room+ names or requires.
  def imports(code, room)
    names = code.constants - OWN.fetch(room, []) + code.top_level
    named = ROOMS.select { |_, constants| constants.intersect?(names) }.keys
    named | code.requires.filter_map { |name| name[%r{\Acuttle/(\w+)}, 1] if ROOMS.key?(name[%r{\Acuttle/(\w+)}, 1]) }
  end

  def prefix(path)
    MAY.keys.select { |prefix| path == "#{prefix}.rb" || path.start_with?("#{prefix}/") }.max_by(&:length) ||
      ("everybody" if path == "version.rb")
  end

  def allowed(path)
    room = path[/\A\w+/]
    [room] + MAY.fetch(prefix(path), [])
  end

  def constant(name)
    name.split("_").map(&:capitalize).join
  end

  # Names of all headers that a C file includes, directly or by another of ours.
  def included_by(path, seen = [])
    File.read(path).scan(/^\s*#\s*include\s+["<]([^">]+)[">]/).flatten.each do |name|
      next if seen.include?(name)

      seen << name
      header = File.join(File.dirname(path), name)
      included_by(header, seen) if File.exist?(header)
    end
    seen
  end
end

# frozen_string_literal: true

require "test_helper"
require "json"
require "open3"
require "shellwords"
require "stringio"
require "yaml"

# The files in deploy/: each is read by the program that it is for, or by a parser of its form, and each command in them
# is one that `cuttle check` takes.
class TestDeploy < Minitest::Test
  include Serving

  DEPLOY = "#{ROOT}/deploy".freeze
  FILES = Dir["#{DEPLOY}/**/*"].select { |path| File.file?(path) }.freeze
  YAMLS = FILES.grep(/\.ya?ml\z/).to_h { |path| [path.delete_prefix("#{DEPLOY}/"), YAML.load_stream(File.read(path))] }
               .freeze
  INSTRUCTIONS = %w[ARG FROM WORKDIR ENV RUN COPY USER EXPOSE ENTRYPOINT CMD].freeze

  # From the supervisor's kill to its exit, and to what may come late on a busy machine.
  RESERVE = 2

  def test_each_says_what_was_tried_and_what_was_not
    FILES.each do |path|
      assert_match(/Tried: .*Not (run|built|tried|applied|deployed)/, head(path), path)
    end
  end

  # Each metric that the dashboard names is one that the server prints.
  def test_the_dashboard
    dashboard = JSON.parse(File.read("#{DEPLOY}/grafana.json"))
    texts = dashboard["panels"].flat_map { |panel| panel["targets"].map { |target| target["expr"] } }
    texts << dashboard["templating"].to_s
    named = texts.join(" ").scan(/\bcuttle_[a-z_]+/).uniq
    assert_operator named.length, :>, 20
    assert_empty named - printed
    texts.first(texts.length - 1).each { |text| assert_equal text.count("("), text.count(")"), text }
    assert_equal dashboard["panels"].length, dashboard["panels"].map { |panel| panel["id"] }.uniq.length
  end

  def test_each_is_in_the_documents
    documents = %w[deployment kubernetes].map { |name| File.read("#{ROOT}/docs/#{name}.md") }.join
    assert_empty FILES.map { |path| path.delete_prefix("#{DEPLOY}/") }
                      .reject { |path| documents.include?("deploy/#{path}") }
  end

  def test_each_command_is_one_that_check_takes
    commands.each do |path, arguments|
      assert_equal "serve", arguments.first, path
      out = StringIO.new
      flags = [*arguments.drop(1), "-C", "-", *(%w[--control-token x] if control?(arguments))]
      assert_equal 0, Cuttle::CLI.new(out: out, err: out).run(["check", *flags]), "#{path}: #{out.string}"
    end
    assert_equal %w[Dockerfile Procfile cuttle.service kamal.yml kubernetes/deployment.yaml], commands.keys.sort
  end

  # In comments and in the document.
  def test_each_option_in_the_texts_exists
    known = Cuttle::Settings::TABLE.flat_map(&:flags).map { |flag| flag[/\A--(?:\[no-\])?([\w-]+)/, 1] }.compact
    texts = FILES.to_h { |path| [path, File.foreach(path).grep(/^\s*#/).join] }
    texts["docs/kubernetes.md"] = File.read("#{ROOT}/docs/kubernetes.md")
    texts.each { |path, text| assert_empty text.scan(/(?<![\w-])--([a-z][\w-]*)/).flatten - known, path }
  end

  # systemd before 252 (Ubuntu 22.04 has 249) doesn't know --kill-whom. Later versions know both.
  def test_a_signal_to_the_main_process
    texts = FILES.map { |path| File.read(path) }.grep(/systemctl kill/)
    assert_equal 1, texts.length
    assert_match(/^ *systemctl kill --kill-who=main --signal=HUP cuttle.service$/, texts.first)
  end

  # A shorter time would kill a server that still answers.
  def test_the_times_to_stop
    assert_operator kubernetes["terminationGracePeriodSeconds"], :>=, sleeping + stopping("kubernetes/deployment.yaml")
    assert_operator service("TimeoutStopSec").to_i, :>=, stopping("cuttle.service")
    assert_operator YAMLS["kamal.yml"].first["drain_timeout"], :>=, stopping("kamal.yml")
  end

  def test_ports
    ports = container["ports"].to_h { |port| [port["name"], port["containerPort"]] }
    settings = settings("kubernetes/deployment.yaml")
    assert_equal({ "http" => settings.binds.first, "control" => settings.control_url }
                 .transform_values { |uri| uri[/\d+\z/].to_i }, ports)
    assert_equal %w[control], probes.map { |probe| probe["port"] }.uniq
    assert_equal "http", YAMLS["kubernetes/service.yaml"].first["spec"]["ports"].first["targetPort"]
    assert_equal YAMLS["kamal.yml"].first["proxy"]["app_port"], settings("kamal.yml").binds.first[/\d+\z/].to_i
  end

  # The server's own answers, on another port.
  def test_probes
    arguments = container["args"].drop(1).map { |argument| argument.sub(/tcp:.*/, "tcp://127.0.0.1:0") }
    env = { "CUTTLE_CONTROL_TOKEN" => "x" }
    serving_process("#{ROOT}/examples/hello.ru", *arguments, env: env, forked: true) do |process|
      control = process.out[%r{control +tcp(://\S+)}, 1].prepend("http")
      probes.each do |probe|
        eventually(probe["path"]) { get(control, probe["path"]).status == 200 }
      end
      assert_equal 403, get(control, "/stats").status
    end
  end

  def test_kubernetes_selects_what_it_deploys
    labels = YAMLS["kubernetes/deployment.yaml"].first["spec"]["template"]["metadata"]["labels"]
    service, budget = YAMLS["kubernetes/service.yaml"].map { |object| object["spec"]["selector"] }
    assert_equal [labels, labels], [service, budget["matchLabels"]]
    assert_equal "app", YAMLS["kubernetes/autoscaler.yaml"].first["spec"]["scaleTargetRef"]["name"]
    YAMLS.each { |path, objects| refute_empty objects.compact, path }
  end

  def test_the_dockerfile
    instructions = dockerfile
    assert_empty instructions.map(&:first) - INSTRUCTIONS
    stages = instructions.select { |name, _| name == "FROM" }.map { |_, text| text[/ AS (\w+)/, 1] }
    assert_equal ["build", nil], stages
    copied = instructions.filter_map { |_, text| text[/--from=(\w+)/, 1] }
    assert_equal %w[build], copied.uniq
    user = instructions.reverse.find { |name, _| name == "USER" }.last
    assert_match(/\A[1-9]\d*:[1-9]\d*\z/, user)
    instructions.select { |name, _| name == "RUN" }.each { |_, text| assert_shell text }
  end

  # Gems are installed again only when the Gemfile changes.
  def test_the_dockerfile_copies_the_app_after_its_gems
    texts = dockerfile.map { |name, text| "#{name} #{text}" }
    order = ["COPY Gemfile Gemfile.lock ./", /RUN bundle install/, "COPY . ."]
    order = order.map { |text| texts.index { |one| text === one } } # rubocop:disable Style/CaseEquality
    assert_equal order.compact.sort, order
  end

  # systemd does not set PWD, so a restart would not know the name of a link.
  def test_the_service_knows_its_directory_by_name
    lines = File.readlines("#{DEPLOY}/cuttle.service", chomp: true)
    assert_includes lines, "Environment=PWD=#{service("WorkingDirectory")}"
  end

  def test_the_units
    skip "systemd-analyze is not installed (Debian package systemd)" unless program("systemd-analyze")

    out, status = Open3.capture2e("systemd-analyze", "verify", "#{DEPLOY}/cuttle.service", "#{DEPLOY}/cuttle.socket")
    assert_predicate status, :success?, out
    assert_empty out.lines.grep(/cuttle/)
  end

  private

  # What a file says of itself: its first comment; JSON has none.
  def head(path)
    return JSON.parse(File.read(path)).fetch("description") if path.end_with?(".json")

    File.foreach(path).take_while { |line| line.start_with?("#") }.join.gsub(/\n# */, " ")
  end

  # Of samples.
  def printed
    Cuttle::Telemetry::Metrics::TABLE.flat_map do |metric|
      metric.type == :histogram ? %w[bucket sum count].map { |part| "#{metric.name}_#{part}" } : [metric.name]
    end
  end

  # The arguments of `cuttle` by file.
  def commands
    { "Procfile" => Shellwords.split(expand(File.read("#{DEPLOY}/Procfile")[/^web: bundle exec cuttle (.*)/, 1])),
      "cuttle.service" => Shellwords.split(service("ExecStart")[/ cuttle (.*)/, 1]),
      "Dockerfile" => %w[ENTRYPOINT CMD].flat_map { |name| JSON.parse(dockerfile.to_h[name]) }.drop(3),
      "kamal.yml" => Shellwords.split(YAMLS["kamal.yml"].first["servers"]["web"]["cmd"]),
      "kubernetes/deployment.yaml" => container["args"] }
  end

  def expand(text)
    text.gsub(/\$\{\w+:-([^}]*)\}/, '\1')
  end

  def settings(path)
    flags = Cuttle::CLI.command("serve").new(out: nil, err: nil).send(:parse, commands[path].drop(1))
    Cuttle::Settings.build(variables: { "CUTTLE_CONTROL_TOKEN" => "x" }, **flags)
  end

  def control?(arguments)
    arguments.any? { |argument| argument.start_with?("--control-url") }
  end

  def probes
    %w[startupProbe readinessProbe livenessProbe].map { |name| container[name]["httpGet"] }
  end

  # Seconds until a server has ended for sure.
  def stopping(path)
    settings(path).shutdown_timeout + RESERVE
  end

  def service(name)
    File.read("#{DEPLOY}/cuttle.service")[/^#{name}=(.*)/, 1]
  end

  def kubernetes
    YAMLS["kubernetes/deployment.yaml"].first["spec"]["template"]["spec"]
  end

  def container
    kubernetes["containers"].first
  end

  def sleeping
    container["lifecycle"]["preStop"]["exec"]["command"].last.to_i
  end

  # [[instruction, its text], …]
  def dockerfile
    lines = File.read("#{DEPLOY}/Dockerfile").lines.grep_v(/\A\s*(#|$)/).join
    lines.gsub(/\\\n\s*/, "").lines(chomp: true).map { |line| line.split(" ", 2) }
  end

  def assert_shell(text)
    out, status = Open3.capture2e("sh", "-n", "-c", text)
    assert_predicate status, :success?, out
  end

  def program(name)
    [*ENV["PATH"].split(":"), "/usr/sbin"].map { |path| "#{path}/#{name}" }.find { |path| File.executable?(path) }
  end
end

# frozen_string_literal: true

require "fileutils"
require "io/nonblock"
require "io/wait"
require "json"
require "tmpdir"

# A headless Chromium, controlled through its own pipe (the DevTools protocol: JSON, ended by a zero octet). It records
# the requests and the complaints of pages.
class Chromium
  NAMES = %w[chromium chromium-browser google-chrome].freeze
  PATIENCE = 60 # seconds for an answer: a first start on a busy machine is slow

  # The program, or nil.
  def self.program
    directories = ENV.fetch("PATH", "").split(File::PATH_SEPARATOR)
    NAMES.product(directories).map { |name, directory| "#{directory}/#{name}" }.find { |path| File.executable?(path) }
  end

  # URLs of all requests, and texts of errors and warnings of the console, since the last visit.
  attr_reader :requests, :complaints

  def initialize
    @profile = Dir.mktmpdir("cuttle-chromium")
    @number, @buffer, @events = 0, +"".b, []
    @requests, @complaints = [], []
    start
    attach
  rescue StandardError
    close
    raise
  end

  # Opens a file in a window +width+ wide. scheme: "light" or "dark". media: "screen" or "print".
  def visit(path, width:, scheme:, media: "screen")
    @requests, @complaints = [], []
    command("Emulation.setDeviceMetricsOverride", width: width, height: 900, deviceScaleFactor: 1, mobile: width < 500)
    show(scheme: scheme, media: media)
    @events.clear
    command("Page.navigate", url: "file://#{path}")
    event("Page.loadEventFired")
    evaluate("document.fonts.ready.then(() => true)")
  end

  # Shows the page in another scheme, without loading it again.
  def show(scheme:, media: "screen")
    command("Emulation.setEmulatedMedia", media: media,
                                          features: [{ name: "prefers-color-scheme", value: scheme }])
  end

  # The value of a JavaScript expression (or of its promise).
  def evaluate(expression)
    answer = command("Runtime.evaluate", expression: expression, returnByValue: true, awaitPromise: true)
    raise answer["exceptionDetails"].to_s if answer["exceptionDetails"]

    answer["result"]["value"]
  end

  # A picture of the whole page, or of the part +clip+ ({ x:, y:, width:, height: }).
  def screenshot(path, clip: nil)
    clip &&= { scale: 1, **clip }
    data = command("Page.captureScreenshot", format: "png", captureBeyondViewport: true, **(clip ? { clip: clip } : {}))
    File.binwrite(path, data["data"].unpack1("m"))
  end

  def pdf(path)
    data = command("Page.printToPDF", printBackground: false, preferCSSPageSize: true)
    File.binwrite(path, data["data"].unpack1("m"))
  end

  def close
    stop if @pid
    [@commands, @answers].compact.each(&:close)
    FileUtils.rm_rf(@profile)
  end

  private

  # Descriptor 3 is where it reads commands, 4 where it writes answers. It takes "not now" for an end, and Ruby's pipes
  # say that.
  def start
    commands, @commands = IO.pipe
    @answers, answers = IO.pipe
    [commands, answers].each { |io| io.nonblock = false }
    @pid = Process.spawn(environment, self.class.program, *flags,
                         3 => commands, 4 => answers, in: File::NULL, out: File::NULL, err: "#{@profile}/log",
                         pgroup: true)
  ensure
    [commands, answers].compact.each(&:close)
  end

  # Crashpad would keep its dumps in the user's home.
  def environment = { "BREAKPAD_DUMP_LOCATION" => @profile }

  # Its whole process group, which start made, and Crashpad's handlers, which leave that group.
  def stop
    Process.kill(:KILL, -@pid)
    Process.wait(@pid)
    Dir["/proc/[0-9]*"].each { |process| stop_handler(process) }
  end

  # Handlers name the directory of their dumps.
  def stop_handler(process)
    return unless File.read("#{process}/cmdline").include?("--database=#{@profile}")

    Process.kill(:KILL, File.basename(process).to_i)
  rescue SystemCallError
    nil # the process has ended
  end

  def flags
    %W[--headless=new --remote-debugging-pipe --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run
       --disable-background-networking --hide-scrollbars --user-data-dir=#{@profile} about:blank]
  end

  def attach
    target = command("Target.createTarget", url: "about:blank")["targetId"]
    @session = command("Target.attachToTarget", targetId: target, flatten: true)["sessionId"]
    %w[Page Runtime Log Network].each { |domain| command("#{domain}.enable") }
  end

  def command(method, **parameters)
    number = @number += 1
    message = { id: number, method: method, params: parameters }
    message[:sessionId] = @session if @session
    @commands.write("#{JSON.generate(message)}\0")
    answer = receive { |each| each["id"] == number }
    raise "#{method}: #{answer["error"]}" if answer["error"]

    answer["result"]
  end

  # Waits for one that comes, or came since the last command.
  def event(name)
    seen = @events.find { |each| each["method"] == name } || receive { |each| each["method"] == name }
    @events.clear
    seen
  end

  def receive
    deadline = Process.clock_gettime(Process::CLOCK_MONOTONIC) + PATIENCE
    loop do
      message = next_message(deadline)
      note(message)
      return message if yield message
    end
  end

  def next_message(deadline)
    until (ending = @buffer.index("\0"))
      left = deadline - Process.clock_gettime(Process::CLOCK_MONOTONIC)
      raise "Chromium does not answer: #{log}" unless left.positive? && @answers.wait_readable(left)

      @buffer << @answers.readpartial(1 << 16)
    end
    JSON.parse(@buffer.slice!(0..ending).chop.force_encoding(Encoding::UTF_8))
  rescue EOFError
    raise "Chromium is gone: #{log}"
  end

  def log
    File.read("#{@profile}/log").lines.last(3).join
  end

  def note(message)
    @events << message if message["method"] == "Page.loadEventFired"
    parameters = message["params"]
    case message["method"]
    when "Network.requestWillBeSent" then @requests << parameters["request"]["url"]
    when "Log.entryAdded" then @complaints << parameters["entry"]["text"]
    when "Runtime.exceptionThrown" then @complaints << parameters["exceptionDetails"]["text"]
    when "Runtime.consoleAPICalled" then @complaints << parameters["args"].to_s
    end
  end
end

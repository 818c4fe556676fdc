# frozen_string_literal: true

require "test_helper"

# Ruby's ENV[]= moves the environment, and only the GVL protects readers from that. So no thread without the GVL (the io
# thread, the spooler, waiting threads, the load generator's workers) may call functions that read the environment:
# getenv, and functions of the C library that read it for a time zone, a language, a directory or a program.
class TestEnvironment < Minitest::Test
  EXT = File.expand_path("../../ext", __dir__)

  READERS = %w[
    (?:secure_)?getenv environ setenv unsetenv putenv clearenv
    localtime(?:_r)? gmtime(?:_r)? ctime(?:_r)? mktime timegm timelocal tzset strftime(?:_l)? strptime syslog
    setlocale newlocale strerror(?:_r|_l)? perror strsignal psignal d?c?n?gettext catopen iconv_open
    getaddrinfo getnameinfo gethostby\w+ getservby\w+ res_\w+ getpw\w+ getgr\w+ getlogin\w*
    tempnam tmpnam(?:_r)? tmpfile wordexp glob system popen exec[lv]p\w* posix_spawnp? dlopen
  ].freeze
  CALL = /(?<![\w.>"])(?:#{READERS.join("|")})(?=\s*\()|\benviron\b/

  # Calls in files that know Ruby: all of them are made with the GVL, for methods of Ruby's. Make sure of that before
  # you add one.
  WITH_GVL = {
    "rb_ledger.c" => %w[getenv], "rb_poller.c" => %w[getenv], "rb_source.c" => %w[getenv strerror]
  }.freeze

  def test_files_without_ruby_do_not_look_into_the_environment
    others = sources.reject { |path| knows_ruby?(path) }
    assert_operator others.size, :>, 40
    assert_empty(others.to_h { |path| [path, calls(path)] }.reject { |_, names| names.empty? })
  end

  def test_files_with_ruby_do_so_where_it_is_known
    found = sources.select { |path| knows_ruby?(path) }.to_h { |path| [File.basename(path), calls(path).uniq.sort] }
    assert_equal WITH_GVL, found.reject { |_, names| names.empty? }
  end

  def test_what_is_run_without_the_gvl_does_not
    bodies = sources.flat_map { |path| without_gvl(path) }.to_h
    assert_operator bodies.size, :>=, 10
    assert_empty(bodies.transform_values { |body| calls_in(body) }.reject { |_, names| names.empty? })
  end

  def test_the_checker_sees_calls_and_nothing_else
    assert_equal %w[getenv gmtime_r environ], calls_in("getenv(x); gmtime_r (&a, &b); environ = NULL;")
    assert_empty calls_in("/* getenv() */ // strftime()\n\"system()\"; my_getenv(); at->system(x); it.glob(x)")
  end

  private

  def sources = Dir["#{EXT}/{cuttle,cuttle_load}/*.{c,h}"]

  def knows_ruby?(path) = File.basename(path).start_with?("rb_")

  def calls(path) = calls_in(File.read(path))

  def calls_in(code) = code.gsub(%r{/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\])*"}m, " ").scan(CALL)

  # Functions that a file has run while others have the GVL, and those that interrupt them, as [name, body].
  def without_gvl(path)
    code = File.read(path)
    names = code.scan(/\b(?:rb_nogvl|rb_thread_call_without_gvl2?)\((\w+), [^,]+, (\w+)/).flatten - %w[RUBY_UBF_IO NULL]
    names.map { |name| ["#{name} in #{path}", code[/^static \w+ \*?#{name}\(.*?^}/m] || flunk("no function #{name}")] }
  end
end

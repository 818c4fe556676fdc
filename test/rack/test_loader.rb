# frozen_string_literal: true

require "test_helper"
require "tmpdir"

class TestLoader < Minitest::Test
  def test_a_rackup_file
    app = load_text("use(Class.new { def initialize(app) = @app = app; def call(env) = @app.call(env) })\n" \
                    "run ->(_) { [200, {}, ['hi']] }")
    assert_equal [200, {}, ["hi"]], app.call({})
  end

  def test_config_ru_is_what_is_meant_by_nothing
    in_directory("config.ru" => "run ->(_) { 7 }") { assert_equal 7, Cuttle::Rack::Loader.load(nil).call({}) }
  end

  def test_a_directory_of_files_has_an_app_that_finds_nothing
    in_directory("index.html" => "hi") do |directory|
      assert_equal 404, Cuttle::Rack::Loader.load(directory).call({}).first
    end
  end

  def test_an_apps_directory_is_not_served_as_files
    in_directory("config.ru" => "run 1") do |directory|
      assert_error("#{directory} holds a config.ru: give #{directory}/config.ru to serve the app") { directory }
    end
  end

  def test_nothing_there
    in_directory({}) do
      assert_error("no file hello.ru") { "hello.ru" }
      assert_error("no config.ru here: give a rackup file, or a directory of files to serve") { nil }
    end
  end

  def test_what_the_file_raises_is_one_line_with_its_place
    in_directory("config.ru" => "# one\nraise ArgumentError, \"no\nmore\"\n") do |directory|
      error = assert_error("#{directory}/config.ru:2: no (ArgumentError)") { "config.ru" }
      assert_kind_of ArgumentError, error.cause
    end
  end

  def test_what_it_requires_is_blamed_where_it_is_required
    in_directory("config.ru" => "\nrequire 'no/such/library'\nrun 1\n") do |directory|
      assert_error("#{directory}/config.ru:2: cannot load such file -- no/such/library (LoadError)") { "config.ru" }
    end
  end

  def test_a_syntax_error
    in_directory("config.ru" => "run (\n") do |directory|
      error = assert_raises(Cuttle::Error) { Cuttle::Rack::Loader.load("config.ru") }
      assert_match(/\A#{directory}\/config\.ru:\d+: \S/, error.message)
      refute_includes error.message, "\n"
    end
  end

  private

  def load_text(text)
    in_directory("config.ru" => text) { Cuttle::Rack::Loader.load("config.ru") }
  end

  def in_directory(files)
    Dir.mktmpdir do |directory|
      directory = File.realpath(directory)
      files.each { |name, text| File.write("#{directory}/#{name}", text) }
      Dir.chdir(directory) { yield directory }
    end
  end

  def assert_error(message)
    error = assert_raises(Cuttle::Error) { Cuttle::Rack::Loader.load(yield) }
    assert_equal message, error.message
    error
  end
end

# frozen_string_literal: true

require "fileutils"
require "open3"
require "rbconfig"
require "tmpdir"

# Follows a recipe of docs/contributing.md to the letter, in a copy of the tree.
module RecipeCase
  include Serving

  ROOT = Serving::ROOT
  DOCUMENT = "#{ROOT}/docs/contributing.md"

  # A block with the path of its file in front: new lines of a file that exists ("diff"), or a new file.
  BLOCK = /^`([^`\n]+)`:\n\n```(\w+)\n(.*?)^```/m

  # What the copy has of the tree.
  COPIED = %w[lib exe ext test docs examples/hello.ru README.md].freeze

  def teardown
    FileUtils.remove_entry(@directory) if @directory
  end

  private

  # Copies the tree and applies the recipe under that heading. Returns the paths that it touches.
  def follow(heading)
    @directory = Dir.mktmpdir("cuttle-recipe")
    COPIED.each do |path|
      FileUtils.mkdir_p(File.dirname("#{@directory}/#{path}"))
      copy(path)
    end
    section = File.read(DOCUMENT)[/^## #{heading}\n.*?(?=^## |\z)/m] || flunk("no recipe #{heading}")
    section.scan(BLOCK).map { |path, language, text| apply(path, language, text) }.uniq
  end

  # By a program, which takes much less processor time than FileUtils does.
  def copy(path)
    system("cp", "-Rp", "#{ROOT}/#{path}", "#{@directory}/#{path}", exception: true)
  end

  def apply(path, language, text)
    file = "#{@directory}/#{path}"
    if language == "diff"
      old, new = sides(text)
      assert_equal 1, File.read(file).scan(old).length, "#{path} has these lines once:\n#{old}"
      File.write(file, File.read(file).sub(old) { new })
    else
      refute_path_exists file
      File.write(file, text)
    end
    path
  end

  # The lines that are there, and the lines that should be there.
  def sides(text)
    [text.lines.reject { |line| line.start_with?("+") }, text.lines].map { |lines| lines.map { |line| line[1..] }.join }
  end

  # Paths of the first table that the recipe under that heading may touch, by hand or by `rake readme`.
  def files(heading)
    row = File.read(DOCUMENT).lines.find { |line| line.start_with?("| [#{heading[0].downcase}#{heading[1..]}]") }
    row.split("|")[2].scan(/`([^`]+)`/).flatten
  end

  # Standard output of a Ruby that loads the copy.
  def ruby(*arguments, env: {})
    out, err, status = Open3.capture3(env, RbConfig.ruby, "-Itest", "-Ilib", *arguments, chdir: @directory)
    assert status.success?, out + err
    out
  end

  # `cuttle serve` of the copy.
  def serve(*flags, env: {})
    program, app = %w[exe/cuttle examples/hello.ru].map { |path| "#{@directory}/#{path}" }
    command = [program, "serve", app, "-b", "tcp://127.0.0.1:0", *flags]
    process = ServingProcess.new(command, env: env, paths: ["#{@directory}/lib"])
    process.wait_until_ready
    yield process
  ensure
    process&.finish
  end

  def assert_serves(process)
    assert_equal "Hello, world!\n", get(process).body, process.err
  end

  # The copy's README after `rake readme`.
  def readme
    ruby("-rcuttle", "-e", <<~RUBY)
      Cuttle::Settings::Readme::DOCUMENTS.each_key do |document|
        File.write(document, Cuttle::Settings::Readme.update(document, File.read(document)))
      end
      print File.read("README.md")
    RUBY
  end
end

# frozen_string_literal: true

require "test_helper"

# Random trees with links of every kind, asked for by random paths in random encodings: the answer is always that of a
# naive reference, which decodes octet by octet and asks File.realpath. CUTTLE_SEED repeats a run.
class TestStaticProperties < Minitest::Test
  include StaticSite

  TREES = 12
  PATHS = 400
  SEED = Integer(ENV["CUTTLE_SEED"] || Random.new_seed % 1_000_000)

  NAMES = ["a", "b", "c.html", "index.html", ".x", "..y", "%41", "a b", "%2e%2e", "\xFF".b, "a.html"].freeze
  SEGMENTS = [*NAMES, ".", "..", "", "secret", "root", "a\\b", "a\0b", "..\\secret", "a/b", "../secret", "%", "%zz",
              "%00", "%2f", "%252e%252e", "%c0%ae"].freeze

  def test_openat2_and_the_reference_agree
    skip "openat2(2): not on this system" unless Cuttle::Beneath.new(@root, false).way == :openat2
    assert_agreement(portable: false)
  end

  def test_the_walk_and_the_reference_agree
    assert_agreement(portable: true)
  end

  private

  def assert_agreement(portable:)
    @random = Random.new(SEED)
    verdicts = Array.new(TREES) do
      grow_tree
      site = static(portable: portable, precompressed: false)
      Array.new(PATHS) { compare(site, random_path) }
    end
    verdicts = verdicts.flatten.tally
    %i[file none redirect].each { |verdict| assert_operator verdicts.fetch(verdict, 0), :>, 20, "#{verdict} is tested" }
  end

  def compare(site, path)
    connection = FakeExchange.new(path)
    answered = site.call(connection)
    verdict, content = reference(path)
    got = answered ? { 200 => :file, 301 => :redirect }.fetch(connection.status) : :none
    where = "#{path.inspect} with CUTTLE_SEED=#{SEED}"
    assert_equal verdict, got, where
    assert_equal content, connection.body, where if verdict == :file
    verdict
  end

  # Files, whose content is their own path, directories and links.
  def grow_tree
    FileUtils.remove_entry(@root)
    Dir.mkdir(@root)
    directories = [@root.b]
    @grown = []
    30.times do
      path = "#{pick(directories)}/#{pick(NAMES)}".b
      next if File.exist?(path) || File.symlink?(path)

      grow(path, directories)
      @grown << path.delete_prefix("#{@root}/".b)
    end
  end

  def grow(path, directories)
    case @random.rand(10)
    when 0..3 then make_directory(path, directories)
    when 4..6 then File.binwrite(path, path)
    when 7 then File.symlink(pick(["a", "b/../a", "../a", ".", "..", "../b/c.html", "index.html", "a/", "./b"]), path)
    when 8 then File.symlink(pick(["../secret", "../../secret", "../root/a", "/etc/passwd", "#{@root}/a", "/"]), path)
    when 9 then File.mkfifo(path)
    end
  end

  def make_directory(path, directories)
    Dir.mkdir(path)
    directories << path
    File.binwrite("#{path}/index.html", path) if @random.rand(2).zero?
  end

  # Half of them begin with what is there.
  def random_path
    there = @random.rand(2).zero? ? pick(@grown).split("/") : [pick(SEGMENTS)]
    segments = there + Array.new(pick([0, 0, 0, 1, 2])) { pick(SEGMENTS) }
    "/#{segments.map { |segment| encode(segment) }.join("/")}#{"/" if @random.rand(4).zero?}".b
  end

  # As it is, or with some octets encoded, once or twice.
  def encode(segment)
    chance = pick([0, 0.2, 1])
    pick([0, 1, 1, 1, 2]).times do
      segment = segment.b.each_char.map do |octet|
        needed = !octet.match?(/[\x21-\x7e]/n) || octet == "%"
        needed || @random.rand < chance ? format(pick(["%%%02x", "%%%02X"]), octet.ord) : octet
      end.join
    end
    segment.delete("\0").b
  end

  def pick(choices)
    choices[@random.rand(choices.size)]
  end

  # [:file, content], [:redirect] or [:none].
  def reference(path)
    names = reference_names(path) or return [:none]
    directory = names.last == ""
    names[-1] = "index.html" if directory
    file = "#{@root}/#{names.join("/")}".b
    return [:file, File.binread(File.realpath(file))] if served?(file)
    return [:redirect] if !directory && served?("#{file}/index.html")

    [:none]
  end

  # Decoded segments of the path; nil where one of them may not be.
  def reference_names(path)
    names = path.b.delete_prefix("/").split("/", -1).map { |segment| reference_decode(segment) or return }
    return if names[0..-2].include?("") || names.any? { |name| name.start_with?(".") || name.match?(%r{[/\\\0]}n) }

    names.empty? ? [""] : names
  end

  def reference_decode(segment)
    octets = segment.bytes
    decoded = []
    until octets.empty?
      octet = octets.shift
      if octet == "%".ord
        digits = octets.shift(2).pack("C*")
        return unless digits.size == 2 && digits.delete("0-9a-fA-F").empty?

        octet = digits.to_i(16)
      end
      decoded << octet
    end
    decoded.pack("C*")
  end

  # A regular file inside, reached by no link that is absolute or climbs above the root.
  def served?(file)
    File.realpath(file).b.start_with?("#{@root}/".b) && File.file?(file) && beneath?(file)
  rescue SystemCallError
    false
  end

  def beneath?(file)
    todo = file.delete_prefix("#{@root}/".b).split("/")
    at = []
    while (name = todo.shift)
      next if name == "." || name == ""
      next at.pop || (return false) if name == ".."

      here = "#{@root}/#{[*at, name].join("/")}".b
      next at << name unless File.symlink?(here)
      return false if File.readlink(here).start_with?("/")

      todo.unshift(*File.readlink(here).b.split("/"))
    end
    true
  end
end

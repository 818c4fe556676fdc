# frozen_string_literal: true

# Lines of what RuboCop does not read: 120 columns, a tab up to the next eighth. A table's row and a link can't be
# broken, and programs write the documents of studies and of benchmarks.
LINT_LINES = FileList["**/*.{c,h,css,md,rbs,sh}", ".ci/run"]
             .exclude("{tmp,vendor,pkg}/**/*", "docs/studies.md", "studies/*/README.md")
LINT_COLUMNS = 120

def lint_long?(line)
  columns = line.chomp.gsub(/[^\t]*\t/) { |part| part.chop.ljust((part.length + 7) / 8 * 8) }.length
  columns > LINT_COLUMNS && !line.start_with?("|") && !line.match?(%r{\]\(|https?://})
end

# Results are written by benchmark/table, and may be as wide as they are.
def lint_lines(path)
  text = File.read(path, encoding: "UTF-8")
  text.gsub(/<!-- results: .*?<!-- end of results -->/m) { |results| "\n" * results.count("\n") }.lines
end

task "lint:lines" do
  long = LINT_LINES.flat_map do |path|
    lint_lines(path).filter_map.with_index(1) { |line, number| "#{path}:#{number}" if lint_long?(line) }
  end
  abort "lint: longer than #{LINT_COLUMNS} columns: #{long.join(", ")}" if long.any?
end

# Debian 12's. Other versions lay some lines out in another way, so they may not judge them.
CLANG_FORMAT = "14"

def clang_format
  ["clang-format-#{CLANG_FORMAT}", "clang-format"].find do |name|
    IO.popen([name, "--version"], &:read).include?("version #{CLANG_FORMAT}.")
  rescue Errno::ENOENT
    nil # not installed
  end
end

def lint_c(*options)
  program = clang_format
  return puts("lint: the layout of C was not checked: clang-format #{CLANG_FORMAT} is missing") unless program

  sh program, *options, *FileList["**/*.{c,h}"].exclude("{tmp,vendor,pkg}/**/*"), verbose: false
end

task "lint:c" do
  lint_c "--dry-run", "--Werror"
end

desc "Lay out C as .clang-format says"
task "format:c" do
  lint_c "-i"
end

desc "Look for what the house style forbids (.rubocop.yml, .clang-format)"
task lint: %w[lint:lines lint:c] do
  sh RbConfig.ruby, "-S", "rubocop", "--format", "simple", "--parallel", verbose: false
end

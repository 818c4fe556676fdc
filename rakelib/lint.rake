# frozen_string_literal: true

# Lines of what RuboCop does not read: 120 columns, a tab up to the next eighth. A table's row and a link can't be
# broken, and programs write the documents of studies and of benchmarks.
LINT_LINES = FileList["**/*.{c,h,css,md,rbs,sh}", ".ci/run"]
             .exclude("{tmp,vendor,pkg}/**/*", "docs/{studies,performance}.md", "studies/*/README.md")
LINT_COLUMNS = 120

def lint_long?(line)
  columns = line.chomp.gsub(/[^\t]*\t/) { |part| part.chop.ljust((part.length + 7) / 8 * 8) }.length
  columns > LINT_COLUMNS && !line.start_with?("|") && !line.match?(%r{\]\(|https?://})
end

task "lint:lines" do
  long = LINT_LINES.flat_map do |path|
    lines = File.foreach(path, encoding: "UTF-8").with_index(1)
    lines.filter_map { |line, number| "#{path}:#{number}" if lint_long?(line) }
  end
  abort "lint: longer than #{LINT_COLUMNS} columns: #{long.join(", ")}" if long.any?
end

desc "Look for what the house style forbids (.rubocop.yml)"
task lint: "lint:lines" do
  sh RbConfig.ruby, "-S", "rubocop", "--format", "simple", "--parallel", verbose: false
end

# frozen_string_literal: true

module Bench
  # A Markdown document that publishes results. It has a place for each benchmark, between two comments. A place without
  # results shows nothing. Law: the text outside of the places is the author's, and never changes.
  class Document
    PLACE = %r{(<!-- results: (\S+), written by benchmark/table -->\n).*?(<!-- end of results -->)}m
    IMAGES = "images" # beside the document

    # The results of one benchmark with their heading. picture: Markdown, or nil.
    def self.section(name, reports, picture = nil)
      ["### #{name}", picture, *reports.map(&:markdown)].compact.join("\n\n")
    end

    # path: of the document.
    def initialize(path)
      @path = path
      @text = File.read(path)
    end

    # The names of the benchmarks that it has places for.
    def names
      @text.scan(PLACE).map { |_, name, _| name }
    end

    # Writes Reports into their places; those of one benchmark share its place. Raises Lab::Failure, and writes nothing,
    # if a benchmark has none.
    def fill(reports)
      reports = reports.group_by(&:name)
      homeless = (reports.keys - names).first
      raise Lab::Failure, "#{@path} has no place for #{homeless}: add #{marks(homeless)}" if homeless

      sections = reports.to_h { |name, all| [name, Document.section(name, all, picture(name, all))] }
      @text = @text.gsub(PLACE) do |place|
        first, name, last = Regexp.last_match.captures
        sections[name] ? "#{first}\n#{sections[name]}\n\n#{last}" : place
      end
      File.write(@path, @text)
    end

    private

    def marks(name)
      "the lines <!-- results: #{name}, written by benchmark/table --> and <!-- end of results -->"
    end

    # Writes the picture of the first report that has one. Returns the Markdown that shows it, or nil.
    def picture(name, reports)
      picture = reports.filter_map(&:picture).first or return
      file = "#{IMAGES}/#{name}.svg"
      path = File.join(File.dirname(@path), file)
      FileUtils.mkdir_p(File.dirname(path))
      File.write(path, picture.svg)
      picture.markdown(file)
    end
  end
end

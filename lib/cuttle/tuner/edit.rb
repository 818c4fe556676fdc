# frozen_string_literal: true

require "fileutils"
require "pathname"
require "ripper"

module Cuttle
  module Tuner
    # Changes the settings engine, workers (for the engine ractors: ractors) and threads in a configuration file,
    # Cuttle's or Puma's. It changes nothing else, except max_threads, which it adds and removes with `threads :auto`,
    # and max_fibers, which it adds for the engine fibers.
    # It changes only plain settings: at the top level, on one line, with literal arguments. It leaves computed or
    # conditional settings to the file's author, and #refusal names their line.
    class Edit
      autoload :Diff, "cuttle/tuner/edit/diff"

      NEW = <<~RUBY
        # frozen_string_literal: true

        # The setting that cuttle tune found.
      RUBY
      DEFAULT = Setting.new.engine # in a file without a setting for it; it is also Puma's model
      OVERRIDES = "like" # its presets take precedence over the file's own settings
      LOADS = "load" # the settings of the other file take precedence over those above
      LITERALS = %i[on_int on_sp on_comma on_tstring_beg on_tstring_content on_tstring_end on_symbeg on_lparen
                    on_rparen].freeze
      END_OF_CODE = %i[on_comment on_nl on_semicolon].freeze
      NO_CALL = %i[on_period on_symbeg].freeze # before a name: another object's method, or `engine :threads`
      BLANK = %i[on_sp on_comment on_nl].freeze

      # Where a setting is in a file: its line (from 0), and the columns, in octets, at which it begins and ends.
      Place = Struct.new(:line, :from, :to)

      attr_reader :path

      # Whether the file at +path+ is Puma's: config/puma.rb, config/puma/production.rb.
      def self.pumas?(path)
        File.basename(path).include?("puma") || File.basename(File.dirname(path)) == "puma"
      end

      # path: the file's path; the file need not exist. cores: that settings are for. max_fibers: that the engine fibers
      # needs to keep a limit, or nil.
      def initialize(path, cores: Lab::Machine::Cores.usable.length, max_fibers: nil)
        @path = path
        @cores = cores
        @max_fibers = max_fibers
        @there = File.file?(path)
        @text = @there ? File.read(path, encoding: "UTF-8") : NEW # as Ruby reads it, whatever the locale
        @puma = Edit.pumas?(path)
        @lines = @text.lines
        @tokens = Ripper.lex(@text)
      rescue SystemCallError => error
        raise Failure, "can't read #{path}: #{Load.reason(error)}"
      end

      # Why the file can't be changed to +setting+, in one line; nil if it can.
      def refusal(setting)
        obstacle&.then { |error| return "#{path}: #{Load.reason(error.new)}" }
        return "#{path}: Puma has no engine #{setting.engine}" if @puma && setting.engine != DEFAULT
        return "#{path}: Puma has no threads auto" if @puma && setting.auto?
        return like if !@puma && said(OVERRIDES).any?

        [*words(setting).keys, *invalid(setting)].lazy
                                                 .filter_map { |word| strange(word, setting) || hidden(word) }.first
      end

      # The file's text, changed to +setting+. Raises Failure.
      def text(setting)
        refusal(setting)&.then { |reason| raise Failure, reason }
        lines = @lines.map(&:dup)
        said, missing = words(setting).partition { |word, _| place(word) }
        # Changes go from the end to the beginning, so that no change moves a place that is still to be changed.
        said.map { |word, code| [place(word), code] }.sort_by { |place, _| [-place.line, -place.from] }
            .each { |place, code| put(lines, place, code) }
        invalid(setting).flat_map { |word| plain(word) }.each { |place| lines[place.line] = "" }
        add(lines, missing.map(&:last))
        lines.join
      end

      # The change as `diff -u` writes it; empty if there is none. Raises Failure.
      def diff(setting)
        Diff.new(@there ? @text : "", text(setting), path).to_s
      end

      # What the change to +setting+ gives up, in one line; nil if nothing.
      def remark(setting)
        auto = place("workers")
        return unless auto && auto?(auto) && words(setting).key?("workers")

        "#{path}:#{auto.line + 1}: workers :auto is a worker for each CPU of a machine; workers #{setting.workers} " \
          "is the answer for the cores that the server had here (--cores)"
      end

      # Writes the changed file. If that fails, for example because the disk is full, the file stays as it was. Raises
      # Failure.
      def write(setting)
        changed = text(setting)
        FileUtils.mkdir_p(File.dirname(path))
        replace(place_of_file, changed)
      rescue SystemCallError => error
        raise Failure, "can't write #{path}: #{Load.reason(error)}"
      end

      private

      # Where the file is, if +path+ is a link.
      def place_of_file
        @there ? File.realpath(path) : path
      end

      # Keeps the owner and the mode of a file that is there.
      def replace(place, text)
        new = "#{place}.new"
        FileUtils.cp(place, new, preserve: true) if @there
        File.write(new, text)
        File.rename(new, place)
      ensure
        FileUtils.rm_f(new)
      end

      # Why the file can't be written, or nil: a SystemCallError's class. Directories that are missing are made.
      def obstacle
        return (Errno::EACCES unless [path, File.dirname(place_of_file)].all? { |each| File.writable?(each) }) if @there
        return Errno::EISDIR if File.exist?(path)

        directory = Pathname.new(File.expand_path(path)).dirname.ascend.find(&:exist?)
        return Errno::ENOTDIR unless directory.directory?

        Errno::EACCES unless directory.writable?
      end

      # Each setting's name => the code for it.
      def words(setting)
        { "engine" => ("engine #{setting.engine.inspect}" if !@puma && engine?(setting)),
          **units(setting),
          "threads" => (threads(setting) if setting.threads),
          "max_threads" => ("max_threads #{setting.max_threads}" if setting.max_threads),
          "max_fibers" => ("max_fibers #{@max_fibers}" if @max_fibers && setting.traits.fibers?) }.compact
      end

      def units(setting)
        return { "ractors" => "ractors #{setting.processes}" } if setting.traits.ractors?

        auto_here?(setting.workers) ? {} : { "workers" => "workers #{setting.workers}" }
      end

      # Whether the file's workers :auto is that number on the cores. On a machine with other CPUs it is another one.
      def auto_here?(number)
        number == @cores && said("workers").one? &&
          plain("workers").any? { |place| auto?(place) }
      end

      # Settings in the file that are not valid with +setting+: the change removes them.
      def invalid(setting)
        return [] if @puma

        [("max_threads" if setting.max_threads.nil? && said("max_threads").any?),
         ("threads" if setting.threads.nil? && said("threads").any? { |place| auto?(place) }),
         (setting.traits.ractors? ? "workers" : "ractors").then { |word| word if said(word).any? }].compact
      end

      def auto?(place)
        code_at(place).any? { |_, _, text| text == "auto" }
      end

      # A file needs no setting for the default engine.
      def engine?(setting)
        setting.engine != DEFAULT || said("engine").any?
      end

      def threads(setting)
        return "threads :auto" if setting.auto?

        @puma ? "threads #{setting.threads}, #{setting.threads}" : "threads #{setting.threads}"
      end

      def like
        "#{path}:#{said(OVERRIDES).first.line + 1}: like takes precedence over engine, workers and threads: " \
          "remove it, or change the file by hand"
      end

      # Why the setting +word+ in the file can't be changed, or nil.
      def strange(word, setting)
        code = words(setting)[word]
        plain = code ? plain(word) : plain(word).select { |place| alone?(place) } # a removal takes the whole line
        other = (said(word).map(&:line) - plain.map(&:line)).first or return
        "#{path}:#{other + 1}: #{word} depends on something, or is not on a line of its own; " \
          "#{code ? "write #{code.inspect} there" : "remove it"} by hand"
      end

      # Why a change of the setting +word+ may have no effect, or nil.
      def hidden(word)
        place, load = place(word), said(LOADS).last
        return if place.nil? || load.nil? || load.line < place.line

        "#{path}:#{load.line + 1}: load takes precedence over #{word} above it: move #{word} below it"
      end

      # The last call of a setting counts.
      def place(word)
        plain(word).last
      end

      # Places of all calls of +word+.
      def said(word)
        [[nil, :on_nl], *@tokens].each_cons(2).filter_map do |(_, before), ((line, from), kind, text)|
          Place.new(line - 1, from) if text == word && kind == :on_ident && !NO_CALL.include?(before)
        end
      end

      # Places of the calls that the tuner can change.
      def plain(word)
        said(word).filter_map do |place|
          code = code_at(place)
          next unless top_level.include?([place.line + 1, place.from])

          Place.new(place.line, place.from, finish(code)) if literal?(code)
        end
      end

      # Whether all arguments are literals.
      def literal?(code)
        code.each_cons(2).all? do |(_, before), (_, kind)|
          kind == :on_ident ? before == :on_symbeg : LITERALS.include?(kind)
        end
      end

      # The tokens of a statement, up to a comment or the end of its line.
      def code_at(place)
        @tokens.select { |(line, from),| line == place.line + 1 && from >= place.from }
               .take_while { |_, kind,| !END_OF_CODE.include?(kind) }
      end

      # Whether the line has nothing else but a comment.
      def alone?(place)
        @tokens.all? do |(line, from), kind,|
          line != place.line + 1 || from.between?(place.from, place.to - 1) || BLANK.include?(kind)
        end
      end

      # The column where the code ends, without trailing space.
      def finish(code)
        (_, column), _, text = code.reverse.find { |_, kind, _| kind != :on_sp }
        column + text.bytesize
      end

      # [line, column] of each call that is a statement at the file's top level.
      def top_level
        @top_level ||= (Ripper.sexp(@text) || [nil, []])[1].filter_map { |statement| name(statement)&.at(2) }
      end

      # The token of the method that a statement without a receiver calls: workers 2, workers(2).
      def name(statement)
        kind, called = statement
        token = kind == :command ? called : (called[1] if kind == :method_add_arg && called[0] == :fcall)
        token if token && token[0] == :@ident
      end

      def put(lines, place, code)
        line = lines[place.line]
        lines[place.line] = [line.byteslice(0, place.from), code, line.byteslice(place.to..)].join
      end

      # Adds the code after the last of these settings, or at the end of a file without them.
      def add(lines, code)
        places = [*%w[engine workers ractors threads].map { |word| place(word) }, said(LOADS).last].compact
        last = places.map(&:line).max || (lines.length - 1)
        lines[last] += "\n" unless lines.empty? || lines[last].empty? || lines[last].end_with?("\n")
        lines.insert(last + 1, *code.map { |each| "#{each}\n" })
      end
    end
  end
end

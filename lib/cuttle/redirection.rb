# frozen_string_literal: true

module Cuttle
  # Redirects standard output and standard error to files (--redirect-stdout, --redirect-stderr). A program that rotates
  # logs may move the files away (#reopen). Writes go to the descriptors 1 and 2 as before; only the files behind them
  # change, in one step. So other threads may write at any time, and children and C code follow too.
  #
  # Each process that writes has to #reopen: supervisor and workers share the files until then.
  class Redirection
    # Paths are relative to the present working directory. +others+ are opened again with the files, for example at HUP:
    # listeners with certificates. Their #reopen raises nothing.
    def initialize(settings, others: [])
      @others = others
      # An app may have put something else into $stdout.
      streams = [STDOUT, STDERR] # rubocop:disable Style/GlobalStdStream
      @paths = streams.zip([settings.redirect_stdout, settings.redirect_stderr]).to_h.compact
      @paths.transform_values! { |path| File.expand_path(path) }
      @append = settings.redirect_append
      @core = settings.core
    end

    # Whether there is anything to open again.
    def any?
      @paths.any? || @others.any?
    end

    # Redirects both. Empties the files first, unless redirect_append is on, or one is already written to, as after a
    # restart in place. Raises Error, and changes nothing then.
    def apply
      with(@paths) do |stream, file|
        file.truncate(0) unless @append || !file.stat.file? || File.identical?(stream, file)
        stream.reopen(file)
      end
    end

    # Opens the same paths again, which may be other files now, without emptying them. A file that can't be opened is
    # reported in one line, and the stream stays where it is. Raises nothing.
    def reopen
      @paths.each do |stream, path|
        with({ stream => path }) { |_, file| Cores.fetch(@core).redirect(stream, file) }
      rescue Error, SystemCallError => error
        Cuttle.report(error.message)
      end
      @others.each(&:reopen)
    end

    private

    # Each write goes to the end of the file, even if another process wrote to it or emptied it.
    def open(path)
      File.open(path, File::WRONLY | File::APPEND | File::CREAT | File::NOCTTY, 0o644).tap { |file| file.sync = true }
    rescue SystemCallError => error
      raise Error, "can't write to #{path}: #{reason(error)}"
    end

    # Yields each stream and its file, when all are open.
    def with(paths, &block)
      files = {}
      paths.each { |stream, path| files[stream] = open(path) }
      files.each(&block)
    ensure
      files.each_value(&:close)
    end

    def reason(error)
      case error
      when Errno::ENOENT, Errno::ENOTDIR then "its directory does not exist"
      when Errno::EACCES, Errno::EROFS then "this user may not"
      when Errno::EISDIR then "it is a directory"
      else error.message
      end
    end
  end
end

# frozen_string_literal: true

require "rbconfig"
require "tmpdir"

# A disk that takes 16 MB/s: a library that a process loads before any other (LD_PRELOAD), and that lets each write to a
# file without a name, as spooled octets are in, take its time. Other files are as fast as ever.
module SlowDisk
  SOURCE = <<~C
    #define _GNU_SOURCE
    #include <dlfcn.h>
    #include <stddef.h>
    #include <sys/stat.h>
    #include <sys/types.h>
    #include <sys/uio.h>
    #include <time.h>

    static void take_time(int fd, ssize_t octets)
    {
      struct stat file;

      if (octets > 0 && fstat(fd, &file) == 0 && S_ISREG(file.st_mode) && file.st_nlink == 0) {
        long nanoseconds = octets / 16 * 1000;
        struct timespec time = {nanoseconds / 1000000000, nanoseconds % 1000000000};
        nanosleep(&time, NULL);
      }
    }

    #define SLOW(name, parameters, arguments) \\
      ssize_t name parameters \\
      { \\
        ssize_t (*real) parameters = dlsym(RTLD_NEXT, #name); \\
        ssize_t written = real arguments; \\
        take_time(fd, written); \\
        return written; \\
      }

    SLOW(write, (int fd, const void *octets, size_t count), (fd, octets, count))
    SLOW(writev, (int fd, const struct iovec *parts, int count), (fd, parts, count))
    SLOW(pwrite, (int fd, const void *octets, size_t count, off_t at), (fd, octets, count, at))
    SLOW(pwrite64, (int fd, const void *octets, size_t count, off64_t at), (fd, octets, count, at))
    SLOW(pwritev, (int fd, const struct iovec *parts, int count, off_t at), (fd, parts, count, at))
  C

  # Environment variables for a process with such a disk; nil where the library can't be built.
  def self.environment
    @environment ||= build
  end

  def self.build
    directory = Dir.mktmpdir("cuttle").tap { |path| Minitest.after_run { FileUtils.remove_entry(path) } }
    File.write("#{directory}/slow.c", SOURCE)
    compiler = RbConfig::CONFIG["CC"].split.first
    built = system(compiler, "-shared", "-fPIC", "-O1", "-o", "#{directory}/slow.so", "#{directory}/slow.c", "-ldl",
                   err: File::NULL)
    { "LD_PRELOAD" => [ENV["LD_PRELOAD"], "#{directory}/slow.so"].compact.join(":") } if built
  end
  private_class_method :build
end

# frozen_string_literal: true

require "pathname"

# Builds an extension out of tree (tmp/) and puts the library beside the Ruby files that load it.
EXTENSIONS = { "lib/cuttle/core" => "ext/cuttle", "lib/cuttle/tls" => "ext/cuttle_tls",
               "lib/cuttle/load/core" => "ext/cuttle_load" }.freeze

LIBRARY = ".#{RbConfig::CONFIG["DLEXT"]}"

# A library belongs to one Ruby; another may crash with it.
THIS_RUBY = [RUBY_ENGINE, RUBY_VERSION, "p#{RUBY_PATCHLEVEL}", RUBY_PLATFORM].join("-")

# The library +target+ from the sources in +source+. +variant+ keeps builds with other flags apart, and +arguments+ are
# extconf.rb's.
def extension(target, source, variant = nil, arguments: [])
  build = "tmp/#{THIS_RUBY}/#{source}#{variant}"

  file target => [*FileList["#{source}/*.{c,h,rb}"], belongs(target)] do
    makefile = "#{build}/Makefile"
    mkdir_p [build, File.dirname(target)], verbose: false
    alone do
      rm_rf Dir["#{build}/*"], verbose: false if File.exist?(makefile) && outdated?(makefile, source) # new flags
      configure(source, build, *arguments) unless File.exist?(makefile)
      sh "make", "-C", build, "-j2", "--quiet", verbose: false
      replace "#{build}/#{File.basename(target)}", target
    end
  end
end

# Of two that compile at once, the second one waits, and finds nothing left to do.
def alone(&block)
  File.open("tmp/compile.lock", File::CREAT | File::RDWR) { |lock| lock.flock(File::LOCK_EX) && block.call }
end

# The Makefile gets a relative path to the sources, so that a copy of this tree compiles its own. CUTTLE_CORE may be set
# to run the core in Ruby; with it, extconf.rb would build nothing.
def configure(source, build, *arguments)
  sources = Pathname(source).relative_path_from(build)
  sh({ "CUTTLE_CORE" => nil }, RbConfig.ruby, "#{sources}/extconf.rb", *arguments, chdir: build, verbose: false)
end

# A file with the name of the Ruby that +target+ is for. It is written, and so newer than +target+, where that was
# another.
def belongs(target)
  path = "tmp/belongs/#{target.tr("/", "-")}"
  task = file path do
    mkdir_p File.dirname(path), verbose: false
    File.write(path, THIS_RUBY)
  end
  task.define_singleton_method(:needed?) { !File.exist?(path) || File.read(path) != THIS_RUBY }
  path
end

# A directory changes when a file comes or goes, and the Makefile lists them.
def outdated?(makefile, source)
  [source, "#{source}/extconf.rb"].any? { |path| File.mtime(path) > File.mtime(makefile) }
end

# By a rename, for a process may run the old library. Where extconf.rb found nothing to build with, there is none.
def replace(library, target)
  return rm_f(target, verbose: false) unless File.exist?(library)

  cp library, "#{target}.new", verbose: false
  mv "#{target}.new", target, verbose: false
end

EXTENSIONS.each do |library, source|
  task compile: extension("#{library}#{LIBRARY}", source)
end

desc "Compile the C extensions"
task :compile

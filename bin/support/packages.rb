# frozen_string_literal: true

require "rbconfig"

# Programs and headers from the operating system, by the Debian package that has them. Installs what is missing if it
# may: on Debian and its relatives, as root or by a sudo that asks for no password.
module Packages
  # +purpose+ goes into the line that says it is missing.
  Package = Struct.new(:package, :purpose, :present) do
    def missing?
      !present.call
    end
  end

  class << self
    def program(name, package, purpose)
      directories = ENV.fetch("PATH", "").split(File::PATH_SEPARATOR) + %w[/usr/sbin /sbin]
      Package.new(package, purpose, -> { directories.any? { |directory| File.executable?("#{directory}/#{name}") } })
    end

    def header(path, package, purpose)
      Package.new(package, purpose, -> { File.exist?("/usr/include/#{path}") })
    end

    # Whether the environment allows us to install anything.
    def install?
      ENV["CUTTLE_SETUP"] != "no"
    end

    # Tries to install those of +packages+ that are missing. Returns those that are still missing.
    def install(packages)
      missing = packages.select(&:missing?)
      return missing if missing.empty? || !install? || (apt = apt_get).nil?

      names = missing.map(&:package).uniq
      warn "cuttle: installing #{names.join(", ")} (apt-get)"
      run(apt, "update") && run(apt, "install", "--yes", "--no-install-recommends", *names)
      missing.select(&:missing?)
    end

    private

    # The command, or nil if we may not use it.
    def apt_get
      return unless File.executable?("/usr/bin/apt-get")
      return ["apt-get"] if Process.euid.zero?

      %w[sudo -n apt-get] if system("sudo", "-n", "true", out: File::NULL, err: File::NULL)
    end

    def run(apt, *arguments)
      environment = { "DEBIAN_FRONTEND" => "noninteractive" }
      system(environment, *apt, "-qq", *arguments, in: File::NULL, out: File::NULL, err: File::NULL)
    end
  end

  # To compile the extension, and gems that have one.
  BUILD = [
    program("cc", "gcc", "to compile"),
    program("make", "make", "to compile"),
    header("stdio.h", "libc6-dev", "to compile"),
    Package.new("ruby-dev", "to compile", -> { File.exist?("#{RbConfig::CONFIG["rubyhdrdir"]}/ruby.h") })
  ].freeze

  # What the extension is compiled with where it is there.
  LIBRARIES = [header("openssl/ssl.h", "libssl-dev", "TLS")].freeze

  # The tests' clients, and what the examples' gems may have to be compiled against.
  TEST = [
    header("sqlite3.h", "libsqlite3-dev", "the example forum's database"),
    header("postgresql/libpq-fe.h", "libpq-dev", "apps on PostgreSQL"),
    Package.new("postgresql", "apps on PostgreSQL", -> { Dir["/usr/lib/postgresql/*/bin/initdb"].any? }),
    program("node", "nodejs", "the album app"),
    header("yaml.h", "libyaml-dev", "gems that read YAML"),
    program("curl", "curl", "tests with real clients"),
    program("wrk", "wrk", "tests with real clients"),
    program("ab", "apache2-utils", "tests with real clients"),
    program("siege", "siege", "tests with real clients"),
    program("h2load", "nghttp2-client", "tests with real clients"),
    program("java", "default-jre-headless", "tests on JRuby"),
    program("strace", "strace", "tests with injected faults"),
    program("haproxy", "haproxy", "servers behind a router"),
    program("systemd-socket-activate", "systemd", "sockets that systemd passes"),
    program("groff", "groff-base", "the manual page"),
    program("logrotate", "logrotate", "logs that are moved"),
    program("nginx", "nginx-light", "the example for nginx"),
    program("clang-format", "clang-format", "the layout of C"),
    program("chromium", "chromium", "the lab's report in a browser")
  ].freeze
end

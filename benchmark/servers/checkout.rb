# frozen_string_literal: true

module Bench
  # `cuttle serve` of the checkout at +root+ with its own flags, as a peer of the lab. It proves no settings, because
  # another commit may have others.
  class Checkout < Peers::Cuttle
    # The path of a checkout of +commit+ in TMP, which is made with its own extension if it is missing. Raises Failure.
    def self.at(commit)
      id = IO.popen(["git", "-C", ROOT, "rev-parse", "--verify", "--quiet", "#{commit}^{commit}"], &:read).strip
      raise Lab::Failure, "no commit #{commit}" if id.empty?

      path = "#{TMP}/against/#{RUBY_VERSION}-#{id}"
      make(path, id) if Dir["#{path}/lib/cuttle/*.#{RbConfig::CONFIG["DLEXT"]}"].empty?
      path
    end

    def self.make(path, id)
      FileUtils.rm_rf(path)
      system("git", "clone", "--quiet", ROOT, path, exception: true)
      system("git", "-C", path, "checkout", "--quiet", id, exception: true)
      system("bundle", "exec", "rake", "compile", "--silent", chdir: path, out: File::NULL, exception: true)
    end
    private_class_method :make

    def initialize(name, root, flags)
      super(name)
      @root = root
      @flags = flags
    end

    def command(setup)
      [RbConfig.ruby, "-I#{@root}/lib", "#{@root}/exe/cuttle", "serve", "-q", "-b", "tcp://#{address(setup)}", *@flags,
       setup.app]
    end

    def complete?(_server) = true

    private

    def settings(_server) = []
  end
end

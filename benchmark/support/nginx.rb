# frozen_string_literal: true

module Bench
  # nginx with one worker, serving a directory by sendfile: what benchmark/static is measured against.
  class Nginx < Recipe
    def initialize(name, directory, probe)
      super(name)
      @directory = directory
      @probe = probe
    end

    attr_reader :probe

    def version
      Program.version("nginx", "-v").to_s[%r{nginx/(\S+)}, 1]
    end

    def unavailable
      "nginx is not installed (Debian: nginx-light)" unless Program.path("nginx")
    end

    def command(setup)
      prefix = File.join(TMP, "nginx")
      FileUtils.mkdir_p(prefix)
      File.write(File.join(prefix, "nginx.conf"), configuration(setup.port))
      [Program.path("nginx"), "-p", prefix, "-c", "nginx.conf", "-e", "error.log"]
    end

    private

    def configuration(port)
      <<~CONF
        daemon off;
        pid nginx.pid;
        #{"user root;" if Process.uid.zero?}
        worker_processes 1;
        worker_rlimit_nofile 20000;
        events { worker_connections 16384; }
        http {
          include /etc/nginx/mime.types;
          access_log off;
          sendfile on;
          tcp_nopush on;
          keepalive_timeout 300;
          keepalive_requests 1000000000;
          #{temporary_paths}
          server { listen 127.0.0.1:#{port}; root #{@directory}; }
        }
      CONF
    end

    def temporary_paths
      %w[client_body proxy fastcgi uwsgi scgi].map { |name| "#{name}_temp_path #{name};" }.join(" ")
    end
  end
end

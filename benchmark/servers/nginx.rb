# frozen_string_literal: true

module Bench
  # nginx with one worker as a peer of the lab. The app is a directory, which nginx serves with sendfile.
  class Nginx < Peers::Peer
    def package = "nginx-light"
    def workers = (1..1)
    def version = IO.popen([executable, "-v"], err: %i[child out], &:read)[%r{nginx/(\S+)}, 1]

    def command(setup)
      prefix = "#{setup.log}.nginx"
      FileUtils.mkdir_p(prefix)
      [executable, "-p", prefix, "-c", setup.file("conf", configuration(setup)), "-e", "error.log"]
    end

    private

    def configuration(setup)
      <<~CONF
        daemon off;
        pid nginx.pid;
        #{"user root;" if Process.uid.zero?}
        worker_processes 1;
        worker_rlimit_nofile 20000;
        events { worker_connections 16384; }
        http {
          types { text/plain txt; }
          access_log off;
          sendfile on;
          tcp_nopush on;
          keepalive_timeout 300;
          keepalive_requests 1000000000;
          #{%w[client_body proxy fastcgi uwsgi scgi].map { |name| "#{name}_temp_path #{name};" }.join(" ")}
          server { listen #{address(setup)}; root #{setup.app}; }
        }
      CONF
    end
  end

  Peers.add(Nginx.new("nginx"))
end

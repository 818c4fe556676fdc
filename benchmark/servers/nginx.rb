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
        worker_processes #{setup.workers};
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
          server { listen #{address(setup)}; #{answer(setup)} }
        }
      CONF
    end

    def answer(setup) = "root #{setup.app};"
  end

  # nginx that gives benchmark/apps/hello.ru's answer to every request, with a Server field more. It may have several
  # workers, and close each connection.
  class Answering < Nginx
    def program = "nginx"
    def workers = ANY
    def keeps_alive = [true, false]

    private

    def configuration(setup)
      setup.keep_alive ? super : super.sub(/keepalive_timeout \d+;/, "keepalive_timeout 0;")
    end

    def answer(_setup)
      'default_type text/plain; add_header cache-control no-cache; location / { return 200 "Hello, world!"; }'
    end
  end

  Peers.add(Nginx.new("nginx"))
  Peers.add(Answering.new("nginx-return"))
end

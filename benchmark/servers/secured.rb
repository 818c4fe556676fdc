# frozen_string_literal: true

module Bench
  # Servers with TLS on a second port beside the plain one, on which the lab checks that they are ready. All have the
  # same certificate and cipher.
  module Secured
    SUITE = "TLS_AES_128_GCM_SHA256"
    DIRECTORY = File.join(TMP, "tls")

    module_function

    # The TLS port for a plain port: far from the ports that the lab uses.
    def port(plain) = plain > 40_000 ? plain - 20_000 : plain + 20_000

    # [certificate, key], created once.
    def files
      paths = %w[cert.pem key.pem].map { |name| File.join(DIRECTORY, name) }
      make(*paths) unless paths.all? { |path| File.exist?(path) }
      paths
    end

    def make(certificate, key)
      FileUtils.mkdir_p(DIRECTORY)
      done = system("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                    "-days", "3650", "-subj", "/CN=localhost", "-keyout", key, "-out", certificate, err: File::NULL)
      done or raise Lab::Failure, "openssl could not make a certificate"
    end

    # A trial that loads the TLS port.
    class Trial < Lab::Runner::Trial
      private

      def prepare(configuration, route)
        super
        uri = URI(@url)
        @url = "https://#{uri.host}:#{Secured.port(uri.port)}#{uri.request_uri}"
        @options = { **@options, insecure: true } # cuttle load, for the warm-up, checks certificates; wrk does not
      end
    end

    # This Cuttle; the app is the config.ru in a directory.
    class Cuttle < Peers::Cuttle
      def command(setup)
        certificate, key = Secured.files
        uri = "ssl://127.0.0.1:#{Secured.port(setup.port)}?cert=#{certificate}&key=#{key}&ssl_ciphersuites=#{SUITE}"
        super[0...-1] + ["-b", uri, File.join(setup.app, "config.ru")]
      end
    end

    # nginx; the app is the directory.
    class Nginx < Bench::Nginx
      private

      def executable = Lab::Machine.program("nginx")

      def configuration(setup)
        certificate, key = Secured.files
        super.sub("listen #{address(setup)};",
                  "listen #{address(setup)}; listen 127.0.0.1:#{Secured.port(setup.port)} ssl; " \
                  "ssl_certificate #{certificate}; ssl_certificate_key #{key}; ssl_protocols TLSv1.3; " \
                  "ssl_conf_command Ciphersuites #{SUITE};")
      end
    end
  end

  Peers.add(Secured::Cuttle.new("cuttle-tls"))
  Peers.add(Secured::Nginx.new("nginx-tls"))
end

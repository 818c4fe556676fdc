# frozen_string_literal: true

require "fileutils"
require "monitor"
require "openssl"
require "tmpdir"

# Certificates for tests, in files, made once per run: an authority, and identities that it has signed.
module TlsFiles
  LOCK = Monitor.new
  DAY = 24 * 3600

  Identity = Struct.new(:certificate, :key, :cert_path, :key_path) do
    # The part after ssl://host:port.
    def query = "cert=#{cert_path}&key=#{key_path}"
  end

  class << self
    # The runner's processes share it if it was made before they were forked.
    def directory
      LOCK.synchronize do
        @directory ||= Dir.mktmpdir("cuttle").tap do |path|
          owner = Process.pid
          Minitest.after_run { FileUtils.remove_entry(path) if Process.pid == owner }
        end
      end
    end

    def authority = LOCK.synchronize { @authority ||= authority_called("authority") }

    # No client trusts it.
    def stranger = LOCK.synchronize { @stranger ||= authority_called("stranger") }

    # An identity for these names, by +issuer+. +kind+: :ec, :rsa.
    def identity(*names, issuer: authority, kind: :ec, days: 30)
      names = %w[localhost] if names.empty?
      LOCK.synchronize do
        (@identities ||= {})[[names, issuer, kind, days]] ||=
          write("#{names.first.tr("*", "x")}-#{Process.pid}-#{@identities.size}", *made(names, issuer, kind, days))
      end
    end

    # ssl://127.0.0.1:0 with the certificate for localhost.
    def uri(query = identity.query, host: "127.0.0.1") = "ssl://#{host}:0?#{query}"

    # A certificate for localhost whose files may be overwritten.
    def own_identity(path, *names)
      certificate, key = made(names.empty? ? %w[localhost] : names, authority, :ec, 30)
      Identity.new(certificate, key, "#{path}/own.pem", "#{path}/own.key").tap { |identity| put(identity) }
    end

    # Writes the files of an identity. They change within a moment, even if a disk is busy. A server that reads them
    # meanwhile waits for at most 2 s.
    def put(identity)
      files = { identity.key_path => identity.key.private_to_pem, identity.cert_path => identity.certificate.to_pem }
      files.each { |path, text| File.write("#{path}.new", text) }
      files.each_key { |path| File.rename("#{path}.new", path) }
    end

    private

    def authority_called(name)
      key = new_key(:ec)
      extensions = [["basicConstraints", "CA:TRUE", true], ["keyUsage", "keyCertSign, cRLSign", true],
                    ["subjectKeyIdentifier", "hash", false]]
      write(name, sign(name, key, nil, key, 30, extensions), key)
    end

    def made(names, issuer, kind, days)
      key = new_key(kind)
      alternatives = names.map { |name| "DNS:#{name}" } + %w[IP:127.0.0.1]
      extensions = [["basicConstraints", "CA:FALSE", true], ["subjectAltName", alternatives.join(","), false],
                    ["extendedKeyUsage", "serverAuth, clientAuth", false]]
      [sign(names.first, key, issuer.certificate, issuer.key, days, extensions), key]
    end

    def new_key(kind)
      kind == :rsa ? OpenSSL::PKey::RSA.new(2048) : OpenSSL::PKey::EC.generate("prime256v1")
    end

    def sign(name, key, issuer, issuer_key, days, extensions)
      certificate = OpenSSL::X509::Certificate.new
      certificate.version = 2
      certificate.serial = OpenSSL::BN.rand(64)
      certificate.subject = OpenSSL::X509::Name.new([["O", "Cuttle"], ["CN", name]])
      certificate.issuer = issuer ? issuer.subject : certificate.subject
      certificate.public_key = key
      certificate.not_before = Time.now - (60 * DAY)
      certificate.not_after = Time.now + (days * DAY)
      factory = OpenSSL::X509::ExtensionFactory.new(issuer || certificate, certificate)
      extensions.each { |extension| certificate.add_extension(factory.create_extension(*extension)) }
      certificate.sign(issuer_key, OpenSSL::Digest.new("SHA256"))
    end

    def write(name, certificate, key)
      paths = %w[pem key].map { |ending| "#{directory}/#{name}.#{ending}" }
      Identity.new(certificate, key, *paths).tap { |identity| put(identity) }
    end
  end
end

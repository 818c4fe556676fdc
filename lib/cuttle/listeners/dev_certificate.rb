# frozen_string_literal: true

require "fileutils"

module Cuttle
  class Listeners
    # --dev-tls: a certificate for localhost, and the authority that signs it, in the user's state directory. A user who
    # trusts the authority once (see #advice) gets no warnings. The authority can sign for localhost only, so its key is
    # of little use to an attacker. Both are made at the first use, and the certificate again before it expires. Needs
    # Ruby's openssl library.
    class DevCertificate
      NAMES = %w[localhost *.localhost].freeze
      ADDRESSES = %w[127.0.0.1 ::1].freeze
      DAY = 24 * 3600

      # Days that they are valid, and that are left when a new one is made. Some systems take no more than 397.
      AUTHORITY_DAYS = 3650
      DAYS = 365
      LEFT = 30

      # Where the files are: the XDG directory for state.
      def self.directory(variables = ENV)
        state = variables["XDG_STATE_HOME"].to_s
        state = File.join(variables["HOME"] || Dir.home, ".local/state") unless state.start_with?("/")
        File.join(state, "cuttle/dev-tls")
      end

      attr_reader :directory

      def initialize(directory = DevCertificate.directory)
        @directory = directory
      end

      def authority = "#{@directory}/ca.pem"

      # The files of certificate and key. It makes new ones if there are none that are still valid for some time. Raises
      # Error.
      def files
        FileUtils.mkdir_p(@directory, mode: 0o700)
        File.chmod(0o700, @directory) unless File.stat(@directory).mode.nobits?(0o077) # it was there before
        File.open("#{@directory}/lock", File::RDWR | File::CREAT, 0o600) do |lock| # servers may start at once
          lock.flock(File::LOCK_EX)
          renew unless good?
        end
        ["#{@directory}/cert.pem", "#{@directory}/key.pem"]
      rescue SystemCallError => error
        raise Error, "--dev-tls: #{error.message}"
      rescue LoadError
        raise Error, "--dev-tls needs Ruby's openssl library; or name a certificate: ssl://host:port?cert=FILE&key=FILE"
      end

      # Lines that say how to trust the authority.
      def advice
        ["the certificate of --dev-tls is for localhost; clients that trust #{authority} take it:",
         "  curl --cacert #{authority} …",
         "  Debian, Ubuntu: sudo cp #{authority} /usr/local/share/ca-certificates/cuttle-dev.crt && " \
         "sudo update-ca-certificates",
         "  macOS: security add-trusted-cert -k ~/Library/Keychains/login.keychain-db #{authority}",
         "  Firefox, Chrome on Linux: import it among the authorities in the settings"]
      end

      private

      def good?
        require "openssl"
        ours, signed = [authority, "#{@directory}/cert.pem"].map { |path| certificate(path) }
        key = OpenSSL::PKey.read(File.read("#{@directory}/key.pem"))
        signed.check_private_key(key) && signed.verify(ours.public_key) &&
          [ours, signed].all? { |one| one.not_after > Time.now + (LEFT * DAY) }
      rescue OpenSSL::OpenSSLError, SystemCallError
        false
      end

      def certificate(path) = OpenSSL::X509::Certificate.new(File.read(path))

      def renew
        issuer, issuer_key = present_authority || new_authority
        key = OpenSSL::PKey::EC.generate("prime256v1")
        signed = sign(key, "localhost", DAYS, issuer, issuer_key, leaf_extensions)
        write("key.pem", key.private_to_pem)
        write("cert.pem", signed.to_pem)
      end

      def present_authority
        ours, key = certificate(authority), OpenSSL::PKey.read(File.read("#{@directory}/ca-key.pem"))
        [ours, key] if ours.check_private_key(key) && ours.not_after > Time.now + ((LEFT + DAYS) * DAY)
      rescue OpenSSL::OpenSSLError, SystemCallError
        nil
      end

      def new_authority
        key = OpenSSL::PKey::EC.generate("prime256v1")
        name = "Cuttle --dev-tls of #{ENV["USER"] || Process.uid}, #{Time.now.strftime("%F")}"
        ours = sign(key, name, AUTHORITY_DAYS, nil, key, authority_extensions)
        write("ca-key.pem", key.private_to_pem)
        write("ca.pem", ours.to_pem)
        [ours, key]
      end

      def authority_extensions
        permitted = [*NAMES.first(1).map { |name| "permitted;DNS:#{name}" },
                     "permitted;IP:127.0.0.0/255.0.0.0",
                     "permitted;IP:0:0:0:0:0:0:0:1/FFFF:FFFF:FFFF:FFFF:FFFF:FFFF:FFFF:FFFF"]
        [["basicConstraints", "CA:TRUE, pathlen:0", true], ["keyUsage", "keyCertSign, cRLSign", true],
         ["nameConstraints", permitted.join(","), true], ["subjectKeyIdentifier", "hash", false]]
      end

      def leaf_extensions
        names = [*NAMES.map { |name| "DNS:#{name}" }, *ADDRESSES.map { |address| "IP:#{address}" }].join(",")
        [["basicConstraints", "CA:FALSE", true], ["keyUsage", "digitalSignature", true],
         ["extendedKeyUsage", "serverAuth", false], ["subjectAltName", names, false],
         ["authorityKeyIdentifier", "keyid", false]]
      end

      # A certificate for +key+, which signs itself without an +issuer+.
      def sign(key, name, days, issuer, issuer_key, extensions)
        made = OpenSSL::X509::Certificate.new
        made.version = 2 # X.509 v3
        made.serial = OpenSSL::BN.rand(120)
        made.subject = OpenSSL::X509::Name.new([["CN", name]])
        made.issuer = issuer ? issuer.subject : made.subject
        made.public_key = key
        made.not_before = Time.now - DAY
        made.not_after = Time.now + (days * DAY)
        factory = OpenSSL::X509::ExtensionFactory.new(issuer || made, made)
        extensions.each { |extension| made.add_extension(factory.create_extension(*extension)) }
        made.sign(issuer_key, OpenSSL::Digest.new("SHA256"))
      end

      # Writes in one step, because a server may read the file at the same time. The file is always a new one, because
      # an existing one may have other permissions, or be a link.
      def write(name, text)
        path = "#{@directory}/#{name}"
        FileUtils.rm_f("#{path}.new")
        File.open("#{path}.new", File::WRONLY | File::CREAT | File::EXCL, 0o600) { |file| file.write(text) }
        File.rename("#{path}.new", path)
      end
    end
  end
end

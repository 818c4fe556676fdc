# frozen_string_literal: true

module Cuttle
  class Listeners
    # The TLS of one URI: its certificates, keys and rules, and the native object that is made from them before the
    # fork. The forked processes share the secret of its session tickets. Each of them reads changed files by itself
    # (#refresh, #reload). If that fails, it continues with the earlier certificates.
    class Tls
      # Seconds that changed files must stay as they are before they are read: a tool writes a certificate and its key
      # one after the other, and in between they don't belong together.
      SETTLED = 2

      OPTIONS = %w[cert key ca verify_mode min_version ssl_cipher_filter ssl_ciphersuites no_tlsv1 no_tlsv1_1].freeze

      # Errors after which a file is not read again until it, its directory or its permissions change. After any other
      # error, for example if the process has no free descriptors, it is read again at the next check.
      LASTING = { Errno::ENOENT => "there is no such file", Errno::ENOTDIR => "there is no such file",
                  Errno::EACCES => "this user may not read it", Errno::EISDIR => "it is a directory" }.freeze

      # The address of this URI, for messages.
      attr_reader :bind

      # +options+ are those of the URI, by name. Raises ArgumentError, which says what to give. (TLS 1.0 and 1.1 are
      # never spoken, whatever no_tlsv1 and no_tlsv1_1 say.)
      def initialize(bind, cert: [], key: [], ca: nil, verify_mode: "none", min_version: "1.2", ssl_cipher_filter: nil,
                     ssl_ciphersuites: nil, **)
        raise ArgumentError, "give cert before key" if cert.empty? && key.any?
        raise ArgumentError, "give as many key as cert" if key.any? && key.length != cert.length

        if verify_mode != "none" && ca.nil?
          raise ArgumentError, "verify_mode=#{verify_mode} needs ca=FILE: who signs clients"
        end

        @bind = bind
        @identities = cert.zip(key).map { |pair| [pair.first, pair.last || pair.first] }
        @authorities = ca
        @rules = { verify: verify_mode, minimum: min_version, ciphers: ssl_cipher_filter, suites: ssl_ciphersuites }
      end

      # Whether the URI names no certificate, so that it needs that of --dev-tls.
      def bare? = @identities.empty?

      # The native object; nil before #prepare.
      attr_reader :native

      # Makes the native object with +library+, its class. +local+ returns the files [cert, key] that serve a URI which
      # names none. Raises Error. Does nothing if there is one already.
      def prepare(library, &local)
        return if @native

        @identities = [local.call] if bare?
        native = library.new(Random.urandom(32))
        load(native)
        @native = native
      end

      # Reads the files again if one of them has changed since they were read, and none in the last SETTLED seconds. To
      # be called every few seconds; +now+ is the time in seconds. Raises nothing.
      def refresh(now = Cuttle.now)
        return unless @native

        seen = signature
        @seen, @since = seen, now if seen != @seen
        reload(@told) if seen != @read && now - @since >= SETTLED
      end

      # Reads the files again. New connections use the new contents. A file that can't be used is reported in one line,
      # unless it was reported already (+told+), and new connections use the earlier contents. Raises nothing.
      def reload(told = nil)
        load(@native) if @native
        @told = nil
      rescue Error => error
        @told = error.message
        Cuttle.report("#{@told}; the earlier certificates stay in use") unless @told == told
      end

      private

      def files = [*@identities.flatten, *@authorities].uniq

      # A value that changes when a file is written or replaced, or gets other permissions (ctime).
      def signature
        files.map do |path|
          stat = File.stat(path)
          [stat.dev, stat.ino, stat.size, stat.mtime, stat.ctime]
        rescue SystemCallError
          nil
        end
      end

      # The signature is taken first, so that a file that changes during the reading is read again.
      def load(native)
        @read = signature
        pairs = @identities.map { |pair| pair.map { |path| read(path) } }
        native.load(identities: pairs, authorities: @authorities && read(@authorities), **@rules)
      rescue native.class::Error => error
        raise Error, "can't listen on #{@bind}: #{place(error)}: #{error.message}"
      end

      def read(path)
        File.binread(path)
      rescue SystemCallError => error
        @read = nil unless LASTING.key?(error.class)
        raise Error, "can't listen on #{@bind}: #{path}: #{LASTING.fetch(error.class, error.message)}"
      end

      # The cause of the error: a file, or an option.
      def place(error)
        case error.part
        when :cert then @identities.dig(error.index, 0)
        when :key then @identities.dig(error.index, 1)
        when :ca then @authorities
        else error.part
        end
      end
    end
  end
end

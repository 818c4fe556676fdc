# frozen_string_literal: true

module Cuttle
  class Settings
    # The kinds of values. Each method turns a given value (a String from outside, a Ruby value from a program) into the
    # one form of a setting. A row of the table names the method and its further arguments. A method raises
    # ArgumentError, which says what to give instead. Row#coerce adds the flag or variable in front.
    module Kinds
      ON_OFF = { true => true, false => false, "on" => true, "off" => false, "true" => true, "false" => false }.freeze

      # The most seconds whose nanoseconds fit into 63 bits, as the core counts them.
      MOST_SECONDS = ((1 << 63) - 1) / 1_000_000_000

      # Shorter times are mistakes, and the shortest of them would round to no nanosecond.
      LEAST_SECONDS = 0.001

      # Octets fit into 63 bits. Other counts fit into an int.
      MOST_OCTETS = (1 << 63) - 1
      MOST = 1_000_000_000

      # The word for peers of Unix sockets, and that for loopback and private networks (RFC 1918, RFC 4193).
      UNIX = "unix"
      PRIVATE = "private"
      PRIVATE_NETWORKS = %w[127.0.0.0/8 10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 ::1 fc00::/7].freeze

      UNITS = { "" => 0, "K" => 10, "M" => 20, "G" => 30 }.freeze

      module_function

      # Engines and servers may come as Symbols, paths as Pathname.
      def text(value)
        value.to_s.dup.freeze
      end

      # One of the names that +names+ (a Proc) returns. +what+ is the word for them in errors. Raises UsageError.
      def name(value, what, names)
        return text(value) if names.call.include?(value.to_s)

        raise UsageError, "unknown #{what} #{value.inspect}: #{names.call.join(", ")}"
      end

      def on_off(value)
        ON_OFF.fetch(value) { raise ArgumentError, "on or off" }
      end

      # An Integer in +range+. +form+ describes the valid values in errors.
      def whole(value, range, form)
        number = Integer(value.to_s, 10, exception: false)
        raise ArgumentError, "give #{form}" unless number && range.cover?(number)

        number
      end

      # A number of +what+.
      def count(value, what)
        whole(value, 0..MOST, "a number of #{what} up to #{MOST}")
      end

      # Numbers of +what+, as an Array, or as text with commas or spaces between them. The last may be 0, "none" or, as
      # in Pitchfork, false. No number at all, or only the last one: an empty Array.
      def counts(value, what)
        words = Array(value).flat_map { |word| word.to_s.split(/[,\s]+/) }
        form = "a number of #{what}, or several with commas between them; the last may be none"
        counts = words.map { |word| %w[none false].include?(word) ? 0 : whole(word, 0..MOST, form) }
        raise ArgumentError, "give #{form}" if words.empty? || counts[0...-1].any?(&:zero?)

        counts == [0] ? [].freeze : counts.freeze
      end

      # One of +names+.
      def choice(value, names)
        names.find { |name| name == value.to_s } or raise ArgumentError, "give #{names.join(" or ")}"
      end

      # 0 is allowed, because "do not wait" may have a meaning.
      def seconds(value)
        time = Float(value, exception: false)
        raise ArgumentError, "give seconds" unless time&.finite? && !time.negative?
        raise ArgumentError, "give at most #{MOST_SECONDS} seconds" if time > MOST_SECONDS
        raise ArgumentError, "give at least #{LEAST_SECONDS} seconds" if time.positive? && time < LEAST_SECONDS

        time == time.to_i ? time.to_i : time
      end

      # From 0 to 1.
      def share(value)
        share = Float(value, exception: false)
        raise ArgumentError, "give a share from 0 to 1" unless share&.between?(0, 1)

        share == share.to_i ? share.to_i : share
      end

      def log_format(value)
        Telemetry::LogFormat.check(text(value))
      end

      # Octets: 512, 64K, 16M, 1G (by 1024).
      def size(value)
        number, unit = value.to_s.match(/\A(\d+)([KMG]?)\z/i)&.captures
        raise ArgumentError, "give octets, such as 512, 64K, 16M or 1G" unless number

        octets = number.to_i << UNITS.fetch(unit.upcase)
        raise ArgumentError, "give at most #{MOST_OCTETS} octets" if octets > MOST_OCTETS

        octets
      end

      # The value as +kind+ coerces it; nil if it was turned off, by "none" or 0.
      def optional(value, kind, *arguments)
        return if value.to_s == "none"

        coerced = public_send(kind, value, *arguments)
        coerced unless coerced.zero?
      rescue ArgumentError => error
        raise ArgumentError, "#{error.message}, or none"
      end

      # The directory to serve in. Its path is absolute, and keeps its links. It is relative to the working directory;
      # all other paths are relative to it.
      def directory(value)
        path = File.expand_path(value.to_s)
        raise ArgumentError, "give a directory that exists" unless File.directory?(path) && File.executable?(path)

        path.freeze
      end

      # Something that may not exist yet.
      def path(value)
        raise ArgumentError, "give a path" if value.to_s.empty?

        text(value)
      end

      # An Integer (0640), or its octal digits => four octal digits.
      def permission(value)
        digits = value.is_a?(Integer) ? value.to_s(8) : value.to_s
        raise ArgumentError, "give octal permissions, such as 0640" unless digits.match?(/\A0?[0-7]{1,3}\z/)

        format("%04o", digits.to_i(8)).freeze
      end

      # A URI to listen on, or "auto".
      def control(value)
        return "auto" if value.to_s == "auto"

        Listeners.check(value).tap do |uri|
          raise ArgumentError, "everybody could connect: give unix:///path" if uri.match?(%r{\Aunix:(?://)?@})
        end
      rescue ArgumentError => error
        raise ArgumentError, "#{error.message.sub(", ssl://host:port", "")}, or auto" # it speaks no TLS
      end

      # :auto, or an Integer.
      def workers(value)
        return :auto if value.to_s == "auto"

        whole(value, 0..1024, "a number of processes, or auto")
      end

      # "N", "MIN:MAX", "auto", an Integer or a Range => a Range. Puma's "0:N" keeps no idle thread; ours keeps one.
      def threads(value)
        return Engines::Auto.new if value.to_s == "auto"

        form = "a number of threads, MIN:MAX, auto, or 0 for a thread per connection"
        min, max = value.is_a?(Range) ? [value.min, value.max] : value.to_s.split(":", 2)
        min = whole(min, 0..10_000, form)
        max = max.nil? ? min : whole(max, 0..10_000, form)
        raise ArgumentError, "the minimum is above the maximum" if min > max

        max.zero? ? 0..0 : [min, 1].max..max
      end

      # For a variable of which Rails makes the size of its database pool as well: "auto" would be 0 connections.
      def rails_threads(said)
        return unless said.split(":").include?("auto")

        raise ArgumentError, "the database pool of Rails needs a number here; say -t auto, or threads :auto in a file"
      end

      # One address, network or word, or several => an Array of addresses, networks and UNIX.
      def networks(value)
        words = Array(value).map(&:to_s)
        return [].freeze if words.empty? || words == ["none"]

        words.flat_map { |word| word == PRIVATE ? PRIVATE_NETWORKS : [word == UNIX ? UNIX : network(word)] }.uniq.freeze
      end

      # An address, or a network by its first address and the bits of its prefix.
      def network(word)
        require "ipaddr"
        raise ArgumentError unless word.match?(%r{\A[\h:.]+(?:/\d{1,3})?\z})

        network = IPAddr.new(word)
        return -word if network == IPAddr.new(word[%r{[^/]+}])
      rescue ArgumentError
        raise ArgumentError, "give an IP address, a network such as 10.0.0.0/8, unix or private"
      else
        raise ArgumentError, "the network is #{network}/#{network.prefix}"
      end

      # on, off or "only"
      def activated(value)
        value.to_s == "only" ? "only" : ON_OFF.fetch(value) { raise ArgumentError, "give only, or nothing" }
      end

      # One URI or several => an Array of them.
      def binds(value)
        Array(value).map { |uri| Listeners.check(uri) }.tap do |uris|
          raise ArgumentError, "give at least one URI" if uris.empty?
        end
      end
    end
  end
end

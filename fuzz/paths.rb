# frozen_string_literal: true

require_relative "target"
require_relative "document_tree"
require_relative "../test/support/fake_exchange"

module Fuzz
  # Paths of static files: an input is a request's target, "?" and a query included. It is asked for in a real directory
  # with links of every kind (DocumentTree), by each way of opening files.
  #
  # What is served is a file that lies beneath the root, in which no name begins with a dot, and is the one that
  # decoding the path once, octet by octet, names; a redirect leads to the same host; nothing is ever raised or answered
  # with 503.
  module Paths
    SEEDS = ["/", "", "*", "/a", "/a/b.html", "/a/", "/d", "/d/", "/%61", "/a%20b", "/%C3%A4", "/%ff", "/%2e%2e/secret",
             "/../secret", "/..%2fsecret", "/%252e%252e/secret", "/%2e%2e%2fsecret", "/..%5csecret", "/.git/config",
             "/%2egit/config", "/d/.hidden", "/a%00", "/a\0", "//a", "/a//b.html", "/out", "/out/secret", "/up",
             "/climb/secret", "/in", "/in/b.html", "/loop", "/loop/loop", "/absolute", "/back/a", "/fifo", "/socket",
             "/%25%32%65%25%32%65/secret", "/%2e%2e", "/%252e%252e/x", "/..%c0%afsecret", "/%c0%ae%c0%ae/secret", "/%",
             "/%4", "/%zz", "/#{"n" * 200}", "/#{"n" * 256}", "/#{"a/" * 40}", "/#{"%61" * 90}", "/d?query",
             "/d?a=%2e#x", "/page.css", "/deep/er/and/deeper/file", "/deep/er/../er/file", "/a\\b", "/dangling",
             "/private", "/passwd", "/etc/passwd", "http://a/b"].freeze
    WORDS = ["%2e", "%2E", ".", "..", "/", "%2f", "%5c", "\\", "%00", "\0", "%25", "%252e", "%c0%ae", "%", "?", "//",
             "/./", "/../", "secret", "root", "a", "d", "out", "up", "climb", "in", "loop", "back", "index.html",
             ".git", "config", "b.html", ".hidden", "deep/er", "n" * 200, "a/" * 100, "\xFF", "page.css", ".gz", "%61",
             "private"].freeze
    FIELDS = { "accept-encoding" => "gzip" }.freeze

    module_function

    def call(octets)
      tree = DocumentTree.instance
      target = octets.b
      return [] if target.empty? # no request has none

      path = target.split("?", 2).first.to_s
      demand_name(path)
      answers = tree.sites.map { |site| ask(site, target) }
      Fuzz.demand(answers.uniq.size == 1, "all ways of opening agree") { answers.inspect }
      demand_answer(tree, path, *answers.first)
      ask(tree.final, target, final: true)
      features(path, answers.first)
    end

    # [status, headers that matter, body]; [nil] where it is not for static files
    def ask(site, target, final: false)
      exchange = FakeExchange.new(target, FIELDS)
      answered = site.call(exchange)
      Fuzz.demand(!exchange.aborted? && exchange.status != 503, "nothing is raised") { exchange.status }
      Fuzz.demand(answered == !exchange.status.nil?, "true for an answer, false without")
      statuses = final ? [200, 301, 400, 404] : [nil, 200, 301]
      Fuzz.demand(statuses.include?(exchange.status), "a status of files") { exchange.status }
      return [nil] unless answered

      [exchange.status, exchange.headers.slice("location", "content-encoding"), exchange.body]
    end

    # A name, decoded, has nothing in it that a file system would interpret.
    def demand_name(path)
      name = Cuttle::Static::Path.decode(path)
      malformed = Cuttle::Static::Path.malformed?(path)
      Fuzz.demand(malformed == !decode(path) || path.match?(/%00|\0/n), "malformed is what can't be decoded")
      return unless name

      Fuzz.demand(!malformed, "what is malformed has no name")
      binary = name.encoding == Encoding::BINARY || name.ascii_only?
      Fuzz.demand(binary && !name.match?(/[\0\\]/n), "a name is plain octets") { name.inspect }
      Fuzz.demand(!name.start_with?("/") && name.split("/").none? { |part| part.empty? || part.start_with?(".") },
                  "a name has no empty part and none with a dot in front") { name.inspect }
      Fuzz.demand(name == decode(path.delete_prefix("/")), "a path is decoded once") { name.inspect }
    end

    # Octet by octet; nil where an escape is broken.
    def decode(path)
      decoded = []
      octets = path.bytes
      until octets.empty?
        octet = octets.shift
        if octet == "%".ord
          digits = octets.shift(2).pack("C*")
          return unless digits.size == 2 && digits.delete("0-9a-fA-F").empty?

          octet = digits.to_i(16)
        end
        decoded << octet
      end
      decoded.pack("C*")
    end

    def demand_answer(tree, path, status, headers = {}, body = nil)
      case status
      when 200
        demand_beneath(tree, path, headers, body)
      when 301
        location = headers.fetch("location")
        stays = location.match?(%r{\A/(?![/\\])}n) && location.start_with?("#{path}/")
        Fuzz.demand(stays, "a redirect stays here") { location }
      else
        hidden = !path.start_with?("/") || path.match?(/%2f/in)
        Fuzz.demand(hidden || !tree.plain?(decode(path)), "a file that is there is served") { path.inspect }
      end
    end

    # A file's content is its own place, so that the body says which file it is of.
    def demand_beneath(tree, path, headers, body)
      name = Cuttle::Static::Path.decode(path)
      name += "index.html" if name.empty? || name.end_with?("/")
      name += ".gz" if headers["content-encoding"]
      Fuzz.demand(!body.include?(DocumentTree::SECRET), "no secret is served") { body }
      Fuzz.demand(tree.inside?(name), "what is served lies beneath the root") { name.inspect }
      Fuzz.demand(tree.content(name) == body, "what is served is what was asked for") { [name, body].inspect }
    end

    def features(path, answer)
      name = Cuttle::Static::Path.decode(path)
      ["answer #{answer.first} #{answer[2]}",
       *path.split("/", 5).first(4).each_with_index.map { |part, place| "part #{place} #{kind(part)} #{answer.first}" },
       "depth #{[path.count("/"), 16].min} #{name.nil?}", "length #{path.bytesize.bit_length} #{answer.first}"]
    end

    # What a part of a path has that matters, each kind once.
    def kind(part)
      kinds = part.scan(/%25|%2e|%2f|%5c|%00|%\h\h|%|\.+|\\|\0|[^%.\\\0]+/in).map do |piece|
        piece.match?(/\A(?:[^%.\\\0]+|%(?!25|2e|2f|5c|00)\h\h)\z/in) ? "w" : piece.downcase[0, 3]
      end
      kinds.uniq.first(2).join
    end
  end
end

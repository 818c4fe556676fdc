# frozen_string_literal: true

module Cuttle
  module Lab
    # The servers that a lab can have, ours among them. A peer is a file in peers/ and a line here; peers/peer.rb has
    # the contract.
    module Peers
      extend Catalogue

      autoload :Bundle, "cuttle/lab/peers/bundle"
      autoload :Bundled, "cuttle/lab/peers/bundled"
      autoload :Home, "cuttle/lab/peers/home"
      autoload :Peer, "cuttle/lab/peers/peer"
      autoload :Unicornish, "cuttle/lab/peers/unicornish"
      autoload :Versions, "cuttle/lab/peers/versions"

      list "server", "cuttle/lab/peers", {
        "cuttle" => ["Cuttle", "this one, under each of its engines"],
        "puma" => ["Puma", "a reactor and a pool of threads, in forked workers"],
        "unicorn" => ["Unicorn", "forked workers, one connection at a time, no keep-alive"],
        "pitchfork" => ["Pitchfork", "Unicorn's model, with workers that are forked again"],
        "falcon" => ["Falcon", "a fiber per request, in forked processes"],
        "thin" => ["Thin", "a reactor; or one with a pool of threads"],
        "webrick" => ["Webrick", "a thread per connection"],
        "passenger" => ["Passenger", "processes behind a buffering reactor of its own"],
        "rainbows" => ["Rainbows", "Unicorn with a pool of threads"],
        "yahns" => ["Yahns", "epoll with a pool of threads"],
        "goliath" => ["Goliath", "a reactor with a fiber per request"],
        "iodine" => ["Iodine", "a reactor in C, with threads, in forked workers"],
        "agoo" => ["Agoo", "a server in C, the app in one thread of it"],
        "itsi" => ["Itsi", "a server in Rust, with threads, in forked workers"],
        "haproxy" => ["Haproxy", "several of our servers, each alone, behind a router"]
      }

      class << self
        # The Peer of that name. Raises UsageError for an unknown one.
        def find(name)
          (@peers ||= {})[name.to_s] ||= fetch(name).new(name.to_s)
        end

        def all
          names.map { |name| find(name) }
        end
      end
    end
  end
end

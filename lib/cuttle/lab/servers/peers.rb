# frozen_string_literal: true

module Cuttle
  module Lab
    module Servers
      # The servers that a lab can start, Cuttle among them. A peer is a file in peers/ and a row here; peers/peer.rb
      # has the contract, and docs/lab.md a recipe.
      module Peers
        extend Catalogue

        autoload :Peer, "cuttle/lab/servers/peers/peer"
        autoload :Adapted, "cuttle/lab/servers/peers/adapted"

        list "server", "cuttle/lab/servers/peers", {
          "cuttle" => ["Cuttle", "this server, under each of its engines"],
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
          "agoo" => ["Agoo", "a server in C; one of its threads runs the app"],
          "itsi" => ["Itsi", "a server in Rust, with threads, in forked workers"],
          "kino" => ["Kino", "a server in Rust; ractors of one process run the app; Ruby 4"],
          "jruby" => ["Jruby", "this server on JRuby, whose threads have no GVL"],
          "puma-5.6" => ["Puma56", "Puma as it was in 2022"],
          "rhebok" => ["Rhebok", "forked workers, one connection at a time, with a parser in C"],
          "puma-7" => ["Puma7", "the last Puma 7", "releases"],
          "puma-6" => ["Puma6", "the last Puma 6", "releases"],
          "puma-3" => ["Puma3", "the last Puma 3, of 2020", "releases"],
          "thin-1.6" => ["Thin16", "the last Thin 1.6, of 2015", "releases"],
          "unicorn-4" => ["Unicorn4", "the last Unicorn 4, of 2015"],
          "unicorn-5" => ["Unicorn5", "the last Unicorn 5, of 2020", "releases"],
          "webrick-1.4" => ["Webrick14", "WEBrick as it came with Ruby 2.5, of 2017", "releases"],
          "serverengine" => ["Serverengine", "a framework that forks workers, with one connection at a time in each"],
          "swiftiply" => ["Swiftiply", "an evented router, and processes that serve one request at a time"],
          "mongrel" => ["Mongrel", "a thread per connection, no keep-alive; of 2010"],
          "uwsgi" => ["Uwsgi", "a server in C; forked processes run the app"],
          "haproxy" => ["Haproxy", "several Cuttle servers of one process each, behind a router"]
        }

        # Ruby => gem as a peer names it => the version that this lab was tested with. Another version may start
        # differently, or name its threads differently. For a Ruby without a row, RubyGems chooses the newest version.
        TESTED = {
          "3.1" => {
            "puma" => "8.0.2", "unicorn" => "6.1.0", "pitchfork" => "0.18.2", "falcon" => "0.51.1", "thin" => "2.0.1",
            "webrick" => "1.9.2", "rainbows" => "5.2.1", "yahns" => "1.18.0", "goliath" => "1.0.7",
            "iodine" => "0.7.60", "agoo" => "2.15.15", "itsi-server" => "0.2.27", "rhebok" => "0.9.3",
            "serverengine" => "2.4.0", "jruby-jars" => "9.4.15.0", "logger" => "1.7.0", "rack" => "3.2.8",
            "rack:<3" => "2.2.25", "rack:<2" => "1.6.13", "rackup" => "2.3.1"
          }.freeze,
          "4.0" => {
            "puma" => "8.0.2", "unicorn" => "6.1.0", "pitchfork" => "0.18.2", "falcon" => "0.57.0", "thin" => "2.0.1",
            "iodine" => "0.8.3", "agoo" => "2.15.15", "itsi-server" => "0.2.27", "kino" => "0.7.2",
            "jruby-jars" => "9.4.15.0", "logger" => "1.7.0", "rack" => "3.2.8", "rackup" => "2.3.1"
          }.freeze
        }.freeze

        class << self
          # Adds a Peer from outside the table.
          def add(peer)
            (@peers ||= {})[peer.name] = peer
          end

          # The Peer of that name. Raises UsageError for an unknown one.
          def find(name)
            (@peers ||= {})[name.to_s] ||= fetch(name).new(name.to_s)
          end

          def all
            names.map { |name| find(name) }
          end

          # +gems+, in the form of Peer#gems, with the versions to install under that Ruby.
          def pin(gems, ruby: RUBY_VERSION)
            tested = TESTED.fetch(ruby[/\A\d+\.\d+/], {})
            gems.map { |gem| tested.key?(gem) ? "#{gem.split(":").first}:#{tested[gem]}" : gem }
          end
        end
      end
    end
  end
end

# frozen_string_literal: true

module Cuttle
  module Lab
    # Load testers that publications used. They can load a server in place of Cuttle::Load, to show how much of a
    # published number comes from the tester. A tester is a file in testers/ and a row here; testers/tester.rb has the
    # contract.
    module Testers
      extend Catalogue

      autoload :Result, "cuttle/lab/testers/tester"
      autoload :Tester, "cuttle/lab/testers/tester"

      list "load tester", "cuttle/lab/testers", {
        "ab" => ["Ab", "one thread, HTTP/1.0; percentiles in whole milliseconds"],
        "siege" => ["Siege", "a thread per connection; no percentiles"],
        "wrk" => ["Wrk", "threads on epoll, at least one connection per thread; takes a duration only"]
      }

      # The class of that name. Raises UsageError for an unknown one.
      def self.find(name)
        fetch(name)
      end
    end
  end
end

# frozen_string_literal: true

module Cuttle
  module Lab
    module Peers
      # The versions of other servers that this lab was tested with: how one is started, and what its threads are
      # called, may be another matter in the next. Under a Ruby that nobody tested with, the newest that RubyGems has
      # for it is taken.
      module Versions
        # Ruby => what a peer asks for => the version that it gets.
        TESTED = {
          "3.1" => {
            "puma" => "8.0.2", "unicorn" => "6.1.0", "pitchfork" => "0.18.2", "falcon" => "0.51.1", "thin" => "2.0.1",
            "webrick" => "1.9.2", "rainbows" => "5.2.1", "yahns" => "1.18.0", "goliath" => "1.0.7",
            "iodine" => "0.7.60", "agoo" => "2.15.15", "itsi-server" => "0.2.27",
            "rack" => "3.2.8", "rack:<3" => "2.2.25", "rack:<2" => "1.6.13", "rackup" => "2.3.1"
          }.freeze
        }.freeze

        module_function

        # Gems as Peer#gems has them, with the versions to install under that Ruby.
        def pin(gems, ruby: RUBY_VERSION)
          tested = TESTED.fetch(ruby[/\A\d+\.\d+/], {})
          gems.map { |gem| tested.key?(gem) ? "#{gem.split(":").first}:#{tested[gem]}" : gem }
        end
      end
    end
  end
end

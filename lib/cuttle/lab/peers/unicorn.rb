# frozen_string_literal: true

module Cuttle
  module Lab
    module Peers
      class Unicorn < Unicornish
        def gems = %w[unicorn rack]
      end
    end
  end
end

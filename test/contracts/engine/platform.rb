# frozen_string_literal: true

# In place of RubyGems, for servers under test that wait with nio4r: all that it asks.
module Gem
  def self.win_platform? = false
end

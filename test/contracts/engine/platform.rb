# frozen_string_literal: true

# Replaces the parts of RubyGems that nio4r needs, for servers under test.
module Gem
  def self.win_platform? = false
end

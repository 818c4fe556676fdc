# frozen_string_literal: true

module Cuttle
  VERSION = "0.1.0"
end

# frozen_string_literal: true

# Runs the test files of ARGV in this JRuby, without those that are exempt.
require "test_helper"
require_relative "exempt"

ARGV.shift(ARGV.size).each { |file| load file }
Exempt.remove

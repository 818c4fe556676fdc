# frozen_string_literal: true

require_relative "document_root"
require_relative "fake_exchange"

# Asks Cuttle::Static for files of a DocumentRoot.
module StaticSite
  include DocumentRoot

  DATE = "Thu, 02 Jan 2020 03:04:05 GMT" # DocumentRoot::OLD
  TYPES = { ".html" => "text/html", ".css" => "text/css", ".js" => "application/javascript", ".png" => "image/png",
            ".svg" => "image/svg+xml", ".json" => "application/json", ".gz" => "application/x-gzip" }.freeze

  # Inodes of a Beneath::Entry that count as unchanged for long: a change time can't be set, and tests don't wait.
  module Settling
    def self.inodes
      @inodes ||= []
    end

    def settled?
      Settling.inodes.include?(stamp[/\A\h+/]) || super
    end
  end

  def teardown
    Settling.inodes.clear
    super
  end

  def static(**options)
    Cuttle::Static.new(@root, content_types: TYPES.method(:[]), **options)
  end

  # The answer to a request for +path+, which +static+ must handle. +more+: further header fields.
  def get(path, fields = {}, method: "GET", static: static(), **more)
    connection = FakeExchange.new(path, fields.merge(more), method: method)
    assert_equal true, static.call(connection), "#{method} #{path} is for static files"
    connection
  end

  def assert_passed(path, fields = {}, method: "GET")
    connection = FakeExchange.new(path, fields, method: method)
    assert_equal false, static.call(connection), path
    refute_predicate connection, :responded?
  end

  # Lets the files count as unchanged for long.
  def settle(*names)
    Cuttle::Beneath::Entry.prepend(Settling) unless Cuttle::Beneath::Entry < Settling
    Settling.inodes.concat(names.map { |name| File.stat("#{@root}/#{name}").ino.to_s(16) })
  end
end

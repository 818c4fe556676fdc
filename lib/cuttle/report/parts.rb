# frozen_string_literal: true

module Cuttle
  module Report
    # The parts of a report: the sections of a page, or the charts of a section. Each part registers itself in a file of
    # its own and states its position, so a new part is one new file in the folder and nothing else.
    class Parts
      # folder: the path of the folder.
      def initialize(folder)
        @folder = folder
        @parts = {}
      end

      # Registers +part+, any object. at: its position, a number. Cuttle's own parts are at 10, 20, 30 and so on.
      def add(name, part, at:)
        raise ArgumentError, "#{@folder}: two parts have the name #{name}" if @parts.key?(name)

        @parts[name] = [at, part]
      end

      # Loads the files and returns { name => part }, in the order of positions.
      def to_h
        Dir["#{@folder}/*.rb"].each { |path| require path }
        @parts.sort_by { |name, (at, _)| [at, name] }.to_h { |name, (_, part)| [name, part] }
      end
    end
  end
end

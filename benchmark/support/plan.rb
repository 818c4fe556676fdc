# frozen_string_literal: true

module Bench
  # What a benchmark measures: subjects, the columns that tell of them, and the figures it must reach.
  class Plan
    # recipe: see Server; trial: call(recipe, seconds, cores) => figures; versus: name of the subject it is compared with.
    Subject = Struct.new(:recipe, :trial, :versus, keyword_init: true) do
      def name
        recipe.name
      end
    end
    # A ratio or value that the block takes from Results, and the bound it must keep.
    Figure = Struct.new(:text, :sense, :bound, :value, keyword_init: true)

    attr_reader :name, :title, :subjects, :figures, :columns

    # columns: names from Columns.
    def initialize(name, title, columns)
      @name = name
      @title = title
      @columns = columns
      @subjects = []
      @figures = []
    end

    def subject(recipe, trial, versus:)
      @subjects << Subject.new(recipe: recipe, trial: trial, versus: versus)
    end

    # at_least: or at_most: the bound; the block gets Results and returns a number, or nil where it can't be told.
    def figure(text, at_least: nil, at_most: nil, &value)
      @figures << Figure.new(text: text, sense: at_least ? "at_least" : "at_most", bound: at_least || at_most, value: value)
    end
  end
end

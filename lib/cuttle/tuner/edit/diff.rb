# frozen_string_literal: true

module Cuttle
  module Tuner
    class Edit
      # The difference between two texts, as `diff -u` writes it.
      class Diff
        CONTEXT = 3

        def initialize(old, new, path)
          @old = old.lines(chomp: true)
          @new = new.lines(chomp: true)
          @path = path
        end

        def to_s
          return "" if @old == @new

          ["--- #{@path}", "+++ #{@path}", *hunks.flat_map { |hunk| write(hunk) }].map { |line| "#{line}\n" }.join
        end

        private

        # [mark, text, index in the old text, index in the new text] of each line. mark: " ", "-" or "+".
        def script
          @script ||= begin
            lengths = lengths()
            steps = []
            i = j = 0
            while i < @old.length || j < @new.length
              mark = mark(i, j, lengths)
              steps << [mark, mark == "+" ? @new[j] : @old[i], i, j]
              i += 1 unless mark == "+"
              j += 1 unless mark == "-"
            end
            steps
          end
        end

        def mark(old, new, lengths)
          return " " if old < @old.length && new < @new.length && @old[old] == @new[new]
          return "-" if new == @new.length || (old < @old.length && lengths[old + 1][new] >= lengths[old][new + 1])

          "+"
        end

        # lengths[i][j]: the length of the longest common subsequence of the lines from i and from j on.
        def lengths
          table = Array.new(@old.length + 1) { [0] * (@new.length + 1) }
          (@old.length - 1).downto(0) do |i|
            (@new.length - 1).downto(0) do |j|
              table[i][j] = @old[i] == @new[j] ? table[i + 1][j + 1] + 1 : [table[i + 1][j], table[i][j + 1]].max
            end
          end
          table
        end

        # Groups of changes with their context lines. Groups that touch are one.
        def hunks
          near = script.each_index.reject { |index| script[index][0] == " " }
                       .flat_map { |index| ((index - CONTEXT)..(index + CONTEXT)).to_a }.uniq
          near.select { |index| index.between?(0, script.length - 1) }.sort
              .slice_when { |one, other| other > one + 1 }.map { |indices| script.values_at(*indices) }
        end

        def write(hunk)
          ranges = [["+", 2], ["-", 3]].map do |foreign, side|
            count = hunk.count { |mark,| mark != foreign }
            "#{hunk.first[side] + (count.zero? ? 0 : 1)},#{count}"
          end
          ["@@ -#{ranges[0]} +#{ranges[1]} @@", *hunk.map { |mark, text,| "#{mark}#{text}" }]
        end
      end
    end
  end
end

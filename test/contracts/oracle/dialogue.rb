# frozen_string_literal: true

require "pbt"
require_relative "grammar"

# The actions of a client on one connection, as a flat list: Strings are octets. :cut ends a write. :wait also ends a
# write and waits for octets from the server; :continue waits for a 100 (Continue). With :late (anywhere), the end of
# the input arrives separately from its last octets.
class Dialogue
  # Ruby source for an object, in which long runs of a letter are shortened.
  def self.source(object)
    object.inspect.gsub(/([a-zA-Z0-9])\1{40,}/) { |run| "\#{#{$1.inspect} * #{run.size}}" }
  end

  attr_reader :items

  def initialize(items)
    @items = items.freeze
  end

  # The octets of each write, each with what the client waits for afterwards, if anything.
  def writes
    writes = [["".b, nil]]
    @items.each do |item|
      case item
      when :cut then writes << ["".b, nil]
      when :wait, :continue
        writes.last[1] = item
        writes << ["".b, nil]
      when String then writes.last[0] << item
      end
    end
    writes.reject { |octets, waits| octets.empty? && !waits }
  end

  def late? = @items.include?(:late)
  def cut? = @items.include?(:cut)

  # Ruby source for the same dialogue, with neighbours joined.
  def inspect
    joined = writes.flat_map { |octets, waits| [Dialogue.source(octets), (waits || :cut).inspect] }
    joined.pop if joined.last == ":cut"
    "Dialogue.new([#{[*joined, *(":late" if late?)].join(", ")}])"
  end
  alias to_s inspect

  # Makes dialogues, and smaller versions of one that failed.
  class Arbitrary < Pbt::Arbitrary::Arbitrary
    def generate(random = Random.new)
      Dialogue.new(Grammar.new(random).dialogue)
    end

    # First without many of its items, then without one, then with shorter ones.
    def shrink(dialogue)
      items = dialogue.items
      Enumerator.new do |smaller|
        smaller << Dialogue.new(items.grep(String)) unless items.grep(Symbol).empty? # waits take longest
        without(items) { |less| smaller << Dialogue.new(less) }
        items.each_with_index do |item, index|
          next unless item.is_a?(String)

          without(item.chars) { |less| smaller << replaced(items, index, less.join) unless less.empty? }
        end
      end
    end

    private

    def replaced(items, index, item)
      Dialogue.new([*items[0...index], item.freeze, *items[index + 1..]])
    end

    # The list without each of its parts, halves first.
    def without(list)
      size = list.size
      while (size = (size + 1) / 2).positive?
        0.step(list.size - 1, size) { |from| yield list[0...from] + list[from + size..].to_a }
        break if size == 1
      end
    end
  end
end

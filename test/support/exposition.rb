# frozen_string_literal: true

# Prometheus' text format 0.0.4, read strictly: anything that a collector might tolerate is an error here.
#
#   families = Exposition.read(text)          # {name => Family}; raises Exposition::Error
#   families["cuttle_requests_total"].value   # of the only sample; #samples: {{label => value} => number}
class Exposition
  class Error < StandardError; end

  # +samples+: for a histogram, bucket samples are under {le: …} and the others under "sum" and "count" of the labels.
  Family = Struct.new(:name, :type, :help, :samples) do
    def value(**labels) = samples.fetch([name, labels])

    def labels = samples.keys.map(&:last).uniq

    # Upper bound => samples up to it.
    def buckets(**labels)
      found = samples.select { |(sample, all), _| sample == "#{name}_bucket" && all.except(:le) == labels }
      found.to_h { |(_, all), count| [Exposition.number(all.fetch(:le)), count] }
    end

    def sum(**labels) = samples.fetch(["#{name}_sum", labels])
    def count(**labels) = samples.fetch(["#{name}_count", labels])
  end

  NAME = /[a-zA-Z_:][a-zA-Z0-9_:]*/
  LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"/
  SAMPLE = /\A(#{NAME})(?:\{(#{LABEL}(?:,#{LABEL})*)\})? (\S+)\z/
  TYPES = %w[counter gauge histogram].freeze
  NUMBERS = { "+Inf" => Float::INFINITY, "-Inf" => -Float::INFINITY, "NaN" => Float::NAN }.freeze

  class << self
    def read(text)
      new.read(text)
    end

    def number(text)
      NUMBERS.fetch(text) { Float(text) }
    rescue ArgumentError
      raise Error, "no number: #{text}"
    end
  end

  def initialize
    @families = {}
  end

  def read(text)
    raise Error, "no UTF-8" unless text.dup.force_encoding(Encoding::UTF_8).valid_encoding?
    raise Error, "the last line has no end" unless text.empty? || text.end_with?("\n")

    text.each_line(chomp: true) { |line| line(line) }
    @families.each_value { |family| check(family) }
  end

  private

  def line(line)
    case line
    when /\A# HELP (#{NAME}) (.*)\z/ then open(*$~.captures)
    when /\A# TYPE (#{NAME}) (\w+)\z/ then type(*$~.captures)
    when SAMPLE then sample($1, $2, line[/\S+\z/])
    else raise Error, "not a line: #{line}"
    end
  end

  def open(name, help)
    raise Error, "HELP of #{name} twice" if @families.key?(name)
    raise Error, "HELP of #{name}: a lone backslash" if help.gsub(/\\[\\n]/, "").include?("\\")

    @current = @families[name] = Family.new(name, nil, help, {})
  end

  def type(name, type)
    raise Error, "TYPE of #{name} without its HELP before it" unless @current&.name == name
    raise Error, "TYPE of #{name} twice, or after samples" if @current.type || @current.samples.any?
    raise Error, "TYPE of #{name}: #{type}" unless TYPES.include?(type)

    @current.type = type
  end

  def sample(name, labels, number)
    family = @current
    raise Error, "#{name} without a TYPE" unless family&.type
    raise Error, "#{name} among the samples of #{family.name}" unless names(family).include?(name)

    pairs = labels.to_s.scan(LABEL).map { |label, text| [label.to_sym, unescape(text)] }
    raise Error, "#{name}: a label twice" unless pairs.map(&:first).uniq.length == pairs.length

    key = [name, pairs.to_h]
    raise Error, "#{name} #{labels} twice" if family.samples.key?(key)

    family.samples[key] = self.class.number(number)
  end

  def unescape(text) = text.gsub(/\\(.)/) { { "n" => "\n" }.fetch($1, $1) }

  def names(family)
    family.type == "histogram" ? %w[bucket sum count].map { |part| "#{family.name}_#{part}" } : [family.name]
  end

  def check(family)
    raise Error, "#{family.name} has no TYPE" unless family.type
    raise Error, "#{family.name} has no samples" if family.samples.empty?

    family.type == "histogram" ? check_histogram(family) : check_plain(family)
  end

  def check_plain(family)
    raise Error, "#{family.name}: a label of histograms" if family.samples.keys.any? { |_, labels| labels.key?(:le) }
    raise Error, "#{family.name}: a name of counters" if (family.type == "counter") ^ family.name.end_with?("_total")
    return unless family.type == "counter"

    raise Error, "#{family.name}: no count" unless family.samples.values.all? { |value| value.finite? && value >= 0 }
  end

  def check_histogram(family)
    family.samples.keys.map { |_, labels| labels.except(:le) }.uniq.each do |labels|
      buckets = family.buckets(**labels)
      raise Error, "#{family.name}: bounds do not rise" unless buckets.keys == buckets.keys.sort
      raise Error, "#{family.name}: counts fall" unless buckets.values == buckets.values.sort
      raise Error, "#{family.name}: no +Inf" unless buckets.keys.last == Float::INFINITY
      raise Error, "#{family.name}: count is not that of +Inf" unless buckets.values.last == family.count(**labels)

      family.sum(**labels)
    end
  end
end

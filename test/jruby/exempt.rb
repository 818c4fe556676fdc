# frozen_string_literal: true

# What is not tested on JRuby, and why.
module Exempt
  # Engines. test_one_line_names_what_jruby_lacks sees that JRuby refuses them.
  ENGINES = {
    "fibers" => "JRuby 9.4 has no fiber scheduler",
    "ractors" => "JRuby has no ractors"
  }.freeze

  # Contracts of engines.
  CONTRACTS = {
    "Forks" => "the JVM can't fork",
    "TakesTurns" => "threads run in parallel, so that none waits for the GVL",
    "StandsBy" => "threads run in parallel, so that none leaves its turn to another"
  }.freeze

  # Engines that share their side of the core with another, which has the whole contract. Each server takes seconds of
  # processor time to start, and a test run minutes, so these have only the part that few servers do for.
  BRIEF = { "single" => "threads", "reactor" => "hybrid" }.transform_values do
    defined?(EngineContract) ? [EngineContract::Serves, EngineContract::Survives] : []
  end.freeze

  # Tests that run in JRuby.
  TESTS = {
    /^TestRubyParsers|^TestAccessLines|^TestChangingResponses|^TestHandler#test_(rackup|the_default_where)/ =>
      "they start servers as processes of the Ruby that runs them, which for JRuby is no program",
    /^TestStaticServing#test_a_directory_alone|^TestFailure#test_in_a_conf|^TestHandler#test_(variables|a_worker)/ =>
      "they start servers as processes too",
    /^TestListeners#test_the_backlog/ => "JRuby reads no option of a socket that is more than a number",
    /^TestListeners#test_abstract_(a|errors)/ => "JRuby has no sockets without a file",
    /^TestDate#test_(times_that|dates_are)/ => "they run Ruby as a process, to ask it about time zones",
    /under_fibers|^TestStaticServing.*fibers/ => "JRuby 9.4 has no fiber scheduler",
    /^TestBeneath(Walk|Openat2)|^TestAnsweredTooEarly|under_\w+_and_native|minimum_rate_is_/ =>
      "there is no native core",
    /^TestRecognizer#test_requests_with_and_without_a_body/ => "it compares with the native parser",
    /test_(no_race_of_renames_leads_out|what_may_not_be_read_is_not_there|only_the_owner_takes_the_file_away)/ =>
      "they fork",
    /_costs?_linear_time/ => "the JVM has no clock of the process's CPU time",
    /^TestHandler#test_(our_options_in_rackups_spelling|an_address_of_the_configuration_file)/ => "they ask for workers"
  }.freeze

  class << self
    # Takes the exempt tests out of the suites that are loaded. Raises if there are none any more for some reason.
    def remove
      TESTS.each_key do |pattern|
        found = all.select { |suite, name| pattern.match?("#{suite.name}##{name}") }
        raise "exempt, but not there: #{pattern.inspect}" if found.empty?

        found.each { |suite, name| suite.send(:undef_method, name) if suite.method_defined?(name) }
      end
    end

    private

    def all
      Minitest::Runnable.runnables.flat_map { |suite| suite.methods_matching(/\Atest_/).map { |name| [suite, name] } }
    end
  end
end

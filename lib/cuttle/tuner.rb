# frozen_string_literal: true

module Cuttle
  # The tuner finds the number of workers, the number of threads and the engine that suit an app, within limits.
  #
  #   Profile   what is known of an app on a machine: the lab measures it, and it is kept as JSON
  #   Model     Profile, Setting, Demand -> Forecast: arithmetic and simulation, without measuring
  #   Search    all settings within the Limits, best first
  #   Advice    the answer, once the lab has verified the best settings
  #
  # Rule: only the profile and the verification measure, and both use the lab. Everything between them is a function of
  # a Profile, so `cuttle tune --what-if` needs no server and no machine.
  module Tuner
    # A profile or an answer can't be measured, read or computed. The message is one line; the exit status is 1.
    class Failure < Error; end

    autoload :Advice, "cuttle/tuner/advice"
    autoload :Advisor, "cuttle/tuner/advisor"
    autoload :Circumstances, "cuttle/tuner/circumstances"
    autoload :Demand, "cuttle/tuner/demand"
    autoload :Edit, "cuttle/tuner/edit"
    autoload :Elsewhere, "cuttle/tuner/elsewhere"
    autoload :Folder, "cuttle/tuner/folder"
    autoload :Footprint, "cuttle/tuner/footprint"
    autoload :Forecast, "cuttle/tuner/forecast"
    autoload :Grid, "cuttle/tuner/grid"
    autoload :Limits, "cuttle/tuner/limits"
    autoload :Margin, "cuttle/tuner/margin"
    autoload :Measurement, "cuttle/tuner/measurement"
    autoload :Mix, "cuttle/tuner/mix"
    autoload :Model, "cuttle/tuner/model"
    autoload :Options, "cuttle/tuner/options"
    autoload :Outcome, "cuttle/tuner/outcome"
    autoload :Production, "cuttle/tuner/production"
    autoload :Profile, "cuttle/tuner/profile"
    autoload :Profiler, "cuttle/tuner/profiler"
    autoload :Question, "cuttle/tuner/question"
    autoload :Ranking, "cuttle/tuner/ranking"
    autoload :Report, "cuttle/tuner/report"
    autoload :Requests, "cuttle/tuner/requests"
    autoload :Search, "cuttle/tuner/search"
    autoload :Session, "cuttle/tuner/session"
    autoload :Setting, "cuttle/tuner/setting"
    autoload :Sources, "cuttle/tuner/sources"
    autoload :Standing, "cuttle/tuner/standing"
    autoload :Threads, "cuttle/tuner/threads"
    autoload :Verdict, "cuttle/tuner/verdict"
    autoload :Verification, "cuttle/tuner/verification"
    autoload :Verified, "cuttle/tuner/verified"
  end
end

# frozen_string_literal: true

module Cuttle
  class Cluster
    autoload :Cpus, "cuttle/cluster/cpus"
  end
end

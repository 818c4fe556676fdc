# frozen_string_literal: true

module Cuttle
  module Lab
    module Report
      module Sections
        # The machine, and what ran on it.
        module Environment
          extend Markup

          HEADING = "Environment"
          COLUMNS = %w[server model workers threads keep-alive version Ruby].freeze

          module_function

          def content(view)
            machine = (view.results.environment || {}).map { |key, value| [key.tr("_", " "), told(key, value)] }
            safe(Sections.table("Machine", %w[what value], machine), configurations(view))
          end

          def told(key, value)
            case value
            when true then "yes"
            when false then "no"
            when nil then Numbers::NONE
            when Array then value.join(", ")
            when Hash then value.map { |name, each| "#{name} #{each}" }.join(", ")
            when Integer then key == "memory" ? Numbers.size(value) : value.to_s
            else value.to_s
            end
          end

          def configurations(view)
            rows = view.results.configurations.map do |each|
              settings = COLUMNS.map { |column| each[column.tr("-", "_").downcase] }
              [each.name, *settings.map { |value| told("setting", value) }, told("slots", each.slots || "unbounded")]
            end
            Sections.table("Configurations", ["configuration", *COLUMNS, "slots"], rows)
          end
        end
      end
    end
  end
end

# frozen_string_literal: true

module Cuttle
  module Studies
    # Writes documents about archived results: a README for each study, and docs/studies.md about all of them. A test
    # fails if the documents differ from what the results give.
    module Documents
      OVERVIEW = "docs/studies.md" # beside studies/

      module_function

      # { path => text }. all: Findings of archived results.
      def of(all, root = ROOT)
        missing = Studies.names(root) - all.map { |findings| findings.study.name }
        again = Archive.again(root)
        overview = Report::Overview.render(all, missing: missing, again: again, beliefs: Beliefs.read(root))
        readmes(all, again, root).merge(File.join(File.dirname(root), OVERVIEW) => overview)
      end

      # { path => text }. again: further Findings, with other Rubies.
      def readmes(all, again, root)
        others = again.group_by { |findings| findings.study.name }
        all.to_h do |findings|
          name = findings.study.name
          ["#{root}/#{name}/README.md", Report::Readme.render(findings, again: others.fetch(name, []))]
        end
      end

      # Returns the paths. Raises Failure.
      def write(all, root = ROOT)
        of(all, root).map { |path, text| replace(path, text) }
      end

      # Replaces a file in one step: a reader sees the old or the new one. Returns the path. Raises Failure.
      def replace(path, text)
        File.write("#{path}.new", text)
        File.rename("#{path}.new", path)
        path
      rescue SystemCallError => error
        raise Failure, "can't write #{path}: #{Load.reason(error)}"
      end
    end
  end
end

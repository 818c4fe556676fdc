# frozen_string_literal: true

module Cuttle
  class CLI
    class Study
      # `cuttle study keep` and `cuttle study report`: the kept results of studies, and the documents made from them.
      class Documents
        PAGE = "report.html"

        # +root+: the directory of the declarations and the kept results.
        def initialize(out:, root: Studies::ROOT)
          @out = out
          @root = root
        end

        # Returns the exit status. Raises UsageError and Error. Checks all directories before it takes the first.
        def keep(directories)
          raise UsageError, "keep takes directories of results" if directories.empty?

          directories.each { |directory| Studies::Archive.check(directory, @root) }
          say(directories.map { |directory| Studies::Archive.take(directory, @root) })
          say(Studies::Documents.write(Studies::Archive.all(@root), @root))
          0
        end

        # +directory+: results that are not kept; nil for the kept ones. +output+: the path of the page.
        def report(words, directory: nil, output: nil)
          raise UsageError, "report takes no names: it is on all there are" if words.any?

          all = directory ? Studies::Archive.newest(directory, @root) : Studies::Archive.all(@root)
          raise Error, "no results#{directory ? " in #{directory}" : " are kept: cuttle study keep DIR"}" if all.empty?

          say(Studies::Documents.write(all, @root)) unless directory
          page = output || File.join(directory || @root, PAGE)
          again = directory ? [] : Studies::Archive.again(@root)
          say([Studies::Documents.replace(page, Studies::Report::Page.render(all, again: again,
                                                                             beliefs: Studies::Beliefs.read(@root)))])
          0
        end

        private

        def say(paths)
          paths.each { |path| @out.puts path.delete_prefix("#{Dir.pwd}/") }
        end
      end
    end
  end
end

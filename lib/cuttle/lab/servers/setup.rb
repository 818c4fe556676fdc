# frozen_string_literal: true

module Cuttle
  module Lab
    module Servers
      # What a server is started with.
      #
      #   model       name of the peer's concurrency model, nil where it has one only
      #   workers     processes that run the app; 0: no forking
      #   threads     threads that run the app in each process; 0: as many as there are connections
      #   keep_alive  whether connections persist
      #   like        the server whose habits ours takes on, nil for its own
      #   flags       further words for the command line of ours, nil for none
      #   app         path of the rackup file
      #   directory   the server's working directory, nil for one that has nothing of anybody's
      #   port        on 127.0.0.1
      #   backlog     of the listening socket, where it can be said
      #   ruby        path of the Ruby that runs it, nil for this one
      #   env         Hash for the process's environment
      #   cores       numbers of the cores it may use, nil for all
      #   log         path of the file that takes its output; files made for it lie beside that
      Setup = Struct.new(:model, :workers, :threads, :keep_alive, :like, :flags, :app, :directory, :port, :backlog, :ruby, :env,
                         :cores, :log, keyword_init: true) do
        # Processes that run the app.
        def processes
          [workers, 1].max
        end

        # Writes a file that the server reads, and returns its path.
        def file(name, text)
          path = "#{log}.#{name}"
          File.write(path, text)
          path
        end
      end
    end
  end
end

# frozen_string_literal: true

module Cuttle
  module Lab
    module Servers
      # The settings of one start of a server.
      #
      #   model       name of the peer's concurrency model, nil if it has only one
      #   workers     processes that run the app, or ractors in a model that has them; 0: no forking
      #   threads     threads that run the app in each process; 0: one for each connection
      #   keep_alive  whether connections persist
      #   like        the server whose defaults Cuttle uses, nil for its own
      #   flags       further options of `cuttle serve`, nil for none
      #   app         path of the rackup file
      #   directory   the server's working directory, nil for an empty one
      #   port        the port on 127.0.0.1
      #   backlog     the backlog of the listening socket, if the server has an option for it
      #   ruby        path of the Ruby that runs it, nil for this one
      #   env         Hash for the process's environment
      #   cores       the cores that it may use, nil for all
      #   log         path of the file for its output; files that the lab creates for the server are beside it
      Setup = Struct.new(:model, :workers, :threads, :keep_alive, :like, :flags, :app, :directory, :port, :backlog,
                         :ruby, :env, :cores, :log, keyword_init: true) do
        # Number of processes, or ractors, that run the app.
        def processes
          [workers, 1].max
        end

        # Writes a file for the server and returns its path.
        def file(name, text)
          path = "#{log}.#{name}"
          File.write(path, text)
          path
        end
      end
    end
  end
end

# frozen_string_literal: true

module Cuttle
  module Lab
    class WorkApp
      # At most +size+ connections, each made when it is first needed and used by one thread or fiber at a time. Whoever
      # finds none free waits until one is.
      class Pool
        # The block makes a connection.
        def initialize(size, &connect)
          @connect = connect
          @places = Thread::Queue.new
          size.times { @places << nil } # a place without a connection yet
        end

        # Yields a connection. One under which the block raised is not used again.
        def with
          place = @places.pop
          begin
            connection = place || @connect.call
            place = nil
            result = yield connection
            place = connection
            result
          ensure
            @places << place
          end
        end
      end
    end
  end
end

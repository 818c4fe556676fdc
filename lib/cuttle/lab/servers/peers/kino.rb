# frozen_string_literal: true

module Cuttle
  module Lab
    module Servers
      module Peers
        # Its workers are ractors of one process, or threads if the app is not shareable. It prints its settings.
        class Kino < Peer
          SHAPE = /^- mode: +(?<mode>\w+), (?<workers>\d+) workers? × (?<threads>\d+) threads?$/

          def gems = %w[kino rack]
          def since = "4.0"
          def models = %w[threaded]
          def variants = %w[ractor]
          def workers = (0..)
          def threads = ANY

          def arguments(setup)
            ["kino", "-b", "127.0.0.1", "-p", setup.port.to_s, "-m", setup.model, "-w", setup.processes.to_s,
             "-t", setup.threads.to_s, setup.app]
          end

          private

          def settings(server)
            setup = server.setup
            [["mode", setup.model], ["workers", setup.processes], ["threads", setup.threads]].map do |name, wanted|
              Proof.same(name, wanted.to_s, said(server)[name], "as it reports")
            end
          end

          def processes(server)
            Proof.same("workers", server.setup.processes.to_s, said(server)["workers"],
                       "as it reports")
          end

          # Setting => value.
          def said(server)
            server.output.dup.force_encoding(Encoding::UTF_8).match(SHAPE)&.named_captures || {}
          end
        end
      end
    end
  end
end

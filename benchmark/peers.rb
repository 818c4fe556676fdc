# frozen_string_literal: true

# The servers that Cuttle is measured beside: what to install, and how each is run with one process, on one address, in
# production, without a log of requests. benchmark/setup installs them; a line that can't be installed is named there.
#
# %{port}, %{app} (a rackup file) and %{threads} are filled in. Where a server has no thread pool it ignores %{threads}.
module Bench
  PEERS = [
    Peer::Entry.new(name: "puma", gems: %w[puma:8.0.2 rack rackup], keep_alive: true,
                    run: "puma -C - -q -e production -b tcp://127.0.0.1:%{port} -t %{threads}:%{threads} %{app}"),
    Peer::Entry.new(name: "puma-5.6", gems: %w[puma:5.6.9 rack:<3], keep_alive: true,
                    run: "puma -C - -q -e production -b tcp://127.0.0.1:%{port} -t %{threads}:%{threads} %{app}"),
    Peer::Entry.new(name: "iodine", gems: %w[iodine rack], keep_alive: true,
                    run: "iodine -b 127.0.0.1 -p %{port} -w 1 -t %{threads} %{app}"),
    Peer::Entry.new(name: "agoo", gems: %w[agoo rack], keep_alive: true,
                    run: "agoo -p %{port} -w 1 -t %{threads} %{app}"),
    Peer::Entry.new(name: "itsi", gems: %w[itsi-server rack], keep_alive: true,
                    run: "itsi serve -b http://127.0.0.1:%{port} -w 1 -t %{threads} -r %{app}"),
    Peer::Entry.new(name: "falcon", gems: %w[falcon], keep_alive: true,
                    run: "falcon serve -b http://127.0.0.1:%{port} -n 1 -c %{app}"),
    Peer::Entry.new(name: "thin", gems: %w[thin rack rackup], keep_alive: true,
                    run: "thin start -a 127.0.0.1 -p %{port} -e production -q -R %{app}"),
    Peer::Entry.new(name: "webrick", gems: %w[webrick rack rackup], keep_alive: true,
                    run: "rackup -q -s webrick -E production -o 127.0.0.1 -p %{port} %{app}"),
    Peer::Entry.new(name: "unicorn", gems: %w[unicorn rack], keep_alive: false,
                    run: "unicorn -N -E production -l 127.0.0.1:%{port} %{app}"),
    Peer::Entry.new(name: "pitchfork", gems: %w[pitchfork rack], keep_alive: false,
                    run: "pitchfork -E production -l 127.0.0.1:%{port} %{app}"),
    Peer::Entry.new(name: "rainbows", gems: %w[rainbows rack:<3], keep_alive: true,
                    run: "rainbows -N -E production -l 127.0.0.1:%{port} %{app}"),
    Peer::Entry.new(name: "yahns", gems: %w[yahns rack:<3], keep_alive: true,
                    run: "yahns-rackup -E production -o 127.0.0.1 -p %{port} %{app}"),
    Peer::Entry.new(name: "rhebok", gems: %w[rhebok rack:<3], keep_alive: false,
                    run: "rackup -s Rhebok -E production -o 127.0.0.1 -p %{port} -O MaxWorkers=1 %{app}"),
    Peer::Entry.new(name: "mongrel", gems: %w[mongrel:1.2.0.pre2 rack:<2], keep_alive: false,
                    build: "--with-cflags=-O2 -Wno-error=format-security",
                    run: "rackup -s mongrel -E production -o 127.0.0.1 -p %{port} %{app}"),
    Peer::Entry.new(name: "passenger", package: "passenger", keep_alive: true,
                    run: "passenger start -e production -a 127.0.0.1 -p %{port} --engine=builtin " \
                         "--min-instances 1 --max-pool-size 1 -R %{app}"),
    Peer::Entry.new(name: "uwsgi", gems: %w[rack:<3], package: "uwsgi-core and uwsgi-plugin-rack-ruby3.1", keep_alive: false,
                    run: "uwsgi --plugin rack --http-socket 127.0.0.1:%{port} " \
                         "--disable-logging --add-header Connection:close --rb-gc-freq 10000 --processes 1 --rack %{app}")
  ].freeze
end

# frozen_string_literal: true

title "malloc: arenas of glibc, and jemalloc"
source "A question of our own: memory was the publications' reason for threads, and the field's advice since is
        MALLOC_ARENA_MAX=2 or jemalloc"
question "How much memory do 16 threads save with two arenas, or with jemalloc, and what does that cost?"
design "An app that computes for 2 ms, waits for 5 and allocates 500 kB; 16 threads, 16 connections that are kept; glibc
        as it is (Cuttle with as many arenas as it would have elsewhere), with two arenas, and Debian's jemalloc
        (libjemalloc2); Puma as well."
flaw "glibc's number of arenas depends on the cores: eight for each."

cores 1
warmup 2

jemalloc = "/usr/lib/x86_64-linux-gnu/libjemalloc.so.2"
allocators = { "glibc" => { "MALLOC_ARENA_MAX" => "16" }, "two arenas" => { "MALLOC_ARENA_MAX" => "2" },
               "jemalloc" => { "LD_PRELOAD" => jemalloc } }

allocators.each do |name, environment|
  trial "q25", malloc: name do
    serve engine: "hybrid", threads: 16, keep_alive: true, environment: environment, original: "puma"
    ask work(cpu_ms: 2, iowait_ms: 5, alloc_kb: 500, response_chars: 20_000), connections: 16, requests: 2000
  end
end

by_glibc = ->(metric, name) { [name, "glibc"].map { |malloc| send(metric, "q25", malloc: malloc) } }
others = allocators.keys - ["glibc"]
expect "q25.1", "two arenas, or jemalloc, take less memory",
       **others.to_h { |name| ["#{name} by glibc", [*by_glibc[:memory, name], ..0.95]] }
expect "q25.2", "and no more CPU time",
       **others.to_h { |name| ["#{name} by glibc", [*by_glibc[:cpu, name], ..1.05]] }

# frozen_string_literal: true

# Builds cuttle/core, the server's C primitives. CUTTLE_SANITIZE=1 builds it with ASan and UBSan for the tests.
# CUTTLE_CORE=pure builds nothing, and asks for no compiler: the gem then serves with its core in Ruby.
if ENV["CUTTLE_CORE"] == "pure"
  warn "cuttle: CUTTLE_CORE=pure: installed without its extension; the core in Ruby serves, which is slow"
  File.write("Makefile", "all install clean:\n")
  exit
end

require "mkmf"

append_cflags(%w[-std=gnu11 -D_GNU_SOURCE -Wno-unused-parameter -Wall -Wextra -fvisibility=hidden])
have_func("accept4", "sys/socket.h")
have_func("epoll_pwait2", "sys/epoll.h")
have_func("rb_hash_new_capa", "ruby.h")
have_func("rb_internal_thread_add_event_hook", "ruby/thread.h")
have_func("rb_internal_thread_specific_get", "ruby/thread.h")
have_const("RUBY_TYPED_EMBEDDABLE", "ruby.h")

if ENV["CUTTLE_SANITIZE"]
  $CFLAGS << " -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined"
  $LDFLAGS << " -fsanitize=address,undefined"
end

# Ruby's exceptions and fibers leave frames behind ASan's back, so that it can't watch the stacks of what they go
# through.
create_makefile("cuttle/core") do |makefile|
  objects = Dir["#{$srcdir}/rb_*.c"].map { |file| File.basename(file, ".c") + ".#{$OBJEXT}" }
  makefile << "\n#{objects.join(" ")}: CFLAGS += --param asan-stack=0\n" if ENV["CUTTLE_SANITIZE"]
  makefile
end

# frozen_string_literal: true

# Builds cuttle/load/core, the load generator's C half. CUTTLE_SANITIZE=1 builds it with ASan and UBSan for the tests.
# Without Linux's epoll there is nothing to build, and `cuttle load` reports that; the rest of Cuttle does not need it.
require "mkmf"

append_cflags(%w[-std=gnu11 -D_GNU_SOURCE -Wno-unused-parameter -Wall -Wextra -fvisibility=hidden])

if have_header("sys/epoll.h") && have_header("sys/timerfd.h")
  have_func("epoll_pwait2", "sys/epoll.h")
  have_library("m")
  if have_header("openssl/ssl.h") && have_library("crypto", "ERR_peek_last_error") && have_library("ssl", "SSL_read_ex")
    $defs << "-DHAVE_OPENSSL"
  end

  if ENV["CUTTLE_SANITIZE"]
    $CFLAGS << " -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined"
    $LDFLAGS << " -fsanitize=address,undefined"
  end

  # Ruby's exceptions unwind frames without ASan's knowledge, so ASan can't check the stacks of functions that they
  # pass.
  create_makefile("cuttle/load/core") do |makefile|
    makefile << "\n$(filter rb_%,$(OBJS)): CFLAGS += --param asan-stack=0\n" if ENV["CUTTLE_SANITIZE"]
    makefile
  end
else
  File.write("Makefile", dummy_makefile(".").join)
end

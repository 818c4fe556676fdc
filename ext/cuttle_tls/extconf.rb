# frozen_string_literal: true

# Builds cuttle/tls, which ssl:// needs: what the core does by OpenSSL. It is a library of its own, so that a server
# without TLS neither needs nor loads OpenSSL. Where OpenSSL's headers are missing, or with --without-tls or
# CUTTLE_TLS=no, nothing is built: everything else works, and ssl:// says what is missing. CUTTLE_SANITIZE=1 builds it
# with ASan and UBSan for the tests.
if ENV["CUTTLE_CORE"] == "pure" # as in ext/cuttle, where no compiler is asked for
  File.write("Makefile", "all install clean:\n")
  exit
end

require "mkmf"

# OpenSSL 1.1.1 or newer.
def openssl?
  have_header("openssl/ssl.h") && have_library("crypto", "ERR_peek_last_error") && have_library("ssl", "SSL_read_ex") &&
    have_func("SSL_CTX_set_ciphersuites", "openssl/ssl.h")
end

wanted = ENV["CUTTLE_TLS"] != "no" && with_config("tls", true)

if wanted && openssl?
  append_cflags(%w[-std=gnu11 -D_GNU_SOURCE -Wno-unused-parameter -Wall -Wextra -fvisibility=hidden])
  $defs << "-DCUTTLE_OPENSSL"
  $CFLAGS << " -I$(srcdir)/../cuttle"

  if ENV["CUTTLE_SANITIZE"]
    $CFLAGS << " -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined"
    $LDFLAGS << " -fsanitize=address,undefined"
  end

  # Ruby's exceptions leave frames behind ASan's back, so that it can't watch the stacks of functions they go through.
  create_makefile("cuttle/tls") do |makefile|
    makefile << "\n$(filter rb_%,$(OBJS)): CFLAGS += --param asan-stack=0\n" if ENV["CUTTLE_SANITIZE"]
    makefile
  end
else
  warn "cuttle: built without OpenSSL, so ssl:// can't be listened on" if wanted
  File.write("Makefile", dummy_makefile(".").join)
end

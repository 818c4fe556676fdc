/* cuttle/core: the server's C primitives. */
#include "rb_cuttle.h"
#include "clock.h"
#include "tunnel.h"

#include <ruby/thread.h>

#define LAST_WORDS CUTTLE_SECOND /* for what apps have written to hijacked connections when the process ends */

VALUE cuttle_module;

static void *close_tunnels(void *unused)
{
	cuttle_tunnels_close(LAST_WORDS);
	return unused;
}

/* Runs after the app's own at_exit blocks. */
static void end_tunnels(VALUE unused)
{
	rb_thread_call_without_gvl(close_tunnels, NULL, NULL, NULL);
}

/* Ruby calls this when the extension is loaded. Each source and all its data belong to one ractor. Data that ractors
 * share is constant, or has a lock of its own. */
RUBY_FUNC_EXPORTED void Init_core(void)
{
	rb_ext_ractor_safe(true);
	cuttle_module = rb_define_module("Cuttle");
	Init_cuttle_peers();
	Init_cuttle_env();
	Init_cuttle_descriptors();
	Init_cuttle_exchange();
	Init_cuttle_exchange_hijack();
	Init_cuttle_ledger();
	Init_cuttle_response();
	Init_cuttle_response_file();
	Init_cuttle_response_stream();
	Init_cuttle_connection();
	Init_cuttle_scoreboard();
	Init_cuttle_hijacked();
	Init_cuttle_poller();
	Init_cuttle_poller_collect();
	Init_cuttle_acceptor();
	Init_cuttle_foreign_parser();
	Init_cuttle_native_parser();
	Init_cuttle_beneath();
	Init_cuttle_orphans();
	Init_cuttle_malloc();
	rb_set_end_proc(end_tunnels, Qnil);
}

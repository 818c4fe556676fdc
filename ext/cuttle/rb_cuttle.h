/* What all files that know Ruby share. Everything in rb_*.c runs with the GVL unless stated otherwise. */
#ifndef RB_CUTTLE_H
#define RB_CUTTLE_H

#include <ruby.h>
#include <ruby/encoding.h>

#ifndef RBOOL /* missing in Ruby 3.1 */
#define RBOOL(condition) ((condition) ? Qtrue : Qfalse)
#endif

extern VALUE cuttle_module, cuttle_invalid_response;

void Init_cuttle_beneath(void);
void Init_cuttle_malloc(void);
void Init_cuttle_orphans(void);
void Init_cuttle_descriptors(void);
void Init_cuttle_scoreboard(void);
void Init_cuttle_hijacked(void);
void Init_cuttle_poller(void);
void Init_cuttle_poller_collect(void);
void Init_cuttle_acceptor(void);
void Init_cuttle_connection(void);
void Init_cuttle_exchange(void);
void Init_cuttle_exchange_hijack(void);
void Init_cuttle_ledger(void);
void Init_cuttle_response(void);
void Init_cuttle_response_file(void);
void Init_cuttle_response_stream(void);
void Init_cuttle_peers(void);
void Init_cuttle_env(void);
void Init_cuttle_foreign_parser(void);
void Init_cuttle_native_parser(void);

#endif

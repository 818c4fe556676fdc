/* What a thread spends while it runs the app: its clocks, and how a request reads them (ledger.h).
 *
 * Each thread that asks for requests has clocks. Ruby tells when a thread waits for the GVL (Ruby 3.2 and newer) and
 * when it collects garbage; a request that waits for neither costs nothing but the comparison. The clock of its CPU
 * time is a system call, and is read where that is cheap in proportion. */
#ifndef RB_CUTTLE_LEDGER_H
#define RB_CUTTLE_LEDGER_H

#include "rb_source.h"

struct cuttle_clocks;

/* How requests share the thread that runs them. */
enum cuttle_sharing {
	CUTTLE_ALONE,   /* the thread runs one request, and then the next */
	CUTTLE_FIBERS,  /* it runs others meanwhile: only garbage collections are known */
	CUTTLE_RACTORS, /* other threads may have the same native thread: only the wait for the GVL is known */
};

/* Starts the clocks of this process, once. exactly: also those of garbage collections by thread, at any cost. */
void cuttle_clocks_start(bool ractors, bool exactly);
/* Whether this Ruby, on this system, can tell a phase. */
bool cuttle_clocks_tell(enum cuttle_phase phase);
/* Returns the calling thread's clocks. Call it before a request is taken: it may raise NoMemoryError. */
struct cuttle_clocks *cuttle_clocks_here(void);

/* The calling thread, which has these clocks, begins to run the app for an exchange. */
void cuttle_effort_begin(struct cuttle_exchange *exchange, struct cuttle_clocks *clocks, enum cuttle_sharing sharing);
/* Reads what the exchange's thread has spent until now. If the calling thread is another one, nothing is known. */
void cuttle_effort_read(struct cuttle_exchange *exchange, uint64_t now);

/* Chooses a source's ledger: the one of its scoreboard, or of the scoreboard that its options name. Without a place it
 * has none. */
void cuttle_source_keep_ledger(struct cuttle_source *source, VALUE options);

#endif

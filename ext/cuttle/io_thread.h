/* The io thread: a native thread that never takes the GVL.
 *
 * A thread is in the app until it asks for the next request, also after the response (rack.after_reply). While every
 * Ruby thread is in the app, no thread polls. If that lasts for a few milliseconds, the io thread moves bytes and keeps
 * deadlines until a Ruby thread comes back: it reads requests, drains output to slow readers and ends late clients. It
 * hands out no work. It does not accept either, because another worker may have a free thread. A loop that sheds is the
 * exception: it accepts if no other worker has a free thread, and refuses the excess. In a loop with a relay it gives
 * requests that wait to other workers, and receives theirs.
 *
 * In a loop that sheds, or has a relay or an app_timeout, it also steps in if threads are free, but none has got the
 * GVL for some milliseconds. If no request is in the app then, one of the app's own threads keeps the GVL, and other
 * workers no longer count this one as free.
 *
 * While a thread collects garbage between requests (rb_poller_collect.c), it steps in at once, and gives the requests
 * that come to any worker with a free thread.
 *
 * If a thread left the loop unled (followers.h) and is still in its request, the io thread calls a parked thread. */
#ifndef CUTTLE_IO_THREAD_H
#define CUTTLE_IO_THREAD_H

#include "loop.h"

/* Whether a loop needs an io thread: several threads run the app, a limit must be kept while the app runs, or requests
 * that wait go to other workers. */
bool cuttle_io_thread_wanted(const struct cuttle_loop *loop);

/* Starts the loop's io thread. Only one thread at a time may call it, without the lock. Returns 0, or an errno. */
int cuttle_io_thread_start(struct cuttle_loop *loop);

/* Tells the io thread that it may be needed: a thread leaves with work, or the leader goes to the GVL. Called under the
 * lock. */
void cuttle_io_thread_alert(struct cuttle_loop *loop);

/* Does what cuttle_followers_hurry does if only the io thread waits. Called under the lock. */
void cuttle_io_thread_hurry(struct cuttle_loop *loop, uint64_t deadline);

/* The io thread, as cuttle_running takes it; 0 without one. Called under the lock. */
long cuttle_io_thread_number(const struct cuttle_loop *loop);

/* Sends the io thread off duty, because a Ruby thread polls again. Puts the listeners back, and shows the other workers
 * that this one is free. Called under the lock. */
void cuttle_io_thread_relieve(struct cuttle_loop *loop);

/* Ends the io thread and joins it. Called without the lock. */
void cuttle_io_thread_stop(struct cuttle_loop *loop);

#endif

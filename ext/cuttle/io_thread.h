/* The io thread: a native thread that never takes the GVL.
 *
 * While every Ruby thread is in the app, nobody polls. When that has lasted a few milliseconds, the io thread moves
 * bytes and keeps deadlines until a Ruby thread comes back: requests are read, slow readers drained, late clients
 * ended. It hands out no work, and does not accept, for another worker may have a free thread; but a loop that sheds
 * accepts all the same where no other worker has one, and refuses what is too much. */
#ifndef CUTTLE_IO_THREAD_H
#define CUTTLE_IO_THREAD_H

#include "loop.h"

/* Whether a loop has an io thread: several threads run the app, or what it is to do doesn't wait for one. */
bool cuttle_io_thread_wanted(const struct cuttle_loop *loop);

/* Starts the loop's io_thread, from one thread at a time. Returns 0, or an errno. Not under the lock. */
int cuttle_io_thread_start(struct cuttle_loop *loop);

/* A thread leaves with work: the io thread may be needed. Under the lock. */
void cuttle_io_thread_alert(struct cuttle_loop *loop);

/* The same as cuttle_followers_hurry, where the io thread waits alone. Under the lock. */
void cuttle_io_thread_hurry(struct cuttle_loop *loop, uint64_t deadline);

/* A thread is back to poll by itself: the io thread leaves, the listeners come back. Under the lock. */
void cuttle_io_thread_relieve(struct cuttle_loop *loop);

/* Ends the io thread and waits for its end. Not under the lock. */
void cuttle_io_thread_stop(struct cuttle_loop *loop);

#endif

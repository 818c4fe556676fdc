/* The watcher: a native thread that never takes the GVL.
 *
 * While every Ruby thread is in the app, nobody polls. When that has lasted a few milliseconds, the watcher moves
 * bytes and keeps deadlines until a Ruby thread comes back: requests are read, slow readers drained, late clients
 * ended. It neither accepts (another worker may have a free thread) nor hands out work. */
#ifndef CUTTLE_WATCHER_H
#define CUTTLE_WATCHER_H

#include "loop.h"

/* Starts the loop's watcher, from one thread at a time. Returns 0, or an errno. Not under the lock. */
int cuttle_watcher_start(struct cuttle_loop *loop);

/* A thread leaves with work: the watcher may be needed. Under the lock. */
void cuttle_watcher_alert(struct cuttle_loop *loop);

/* A thread is back to poll by itself: the watcher leaves, the listeners come back. Under the lock. */
void cuttle_watcher_relieve(struct cuttle_loop *loop);

/* Ends the watcher and waits for its end. Not under the lock. */
void cuttle_watcher_stop(struct cuttle_loop *loop);

#endif

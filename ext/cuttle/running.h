/* How many threads of this process run, or would run if they had a core. */
#ifndef CUTTLE_RUNNING_H
#define CUTTLE_RUNNING_H

/* The calling thread, as cuttle_running takes it. 0 where the system has no such numbers. */
long cuttle_thread_number(void);

/* The number of threads that run or are ready to, without the calling thread and the one with that number. It reads a
 * small file per thread, about 4 us each, so it is not called under a lock. 0 where the system doesn't tell (all but
 * Linux, or no /proc). */
int cuttle_running(long without);

#endif

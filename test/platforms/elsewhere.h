/* Makes Linux look like another POSIX system, for `rake platforms:elsewhere`. The compiler includes it before each file
 * and has no __linux__. A call or a constant that only Linux has is then an error, so that each needs a guard, and the
 * other branch of each guard is compiled. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/sendfile.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

/* What macOS lacks, or defines as something else. */
#undef CLOCK_MONOTONIC_COARSE
#undef MADV_FREE
#undef MSG_MORE
#undef MSG_NOSIGNAL
#undef O_PATH
#undef O_TMPFILE
#undef POLLRDHUP
#undef PR_SET_CHILD_SUBREAPER
#undef RWF_NOWAIT
#undef SOCK_CLOEXEC
#undef SOCK_NONBLOCK
#undef TCP_CORK
#undef TCP_QUICKACK

#pragma GCC poison accept4 dup3 epoll_create epoll_create1 epoll_ctl epoll_pwait2 epoll_wait eventfd fallocate
#pragma GCC poison getrandom gettid mallinfo malloc_trim memfd_create memrchr mkostemp mremap pipe2 posix_fadvise ppoll
#pragma GCC poison prctl preadv2 pthread_getcpuclockid pthread_setaffinity_np pthread_timedjoin_np
#pragma GCC poison pwritev2 recvmmsg sched_getaffinity sched_getcpu sched_setaffinity sendmmsg signalfd splice strchrnul
#pragma GCC poison syncfs syscall timerfd_create tee
#pragma GCC poison MSG_MORE MSG_NOSIGNAL SOCK_CLOEXEC SOCK_NONBLOCK

/* The sockets that apps have taken over (hijacked), as far as they are still open, and how WebSockets among them end
 * with the process.
 *
 * The law: a socket belongs to its app. The list has the number of its descriptor and its identity, and owns neither. A
 * socket that the app has closed is no longer what its number leads to, so it counts no more, and nothing is ever
 * written to the one that has the number now. The list holds no duplicate either: with one, the client of a socket that
 * the app closes would not see its end. Where a system gives sockets no identity, the list stays empty.
 *
 * At the end of the process a WebSocket that the app left open gets a Close frame, "going away" (RFC 6455, 7.4.1):
 *
 *   open --- the app is silent ---> told: the Close frame was sent, and the socket is shut down both ways
 *     |                               `--- the app reads the end and closes it, or a while passes ---> done
 *     `--- the app goes on sending: the socket ends with the process, as other sockets do
 *
 * After its Close frame a server sends no data (RFC 6455, 5.5.1), so the app can't. It doesn't see the client's Close
 * frame either, which it would answer.
 *
 * The server doesn't know what the app sends. An app that has sent nothing for a while, and whose octets the client has
 * taken, is not in the middle of a frame, or it never ends it. In that case the client gets a frame that is cut short,
 * as without us. Where the system doesn't say what a client has taken, no WebSocket is told.
 *
 * Any thread may call these functions, without the GVL too. In a forked child the list is empty. */
#ifndef CUTTLE_HIJACKED_H
#define CUTTLE_HIJACKED_H

#include <stdbool.h>
#include <stddef.h>

/* Whether the system says what a client has taken. */
#ifdef __linux__
#define CUTTLE_HIJACKED_TOLD true
#else
#define CUTTLE_HIJACKED_TOLD false
#endif

struct cuttle_exchange;
struct cuttle_hijacked;

/* Opens a list with one owner. Returns NULL with errno. */
struct cuttle_hijacked *cuttle_hijacked_open(void);
/* Adds and removes an owner. */
void cuttle_hijacked_own(struct cuttle_hijacked *list);
void cuttle_hijacked_disown(struct cuttle_hijacked *list);

/* Whether a request asks for one of the protocols in a list, in any version: by Upgrade, and by the option of
 * Connection without which Upgrade may be meant for another recipient (RFC 9110, 7.8). */
bool cuttle_hijacked_asks_for(const struct cuttle_exchange *exchange, const char *protocols, size_t length);

/* Whether a request wants to become a WebSocket (RFC 6455, 4.2.1). */
bool cuttle_hijacked_asks_for_websocket(const struct cuttle_exchange *exchange);

/* Notes a socket that an app takes over. Without memory it is not noted. */
void cuttle_hijacked_add(struct cuttle_hijacked *list, int fd, bool websocket);
/* Returns how many of them are open. */
size_t cuttle_hijacked_count(struct cuttle_hijacked *list);

/* Tells the WebSockets on which the app is silent, without waiting. Returns how many are not done: call it again a few
 * milliseconds later. */
size_t cuttle_hijacked_part(struct cuttle_hijacked *list);
/* Returns how many WebSockets were told, and sets *untold to how many were not, although their clients are there. */
size_t cuttle_hijacked_told(struct cuttle_hijacked *list, size_t *untold);

#endif

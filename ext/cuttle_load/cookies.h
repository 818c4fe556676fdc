/*
 * The cookies of a session, kept as the value of a Cookie field.
 *
 * Law: a cookie has a name and a value. It goes to every request: a load has only one server, so domain, path and
 * secure don't matter. Max-Age=0 or less deletes it, and so does an empty value with Expires. Cookies that don't fit
 * into COOKIES_ROOM are left out.
 */
#ifndef CUTTLE_LOAD_COOKIES_H
#define CUTTLE_LOAD_COOKIES_H

#include "session.h"

/* Takes a Set-Cookie field's value. */
void cookies_set(struct session *session, const char *field, size_t length);

#endif

/* Cuttle::Hijacked, for the sources that note sockets in it. */
#ifndef RB_CUTTLE_HIJACKED_H
#define RB_CUTTLE_HIJACKED_H

#include "hijacked.h"
#include "rb_cuttle.h"

/* Returns the list of a Cuttle::Hijacked. Raises TypeError. */
struct cuttle_hijacked *cuttle_hijacked_of(VALUE object);

#endif

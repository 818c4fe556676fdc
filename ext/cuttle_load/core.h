/* The part that the extension's Ruby side shares. Only files that include this one know Ruby. */
#ifndef CUTTLE_LOAD_CORE_H
#define CUTTLE_LOAD_CORE_H

#include "histogram.h"
#include <ruby.h>

void init_histogram(VALUE module);
void init_run(VALUE module);
void init_server(VALUE module);
void init_orphans(VALUE module);
void init_parts(VALUE module);

/* Returns a new Cuttle::Load::Histogram with +from+'s values. */
VALUE histogram_to_ruby(const struct histogram *from);

/* Returns the value of +key+ (a Symbol's name) in +hash+. Raises ArgumentError if it is missing. */
VALUE option(VALUE hash, const char *key);

#endif

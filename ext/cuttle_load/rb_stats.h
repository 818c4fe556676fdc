/* stats.h for Ruby: windows and figures as Hashes. Times are in nanoseconds, histograms of the run are
 * Cuttle::Load::Histograms. */
#ifndef CUTTLE_LOAD_RB_STATS_H
#define CUTTLE_LOAD_RB_STATS_H

#include "stats.h"
#include <ruby.h>

/* Returns a published window. */
VALUE window_to_ruby(const struct window *window);

/* Returns the figures of the whole run. The thread that writes them must have ended. */
VALUE stats_to_ruby(const struct stats *stats);

#endif

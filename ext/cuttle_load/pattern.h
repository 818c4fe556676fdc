/*
 * Finds a pattern in octets: a text, or a regular expression with at most one group.
 *
 * Law: Ruby compiles a regular expression into steps (lib/cuttle/load/pattern). A search follows all alternatives at
 * once, so its time is at worst proportional to octets times steps, for any expression (Thompson's method; Pike's for
 * the group). It finds the leftmost match, and among those the one that a backtracking search would find. No Ruby, no
 * allocation. Every index in the steps was checked when they were read.
 */
#ifndef CUTTLE_LOAD_PATTERN_H
#define CUTTLE_LOAD_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PATTERN_STEPS 2048
#define NOWHERE SIZE_MAX

enum step_kind { STEP_OCTET, STEP_SET, STEP_SPLIT, STEP_JUMP, STEP_OPEN, STEP_CLOSE, STEP_ASSERT, STEP_MATCH, STEPS };

enum assertion {
	LINE_BEGIN,
	LINE_END,
	TEXT_BEGIN,
	TEXT_END,
	TEXT_END_OR_LINE, /* the end, or before a line feed there */
	WORD_EDGE,
	NO_WORD_EDGE,
	ASSERTIONS
};

struct step {
	uint8_t kind, octet; /* octet: of STEP_OCTET; the assertion of STEP_ASSERT */
	uint16_t to, other;  /* targets of STEP_SPLIT (+to+ first) and STEP_JUMP; the set of STEP_SET */
};

struct pattern {
	char *prefix; /* every match begins with it; may be empty */
	size_t prefix_length;
	struct step *steps; /* none: the pattern is the prefix */
	size_t step_count;
	uint8_t (*sets)[32]; /* one bit per octet */
	size_t set_count;
};

/* Where a group begins and ends, or NOWHERE. */
struct span {
	size_t begin, end;
};

/* One alternative: its step, and its group so far. */
struct alternative {
	size_t at;
	struct span group;
};

struct alternatives {
	size_t count;
	struct alternative list[PATTERN_STEPS];
};

/* The memory of a search. One thread uses it, for one search at a time. */
struct matcher {
	struct alternatives lists[2];
	struct alternative stack[2 * PATTERN_STEPS + 1];
	uint64_t seen[PATTERN_STEPS], turn;
};

/* Returns whether +pattern+ occurs. group may be NULL. */
bool pattern_search(const struct pattern *pattern, struct matcher *matcher, const char *octets, size_t length,
		    struct span *group);

#endif

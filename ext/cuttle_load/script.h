/*
 * A request's needs from its session, and the checks of its response. A request has a script if its octets vary, or if
 * its response matters beyond its status.
 *
 * Law: Ruby makes scripts before the threads start (lib/cuttle/load/script.rb), and nothing changes them afterwards. A
 * template is a head and a body in parts; the parts from +body+ on are the body.
 */
#ifndef CUTTLE_LOAD_SCRIPT_H
#define CUTTLE_LOAD_SCRIPT_H

#include "pattern.h"

#define VALUE_ROOM 4096    /* octets of a value */
#define COOKIES_ROOM 8192  /* of a Cookie field's value */
#define LOCATION_ROOM 4096 /* of a path that a redirect names */

enum part_kind {
	PART_TEXT,
	PART_VALUE,    /* the session's value number +value+ */
	PART_LENGTH,   /* octets of the body, as a number */
	PART_COOKIES,  /* the Cookie field, if there is one */
	PART_LOCATION, /* the target of the last redirect */
	PARTS
};

/* How a value is written: unchanged; percent-encoded for a path; or encoded for a form. */
enum coding { CODING_NONE, CODING_PATH, CODING_FORM, CODINGS };

struct part {
	enum part_kind kind;
	enum coding coding;
	char *octets; /* of PART_TEXT */
	size_t length, value;
};

struct template
{
	struct part *parts; /* NULL: no template */
	size_t count, body;
};

struct take {
	size_t value;
	struct pattern pattern;
};

struct script {
	struct template sent;      /* none: the request's own octets */
	struct template see_other; /* after a redirect, by GET or HEAD; none: redirects are not followed */
	struct template again;     /* after a redirect that keeps the method */
	bool posts;                /* the method is POST, which 301 and 302 turn into GET */
	struct pattern *checks;
	struct take *takes;
	size_t *needs; /* the values that +sent+ has */
	size_t check_count, take_count, need_count;
};

/* Returns the most octets that +template+ can become. */
size_t template_room(const struct template *template);

#endif

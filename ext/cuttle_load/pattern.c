/* The search; see pattern.h. */
#include "pattern.h"
#include <string.h>

/* The text and the tools of a search. */
struct search {
	const struct pattern *pattern;
	struct matcher *matcher;
	const char *octets;
	size_t length;
};

static bool is_word(char octet)
{
	return (octet >= '0' && octet <= '9') || ((octet | 32) >= 'a' && (octet | 32) <= 'z') || octet == '_';
}

static bool at_edge(const struct search *search, size_t place)
{
	bool before = place > 0 && is_word(search->octets[place - 1]);
	bool after = place < search->length && is_word(search->octets[place]);

	return before != after;
}

static bool holds(const struct search *search, enum assertion assertion, size_t place)
{
	const char *octets = search->octets;

	switch (assertion) {
	case LINE_BEGIN:
		return place == 0 || (octets[place - 1] == '\n' && place < search->length);
	case LINE_END:
		return place == search->length || octets[place] == '\n';
	case TEXT_BEGIN:
		return place == 0;
	case TEXT_END:
		return place == search->length;
	case TEXT_END_OR_LINE:
		return place == search->length || (place + 1 == search->length && octets[place] == '\n');
	case WORD_EDGE:
		return at_edge(search, place);
	default: /* NO_WORD_EDGE */
		return !at_edge(search, place);
	}
}

/*
 * Adds +start+ at +place+, with all steps that it leads to without an octet, in order of preference. A step is visited
 * once per turn, so each step pushes at most two and the stack can't overflow.
 */
static void add(const struct search *search, struct alternatives *list, struct alternative start, size_t place)
{
	struct matcher *matcher = search->matcher;
	size_t depth = 0;

	matcher->stack[depth++] = start;
	while (depth) {
		struct alternative each = matcher->stack[--depth];
		const struct step *step = &search->pattern->steps[each.at];
		size_t other = each.at;

		if (matcher->seen[each.at] == matcher->turn)
			continue;
		matcher->seen[each.at++] = matcher->turn;
		switch (step->kind) {
		case STEP_SPLIT:
			each.at = step->other;
			matcher->stack[depth++] = each;
			/* fall through */
		case STEP_JUMP:
			each.at = step->to;
			break;
		case STEP_OPEN:
			each.group.begin = place;
			break;
		case STEP_CLOSE:
			each.group.end = place;
			break;
		case STEP_ASSERT:
			if (!holds(search, step->octet, place))
				continue;
			break;
		default:
			each.at = other;
			list->list[list->count++] = each;
			continue;
		}
		matcher->stack[depth++] = each;
	}
}

static bool accepts(const struct search *search, const struct step *step, size_t place)
{
	uint8_t octet;

	if (place == search->length)
		return false;
	octet = (uint8_t)search->octets[place];
	if (step->kind == STEP_OCTET)
		return octet == step->octet;
	return search->pattern->sets[step->to][octet / 8] >> octet % 8 & 1;
}

/* Takes the octet at +place+ in each of +now+'s alternatives, into +next+. Returns whether one of them has matched;
 * later alternatives don't count then. */
static bool advance(const struct search *search, const struct alternatives *now, struct alternatives *next,
		    size_t place, struct span *group)
{
	size_t at;

	search->matcher->turn++;
	next->count = 0;
	for (at = 0; at < now->count; at++) {
		struct alternative each = now->list[at];
		const struct step *step = &search->pattern->steps[each.at];

		if (step->kind == STEP_MATCH) {
			*group = each.group;
			return true;
		}
		if (!accepts(search, step, place))
			continue;
		each.at++;
		add(search, next, each, place + 1);
	}
	return false;
}

/* Returns the next place from +place+ on where a match may begin, or NOWHERE. */
static size_t candidate(const struct search *search, size_t place)
{
	const struct pattern *pattern = search->pattern;
	const char *found;

	if (pattern->prefix_length == 0)
		return place <= search->length ? place : NOWHERE;
	if (place >= search->length)
		return NOWHERE;
	found = memmem(search->octets + place, search->length - place, pattern->prefix, pattern->prefix_length);
	return found ? (size_t)(found - search->octets) : NOWHERE;
}

static bool search_steps(const struct search *search, struct span *group)
{
	static const struct alternative START = {0, {NOWHERE, NOWHERE}};
	struct alternatives *now = &search->matcher->lists[0], *next = &search->matcher->lists[1], *swapped;
	bool found = false;
	size_t place;

	now->count = 0;
	for (place = 0; place <= search->length; place++) {
		if (now->count == 0) {
			place = found ? NOWHERE : candidate(search, place);
			if (place == NOWHERE)
				break;
			search->matcher->turn++; /* earlier visits were at another place */
		}
		if (!found)
			add(search, now, START, place);
		found = advance(search, now, next, place, group) || found;
		swapped = now;
		now = next;
		next = swapped;
	}
	return found;
}

bool pattern_search(const struct pattern *pattern, struct matcher *matcher, const char *octets, size_t length,
		    struct span *group)
{
	struct search search = {pattern, matcher, length ? octets : "", length};
	struct span ignored;

	if (pattern->step_count)
		return search_steps(&search, group ? group : &ignored);
	return candidate(&search, 0) != NOWHERE;
}

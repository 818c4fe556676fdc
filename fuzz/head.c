/* The request head: whole, octet by octet (unless that takes too long) and in random pieces it gets one verdict, and
 * what is accepted reads back from its slices and is framed as a simple reading of its fields says. */
#include "check.h"
#include "targets.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define OCTET_BY_OCTET_LIMIT 1024 /* octets: each piece copies all that came before it */

static int parse_head(struct input input, struct cuts cuts, struct cuttle_head *head)
{
	struct cuttle_head_state state = {0};
	size_t have = 0;

	for (;;) {
		char *block;
		int result;

		have = check_next_cut(&cuts, have, input.length);
		block = check_copy(input.octets, have);
		result = cuttle_parse_head(&state, head, block, have);
		free(block);
		if (result != 0 || have == input.length)
			return result;
	}
}

static bool slices_inside(const struct cuttle_head *head, size_t size)
{
	for (uint32_t index = 0; index < head->field_count; index++)
		if (!check_inside(head->fields[index].name, size) || !check_inside(head->fields[index].value, size))
			return false;
	return check_inside(head->method, size) && check_inside(head->target, size) && check_inside(head->path, size) &&
	       check_inside(head->query, size) && check_inside(head->host, size) && check_inside(head->port, size);
}

/* Whether CR and LF come only as CRLF, there is no NUL, and the first line that is empty ends all. */
static bool well_formed_lines(const char *octets, size_t size)
{
	for (size_t at = 0; at < size; at++) {
		if (octets[at] == '\0' || (octets[at] == '\n') != (at > 0 && octets[at - 1] == '\r'))
			return false;
		if (at >= 3 && memcmp(octets + at - 3, "\r\n\r\n", 4) == 0)
			return at + 1 == size;
	}
	return false;
}

/* Reads the head back: each step must find at "at" what it says, and goes behind it. */
struct reading {
	const char *octets;
	size_t at, size;
};

static bool pass_text(struct reading *reading, const char *text)
{
	size_t length = strlen(text);

	if (reading->size - reading->at < length || memcmp(reading->octets + reading->at, text, length) != 0)
		return false;
	reading->at += length;
	return true;
}

static bool pass_slice(struct reading *reading, struct cuttle_slice slice)
{
	bool here = slice.offset == reading->at;

	reading->at += slice.length;
	return here;
}

static bool is_blank(char octet)
{
	return octet == ' ' || octet == '\t';
}

static void pass_blanks(struct reading *reading)
{
	while (reading->at < reading->size && is_blank(reading->octets[reading->at]))
		reading->at++;
}

static bool pass_field(struct reading *reading, struct cuttle_field field)
{
	bool named = field.name.length > 0 && pass_slice(reading, field.name) && pass_text(reading, ":");

	pass_blanks(reading);
	if (field.value.length == 0) /* its offset may be that of any blank */
		return named && pass_text(reading, "\r\n");
	if (!named || !pass_slice(reading, field.value) || is_blank(reading->octets[reading->at - 1]))
		return false;
	pass_blanks(reading);
	return pass_text(reading, "\r\n");
}

/* Whether slices, and nothing but single spaces, white space around values and line ends between them, are the head. */
static bool reads_back(const struct cuttle_head *head, struct input input)
{
	struct reading reading = {.octets = input.octets, .size = input.length};
	bool same;

	pass_text(&reading, "\r\n"); /* forgiven, once */
	same = pass_slice(&reading, head->method) && pass_text(&reading, " ") && pass_slice(&reading, head->target) &&
	       pass_text(&reading, " HTTP/1.");
	reading.at++;
	same = same && pass_text(&reading, "\r\n");
	for (uint32_t index = 0; same && index < head->field_count; index++)
		same = pass_field(&reading, head->fields[index]);
	return same && pass_text(&reading, "\r\n") && reading.at == reading.size;
}

static bool same_word(struct input text, const char *word)
{
	return text.length == strlen(word) && strncasecmp(text.octets, word, text.length) == 0;
}

static struct input text_of(struct input input, struct cuttle_slice slice)
{
	return (struct input){input.octets + slice.offset, slice.length};
}

/* Whether one of the comma-separated elements is this word. */
static bool lists(struct input list, const char *word)
{
	const char *at = list.octets, *end = list.octets + list.length;

	while (at <= end) {
		const char *comma = memchr(at, ',', (size_t)(end - at)), *from = at, *to = comma ? comma : end;

		while (from < to && (*from == ' ' || *from == '\t'))
			from++;
		while (from < to && (to[-1] == ' ' || to[-1] == '\t'))
			to--;
		if (same_word((struct input){from, (size_t)(to - from)}, word))
			return true;
		if (!comma)
			return false;
		at = comma + 1;
	}
	return false;
}

/* What a simple reading of the fields finds. */
struct fields {
	unsigned hosts, lengths, encodings;
	bool close, keep_alive, expects;
	struct input length, encoding, host;
};

static struct fields read_fields(const struct cuttle_head *head, struct input input)
{
	struct fields fields = {0};

	for (uint32_t index = 0; index < head->field_count; index++) {
		struct input name = text_of(input, head->fields[index].name);
		struct input value = text_of(input, head->fields[index].value);

		if (same_word(name, "host")) {
			fields.hosts++;
			fields.host = value;
		} else if (same_word(name, "content-length")) {
			fields.lengths++;
			fields.length = value;
		} else if (same_word(name, "transfer-encoding")) {
			fields.encodings++;
			fields.encoding = value;
		} else if (same_word(name, "expect")) {
			fields.expects |= lists(value, "100-continue");
		} else if (same_word(name, "connection")) {
			fields.close |= lists(value, "close");
			fields.keep_alive |= lists(value, "keep-alive");
		}
	}
	return fields;
}

static bool is_number(struct input text, uint64_t number)
{
	uint64_t value = 0;

	for (size_t at = 0; at < text.length; at++) {
		if (text.octets[at] < '0' || text.octets[at] > '9')
			return false;
		value = value * 10 + (uint64_t)(text.octets[at] - '0');
	}
	return text.length > 0 && value == number && number <= INT64_MAX;
}

/* RFC 9112, 3.2, 6.3, 9.3 and RFC 9110, 10.1.1 */
static void demand_framing(const struct cuttle_head *head, struct input input)
{
	struct fields fields = read_fields(head, input);
	bool old = head->minor == 0;

	check_demand(fields.hosts <= 1 && (old || fields.hosts == 1), "one Host", input);
	check_demand(fields.lengths <= 1 && fields.lengths + fields.encodings <= 1, "one framing", input);
	check_demand(head->has_length == (fields.lengths == 1), "a length is of Content-Length", input);
	check_demand(!head->has_length || is_number(fields.length, head->content_length), "the length is the number",
		     input);
	check_demand(head->has_length || head->content_length == 0, "no length without Content-Length", input);
	check_demand(head->chunked == (fields.encodings == 1), "chunks are of Transfer-Encoding", input);
	check_demand(!head->chunked || (!old && same_word(fields.encoding, "chunked")), "chunked and nothing else",
		     input);
	check_demand(head->keep_alive == (!fields.close && (!old || fields.keep_alive)), "the connection persists",
		     input);
	check_demand(head->expect_continue == (fields.expects && !old), "the client waits for a 100", input);
}

/* RFC 9112, 3.2: origin-form, absolute-form and the asterisk; an absolute target's authority goes before Host's. */
static void demand_target(const struct cuttle_head *head, struct input input)
{
	struct input target = text_of(input, head->target);
	size_t path_end = head->path.offset + head->path.length, target_end = head->target.offset + head->target.length;
	const char *mark = memchr(target.octets, '?', target.length);
	bool origin = *target.octets == '/' || same_word(target, "*");

	check_demand(head->has_query == (mark != NULL), "a query begins with the first question mark", input);
	check_demand(path_end == (mark ? (size_t)(mark - input.octets) : target_end), "a path ends at the query",
		     input);
	check_demand(!mark || (head->query.offset == path_end + 1 && head->query.length == target_end - path_end - 1),
		     "a query is the rest", input);
	check_demand(!origin || head->path.offset == head->target.offset, "an origin-form begins with its path", input);
	check_demand(origin || (head->host.offset > head->target.offset &&
				head->host.offset + head->host.length <= head->path.offset),
		     "an absolute target's host is its own", input);
}

/* RFC 3986, 2.1, of a host without brackets. */
static bool is_encoded_well(struct input host)
{
	static const char digits[] = "0123456789ABCDEFabcdef";

	for (size_t at = 0; at < host.length; at++)
		if (host.octets[at] == '%' &&
		    (host.length - at < 3 || !memchr(digits, host.octets[at + 1], sizeof digits - 1) ||
		     !memchr(digits, host.octets[at + 2], sizeof digits - 1)))
			return false;
	return true;
}

static void demand_host(const struct cuttle_head *head, struct input input)
{
	struct input host = text_of(input, head->host), port = text_of(input, head->port);

	for (size_t at = 0; at < host.length; at++)
		check_demand(!strchr(" \t/\\@?#,\"<>", host.octets[at]), "a host has no separator", input);
	check_demand(host.length == 0 || *host.octets == '[' || !memchr(host.octets, ':', host.length),
		     "only an address in brackets has a colon", input);
	check_demand(is_encoded_well(host), "a host's percent signs encode octets", input);
	check_demand(port.length == 0 || (port.octets[-1] == ':' && port.octets - 1 == host.octets + host.length),
		     "a port is behind the host's colon", input);
	for (size_t at = 0; at < port.length; at++)
		check_demand(port.octets[at] >= '0' && port.octets[at] <= '9', "a port is digits", input);
}

static void demand_sane_head(const struct cuttle_head *head, struct input input, size_t size)
{
	struct input taken = {input.octets, size};

	check_demand(size <= input.length, "a head takes no more than there is", input);
	check_demand(size <= CUTTLE_LIMIT_HEAD, "a head takes no more than it may", input);
	check_demand(head->field_count <= CUTTLE_LIMIT_FIELDS, "a head has no more fields than it may", input);
	check_demand(slices_inside(head, size), "a head's slices lie within it", input);
	check_demand(well_formed_lines(input.octets, size), "a head is lines that end with CRLF, the last one empty",
		     input);
	check_demand(head->method.length > 0 && head->target.length > 0, "a head has a method and a target", input);
	check_demand(head->minor <= 1, "HTTP/1.0 or HTTP/1.1", input);
	check_demand(head->minor == 0 || head->has_host, "HTTP/1.1 has a Host", input);
	check_demand(!head->has_host || head->host.length > 0, "a Host names somebody", input);
	check_demand(reads_back(head, taken), "a head reads back from its slices", input);
	demand_framing(head, taken);
	demand_target(head, taken);
	demand_host(head, taken);
}

/* Both were all zero before, padding too; what is behind the last field is nobody's. */
static bool equal_heads(const struct cuttle_head *one, const struct cuttle_head *other)
{
	return memcmp(one, other, offsetof(struct cuttle_head, fields)) == 0 &&
	       memcmp(one->fields, other->fields, one->field_count * sizeof one->fields[0]) == 0;
}

static void demand_same_head(struct input input, struct cuts cuts, const struct cuttle_head *whole, int result)
{
	static struct cuttle_head pieces;

	memset(&pieces, 0, sizeof pieces);
	check_demand(parse_head(input, cuts, &pieces) == result, "the verdict does not depend on the pieces", input);
	check_demand(result <= 0 || equal_heads(whole, &pieces), "a head does not depend on the pieces", input);
}

static bool equal_slices(struct cuttle_slice one, struct cuttle_slice other)
{
	return one.offset == other.offset && one.length == other.length;
}

/* What is accepted still is with one field more that nobody knows, of any length, and is framed as before: so that what
 * is refused isn't refused for what has nothing to do with it. */
static void demand_room_for_another(const struct cuttle_head *head, struct input input, uint32_t seed)
{
	static struct cuttle_head more;
	char field[64] = "X:", *octets;
	size_t length = 2 + check_random(&seed, sizeof field - 4), all;
	int result;

	for (size_t at = 2; at < length; at++)
		field[at] = "a \t\377~!"[check_random(&seed, 6)];
	memcpy(field + length, "\r\n", 2);
	length += 2;
	all = input.length + length;
	if (head->field_count == CUTTLE_LIMIT_FIELDS || all > CUTTLE_LIMIT_HEAD)
		return;
	octets = malloc(all);
	memcpy(octets, input.octets, input.length - 2);
	memcpy(octets + input.length - 2, field, length);
	memcpy(octets + all - 2, "\r\n", 2);
	result = parse_head((struct input){octets, all}, (struct cuts){.size = all}, &more);
	check_demand(result == (int)all, "another field does no harm", (struct input){octets, all});
	check_demand(more.field_count == head->field_count + 1 && equal_slices(more.target, head->target) &&
			     equal_slices(more.host, head->host) && more.content_length == head->content_length &&
			     more.chunked == head->chunked && more.keep_alive == head->keep_alive,
		     "another field changes nothing", (struct input){octets, all});
	free(octets);
}

static bool is_verdict(int result, size_t length)
{
	static const int errors[] = {400, 414, 417, 431, 501, 505};

	for (size_t index = 0; index < sizeof errors / sizeof errors[0]; index++)
		if (result == -errors[index])
			return true;
	return result >= 0 && (size_t)result <= length;
}

int check_head(const char *octets, size_t length, uint32_t seed)
{
	static struct cuttle_head head;
	struct input input = {octets, length};
	struct cuts whole = {.size = length};
	int result;

	memset(&head, 0, sizeof head);
	result = parse_head(input, whole, &head);
	check_demand(is_verdict(result, length), "a verdict is one that the contract names", input);
	demand_same_head(input, (struct cuts){.size = length / 2 + 1, .random = seed | 1}, &head, result);
	if (length <= OCTET_BY_OCTET_LIMIT)
		demand_same_head(input, (struct cuts){.size = 1}, &head, result);
	if (result > 0) {
		struct input needed = {octets, (size_t)result}, less = {octets, (size_t)result - 1};

		demand_sane_head(&head, input, needed.length);
		demand_room_for_another(&head, needed, seed | 1);
		demand_same_head(needed, (struct cuts){.size = needed.length}, &head, result);
		demand_same_head(less, (struct cuts){.size = less.length}, &head, 0);
	}
	return result;
}

void fuzz_head(const char *octets, size_t length)
{
	check_head(octets, length, check_hash(octets, length));
}

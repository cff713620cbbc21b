#include "spec/loop_nest.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/text.h"

#include <string.h>

static const char compute[] = "<< Compute >>"; /* ends what versions since 2022 print */
static const char loop_line[] = "\n|";         /* begins a line with a loop */

enum {
	MOST = 64
}; /* levels, and dataspaces and loops of a level; no machine and no problem has more */

/* One loop of a level. */
struct printed_loop {
	const char *name, *factor; /* "K", "K=4,3" */
	enum { ALONG_TIME, ALONG_X, ALONG_Y } along;
	struct span span;
};

/* One level with its loops, outermost first. */
struct printed_level {
	const char *name;
	struct span span;
	struct array(const struct node *) kept;
	struct array(struct printed_loop) loops;
};

struct printing {
	struct arena *arena;
	const struct source *source;
	struct diag *diag;
	struct names spaces; /* of all levels */
	struct array(const char *) space_list;
	struct array(struct printed_level) levels;
	size_t at, end; /* of the line that is read, without blanks around it */
	bool good, ended;
};

static bool next_line(const struct source *source, size_t *at, size_t *end)
{
	while (*at < source->length && strchr(" \t\r\n", source->bytes[*at]))
		++*at;
	*end = *at;
	while (*end < source->length && source->bytes[*end] != '\n')
		++*end;
	size_t line = *end;
	while (*end > *at && strchr(" \t\r", source->bytes[*end - 1]))
		--*end;
	return line > *at;
}

/* NAME [ .. ] */
static bool is_level(const struct source *source, size_t at, size_t end)
{
	const char *line = source->bytes + at;
	const char *open = memchr(line, '[', end - at);
	return open && open > line && open[-1] == ' ' && line[end - at - 1] == ']' &&
	       !memchr(line, ':', (size_t)(open - line)) && *line != '-' && *line != '#';
}

bool loop_nest_is(const struct source *source)
{
	size_t at = 0, end;
	return next_line(source, &at, &end) && is_level(source, at, end) &&
	       memmem(source->bytes, source->length, loop_line, sizeof loop_line - 1);
}

static const struct node *scalar(
	const struct printing *printing, const char *text, struct span span)
{
	struct node *node = arena_new(printing->arena, struct node);
	*node = (struct node){
		.kind = NODE_SCALAR, .text = text, .quoted = true, .span = span, .weight = 1};
	return node;
}

static const struct node *list(const struct printing *printing, const struct node *const *items,
	size_t count, struct span span)
{
	struct node *node = arena_new(printing->arena, struct node);
	*node = (struct node){.kind = NODE_LIST,
		.text = "",
		.span = span,
		.items = items,
		.count = count,
		.weight = count + 1};
	return node;
}

static const struct node *map(const struct printing *printing, const struct node_entry *entries,
	size_t count, struct span span)
{
	struct node *node = arena_new(printing->arena, struct node);
	*node = (struct node){.kind = NODE_MAP,
		.text = "",
		.span = span,
		.entries = arena_copy(printing->arena, entries, count * sizeof *entries),
		.count = count,
		.weight = count + 1};
	return node;
}

/* Up to one of `stops`, or the end of the line. */
static const char *take_word(struct printing *printing, const char *stops)
{
	const char *bytes = printing->source->bytes;
	size_t from = printing->at;
	while (printing->at < printing->end && !strchr(stops, bytes[printing->at]))
		printing->at++;
	return arena_format(printing->arena, "%.*s", (int)(printing->at - from), bytes + from);
}

static bool take(struct printing *printing, const char *text)
{
	size_t length = strlen(text);
	while (printing->at < printing->end && printing->source->bytes[printing->at] == ' ')
		printing->at++;
	if (printing->end - printing->at < length ||
		memcmp(printing->source->bytes + printing->at, text, length) != 0)
		return false;
	printing->at += length;
	return true;
}

static void complain(struct printing *printing, struct span span)
{
	printing->good = false;
	diag_error(printing->diag, span,
		"this is no line of a loop nest: a level 'GLB [ Weights:96 ]' or a loop "
		"'| for K in [0:16)' is expected");
}

/* The rest of the file is not read. */
static void refuse_more(struct printing *printing, const char *what)
{
	printing->good = false;
	printing->ended = true;
	diag_error(printing->diag, source_span(printing->source, printing->at, printing->end),
		"a loop nest has at most %d %s", MOST, what);
}

/* "Weights:96 (96) Inputs:18 (18) ]" */
static void read_kept(struct printing *printing, struct printed_level *level)
{
	while (!take(printing, "]") && printing->at < printing->end) {
		if (take(printing, "(")) {
			take_word(printing, ")");
			take(printing, ")");
			continue;
		}
		size_t from = printing->at;
		const char *name = take_word(printing, ":( ]");
		struct span span = source_span(printing->source, from, printing->at);
		if (!*name) {
			complain(printing, level->span);
			return;
		}
		if (printing->space_list.count == MOST || level->kept.count == MOST) {
			refuse_more(printing, "dataspaces");
			return;
		}
		if (names_find(&printing->spaces, name) < 0) {
			names_add(printing->arena, &printing->spaces, name,
				(int)printing->space_list.count);
			*array_add(printing->arena, &printing->space_list) = name;
		}
		*array_add(printing->arena, &level->kept) = scalar(printing, name, span);
		if (take(printing, ":"))
			take_word(printing, " ]");
	}
}

static void read_level(struct printing *printing)
{
	if (printing->levels.count == MOST) {
		refuse_more(printing, "levels");
		return;
	}
	struct printed_level *level = array_add(printing->arena, &printing->levels);
	size_t from = printing->at;
	const char *name = take_word(printing, "[");
	size_t length = strlen(name);
	while (length && name[length - 1] == ' ')
		length--;
	*level = (struct printed_level){
		.name = arena_format(printing->arena, "%.*s", (int)length, name),
		.span = source_span(printing->source, from, from + length)};
	take(printing, "[");
	read_kept(printing, level);
}

/* "for K in [0:16)", "for K in [0:4,3) (Spatial-X)" */
static void read_loop(struct printing *printing)
{
	if (printing->levels.count &&
		printing->levels.at[printing->levels.count - 1].loops.count == MOST) {
		refuse_more(printing, "loops at a level");
		return;
	}
	struct span span = source_span(printing->source, printing->at, printing->end);
	struct printed_loop loop = {.span = span};
	bool good = printing->levels.count && take(printing, "for ") && !take(printing, "in ");
	if (good) {
		take(printing, "");
		loop.name = take_word(printing, " ");
		good = *loop.name && take(printing, "in") && take(printing, "[0:");
	}
	if (good) {
		const char *bound = take_word(printing, ")");
		loop.factor = arena_format(printing->arena, "%s=%s", loop.name, bound);
		good = *bound && !bound[strspn(bound, "0123456789,")] && take(printing, ")");
	}
	if (good && take(printing, "(Spatial-X)"))
		loop.along = ALONG_X;
	else if (good && take(printing, "(Spatial-Y)"))
		loop.along = ALONG_Y;
	if (!good || printing->at != printing->end)
		complain(printing, span);
	else
		*array_add(printing->arena,
			&printing->levels.at[printing->levels.count - 1].loops) = loop;
}

/* True at the end of the nest. */
static bool read_line(struct printing *printing)
{
	const char *line = printing->source->bytes + printing->at;
	size_t rule = 0, length = printing->end - printing->at;
	while (rule < length && line[rule] == '-')
		rule++;
	if (rule == length)
		return false;
	if (take(printing, "|")) {
		if (take(printing, compute))
			return true;
		read_loop(printing);
	} else if (is_level(printing->source, printing->at, printing->end)) {
		read_level(printing);
	} else {
		complain(printing, source_span(printing->source, printing->at, printing->end));
	}
	return false;
}

static struct node_entry word(const struct printing *printing, const struct printed_level *level,
	const char *key, const char *text)
{
	return (struct node_entry){
		.key = key, .key_span = level->span, .value = scalar(printing, text, level->span)};
}

static struct node_entry words(const struct printing *printing, const struct printed_level *level,
	const char *key, const struct node *const *items, size_t count)
{
	return (struct node_entry){.key = key,
		.key_span = level->span,
		.value = list(printing, items, count, level->span)};
}

/* The loops of one kind, innermost first: factors, permutation, and how many run along X. */
static const struct node *make_loops(
	const struct printing *printing, const struct printed_level *level, bool spatial)
{
	struct array(const struct node *) factors = {0}, order = {0};
	int along_x = 0;
	for (size_t axis = 0; axis < (spatial ? 2 : 1); axis++)
		for (size_t i = level->loops.count; i-- > 0;) {
			const struct printed_loop *loop = &level->loops.at[i];
			if (loop->along != (spatial ? ALONG_X + axis : ALONG_TIME))
				continue;
			*array_add(printing->arena, &factors) =
				scalar(printing, loop->factor, loop->span);
			*array_add(printing->arena, &order) =
				scalar(printing, loop->name, loop->span);
			along_x += loop->along == ALONG_X;
		}
	if (!factors.count)
		return NULL;
	const char *split = arena_format(printing->arena, "%d", along_x);
	const struct node_entry entries[] = {
		word(printing, level, "target", level->name),
		word(printing, level, "type", spatial ? "spatial" : "temporal"),
		words(printing, level, "factors", factors.at, factors.count),
		words(printing, level, "permutation", order.at, order.count),
		word(printing, level, "split", split),
	};
	return map(printing, entries, spatial ? 5 : 4, level->span);
}

static bool keeps(const struct printed_level *level, const char *space)
{
	for (size_t i = 0; i < level->kept.count; i++)
		if (text_equal(level->kept.at[i]->text, space))
			return true;
	return false;
}

static const struct node *make_places(
	const struct printing *printing, const struct printed_level *level)
{
	struct array(const struct node *) bypassed = {0};
	for (size_t i = 0; i < printing->space_list.count; i++)
		if (!keeps(level, printing->space_list.at[i]))
			*array_add(printing->arena, &bypassed) =
				scalar(printing, printing->space_list.at[i], level->span);
	const struct node_entry entries[] = {
		word(printing, level, "target", level->name),
		word(printing, level, "type", "bypass"),
		words(printing, level, "keep", level->kept.at, level->kept.count),
		words(printing, level, "bypass", bypassed.at, bypassed.count),
	};
	return map(printing, entries, 4, level->span);
}

static const struct node *make_mapping(const struct printing *printing)
{
	struct array(const struct node *) directives = {0};
	struct span span = source_span(printing->source, 0, 0);
	for (size_t i = 0; i < printing->levels.count; i++) {
		const struct printed_level *level = &printing->levels.at[i];
		*array_add(printing->arena, &directives) = make_places(printing, level);
		for (int spatial = 0; spatial < 2; spatial++) {
			const struct node *loops = make_loops(printing, level, spatial);
			if (loops)
				*array_add(printing->arena, &directives) = loops;
		}
	}
	const struct node_entry entry = {.key = "mapping",
		.key_span = span,
		.value = list(printing, directives.at, directives.count, span)};
	return map(printing, &entry, 1, span);
}

const struct node *loop_nest_read(
	struct arena *arena, const struct source *source, struct diag *diag)
{
	struct printing *printing = arena_new(arena, struct printing);
	*printing = (struct printing){.arena = arena, .source = source, .diag = diag, .good = true};
	size_t at = 0, end;
	while (!diag_full(diag) && next_line(source, &at, &end)) {
		printing->at = at;
		printing->end = end;
		if (read_line(printing) || printing->ended)
			break;
		at = end;
	}
	return printing->good ? make_mapping(printing) : NULL;
}

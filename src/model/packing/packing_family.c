#include "base/text.h"
#include "model/packing/packing_read.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Who may take whose place, and when buffers are used. */

static const char *suggest_id(const struct packing_reading *r, const char *id)
{
	const char **names = arena_array(r->reading.arena, const char *, r->buffers.count + 1);
	for (size_t i = 0; i < r->buffers.count; i++)
		names[i] = r->buffers.at[i].name;
	return suggest(id, names);
}

/* The parent by its id; -1 after complaining. */
static int find_parent(struct packing_reading *r, const struct family *family, const char *id)
{
	struct diag *diag = r->reading.diag;
	const char *child = r->buffers.at[family->child].name;
	int parent = names_find(&r->ids, id);
	if (parent >= 0 && parent != family->child)
		return parent;
	const char *near = parent < 0 && !diag_full(diag) ? suggest_id(r, id) : NULL;
	if (parent >= 0)
		diag_error(diag, family->span, "buffer '%s' cannot take its own place", child);
	else
		diag_error(diag, family->span,
			"buffer '%s' names a parent '%s' that is no buffer%s", child, id,
			suggestion(r->reading.arena, near, ""));
	return -1;
}

/* Whether the child can ever take its place; else a warning says why not. */
static bool is_possible(
	struct packing_reading *r, const struct family *family, const struct buffer *parent)
{
	const struct buffer *child = &r->buffers.at[family->child];
	if (parent->end != child->start + 1)
		diag_warning(r->reading.diag, family->span,
			"'%s' cannot take the place of '%s': it starts at %" PRId64
			", so its parent must end at %" PRId64 ", not %" PRId64,
			child->name, parent->name, child->start, child->start + 1, parent->end);
	else if (child->size > parent->size)
		diag_warning(r->reading.diag, family->span,
			"'%s' cannot take the place of '%s': %" PRId64
			" bytes are more than %" PRId64,
			child->name, parent->name, child->size, parent->size);
	else
		return true;
	return false;
}

static void find_family(struct packing_reading *r, const struct family *family, char *word)
{
	struct buffer *child = &r->buffers.at[family->child];
	size_t errors = diag_errors(r->reading.diag);
	struct array(int) parents = {0};
	for (const char *list = family->text; packing_next_word(&list, word);) {
		int parent = find_parent(r, family, word);
		bool fresh = parent >= 0 && is_possible(r, family, &r->buffers.at[parent]);
		for (size_t k = 0; k < parents.count && fresh; k++)
			fresh = parents.at[k] != parent;
		if (fresh)
			*array_add(r->reading.arena, &parents) = parent;
	}
	child->parent_count = parents.count;
	child->parents = parents.at;
	if (child->must_take_over && !parents.count && diag_errors(r->reading.diag) == errors)
		diag_error(r->reading.diag, family->span,
			"buffer '%s' must take a place, and can take none of these", child->name);
}

/* From child to parent and back: which buffers the path goes through, and who is done with. */
enum { UNSEEN, ON_PATH, DONE };

struct descent {
	const struct buffer *buffers;
	unsigned char *seen;
	int *path;
	size_t *next; /* by buffer on the path: its parent to go to */
};

/* Someone on the path of his own child; -1. */
static int find_circle(struct descent *d, int from)
{
	size_t depth = 0;
	d->path[depth++] = from;
	while (depth) {
		int at = d->path[depth - 1];
		const struct buffer *buffer = &d->buffers[at];
		d->seen[at] = ON_PATH;
		if (d->next[at] == buffer->parent_count) {
			d->seen[at] = DONE;
			depth--;
			continue;
		}
		int parent = buffer->parents[d->next[at]++];
		if (d->seen[parent] == ON_PATH)
			return parent;
		if (d->seen[parent] == UNSEEN)
			d->path[depth++] = parent;
	}
	return -1;
}

/* Buffers that live in one and the same step could each take the place of the next, and the last
 * that of the first: no one would have one. */
static void refuse_circle(struct packing_reading *r)
{
	size_t count = r->buffers.count;
	int circle = -1;
	struct descent descent = {.buffers = r->buffers.at,
		.seen = arena_array(r->reading.arena, unsigned char, count),
		.path = arena_array(r->reading.arena, int, count),
		.next = arena_array(r->reading.arena, size_t, count)};
	for (size_t i = 0; i < r->families.count && circle < 0; i++)
		if (descent.seen[r->families.at[i].child] == UNSEEN)
			circle = find_circle(&descent, r->families.at[i].child);
	for (size_t i = 0; i < r->families.count; i++)
		if (r->families.at[i].child == circle)
			diag_error(r->reading.diag, r->families.at[i].span,
				"buffer '%s' would take its own place through others",
				r->buffers.at[circle].name);
}

void packing_find_parents(struct packing_reading *r)
{
	size_t longest = 0;
	for (size_t i = 0; i < r->families.count; i++) {
		size_t length = strlen(r->families.at[i].text);
		longest = length > longest ? length : longest;
	}
	char *word = arena_alloc(r->reading.arena, longest + 1);
	for (size_t i = 0; i < r->families.count; i++)
		find_family(r, &r->families.at[i], word);
	refuse_circle(r);
}

/* NULL, or what is wrong with a use that is written so. */
static const char *parse_use(const char *word, const struct buffer *buffer, struct use *out)
{
	char *end;
	if (word[0] != 'r' && word[0] != 'w')
		return "a use is 'r' or 'w' and a step, such as r5";
	long long at = strtoll(word + 1, &end, 10);
	if (end == word + 1 || *end)
		return "a use is 'r' or 'w' and a step, such as r5";
	if (at < buffer->start || at >= buffer->end)
		return "it is not inside its life";
	*out = (struct use){.at = at, .write = word[0] == 'w'};
	return NULL;
}

void packing_read_uses(struct packing_reading *r, struct buffer *buffer)
{
	const char *list = packing_cell(r, COLUMN_USES), *why = NULL;
	char *word = arena_alloc(r->reading.arena, strlen(list) + 1);
	struct array(struct use) uses = {0};
	while (!why && packing_next_word(&list, word)) {
		struct use use;
		why = parse_use(word, buffer, &use);
		if (!why && uses.count && uses.at[uses.count - 1].at >= use.at)
			why = "the use before it is no earlier";
		if (!why)
			*array_add(r->reading.arena, &uses) = use;
	}
	if (why)
		diag_error(r->reading.diag, packing_cell_span(r, COLUMN_USES),
			"use '%s' of buffer '%s': %s", word, buffer->name, why);
	buffer->use_count = uses.count;
	buffer->uses = uses.at;
}

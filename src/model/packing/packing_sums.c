#include "model/packing/packing_sums.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/number.h"
#include "base/text.h"
#include "model/packing/packing_read.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Where buffers lie, read from the column `offset` and written into it. */

static bool scan_step(const char **at, int64_t *out)
{
	bool negative = scan_text(at, "-");
	if (!scan_integer(at, out))
		return false;
	*out = negative ? -*out : *out;
	return true;
}

/* FROM-TO@ADDRESS */
static bool parse_part(const char *word, struct residence_part *out)
{
	return scan_step(&word, &out->from) && scan_text(&word, "-") &&
	       scan_step(&word, &out->to) && scan_text(&word, "@") &&
	       scan_integer(&word, &out->address) && scan_end(&word);
}

static void read_parts(struct packing_reading *r, int buffer, const char *list)
{
	char *word = arena_alloc(r->reading.arena, strlen(list) + 1);
	while (packing_next_word(&list, word)) {
		struct residence_part part = {.buffer = buffer};
		if (!parse_part(word, &part)) {
			diag_error(r->reading.diag, packing_cell_span(r, COLUMN_OFFSET),
				"'offset' of buffer '%s': '%s' is no FROM-TO@ADDRESS",
				r->buffers.at[buffer].name, word);
			return;
		}
		*array_add(r->reading.arena, &r->parts) = part;
	}
}

void packing_read_offset(struct packing_reading *r, int buffer)
{
	const char *text = packing_cell(r, COLUMN_OFFSET), *at = text;
	int64_t *address = array_add(r->reading.arena, &r->addresses);
	*address = UNPLACED;
	if (!text || (scan_integer(&at, address) && scan_end(&at)))
		return;
	*address = UNPLACED;
	if (strchr(text, '@'))
		read_parts(r, buffer, text);
	else
		diag_error(r->reading.diag, packing_cell_span(r, COLUMN_OFFSET),
			"'offset' of buffer '%s' is '%s'; it can be an address from 0 to %" PRId64
			", empty, or FROM-TO@ADDRESS;..",
			r->buffers.at[buffer].name, text, INT64_MAX);
}

struct placement *packing_placed(struct packing_reading *r, const struct packing *packing)
{
	size_t count = r->buffers.count;
	struct placement *placement = arena_new(r->reading.arena, struct placement);
	*placement = (struct placement){.count = count,
		.addresses = r->addresses.at,
		.in_place_of = arena_array(r->reading.arena, int, count),
		.part_count = r->parts.count,
		.parts = r->parts.at};
	placement_note(packing, placement);
	return placement;
}

void packing_write_offset(
	struct text *text, const struct placement *placement, size_t buffer, size_t *part)
{
	if (placement->addresses[buffer] != UNPLACED)
		text_add(text, "%" PRId64, placement->addresses[buffer]);
	const char *before = "";
	for (; *part < placement->part_count; ++*part) {
		const struct residence_part *at = &placement->parts[*part];
		if ((size_t)at->buffer != buffer)
			return;
		text_add(text, "%s%" PRId64 "-%" PRId64 "@%" PRId64, before, at->from, at->to,
			at->address);
		before = ";";
	}
}

const char *packing_write(
	struct arena *arena, const struct packing_file *file, const struct placement *placement)
{
	struct text text = text_open(arena);
	const char *bytes = file->source->bytes;
	size_t part = 0;
	for (size_t i = 0; i <= file->packing.count; i++) {
		struct packing_row row = file->rows[i];
		text_bytes(&text, bytes + row.from, row.offset_from - row.from);
		if (!file->has_offsets)
			text_bytes(&text, ",", 1);
		if (i == 0)
			text_bytes(&text, "offset", 6);
		else
			packing_write_offset(&text, placement, i - 1, &part);
		text_bytes(&text, bytes + row.offset_to, row.to - row.offset_to);
		text_bytes(&text, "\n", 1);
	}
	return text_read(&text);
}

struct curve {
	struct arena *arena;
	struct array(struct load_step) changes; /* bytes more from a step on */
};

static int by_step(const void *left, const void *right)
{
	const struct load_step *a = left, *b = right;
	return (a->from > b->from) - (a->from < b->from);
}

static void add_life(struct curve *curve, int64_t from, int64_t to, int64_t size)
{
	if (from >= to || !size)
		return;
	*array_add(curve->arena, &curve->changes) = (struct load_step){from, size};
	*array_add(curve->arena, &curve->changes) = (struct load_step){to, -size};
}

static bool may_share(const struct packing *packing, size_t i)
{
	const struct buffer *buffer = &packing->buffers[i];
	for (size_t k = 0; k < buffer->parent_count; k++)
		if (packing_may_take(packing, i, (size_t)buffer->parents[k]))
			return true;
	return false;
}

bool packing_counts_at(const struct packing *packing, size_t buffer, int64_t step)
{
	const struct buffer *at = &packing->buffers[buffer];
	return at->start + may_share(packing, buffer) <= step && step < at->end;
}

static void add_lives(
	struct curve *curve, const struct packing *packing, const struct placement *placement)
{
	for (size_t i = 0; i < packing->count; i++) {
		const struct buffer *buffer = &packing->buffers[i];
		if (placement && placement->addresses[i] == UNPLACED)
			continue;
		bool shares = placement ? placement->in_place_of[i] >= 0 : may_share(packing, i);
		add_life(curve, buffer->start + shares, buffer->end, buffer->size);
	}
	for (size_t k = 0; placement && k < placement->part_count; k++) {
		const struct residence_part *part = &placement->parts[k];
		add_life(curve, part->from, part->to, packing->buffers[part->buffer].size);
	}
}

struct load_curve load_curve(
	struct arena *arena, const struct packing *packing, const struct placement *placement)
{
	struct curve curve = {.arena = arena};
	add_lives(&curve, packing, placement);
	struct load_step *steps = curve.changes.at;
	struct load_curve out = {.steps = steps};
	if (curve.changes.count)
		qsort(steps, curve.changes.count, sizeof *steps, by_step);
	int64_t bytes = 0;
	for (size_t i = 0; i < curve.changes.count; i++) {
		bytes += steps[i].bytes;
		if (!out.count || steps[out.count - 1].from != steps[i].from)
			steps[out.count++].from = steps[i].from;
		steps[out.count - 1].bytes = bytes;
	}
	out.most = out.count;
	for (size_t i = 0; i < out.count; i++)
		if (out.most == out.count || steps[i].bytes > steps[out.most].bytes)
			out.most = i;
	return out;
}

static int by_begin(const void *left, const void *right)
{
	const struct byte_range *a = left, *b = right;
	return (a->from > b->from) - (a->from < b->from);
}

struct byte_range *packing_reserved(
	struct arena *arena, const struct packing *packing, int64_t capacity, size_t *count)
{
	struct byte_range *ranges = arena_array(arena, struct byte_range, packing->reserved_count);
	size_t below = 0;
	for (size_t r = 0; r < packing->reserved_count; r++) {
		int64_t from = number_max(packing->reserved[r].from, 0);
		int64_t to = number_min(packing->reserved[r].to, capacity);
		if (from < to)
			ranges[below++] = (struct byte_range){from, to};
	}
	if (below)
		qsort(ranges, below, sizeof *ranges, by_begin);
	*count = 0;
	for (size_t r = 0; r < below; r++)
		if (*count && ranges[r].from <= ranges[*count - 1].to)
			ranges[*count - 1].to = number_max(ranges[*count - 1].to, ranges[r].to);
		else
			ranges[(*count)++] = ranges[r];
	return ranges;
}

int64_t packing_room(struct arena *arena, const struct packing *packing)
{
	size_t count;
	const struct byte_range *ranges =
		packing_reserved(arena, packing, packing->capacity, &count);
	int64_t room = packing->capacity;
	for (size_t r = 0; r < count; r++)
		room -= ranges[r].to - ranges[r].from;
	return room;
}

int packing_parent_at(
	const struct packing *packing, const struct placement *placement, size_t i, int64_t address)
{
	const struct buffer *child = &packing->buffers[i];
	for (size_t k = 0; k < child->parent_count; k++) {
		int parent = child->parents[k];
		if (placement->addresses[parent] == address &&
			packing->buffers[parent].size >= child->size)
			return parent;
	}
	return -1;
}

void placement_note(const struct packing *packing, struct placement *placement)
{
	for (size_t i = 0; i < packing->count; i++)
		placement->in_place_of[i] =
			placement->addresses[i] == UNPLACED
				? -1
				: packing_parent_at(packing, placement, i, placement->addresses[i]);
}

int64_t placement_peak(const struct packing *packing, const struct placement *placement)
{
	int64_t peak = 0;
	for (size_t i = 0; i < packing->count; i++)
		if (placement->addresses[i] != UNPLACED)
			peak = number_max(peak, placement->addresses[i] + packing->buffers[i].size);
	for (size_t k = 0; k < placement->part_count; k++) {
		const struct residence_part *part = &placement->parts[k];
		peak = number_max(peak, part->address + packing->buffers[part->buffer].size);
	}
	return peak;
}

size_t placement_count(const struct placement *placement)
{
	size_t count = 0;
	for (size_t i = 0; i < placement->count; i++)
		count += placement->addresses[i] != UNPLACED;
	for (size_t k = 0; k < placement->part_count; k++)
		count += k == 0 || placement->parts[k].buffer != placement->parts[k - 1].buffer;
	return count;
}

/* The transfers of a buffer that do not happen: all of them, or what these parts find. */
static int64_t sum_found(const struct buffer *buffer, bool all, const struct residence_part *parts,
	size_t part_count)
{
	int64_t found = 0, reads = 0,
		written = 0; /* the weight of the write of the value at hand */
	for (size_t u = 0, part = 0; u < buffer->use_count; u++) {
		const struct use *use = &buffer->uses[u];
		if (use->write) {
			found += reads ? written : 0;
			written = use_weight(buffer, use);
			reads = 0;
			continue;
		}
		while (part < part_count && parts[part].to <= use->at)
			part++;
		bool here =
			u > 0 &&
			(all || (part < part_count && parts[part].from <= buffer->uses[u - 1].at));
		found += here ? use_weight(buffer, use) : 0;
		written = here ? written : 0;
		reads++;
	}
	return found + (reads ? written : 0);
}

static int64_t count_saved(const struct buffer *buffer, bool all,
	const struct residence_part *parts, size_t part_count)
{
	if (!buffer->use_count)
		return all ? buffer->weight : 0;
	return sum_found(buffer, all, parts, part_count);
}

int64_t placement_saved(const struct packing *packing, const struct placement *placement)
{
	int64_t saved = 0;
	size_t part = 0;
	for (size_t i = 0; i < packing->count; i++) {
		size_t first = part;
		while (part < placement->part_count && (size_t)placement->parts[part].buffer == i)
			part++;
		saved += count_saved(&packing->buffers[i], placement->addresses[i] != UNPLACED,
			part > first ? &placement->parts[first] : NULL, part - first);
	}
	return saved;
}

int64_t packing_weights(const struct packing *packing)
{
	int64_t all = 0;
	for (size_t i = 0; i < packing->count; i++)
		all += count_saved(&packing->buffers[i], true, NULL, 0);
	return all;
}

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

/* True if the child can ever take its place; else a warning says why not. */
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

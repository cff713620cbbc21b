#include "model/packing/buffer.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/number.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

bool packing_declares(const struct packing *packing, size_t c, size_t p)
{
	const struct buffer *child = &packing->buffers[c];
	for (size_t k = 0; k < child->parent_count; k++)
		if ((size_t)child->parents[k] == p)
			return true;
	return false;
}

bool packing_may_take(const struct packing *packing, size_t c, size_t p)
{
	const struct buffer *child = &packing->buffers[c], *parent = &packing->buffers[p];
	return packing_declares(packing, c, p) && parent->end == child->start + 1 &&
	       child->size <= parent->size;
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

static bool packing_may_share(const struct packing *packing, size_t i)
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
	return at->start + packing_may_share(packing, buffer) <= step && step < at->end;
}

static void add_lives(
	struct curve *curve, const struct packing *packing, const struct placement *placement)
{
	for (size_t i = 0; i < packing->count; i++) {
		const struct buffer *buffer = &packing->buffers[i];
		if (placement && placement->addresses[i] == UNPLACED)
			continue;
		bool shares =
			placement ? placement->in_place_of[i] >= 0 : packing_may_share(packing, i);
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
	assert(bytes == 0);
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

/*
 * The checker is a sweep through time.  Buffers that live at a moment lie apart, but for children on their
 * parents, so that a buffer that begins is compared only with its neighbours by address.
 */

/* A stay: a buffer for its whole life, or for a part of it. */
struct buffer_stay {
	int buffer;
	int64_t from, to, address, size;
	bool whole;
};

struct check {
	const struct packing *packing;
	const struct placement *placement;
	struct arena *arena;
	size_t count;
	struct buffer_stay *stays; /* by address, the larger first */
	size_t *starts, *ends;
	struct byte_range *reserved; /* by address, joined */
	size_t reserved_count;
};

static const struct packing_fault no_fault = {-1, -1, NULL};

static struct packing_fault fault_of_one(int a, const char *why)
{
	return (struct packing_fault){a, -1, why};
}

/* Child c may lie on parent p, and does, at the very address. */
static bool is_lawful(const struct check *check, size_t c, size_t p)
{
	const int64_t *addresses = check->placement->addresses;
	return addresses[p] != UNPLACED && addresses[p] == addresses[c] &&
	       packing_may_take(check->packing, c, p);
}

/* --- each by itself */

static bool touches_reserved(const struct check *check, int64_t from, int64_t to)
{
	size_t at;
	bisect(at, 0, check->reserved_count, check->reserved[at].to <= from);
	return from < to && at < check->reserved_count && check->reserved[at].from < to;
}

static const char *check_address(const struct check *check, const struct buffer *buffer, int64_t at)
{
	const struct packing *packing = check->packing;
	if (at < 0 || at % (buffer->alignment ? buffer->alignment : packing->alignment))
		return "its address is not aligned";
	if (buffer->size > packing->capacity || at > packing->capacity - buffer->size)
		return "it ends beyond the capacity";
	if (buffer->is_fixed && at != buffer->address)
		return "it has to lie at another address";
	if (touches_reserved(check, at, at + buffer->size))
		return "it touches reserved bytes";
	return NULL;
}

static const char *check_whole(const struct check *check, size_t i)
{
	const struct buffer *buffer = &check->packing->buffers[i];
	const char *why = check_address(check, buffer, check->placement->addresses[i]);
	int parent = check->placement->in_place_of[i];
	if (why)
		return why;
	if (parent >= 0 &&
		((size_t)parent >= check->packing->count || !is_lawful(check, i, (size_t)parent)))
		return "it cannot take the place it claims";
	if (parent < 0 && buffer->must_take_over)
		return "it must take over a place, and takes none";
	return NULL;
}

static bool is_used_at(const struct buffer *buffer, int64_t step)
{
	size_t use;
	bisect(use, 0, buffer->use_count, buffer->uses[use].at < step);
	return use < buffer->use_count && buffer->uses[use].at == step;
}

static const char *check_part(const struct check *check, const struct residence_part *part,
	const struct residence_part *before)
{
	const struct buffer *buffer = &check->packing->buffers[part->buffer];
	if (check->placement->addresses[part->buffer] != UNPLACED)
		return "it is there for its whole life and in parts";
	if (part->from >= part->to || !is_used_at(buffer, part->from) ||
		!is_used_at(buffer, part->to - 1))
		return "a part of its life is not from one use to the step after another";
	if (before && before->buffer == part->buffer && before->to > part->from)
		return "the parts of its life meet, or are not in order";
	if (buffer->must_take_over)
		return "it must take over a place, and takes none";
	return check_address(check, buffer, part->address);
}

static void packing_check_add_stay(
	struct check *check, int buffer, int64_t from, int64_t to, int64_t address, bool whole)
{
	int64_t size = check->packing->buffers[buffer].size;
	if (from < to && size > 0)
		check->stays[check->count++] =
			(struct buffer_stay){buffer, from, to, address, size, whole};
}

static struct packing_fault check_each(struct check *check)
{
	const struct packing *packing = check->packing;
	const struct placement *placement = check->placement;
	for (size_t i = 0; i < packing->count; i++) {
		const char *why =
			placement->addresses[i] == UNPLACED ? NULL : check_whole(check, i);
		if (why)
			return fault_of_one((int)i, why);
		if (placement->addresses[i] != UNPLACED)
			packing_check_add_stay(check, (int)i, packing->buffers[i].start,
				packing->buffers[i].end, placement->addresses[i], true);
	}
	for (size_t k = 0; k < placement->part_count; k++) {
		const struct residence_part *part = &placement->parts[k];
		if (part->buffer < 0 || (size_t)part->buffer >= packing->count ||
			(k && part[-1].buffer > part->buffer))
			return fault_of_one(0, "the parts are not by buffer");
		const char *why = check_part(check, part, k ? part - 1 : NULL);
		if (why)
			return fault_of_one(part->buffer, why);
		packing_check_add_stay(
			check, part->buffer, part->from, part->to, part->address, false);
	}
	return no_fault;
}

/* --- one beside the other */

static int by_place(const void *left, const void *right)
{
	const struct buffer_stay *a = left, *b = right;
	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	if (a->size != b->size)
		return a->size > b->size ? -1 : 1;
	if (a->buffer != b->buffer)
		return a->buffer < b->buffer ? -1 : 1;
	return (a->from > b->from) - (a->from < b->from);
}

static int by_start(const void *left, const void *right, void *stays)
{
	const struct buffer_stay *a = (struct buffer_stay *)stays + *(const size_t *)left;
	const struct buffer_stay *b = (struct buffer_stay *)stays + *(const size_t *)right;
	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	return (a->buffer > b->buffer) - (a->buffer < b->buffer);
}

static int by_end(const void *left, const void *right, void *stays)
{
	const struct buffer_stay *a = (struct buffer_stay *)stays + *(const size_t *)left;
	const struct buffer_stay *b = (struct buffer_stay *)stays + *(const size_t *)right;
	return (a->to > b->to) - (a->to < b->to);
}

/* Two that are there at once. */
static const char *check_pair(
	const struct check *check, const struct buffer_stay *i, const struct buffer_stay *j)
{
	if (i->address >= j->address + j->size || j->address >= i->address + i->size)
		return NULL;
	bool both = i->whole && j->whole;
	bool i_takes = both && is_lawful(check, (size_t)i->buffer, (size_t)j->buffer);
	bool j_takes = both && is_lawful(check, (size_t)j->buffer, (size_t)i->buffer);
	if (!i_takes && !j_takes)
		return "they share bytes while both live";
	if (check->placement->in_place_of[i_takes ? i->buffer : j->buffer] < 0)
		return "the one takes the other's place and does not say so";
	return NULL;
}

static struct packing_fault buffer_stay_pair(
	const struct buffer_stay *i, const struct buffer_stay *j, const char *why)
{
	bool first = i->buffer < j->buffer;
	return (struct packing_fault){
		first ? i->buffer : j->buffer, first ? j->buffer : i->buffer, why};
}

/* The newcomer beside those that are there.  Downwards, those at the next lower address lie apart
 * from all below them. */
static struct packing_fault check_beside(
	const struct check *check, const struct ranks *there, size_t newcomer)
{
	const struct buffer_stay *stay = &check->stays[newcomer];
	bool apart = false;
	for (size_t r = ranks_up_to(there, newcomer); r != SIZE_MAX && !apart;
		r = r ? ranks_up_to(there, r - 1) : SIZE_MAX) {
		const struct buffer_stay *other = &check->stays[r];
		const char *why = check_pair(check, stay, other);
		if (why)
			return buffer_stay_pair(stay, other, why);
		size_t below = r ? ranks_up_to(there, r - 1) : SIZE_MAX;
		apart = other->address < stay->address && below != SIZE_MAX &&
			check->stays[below].address < other->address;
	}
	for (size_t r = ranks_from(there, newcomer);
		r != SIZE_MAX && check->stays[r].address < stay->address + stay->size;
		r = ranks_from(there, r + 1)) {
		const char *why = check_pair(check, stay, &check->stays[r]);
		if (why)
			return buffer_stay_pair(stay, &check->stays[r], why);
	}
	return no_fault;
}

static struct packing_fault packing_check_sweep(struct check *check)
{
	size_t count = check->count;
	struct packing_fault fault = no_fault;
	qsort(check->stays, count, sizeof *check->stays, by_place);
	check->starts = arena_array(check->arena, size_t, count);
	check->ends = arena_array(check->arena, size_t, count);
	for (size_t i = 0; i < count; i++)
		check->starts[i] = check->ends[i] = i;
	qsort_r(check->starts, count, sizeof *check->starts, by_start, check->stays);
	qsort_r(check->ends, count, sizeof *check->ends, by_end, check->stays);
	struct ranks there = ranks_open(check->arena, count);
	for (size_t i = 0, ended = 0; i < count && fault.a < 0; i++) {
		size_t newcomer = check->starts[i];
		while (check->stays[check->ends[ended]].to <= check->stays[newcomer].from)
			ranks_remove(&there, check->ends[ended++]);
		fault = check_beside(check, &there, newcomer);
		ranks_add(&there, newcomer);
	}
	return fault;
}

struct packing_fault packing_check(const struct packing *packing, const struct placement *placement)
{
	if (placement->count != packing->count)
		return fault_of_one(0, "the placement is of another packing");
	struct check check = {.packing = packing, .placement = placement, .arena = arena_open()};
	check.stays = arena_array(
		check.arena, struct buffer_stay, packing->count + placement->part_count);
	check.reserved = packing_reserved(check.arena, packing, INT64_MAX, &check.reserved_count);
	struct packing_fault fault = check_each(&check);
	if (fault.a < 0 && check.count)
		fault = packing_check_sweep(&check);
	arena_close(check.arena);
	return fault;
}

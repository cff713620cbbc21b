#include "model/packing/buffer.h"

#include "base/arena.h"
#include "base/array.h"
#include "model/packing/packing_sums.h"

#include <stdlib.h>

/*
 * A sweep through time.  What is there at a moment lies apart, but for children on their parents:
 * whoever comes has to be compared only with its neighbours by address.
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

static struct packing_fault alone(int a, const char *why)
{
	return (struct packing_fault){a, -1, why};
}

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

static void add_stay(
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
			return alone((int)i, why);
		if (placement->addresses[i] != UNPLACED)
			add_stay(check, (int)i, packing->buffers[i].start, packing->buffers[i].end,
				placement->addresses[i], true);
	}
	for (size_t k = 0; k < placement->part_count; k++) {
		const struct residence_part *part = &placement->parts[k];
		if (part->buffer < 0 || (size_t)part->buffer >= packing->count ||
			(k && part[-1].buffer > part->buffer))
			return alone(0, "the parts are not by buffer");
		const char *why = check_part(check, part, k ? part - 1 : NULL);
		if (why)
			return alone(part->buffer, why);
		add_stay(check, part->buffer, part->from, part->to, part->address, false);
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

static struct packing_fault pair(
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
			return pair(stay, other, why);
		size_t below = r ? ranks_up_to(there, r - 1) : SIZE_MAX;
		apart = other->address < stay->address && below != SIZE_MAX &&
			check->stays[below].address < other->address;
	}
	for (size_t r = ranks_from(there, newcomer);
		r != SIZE_MAX && check->stays[r].address < stay->address + stay->size;
		r = ranks_from(there, r + 1)) {
		const char *why = check_pair(check, stay, &check->stays[r]);
		if (why)
			return pair(stay, &check->stays[r], why);
	}
	return no_fault;
}

static struct packing_fault sweep(struct check *check)
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
		return alone(0, "the placement is of another packing");
	struct check check = {.packing = packing, .placement = placement, .arena = arena_open()};
	check.stays = arena_array(
		check.arena, struct buffer_stay, packing->count + placement->part_count);
	check.reserved = packing_reserved(check.arena, packing, INT64_MAX, &check.reserved_count);
	struct packing_fault fault = check_each(&check);
	if (fault.a < 0 && check.count)
		fault = sweep(&check);
	arena_close(check.arena);
	return fault;
}

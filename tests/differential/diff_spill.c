#include "base/arena.h"
#include "base/random.h"
#include "model/packing/buffer.h"
#include "search/drive/solver.h"
#include "tests/support/draws.h"

#include <string.h>

#include "tests/test.h"

/*
 * Choices of the exact solver, against brute force: every choice of whole lives and of parts from
 * use to use, and for each every address of every residence.  Small packings with uses, places
 * taken over, alignments, fixed addresses and reserved bytes; and the claimed savings equal those
 * of its layout.
 */
enum { STEPS = 8, BUFFERS_MOST = 4, USES_MOST = 4, CAPACITY_MOST = 10, STAYS_MOST = 16 };

struct section_span {
	int buffer;
	int64_t from, to, address;
	bool whole;
};

struct force {
	const struct packing *packing;
	struct section_span stays[STAYS_MOST];
	int count;
	int64_t gain, best;
};

static int64_t alignment_of(const struct force *force, int b)
{
	const struct buffer *buffer = &force->packing->buffers[b];
	return buffer->alignment ? buffer->alignment : force->packing->alignment;
}

static bool takes(const struct force *force, const struct section_span *child,
	const struct section_span *parent)
{
	const struct buffer *c = &force->packing->buffers[child->buffer];
	const struct buffer *p = &force->packing->buffers[parent->buffer];
	if (!child->whole || !parent->whole || child->address != parent->address)
		return false;
	for (size_t k = 0; k < c->parent_count; k++)
		if (c->parents[k] == parent->buffer)
			return p->end == c->start + 1 && c->size <= p->size;
	return false;
}

static bool may_lie(const struct force *force, int n)
{
	const struct packing *packing = force->packing;
	const struct section_span *stay = &force->stays[n];
	const struct buffer *buffer = &packing->buffers[stay->buffer];
	int64_t end = stay->address + buffer->size;
	if (end > packing->capacity || (buffer->is_fixed && buffer->address != stay->address))
		return false;
	for (size_t r = 0; r < packing->reserved_count && buffer->size; r++)
		if (stay->address < packing->reserved[r].to && packing->reserved[r].from < end)
			return false;
	for (int k = 0; k < n; k++) {
		const struct section_span *other = &force->stays[k];
		bool together = stay->from < other->to && other->from < stay->to;
		bool overlap =
			buffer->size && packing->buffers[other->buffer].size &&
			stay->address < other->address + packing->buffers[other->buffer].size &&
			other->address < end;
		if (together && overlap && !takes(force, stay, other) && !takes(force, other, stay))
			return false;
	}
	return true;
}

static bool all_take_over(const struct force *force)
{
	for (int n = 0; n < force->count; n++) {
		bool good = !force->packing->buffers[force->stays[n].buffer].must_take_over;
		for (int k = 0; k < force->count && !good; k++)
			good = k != n && takes(force, &force->stays[n], &force->stays[k]);
		if (!good)
			return false;
	}
	return true;
}

static bool packs(struct force *force, int n)
{
	if (n == force->count)
		return all_take_over(force);
	for (int64_t a = 0; a <= force->packing->capacity;
		a += alignment_of(force, force->stays[n].buffer)) {
		force->stays[n].address = a;
		if (may_lie(force, n) && packs(force, n + 1))
			return true;
	}
	return false;
}

static int64_t weight_at(const struct buffer *buffer, size_t use)
{
	return buffer->uses[use].weight ? buffer->uses[use].weight : buffer->weight;
}

/* Returns the savings of a buffer that is kept between uses by `kept`, a bit for each pair. */
static int64_t saved(const struct buffer *buffer, unsigned kept)
{
	int64_t sum = 0;
	for (size_t u = 0; u < buffer->use_count; u++) {
		bool all = true;
		size_t reads = 0;
		if (u && !buffer->uses[u].write && kept >> (u - 1) & 1)
			sum += weight_at(buffer, u);
		for (size_t r = u + 1; r < buffer->use_count && !buffer->uses[r].write; r++) {
			all &= kept >> (r - 1) & 1;
			reads++;
		}
		if (buffer->uses[u].write && reads && all)
			sum += weight_at(buffer, u);
	}
	return sum;
}

static void choose(struct force *force, int b);

static void choose_parts(struct force *force, int b, unsigned kept)
{
	const struct buffer *buffer = &force->packing->buffers[b];
	int count = force->count;
	int64_t gain = saved(buffer, kept);
	for (size_t u = 0; u + 1 < buffer->use_count; u++) {
		if (!(kept >> u & 1))
			continue;
		if (!u || !(kept >> (u - 1) & 1))
			force->stays[force->count++] = (struct section_span){
				.buffer = b, .from = buffer->uses[u].at, .whole = false};
		force->stays[force->count - 1].to = buffer->uses[u + 1].at + 1;
	}
	force->gain += gain;
	choose(force, b + 1);
	force->gain -= gain;
	force->count = count;
}

static void choose(struct force *force, int b)
{
	if (b == (int)force->packing->count) {
		if (force->gain > force->best && packs(force, 0))
			force->best = force->gain;
		return;
	}
	const struct buffer *buffer = &force->packing->buffers[b];
	unsigned all = buffer->use_count ? (1u << (buffer->use_count - 1)) - 1 : 0;
	int64_t whole = buffer->use_count ? saved(buffer, all) : buffer->weight;
	force->stays[force->count++] = (struct section_span){
		.buffer = b, .from = buffer->start, .to = buffer->end, .whole = true};
	force->gain += whole;
	choose(force, b + 1);
	force->gain -= whole;
	force->count--;
	for (unsigned kept = 0; kept <= (buffer->must_take_over ? 0 : all); kept++)
		choose_parts(force, b, kept);
}

/* --- packings */

static void draw_uses(struct arena *arena, struct random *random, struct buffer *buffer)
{
	struct use *uses = arena_array(arena, struct use, STEPS);
	size_t count = 0;
	for (int64_t at = buffer->start; at < buffer->end && count < USES_MOST; at++) {
		if (!draw_below(random, 3))
			continue;
		struct use *use = &uses[count];
		use->at = at;
		use->write = count ? !draw_below(random, 4) : draw_below(random, 2);
		use->weight = draw_below(random, 4) ? 0 : 1 + draw_below(random, 9);
		count++;
	}
	buffer->uses = uses;
	buffer->use_count = count;
}

static void draw_parents(struct arena *arena, struct random *random, struct buffer *buffers, int b)
{
	int *parents = arena_array(arena, int, BUFFERS_MOST);
	buffers[b].parents = parents;
	for (int p = 0; p < b; p++)
		if (buffers[p].end == buffers[b].start + 1 && buffers[p].size >= buffers[b].size &&
			draw_below(random, 4))
			parents[buffers[b].parent_count++] = p;
	buffers[b].must_take_over = buffers[b].parent_count && !draw_below(random, 3);
}

static struct packing draw_packing(struct arena *arena, struct random *random)
{
	static const int64_t alignments[] = {1, 1, 1, 2, 3};
	struct packing packing = {.capacity = 4 + draw_below(random, CAPACITY_MOST - 3),
		.alignment = alignments[draw_below(random, 5)],
		.count = 2 + (size_t)draw_below(random, BUFFERS_MOST - 1)};
	struct buffer *buffers = arena_array(arena, struct buffer, packing.count);
	int64_t last = 0;
	for (size_t b = 0; b < packing.count; b++) {
		bool follows = b && !draw_below(random, 3);
		int64_t start = follows ? last : draw_below(random, STEPS - 1);
		int64_t end = start + 1 + draw_below(random, STEPS - start);
		buffers[b] = (struct buffer){.name = "b",
			.size = draw_below(random, 12) ? 1 + draw_below(random, 5) : 0,
			.start = start,
			.end = end,
			.weight = draw_below(random, 20),
			.alignment = draw_below(random, 4) ? 0 : alignments[draw_below(random, 5)]};
		last = end - 1;
		if (draw_below(random, 3))
			draw_uses(arena, random, &buffers[b]);
		draw_parents(arena, random, buffers, (int)b);
		if (!draw_below(random, 8)) {
			int64_t step =
				buffers[b].alignment ? buffers[b].alignment : packing.alignment;
			buffers[b].is_fixed = true;
			buffers[b].address = step * draw_below(random, 3);
		}
	}
	packing.buffers = buffers;
	if (!draw_below(random, 4)) {
		struct byte_range *ranges = arena_array(arena, struct byte_range, 2);
		packing.reserved = ranges;
		packing.reserved_count = 1 + (size_t)draw_below(random, 2);
		for (size_t r = 0; r < packing.reserved_count; r++) {
			ranges[r].from = draw_below(random, packing.capacity);
			ranges[r].to = ranges[r].from + 1 + draw_below(random, 2);
		}
	}
	packing.goal = PACKING_SPILL;
	return packing;
}

/* --- what is compared */

struct seen {
	long parts, in_place, spilled;
};

static void compare(
	struct arena *arena, const struct packing *packing, long draw, struct seen *seen)
{
	struct force force = {.packing = packing};
	struct problem problem = {.stage = STAGE_PLACE, .packing = packing};
	choose(&force, 0);
	struct answer answer = solve(solver_find(STAGE_PLACE, "exact"), &problem, 0, 1, arena);
	int64_t all = packing_weights(packing), least = all - force.best;
	assert_true(answer.candidate_count > 0);
	const struct placement *placement = answer.candidates[answer.candidate_count - 1].placement;
	double value = answer.values[answer.candidate_count - 1];
	struct packing_fault fault = packing_check(packing, placement);
	if (fault.a >= 0)
		fail_msg("draw %ld: buffers %d and %d: %s", draw, fault.a, fault.b, fault.why);
	if (answer.status != PROOF_OPTIMAL || value != (double)least ||
		answer.bound != (double)least)
		fail_msg("draw %ld: %g is lost, at least %g, status %d; brute force loses %lld",
			draw, value, answer.bound, answer.status, (long long)least);
	if (all - placement_saved(packing, placement) != least)
		fail_msg("draw %ld: the layout loses %lld, not %lld", draw,
			(long long)(all - placement_saved(packing, placement)), (long long)least);
	seen->parts += placement->part_count > 0;
	seen->spilled += least > 0;
	for (size_t b = 0; b < packing->count; b++)
		seen->in_place += placement->in_place_of[b] >= 0;
}

BARE_TEST(the_most_is_saved)
{
	long count = draws(200);
	uint64_t seed = draws_seed(1);
	struct seen seen = {0};
	for (long draw = 0; draw < count; draw++) {
		struct arena *arena = arena_open();
		struct random random = random_open(seed, (uint64_t)draw);
		struct packing packing = draw_packing(arena, &random);
		compare(arena, &packing, draw, &seen);
		arena_close(arena);
	}
	assert_true(
		!draws_are_many(count) ||
		(seen.parts > count / 8 && seen.in_place > count / 40 && seen.spilled > count / 4));
}

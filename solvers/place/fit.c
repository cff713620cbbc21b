#include "base/arena.h"
#include "base/number.h"
#include "search/drive/solver.h"
#include "solvers/place/packing.h"

/*
 * The published gap solvers (FirstFitLayoutSolver, BestFitLayoutSolver): all
 * buffers are known up front and placed shortest life first, parents before
 * their children, each into a gap that is free during its whole life.  The two
 * differ in which of the gaps that are large enough they take.
 *
 * A child first tries the gaps that hold a parent whole, and takes that parent's address; parents count as free
 * space then.  Published, they still count as free when that fails, and the child may land on half a living parent;
 * here such an address is skipped for the gaps between everything that is live.
 *
 * There is one layout, and no budget cuts it.
 */
enum fit_rule { FIT_FIRST, FIT_LEAST_WASTE };

struct gap {
	int64_t start, end;
};

struct fit_placer {
	const struct packing *packing;
	struct placement *placement;
	enum fit_rule fit;
	size_t *placed; /* by address */
	size_t placed_count;
	struct gap *gaps;
	size_t gap_count;
};

static void add_gap(struct fit_placer *fitting, int64_t start, int64_t end, int64_t size)
{
	if (end - start >= size && end >= start)
		fitting->gaps[fitting->gap_count++] = (struct gap){start, end};
}

/* Finds the gaps that are free during all of buffer i's life; its parents count as free with `over_parents`. */
static void find_gaps(struct fit_placer *fitting, size_t i, bool over_parents)
{
	const struct packing *packing = fitting->packing;
	const struct buffer *buffer = &packing->buffers[i];
	int64_t free_from = 0;
	fitting->gap_count = 0;
	for (size_t k = 0; k < fitting->placed_count; k++) {
		size_t other = fitting->placed[k];
		int64_t address = fitting->placement->addresses[other];
		int64_t size = packing->buffers[other].size;
		if (!size || !packing_meet(packing, i, other) ||
			(over_parents && packing_declares(packing, i, other)))
			continue;
		if (address > free_from)
			add_gap(fitting, free_from, address, buffer->size);
		free_from = number_max(free_from, address + size);
	}
	add_gap(fitting, free_from, packing->capacity, buffer->size);
}

/* The first parent that lies whole in the gap; -1. */
static int parent_within(const struct fit_placer *fitting, size_t i, struct gap gap)
{
	const struct buffer *buffer = &fitting->packing->buffers[i];
	for (size_t k = 0; k < buffer->parent_count; k++) {
		int parent = buffer->parents[k];
		int64_t address = fitting->placement->addresses[parent];
		if (address != UNPLACED && address >= gap.start &&
			address + fitting->packing->buffers[parent].size <= gap.end)
			return parent;
	}
	return -1;
}

static int64_t choose_gap(const struct fit_placer *fitting, size_t i, bool with_parent)
{
	int64_t size = fitting->packing->buffers[i].size, chosen = UNPLACED, least = INT64_MAX;
	for (size_t g = 0; g < fitting->gap_count; g++) {
		struct gap gap = fitting->gaps[g];
		int64_t start = packing_up(fitting->packing, i, gap.start);
		int parent = with_parent ? parent_within(fitting, i, gap) : -1;
		if (start > gap.end || gap.end - start < size || (with_parent && parent < 0))
			continue;
		int64_t waste = gap.end - start - size;
		if (waste >= least)
			continue;
		chosen = with_parent ? fitting->placement->addresses[parent] : start;
		least = waste;
		if (fitting->fit == FIT_FIRST)
			break;
	}
	return chosen;
}

static int64_t find_gap_address(struct fit_placer *fitting, size_t i)
{
	find_gaps(fitting, i, true);
	int64_t address = choose_gap(fitting, i, true);
	if (address == UNPLACED)
		address = choose_gap(fitting, i, false);
	if (address == UNPLACED || packing_free(fitting->packing, fitting->placement, i, address))
		return address;
	find_gaps(fitting, i, false);
	return choose_gap(fitting, i, false);
}

static void add_placed(struct fit_placer *fitting, size_t buffer, int64_t address)
{
	int64_t *addresses = fitting->placement->addresses;
	size_t at = fitting->placed_count++;
	for (; at > 0 && addresses[fitting->placed[at - 1]] > address; at--)
		fitting->placed[at] = fitting->placed[at - 1];
	fitting->placed[at] = buffer;
	addresses[buffer] = address;
}

/* Places the buffers that may lie at one address only before the
 * others; reserved ranges, which come last, before all. */
static void place_fixed(struct fit_placer *fitting)
{
	const struct packing *packing = fitting->packing;
	for (size_t i = packing->count; i-- > 0;) {
		const struct buffer *buffer = &packing->buffers[i];
		if (buffer->is_fixed &&
			packing_allows(packing, fitting->placement, i, buffer->address) &&
			packing_free(packing, fitting->placement, i, buffer->address))
			add_placed(fitting, i, buffer->address);
	}
}

static bool buffer_lives(const struct buffer *buffer)
{
	return buffer->end > buffer->start;
}

/* Not yet placed, all parents seen, shortest life first, then the first given; count: none. */
static size_t packing_find_next(const struct packing *packing, const bool *seen)
{
	size_t next = packing->count;
	int64_t shortest = INT64_MAX;
	for (size_t i = 0; i < packing->count; i++) {
		const struct buffer *buffer = &packing->buffers[i];
		if (seen[i] || buffer->end - buffer->start >= shortest)
			continue;
		bool ready = true;
		for (size_t k = 0; k < buffer->parent_count && ready; k++)
			ready = seen[buffer->parents[k]];
		if (ready) {
			next = i;
			shortest = buffer->end - buffer->start;
		}
	}
	return next;
}

static void fit_run(struct run *run, const struct problem *problem, enum fit_rule fit)
{
	struct arena *arena = run_arena(run);
	if (!packing_declared(run, problem->packing) || !packing_whole(run, problem->packing))
		return;
	struct packing all = packing_with_reserved(problem->packing, arena), *packing = &all;
	struct fit_placer fitting = {
		.packing = packing,
		.placement = packing_open(run, packing),
		.fit = fit,
		.placed = arena_array(arena, size_t, packing->count),
		.gaps = arena_array(arena, struct gap, packing->count + 1),
	};
	bool *seen = arena_array(arena, bool, packing->count);
	place_fixed(&fitting);
	for (size_t i = 0; i < packing->count; i++)
		seen[i] = packing->buffers[i].is_fixed || !buffer_lives(&packing->buffers[i]);
	for (;;) {
		size_t i = packing_find_next(packing, seen);
		if (i == packing->count || !run_count(run, packing->count + fitting.placed_count))
			break;
		seen[i] = true;
		int64_t address = find_gap_address(&fitting, i);
		if (address != UNPLACED && packing_allows(packing, fitting.placement, i, address))
			add_placed(&fitting, i, address);
	}
	fitting.placement->count = problem->packing->count;
	packing_offer(run, problem->packing, fitting.placement);
}

static void firstfit_run(struct run *run, const struct problem *problem)
{
	fit_run(run, problem, FIT_FIRST);
}

const struct solver place_firstfit_solver = {
	.stage = STAGE_PLACE,
	.name = "firstfit",
	.summary = "shortest life first, into the lowest gap that is large enough",
	.purposes = FOR_GRAPHS,
	.run = firstfit_run,
};

static void bestfit_run(struct run *run, const struct problem *problem)
{
	fit_run(run, problem, FIT_LEAST_WASTE);
}

const struct solver place_bestfit_solver = {
	.stage = STAGE_PLACE,
	.name = "bestfit",
	.summary = "shortest life first, into the gap that leaves the least unused",
	.purposes = FOR_GRAPHS,
	.run = bestfit_run,
};

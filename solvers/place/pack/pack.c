#include "solvers/place/pack/pack.h"

#include "base/arena.h"
#include "base/number.h"
#include "solvers/place/pack/options.h"
#include "solvers/place/pack/room.h"
#include "solvers/place/pack/search.h"
#include "solvers/place/packing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * Fewer buffers that do not fit: those that live around a step at which it is hardest, of those
 * as few as a proof is soon found for.  Every set of buffers that has them all does not fit
 * either.  `proof` is the answer to the question.  The count is 0 if no such set is known.
 */
struct pack_core {
	size_t count;
	const int *buffers; /* ascending */
};
static struct pack_core pack_core_find(struct run *run, const struct pack_question *question,
	const struct pack_answer *proof, struct arena *arena);

struct reducing {
	struct run *run;
	const struct packing *packing;
	int64_t capacity;
	uint64_t nodes, left; /* for one proof, for all that come */
	bool *set;            /* does not fit */
	bool *trial;
	size_t count;
};

/* In steps; 0: it lives then. */
static uint64_t distance_to(const struct buffer *buffer, int64_t step)
{
	if (buffer->start > step)
		return (uint64_t)buffer->start - (uint64_t)step;
	return buffer->end <= step ? (uint64_t)step - (uint64_t)buffer->end + 1 : 0;
}

/* A child that must take over can be kept if a parent comes in; a set that must not fit with
 * all else that comes has it only together with all of them. */
static void drop_orphans(const struct reducing *reducing, bool *set)
{
	const struct packing *packing = reducing->packing;
	for (bool again = true; again;) {
		again = false;
		for (size_t i = 0; i < packing->count; i++) {
			const struct buffer *child = &packing->buffers[i];
			if (!set[i] || !child->must_take_over)
				continue;
			for (size_t k = 0; k < child->parent_count && set[i]; k++)
				set[i] = set[child->parents[k]] ||
					 !packing_may_take(packing, i, (size_t)child->parents[k]);
			again |= !set[i];
		}
	}
}

/* If the trial still does not fit, it is the set. */
static bool try_set(struct reducing *reducing)
{
	struct arena *arena = arena_open();
	struct pack_question question = {.packing = reducing->packing,
		.chosen = reducing->trial,
		.capacity = reducing->capacity,
		.nodes = reducing->nodes};
	drop_orphans(reducing, reducing->trial);
	struct pack_answer answer = pack(reducing->run, &question, arena);
	arena_close(arena);
	reducing->left -= reducing->left < answer.nodes + 1 ? reducing->left : answer.nodes + 1;
	if (answer.status != VERDICT_NO)
		return false;
	memcpy(reducing->set, reducing->trial, reducing->count * sizeof *reducing->set);
	return true;
}

/* The smallest window around the step, doubling, whose buffers do not fit. */
static bool find_window(struct reducing *reducing, const bool *chosen, int64_t step)
{
	for (uint64_t reach = 1; reducing->left; reach = reach * 2 + 1) {
		bool all = true;
		for (size_t i = 0; i < reducing->count; i++) {
			bool is_chosen = !chosen || chosen[i];
			reducing->trial[i] =
				is_chosen &&
				distance_to(&reducing->packing->buffers[i], step) <= reach;
			all &= reducing->trial[i] == is_chosen;
		}
		if (try_set(reducing))
			return true;
		if (all)
			return false;
	}
	return false;
}

struct far {
	uint64_t distance;
	int64_t size;
	int buffer;
};

/* The farthest first, of those the smallest. */
static int compare_far(const void *left, const void *right)
{
	const struct far *a = left, *b = right;
	if (a->distance != b->distance)
		return a->distance > b->distance ? -1 : 1;
	if (a->size != b->size)
		return a->size < b->size ? -1 : 1;
	return (a->buffer > b->buffer) - (a->buffer < b->buffer);
}

/* One after the other is left out, as long as the rest does not fit; first in large groups. */
static void leave_out(struct reducing *reducing, int64_t step, struct arena *arena)
{
	struct far *far = arena_array(arena, struct far, reducing->count);
	size_t count = 0;
	for (size_t i = 0; i < reducing->count; i++) {
		const struct buffer *buffer = &reducing->packing->buffers[i];
		if (reducing->set[i])
			far[count++] =
				(struct far){distance_to(buffer, step), buffer->size, (int)i};
	}
	if (count)
		qsort(far, count, sizeof *far, compare_far);
	for (size_t group = count / 4 + 1;; group /= 2) {
		for (size_t k = 0; k < count && reducing->left; k += group) {
			bool changes = false;
			memcpy(reducing->trial, reducing->set, reducing->count * sizeof(bool));
			for (size_t m = k; m < k + group && m < count; m++) {
				changes |= reducing->trial[far[m].buffer];
				reducing->trial[far[m].buffer] = false;
			}
			if (changes)
				try_set(reducing);
		}
		if (group == 1)
			return;
	}
}

static struct pack_core pack_core_find(struct run *run, const struct pack_question *question,
	const struct pack_answer *proof, struct arena *arena)
{
	size_t count = question->packing->count;
	struct arena *scratch = arena_open();
	struct reducing reducing = {run, question->packing, question->capacity,
		PACK_CORE_NODES_LEAST + 2 * proof->nodes, 0, arena_array(scratch, bool, count),
		arena_array(scratch, bool, count), count};
	reducing.left = reducing.nodes * PACK_CORE_PROOFS_MOST;
	struct pack_core core = {0, NULL};
	if (find_window(&reducing, question->chosen, proof->hardest)) {
		int *buffers = arena_array(arena, int, count);
		leave_out(&reducing, proof->hardest, scratch);
		for (size_t i = 0; i < count; i++)
			if (reducing.set[i])
				buffers[core.count++] = (int)i;
		core.buffers = buffers;
	}
	arena_close(scratch);
	return core;
}

/*
 * A child that may take a parent's slot is left open at first: its first step does not count.  If
 * what is found shares bytes there, each choice of that child is tried.
 */
struct asking {
	struct run *run;
	const struct pack_question *question;
	struct arena *arena;
	int *takes;
	struct pack_answer answer;
	struct placement *placement;
};

static bool is_chosen(const struct asking *asking, int i)
{
	return !asking->question->chosen || asking->question->chosen[i];
}

static bool may_take(const struct asking *asking, int child, int parent)
{
	return is_chosen(asking, parent) &&
	       packing_may_take(asking->question->packing, (size_t)child, (size_t)parent);
}

static bool is_over(struct asking *asking)
{
	uint64_t limit = asking->question->nodes;
	return (limit && asking->answer.nodes >= limit) || !run_spend(asking->run, 0);
}

/* When the items of the section that failed most live together. */
static int64_t hardest_step(
	const struct shapes *shapes, const struct room *room, const struct pack_search *search)
{
	int section = pack_search_hardest(search);
	int64_t step = INT64_MIN;
	for (size_t k = room->section_first[section]; k < room->section_first[section + 1]; k++) {
		int shape = room->items[room->lives[k]].shape;
		if (shape >= 0)
			step = number_max(
				step, shapes->pieces[shapes->at[shape].piece_first].start);
	}
	return step;
}

/* The orders in which items are tried, by start: long lives first serve best. */
static const enum pack_order orders[] = {
	PACK_LONGEST, PACK_LARGEST, PACK_LONGEST, PACK_HIGHEST, PACK_LONGEST, PACK_LONG_AND_LARGE};
enum { ORDERS = sizeof orders / sizeof *orders, GUIDED_ORDERS = PACK_DRAWN };

/* A search and its restarts, in rounds of growing patience, so that it stays complete. */
struct restarts {
	struct pack_search *search;
	bool guided, drawn; /* every start by the last solution; every order is drawn */
	uint64_t start;
	double first, failures; /* of the first start in this round, of the next */
	double most;            /* that a round begins with */
};

static struct restarts open_restarts(
	const struct room *room, bool guided, bool drawn, double most, struct arena *arena)
{
	return (struct restarts){pack_search_open(room, arena), guided, drawn, 0,
		PACK_FIRST_FAILURES, PACK_FIRST_FAILURES, most};
}

static enum pack_order order_of(const struct restarts *restarts)
{
	uint64_t start = restarts->start;
	if (restarts->drawn || (restarts->guided && start / PACK_RETURN_STARTS % 2))
		return PACK_DRAWN;
	return restarts->guided
		       ? (enum pack_order)(start / (2 * PACK_RETURN_STARTS) % GUIDED_ORDERS)
		       : orders[start % ORDERS];
}

static void begin_round(struct restarts *restarts)
{
	uint64_t starts = restarts->guided ? PACK_RETURN_ROUND_STARTS : PACK_ROUND_STARTS;
	int percent = restarts->guided ? PACK_RETURN_ROUND_PERCENT : PACK_ROUND_PERCENT;
	if (!restarts->start || restarts->start % starts)
		return;
	restarts->first = fmin(restarts->first * (percent / 100.0), restarts->most);
	restarts->failures = restarts->first;
	pack_search_forget(restarts->search);
}

static enum verdict next_start(struct asking *asking, struct restarts *restarts)
{
	struct pack_search *search = restarts->search;
	uint64_t limit = asking->question->nodes, before = pack_search_nodes(search);
	begin_round(restarts);
	bool returns =
		restarts->guided || restarts->start % PACK_RETURN_STARTS == PACK_RETURN_STARTS - 1;
	enum verdict status = pack_search_run(search, asking->run, (uint64_t)restarts->failures,
		limit ? limit - asking->answer.nodes : 0, run_random(asking->run, UINT64_MAX),
		order_of(restarts), returns);
	asking->answer.nodes += pack_search_nodes(search) - before;
	asking->answer.restarts++;
	if (restarts->start++ % PACK_PATIENT_STARTS == PACK_PATIENT_STARTS - 1 && !restarts->guided)
		restarts->failures *= PACK_PATIENT_PERCENT / 100.0;
	return status;
}

/* A second search, guided and drawn, joins one without a limit, and gets as many nodes: a
 * layout that is not found by then it often finds sooner.  That there is none, the first proves. */
static enum verdict search_room(struct asking *asking, const struct shapes *shapes,
	const struct room *room, struct arena *arena, int64_t *addresses)
{
	const struct pack_question *question = asking->question;
	struct restarts plain =
		open_restarts(room, question->returns, question->varied, INFINITY, arena);
	struct restarts joined = {0}, *turn = &plain;
	enum verdict status = VERDICT_OPEN;
	while (status == VERDICT_OPEN && !is_over(asking)) {
		uint64_t nodes = pack_search_nodes(plain.search);
		turn = &plain;
		if (!question->nodes && !question->returns && nodes >= PACK_JOIN_NODES) {
			if (!joined.search)
				joined = open_restarts(
					room, true, true, PACK_JOINED_FAILURES_MOST, arena);
			if (pack_search_nodes(joined.search) < nodes)
				turn = &joined;
		}
		status = next_start(asking, turn);
	}
	if (status != VERDICT_YES)
		asking->answer.hardest = hardest_step(shapes, room, plain.search);
	for (int i = 0; status == VERDICT_YES && i < room->item_count; i++)
		if (room->items[i].shape >= 0)
			addresses[room->items[i].shape] = pack_search_address(turn->search, i);
	return status;
}

/* A child whose open choice the placement does not keep, or the head of its shape; -1: it is lawful. */
static int find_unlawful(const struct asking *asking)
{
	const struct packing *packing = asking->question->packing;
	struct packing_fault fault = packing_check(packing, asking->placement);
	int buffers[] = {fault.a, fault.b};
	for (int k = 0; k < 2; k++) {
		int head =
			buffers[k] < 0 ? -1 : pack_head(asking->takes, packing->count, buffers[k]);
		if (head >= 0 && asking->takes[head] == TAKES_OPEN)
			return head;
	}
	return -1;
}

static enum verdict solve_choices(struct asking *asking);

/* Every choice of one child. */
static enum verdict decide(struct asking *asking, int child)
{
	const struct buffer *buffer = &asking->question->packing->buffers[child];
	enum verdict all = VERDICT_NO;
	for (size_t k = 0; k <= buffer->parent_count; k++) {
		bool is_parent = k < buffer->parent_count;
		if (is_parent ? !may_take(asking, child, buffer->parents[k])
			      : buffer->must_take_over)
			continue;
		asking->takes[child] = is_parent ? buffer->parents[k] : TAKES_NOBODYS;
		enum verdict status = solve_choices(asking);
		if (status == VERDICT_YES)
			return status;
		if (status == VERDICT_OPEN)
			all = status;
		if (is_over(asking))
			return VERDICT_OPEN;
	}
	asking->takes[child] = TAKES_OPEN;
	return all;
}

static void write_placement(
	struct asking *asking, const struct shapes *shapes, const int64_t *addresses)
{
	const struct packing *packing = asking->question->packing;
	for (size_t i = 0; i < packing->count; i++) {
		int shape = shapes->of[i];
		asking->placement->addresses[i] =
			shape < 0 ? shapes->addresses[i] : addresses[shape] * shapes->unit;
	}
	for (size_t i = 0; i < packing->count; i++) {
		int64_t address = asking->placement->addresses[i];
		const struct buffer *buffer = &packing->buffers[i];
		asking->placement->in_place_of[i] = -1;
		for (size_t k = 0; k < buffer->parent_count && address != UNPLACED; k++)
			if (asking->placement->addresses[buffer->parents[k]] == address &&
				may_take(asking, (int)i, buffer->parents[k]))
				asking->placement->in_place_of[i] = buffer->parents[k];
	}
}

static enum verdict solve_choices(struct asking *asking)
{
	struct arena *arena = arena_open();
	enum verdict status = VERDICT_YES;
	struct shapes shapes = pack_shapes(asking->question->packing, asking->question->chosen,
		asking->question->capacity, asking->takes, arena);
	struct rooms rooms = {0};
	if (shapes.culprit >= 0) {
		status = VERDICT_NO;
		asking->answer.hardest = asking->question->packing->buffers[shapes.culprit].start;
	} else {
		rooms = pack_rooms(&shapes, arena);
	}
	if (rooms.too_large) {
		status = VERDICT_OPEN;
		asking->answer.is_too_large = true;
	}
	int64_t *addresses = arena_array(arena, int64_t, shapes.count);
	for (size_t r = 0; status == VERDICT_YES && r < rooms.count; r++)
		status = search_room(asking, &shapes, &rooms.at[r], arena, addresses);
	int child = -1;
	if (status == VERDICT_YES) {
		write_placement(asking, &shapes, addresses);
		child = find_unlawful(asking);
	}
	arena_close(arena);
	return child < 0 ? status : decide(asking, child);
}

/* False if some child can take no slot that it must take. */
static bool open_choices(struct asking *asking)
{
	const struct packing *packing = asking->question->packing;
	for (size_t i = 0; i < packing->count; i++) {
		const struct buffer *child = &packing->buffers[i];
		int lawful = 0, last = TAKES_NOBODYS;
		asking->takes[i] = TAKES_NOBODYS;
		if (!is_chosen(asking, (int)i))
			continue;
		for (size_t k = 0; k < child->parent_count; k++)
			if (may_take(asking, (int)i, child->parents[k])) {
				lawful++;
				last = child->parents[k];
			}
		if (child->must_take_over) {
			if (!lawful)
				return false;
			asking->takes[i] = lawful == 1 ? last : TAKES_OPEN;
		} else if (lawful && child->size && child->start < child->end) {
			asking->takes[i] = TAKES_OPEN;
		}
	}
	return true;
}

struct pack_answer pack(struct run *run, const struct pack_question *question, struct arena *arena)
{
	size_t count = question->packing->count;
	struct asking asking = {run, question, arena, arena_array(arena, int, count), {0}, NULL};
	asking.placement = arena_new(arena, struct placement);
	asking.placement->count = count;
	asking.placement->addresses = arena_array(arena, int64_t, count);
	asking.placement->in_place_of = arena_array(arena, int, count);
	asking.answer.status = open_choices(&asking) ? solve_choices(&asking) : VERDICT_NO;
	if (asking.answer.status == VERDICT_YES)
		asking.answer.placement = asking.placement;
	if (asking.answer.status == VERDICT_NO && question->explain) {
		struct pack_core core = pack_core_find(run, question, &asking.answer, arena);
		asking.answer.core_count = core.count;
		asking.answer.core = core.buffers;
	}
	return asking.answer;
}

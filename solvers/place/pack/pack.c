#include "solvers/place/pack/pack.h"

#include "base/arena.h"
#include "base/number.h"
#include "solvers/place/pack/core.h"
#include "solvers/place/pack/options.h"
#include "solvers/place/pack/search.h"
#include "solvers/place/packing.h"

#include <math.h>

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

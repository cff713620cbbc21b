#include "solvers/place/pack/pack.h"

#include "base/arena.h"
#include "base/number.h"
#include "solvers/place/pack/core.h"
#include "solvers/place/pack/filling.h"
#include "solvers/place/pack/search.h"
#include "solvers/place/packing.h"

#include <math.h>

/* Failures until the first new start.  In a round of starts, every fourth is a third more patient
 * than those before; each round starts half as patient again as the last, and with no weights: those
 * of a bad start can lead astray for long.  Where all starts return there are more of them in a
 * round, and they stay short, a little longer by the round. */
enum { FIRST_FAILURES = 200, ROUND_STARTS = 6, RETURN_ROUND_STARTS = 12 };

/* The room filled up gets one node for so many of the room as it is, unless it looks right. */
enum { FILLED_PART = 3 };

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
	return is_chosen(asking, parent) && pack_may_take(asking->question->packing, child, parent);
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

/* Of values, by start: widths serve best. */
enum { ORDERS = 6 };
static const enum pack_order orders[ORDERS] = {
	PACK_LONGEST, PACK_LARGEST, PACK_LONGEST, PACK_HIGHEST, PACK_LONGEST, PACK_LONG_AND_LARGE};

/* One start of so many goes back to where buffers were placed last.  If the question wants it all
 * do: so many have the same order, as what one learned is good for the next, and after them so many
 * draw their own. */
enum { RETURN_STARTS = 4 };

/* One search, start after start. */
struct starts {
	const struct room *room;
	struct pack_search *search; /* NULL: there is none */
	bool returns, varied, is_over;
	uint64_t count;
	double first, failures; /* of the first start in this round, of the next */
	double most;            /* that a round begins with */
};

static struct starts open_starts(
	const struct room *room, bool returns, bool varied, struct arena *arena)
{
	return (struct starts){.room = room,
		.search = pack_search_open(room, arena),
		.returns = returns,
		.varied = varied,
		.first = FIRST_FAILURES,
		.failures = FIRST_FAILURES,
		.most = INFINITY};
}

static uint64_t nodes_of(const struct starts *starts)
{
	return starts->search ? pack_search_nodes(starts->search) : 0;
}

static enum pack_order order_of(const struct starts *starts, uint64_t start)
{
	if (starts->varied || (starts->returns && start / RETURN_STARTS % 2))
		return PACK_DRAWN;
	return starts->returns ? (enum pack_order)(start / (2 * RETURN_STARTS) % 4)
			       : orders[start % ORDERS];
}

static enum verdict start_search(
	struct asking *asking, struct starts *starts, uint64_t start, int64_t *addresses)
{
	const struct room *room = starts->room;
	struct pack_search *search = starts->search;
	uint64_t limit = asking->question->nodes, before = pack_search_nodes(search);
	bool returns = starts->returns || start % RETURN_STARTS == RETURN_STARTS - 1;
	enum verdict status = pack_search_run(search, asking->run, (uint64_t)starts->failures,
		limit ? limit - asking->answer.nodes : 0, run_random(asking->run, UINT64_MAX),
		order_of(starts, start), returns);
	asking->answer.nodes += pack_search_nodes(search) - before;
	asking->answer.restarts++;
	for (int i = 0; status == VERDICT_YES && i < room->item_count; i++)
		if (room->items[i].shape >= 0)
			addresses[room->items[i].shape] = pack_search_address(search, i);
	return status;
}

/* A new round, if it is time for one. */
static bool begin_round(struct starts *starts)
{
	uint64_t round = starts->returns ? RETURN_ROUND_STARTS : ROUND_STARTS;
	if (!starts->count || starts->count % round)
		return false;
	starts->first = fmin(starts->first * (starts->returns ? 1.2 : 1.5), starts->most);
	starts->failures = starts->first;
	pack_search_forget(starts->search);
	return true;
}

/* The next start of its round. */
static enum verdict next_start(struct asking *asking, struct starts *starts, int64_t *addresses)
{
	enum verdict status = start_search(asking, starts, starts->count, addresses);
	if (starts->count++ % 4 == 3 && !starts->returns)
		starts->failures *= 1.3;
	return status;
}

/* The searches of one room, which take turns. */
struct searches {
	const struct room *room;
	struct arena *arena;
	struct starts plain, filled, returning;
	uint64_t filled_part; /* so many nodes of the plain one for each of the room filled up */
	bool is_joined;       /* by the returning one, in time */
};

/* A search whose starts return joins the plain one and that of the filled room after so many nodes,
 * and gets as many as they: a layout that they have not found by then it often finds sooner.  Its
 * patience has an end, as the proof that there is none is the plain one's. */
enum { RETURN_AFTER = 25000, RETURN_FAILURES_MOST = 1500 };

/* Where starts return, only the room as it is, unless the filling looks right; where they vary, only
 * the room as it is. */
static struct searches open_searches(
	const struct asking *asking, const struct room *room, struct arena *arena)
{
	const struct pack_question *question = asking->question;
	struct filled full = {0};
	if (!question->varied)
		full = pack_filling(room, arena);
	struct searches searches = {.room = room,
		.arena = arena,
		.plain = open_starts(room, question->returns, question->varied, arena),
		.filled_part = full.is_likely ? 1 : FILLED_PART,
		.is_joined = question->joined && !question->varied && !question->returns};
	if (full.room && (full.is_likely || !question->returns))
		searches.filled = open_starts(full.room, question->returns, false, arena);
	return searches;
}

/* Of the room filled up, until it is known not to fit. */
static enum verdict search_filled(struct asking *asking, struct searches *searches, uint64_t start,
	double failures, int64_t *addresses)
{
	struct starts *filled = &searches->filled;
	if (!filled->search || filled->is_over ||
		nodes_of(filled) * searches->filled_part > nodes_of(&searches->plain))
		return VERDICT_OPEN;
	filled->failures = failures;
	enum verdict status = start_search(asking, filled, start % 4, addresses);
	if (status != VERDICT_NO)
		return status;
	filled->is_over = true;
	return VERDICT_OPEN;
}

static enum verdict search_returning(
	struct asking *asking, struct searches *searches, int64_t *addresses)
{
	struct starts *returning = &searches->returning;
	enum verdict status = VERDICT_OPEN;
	while (status == VERDICT_OPEN && searches->is_joined && !is_over(asking)) {
		uint64_t own = nodes_of(returning);
		uint64_t others = nodes_of(&searches->plain) + nodes_of(&searches->filled);
		if (others < RETURN_AFTER || own > others)
			break;
		if (!returning->search) {
			*returning = open_starts(searches->room, true, true, searches->arena);
			returning->most = RETURN_FAILURES_MOST;
		}
		begin_round(returning);
		status = next_start(asking, returning, addresses);
	}
	return status;
}

/* A turn of each. */
static enum verdict search_in_turn(
	struct asking *asking, struct searches *searches, int64_t *addresses)
{
	struct starts *plain = &searches->plain;
	if (begin_round(plain) && searches->filled.search)
		pack_search_forget(searches->filled.search);
	uint64_t start = plain->count;
	double failures = plain->failures;
	enum verdict status = next_start(asking, plain, addresses);
	if (status == VERDICT_OPEN && !is_over(asking))
		status = search_filled(asking, searches, start, failures, addresses);
	if (status == VERDICT_OPEN)
		status = search_returning(asking, searches, addresses);
	return status;
}

static enum verdict search_room(struct asking *asking, const struct shapes *shapes,
	const struct room *room, struct arena *arena, int64_t *addresses)
{
	struct searches searches = open_searches(asking, room, arena);
	enum verdict status = VERDICT_OPEN;
	while (status == VERDICT_OPEN && !is_over(asking))
		status = search_in_turn(asking, &searches, addresses);
	if (status != VERDICT_YES)
		asking->answer.hardest = hardest_step(shapes, room, searches.plain.search);
	return status;
}

/* Do they share bytes in the first step of `child`, unlawfully? */
static bool shares(const struct asking *asking, size_t c, size_t j)
{
	const struct packing *packing = asking->question->packing;
	const struct buffer *child = &packing->buffers[c], *other = &packing->buffers[j];
	int64_t at = asking->placement->addresses[c], beside = asking->placement->addresses[j];
	if (j == c || beside == UNPLACED || !child->size || !other->size ||
		child->start >= child->end || other->start > child->start ||
		other->end <= child->start || at >= beside + other->size ||
		beside >= at + child->size)
		return false;
	return at != beside ||
	       (!may_take(asking, (int)c, (int)j) && !may_take(asking, (int)j, (int)c));
}

static bool lies_on_parent(const struct asking *asking, size_t c)
{
	const struct buffer *child = &asking->question->packing->buffers[c];
	const int64_t *addresses = asking->placement->addresses;
	for (size_t k = 0; k < child->parent_count; k++)
		if (addresses[child->parents[k]] == addresses[c] &&
			may_take(asking, (int)c, child->parents[k]))
			return true;
	return false;
}

/* An open choice that the placement found does not keep: of a child, or of who is at the head of
 * the shape it is in; -1: all is lawful. */
static int find_unlawful(const struct asking *asking)
{
	const struct packing *packing = asking->question->packing;
	for (size_t c = 0; c < packing->count; c++) {
		int head = pack_head(asking->takes, packing->count, (int)c);
		if (asking->takes[head] != TAKES_OPEN)
			continue;
		bool good = !packing->buffers[c].must_take_over || lies_on_parent(asking, c);
		for (size_t j = 0; j < packing->count && good; j++)
			good = !shares(asking, c, j);
		if (!good)
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
	if (shapes.why) {
		status = VERDICT_NO;
		asking->answer.hardest = asking->question->packing->buffers[shapes.a[0]].start;
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

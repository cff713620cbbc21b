#include "search/recurrence/foldings.h"

#include "base/arena.h"
#include "base/number.h"
#include "base/text.h"
#include "model/recurrence/recurrence_einsum.h"

#include <string.h>

struct folding_draft {
	const struct space_time *spec;
	const struct folding *folding;
	struct arena *arena;
	struct folded *out;
	struct recurrence_einsum *einsum;
	int space[RECURRENCE_LOOPS_MOST]; /* by row: the loop that runs along it, after splitting */
	int inner;                        /* the last loop of time; -1 */
};

static int64_t extent_of(const struct space_time *spec, int loop)
{
	return spec->loops->loops[loop].extent;
}

static bool is_split(const struct space_time *spec, const struct folding *folding, int row)
{
	int64_t extent = extent_of(spec, folding->loops[row]), pes = spec->array[row];
	return pes && (extent > pes || (folding->whole && extent < pes));
}

/* The loops of a folding after splitting; the part that runs in time is the tiles, or the loop itself
 * whose tiles are PEs. */
static bool split_loops(struct folding_draft *making)
{
	const struct folding *folding = making->folding;
	const char *why;
	making->out->folds = 1;
	for (int r = 0; r < folding->rows; r++) {
		int loop = folding->loops[r];
		making->space[r] = loop;
		if (!is_split(making->spec, folding, r))
			continue;
		int64_t extent = extent_of(making->spec, loop), size = making->spec->array[r];
		bool blocks = folding->orders[r] == FOLD_BLOCKS;
		if (blocks)
			size = number_ceil_div(extent, size);
		if (blocks)
			making->space[r] = making->out->spec.recurrence.loop_count;
		if (!number_mul(making->out->folds, blocks ? size : number_ceil_div(extent, size),
			    &making->out->folds) ||
			!recurrence_einsum_split(making->arena, making->einsum,
				&making->out->spec.recurrence, loop, size, &why))
			return false;
	}
	return true;
}

static bool sees(const struct recurrence_operand *operand, int loop)
{
	bool seen = false;
	for (int k = 0; k < operand->rank; k++)
		seen |= operand->place[k].at[loop] != 0;
	return seen;
}

/* True if each PE has an element of its own, the same in all steps of the inner loop. */
static bool is_stationary(const struct folding_draft *making, int operand)
{
	const struct recurrence_operand *of = &making->einsum->operands[operand];
	bool stays = making->inner < 0 || !sees(of, making->inner);
	for (int r = 0; r < making->folding->rows; r++)
		stays = stays && sees(of, making->space[r]);
	return stays;
}

/* True if an operand that is read comes in at an edge: it is handed on along some row.  What no two
 * points share comes to each PE. */
static bool has_edge(const struct folding_draft *making, int operand)
{
	const struct recurrence *recurrence = &making->out->spec.recurrence;
	bool handed_on = false, alone = true;
	for (int i = 0; i < recurrence->loop_count; i++)
		alone = alone && (recurrence->loops[i].extent == 1 ||
					 sees(&making->einsum->operands[operand], i));
	for (int r = 0; r < making->folding->rows; r++)
		handed_on |= !sees(&making->einsum->operands[operand], making->space[r]);
	return handed_on || alone;
}

/* How operands go, and the order of the sum; the recurrence that follows. */
static bool derive(struct folding_draft *making)
{
	const struct folding *folding = making->folding;
	struct recurrence_einsum *einsum = making->einsum;
	struct text name = text_open(making->arena);
	const char *why;
	making->inner = folding->time_count ? folding->time[folding->time_count - 1] : -1;
	einsum->order_count = 0;
	for (int i = 0; i < folding->time_count; i++) {
		einsum->order[einsum->order_count++] = folding->time[i];
		if (folding->time[i] != making->inner)
			einsum->reread |= UINT32_C(1) << folding->time[i];
	}
	for (int r = 0; r < folding->rows; r++)
		einsum->order[einsum->order_count++] = making->space[r];
	for (int i = 0; i < einsum->operand_count; i++) {
		bool stays = is_stationary(making, i);
		if (i < einsum->operand_count - 1 && !stays && !has_edge(making, i))
			return false;
		if (!stays)
			continue;
		text_add(&name, "%s%s", name.length ? ", " : "", einsum->operands[i].name);
		if (i < einsum->operand_count - 1 && making->inner >= 0)
			einsum->loads[einsum->load_count++] =
				(struct recurrence_load){i, making->space[0], making->inner};
	}
	making->out->name =
		name.length ? arena_format(making->arena, "%s stationary", text_read(&name)) : "-";
	return recurrence_einsum(making->arena, einsum, &making->out->spec.recurrence, &why);
}

/* Streams of the spec's recurrence, as bits, by name in the folded one. */
static uint32_t carried_over(const struct folding_draft *making, uint32_t streams)
{
	const struct recurrence *from = &making->spec->recurrence;
	const struct recurrence *to = &making->out->spec.recurrence;
	uint32_t out = 0;
	for (int s = 0; s < from->stream_count; s++)
		for (int k = 0; k < to->stream_count; k++)
			if (streams >> s & 1 &&
				text_equal(from->streams[s].name, to->streams[k].name))
				out |= UINT32_C(1) << k;
	return out;
}

static void take_limits(struct folding_draft *making)
{
	const struct space_time *spec = making->spec;
	struct space_time *out = &making->out->spec;
	out->has_space = out->has_time = true;
	out->reach = spec->reach;
	out->stays = carried_over(making, spec->stays);
	for (int i = 0; i < making->einsum->load_count; i++) /* on its way in it moves */
		out->stays &=
			~(UINT32_C(1) << making->einsum->streams[making->einsum->loads[i].operand]);
	memcpy(out->array, spec->array, sizeof out->array);
	for (int r = 0; r < making->folding->rows; r++) {
		out->no_links[r] = carried_over(making, spec->no_links[r]);
		out->no_wires[r] = carried_over(making, spec->no_wires[r]);
		out->projection.lanes[r] = spec->projection.lanes[r];
		out->projection.space_names[r] = spec->projection.space_names[r];
	}
	out->projection.shuffles = carried_over(making, spec->projection.shuffles);
	out->projection.wires = carried_over(making, spec->projection.wires);
}

/* One row of time after the other, each round when the array is empty. */
static void drain(
	const struct folding_draft *making, const int64_t *inner, struct projection *projection)
{
	const struct folding *folding = making->folding;
	for (int i = 0; i + 1 < folding->time_count; i++)
		projection->time[projection->time_count++][folding->time[i]] = 1;
	memcpy(projection->time[projection->time_count++], inner,
		sizeof *inner * RECURRENCE_LOOPS_MOST);
}

/* The least step of an outer loop with which a PE is free and all that the loop leads to is made. */
static bool find_step(const struct folding_draft *making, const int64_t *schedule, int loop,
	uint32_t outer, int64_t *step)
{
	const struct recurrence *recurrence = &making->out->spec.recurrence;
	for (int d = 0; d < recurrence->dependence_count; d++) {
		const int64_t *vector = recurrence->dependences[d].vector;
		int64_t inner = 0;
		bool leads = vector[loop] > 0;
		for (int i = 0; i < recurrence->loop_count; i++)
			leads = leads && !(outer >> i & 1 && vector[i]);
		if (!leads)
			continue;
		if (!number_dot(schedule, vector, recurrence->loop_count, &inner))
			return false;
		if (inner < 1)
			*step = number_max(*step, number_ceil_div(1 - inner, vector[loop]));
	}
	return true;
}

/* All in one row: a PE computes without a pause wherever values are there in time. */
static bool follow(
	const struct folding_draft *making, int64_t *schedule, struct projection *projection)
{
	const struct folding *folding = making->folding;
	const struct recurrence *recurrence = &making->out->spec.recurrence;
	int64_t span = making->inner < 0 ? 1 : recurrence->loops[making->inner].extent;
	for (int i = folding->time_count - 2; i >= 0; i--) {
		int loop = folding->time[i];
		uint32_t outer = 0;
		int64_t more;
		for (int k = 0; k < i; k++)
			outer |= UINT32_C(1) << folding->time[k];
		schedule[loop] = 0;
		int64_t step = span;
		if (!find_step(making, schedule, loop, outer, &step) ||
			!number_mul(step, recurrence->loops[loop].extent - 1, &more) ||
			!number_add(span, more, &span))
			return false;
		schedule[loop] = step;
	}
	memcpy(projection->time[0], schedule, sizeof *schedule * RECURRENCE_LOOPS_MOST);
	projection->time_count = 1;
	return true;
}

/* What is used in the step that makes it needs a wire; false: there are not enough. */
static bool take_wires(const struct folding_draft *making, const int64_t *inner)
{
	const struct space_time *spec = making->spec;
	const struct recurrence *recurrence = &making->out->spec.recurrence;
	struct projection *projection = &making->out->spec.projection;
	uint32_t declared = projection->wires, copies = recurrence_copies(recurrence);
	int count = 0;
	for (int d = 0; d < recurrence->dependence_count; d++) {
		const struct dependence *dependence = &recurrence->dependences[d];
		int64_t delay = 0, outside = 0, move[RECURRENCE_LOOPS_MOST];
		for (int r = 0; r < projection->space_count; r++)
			move[r] = dependence->vector[making->space[r]];
		number_dot(inner, dependence->vector, recurrence->loop_count, &delay);
		for (int i = 0; i + 1 < making->folding->time_count; i++)
			outside |= dependence->vector[making->folding->time[i]];
		if (delay || outside ||
			projection_shares(projection, copies, dependence->stream, move))
			continue;
		projection->wires |= UINT32_C(1) << dependence->stream;
		count += !(declared >> dependence->stream & 1);
	}
	return count <= spec->wires_most;
}

bool folding_make(const struct space_time *spec, const struct folding *folding, struct arena *arena,
	struct folded *out)
{
	static const char *const time_names[] = {"t1", "t2", "t3", "t4", "t5", "t6", "t7", "t8"};
	struct folding_draft making = {
		.spec = spec, .folding = folding, .arena = arena, .out = out};
	int64_t inner[RECURRENCE_LOOPS_MOST] = {0};
	*out = (struct folded){.spec = {.recurrence = *spec->loops}};
	making.einsum = arena_copy(arena, spec->einsum, sizeof *spec->einsum);
	out->spec.einsum = making.einsum;
	out->spec.loops = spec->loops;
	if (!split_loops(&making) || !derive(&making))
		return false;
	struct projection *projection = &out->spec.projection;
	projection->space_count = folding->rows;
	take_limits(&making);
	if (making.inner >= 0)
		inner[making.inner] = 1;
	for (int r = 0; r < folding->rows; r++) {
		projection->space[r][making.space[r]] = 1;
		inner[making.space[r]] = folding->wired[r] ? 0 : 1;
	}
	memcpy(projection->time_names, time_names, sizeof time_names);
	if (!take_wires(&making, inner))
		return false;
	if (folding->drained)
		drain(&making, inner, projection);
	return folding->drained || follow(&making, inner, projection);
}

struct folding_walk {
	const struct space_time *spec;
	bool (*visit)(void *user, const struct folding *folding);
	void *user;
	struct folding folding;
	uint32_t left; /* loops of time that are not placed yet */
};

static bool choose_time(struct folding_walk *walk)
{
	struct folding *folding = &walk->folding;
	if (!walk->left)
		return walk->visit(walk->user, folding);
	uint32_t left = walk->left;
	bool more = true;
	for (int i = 0; more && i < RECURRENCE_LOOPS_MOST; i++) {
		if (!(left >> i & 1))
			continue;
		walk->left = left & ~(UINT32_C(1) << i);
		folding->time[folding->time_count++] = i;
		more = choose_time(walk);
		folding->time_count--;
	}
	walk->left = left;
	return more;
}

/* Loops of time: all that are not PEs. */
static uint32_t find_time(const struct space_time *spec, const struct folding *folding, int *count)
{
	uint32_t left = (UINT32_C(1) << spec->loops->loop_count) - 1;
	*count = spec->loops->loop_count;
	for (int r = 0; r < folding->rows; r++) {
		bool split = is_split(spec, folding, r);
		if (!split || folding->orders[r] == FOLD_TILES)
			left &= ~(UINT32_C(1) << folding->loops[r]);
		if (split && folding->orders[r] == FOLD_TILES)
			left |= UINT32_C(1) << *count;
		*count += split;
	}
	return left;
}

static bool choose_wires(struct folding_walk *walk)
{
	struct folding *folding = &walk->folding;
	const struct projection *given = &walk->spec->projection;
	bool any = walk->spec->wires_most || given->wires || projection_has_lanes(given);
	bool more = true;
	int loops;
	walk->left = find_time(walk->spec, folding, &loops);
	folding->time_count = 0;
	if (loops > RECURRENCE_LOOPS_MOST)
		return true;
	for (int set = 0; more && set < (any ? 1 << folding->rows : 1); set++) {
		for (int r = 0; r < folding->rows; r++)
			folding->wired[r] = set >> r & 1;
		more = choose_time(walk);
	}
	return more;
}

static bool choose_rows(struct folding_walk *walk, int row, uint32_t taken)
{
	const struct space_time *spec = walk->spec;
	struct folding *folding = &walk->folding;
	bool more = true;
	if (row == folding->rows)
		return choose_wires(walk);
	for (int i = 0; more && i < spec->loops->loop_count; i++) {
		if (taken >> i & 1)
			continue;
		folding->loops[row] = i;
		bool split = is_split(spec, folding, row);
		for (int order = FOLD_TILES; more && order <= FOLD_BLOCKS; order++) {
			folding->orders[row] = (enum fold_order)order;
			if (split ? spec->folds >> order & 1 : order == FOLD_TILES)
				more = choose_rows(walk, row + 1, taken | UINT32_C(1) << i);
		}
	}
	return more;
}

bool foldings_visit(const struct space_time *spec,
	bool (*visit)(void *user, const struct folding *folding), void *user)
{
	struct folding_walk walk = {.spec = spec, .visit = visit, .user = user};
	bool more = true;
	walk.folding.rows = spec->space_rows;
	for (int pass = 0; more && pass < 2; pass++) {
		walk.folding.drained = pass == 0;
		more = choose_rows(&walk, 0, 0);
	}
	return more;
}

bool folding_classical(const struct space_time *spec, int operand, struct folding *out)
{
	const struct recurrence_operand *of = &spec->einsum->operands[operand];
	const struct recurrence_operand *result =
		&spec->einsum->operands[spec->einsum->operand_count - 1];
	int loops;
	*out = (struct folding){.rows = spec->space_rows, .drained = true, .whole = true};
	int count = 0;
	for (int reduced = 1; reduced >= 0; reduced--)
		for (int k = 0; k < of->rank; k++)
			for (int i = 0; i < spec->loops->loop_count; i++) {
				bool taken = false;
				for (int r = 0; r < count; r++)
					taken |= out->loops[r] == i;
				if (!of->place[k].at[i] || taken || sees(result, i) == reduced)
					continue;
				if (count == out->rows)
					return false;
				out->loops[count++] = i;
			}
	if (count < out->rows)
		return false;
	uint32_t left = find_time(spec, out, &loops);
	/* Tiles are outermost, in the order of rows; then the other loops as they stand. */
	for (int tiles = 1; tiles >= 0; tiles--)
		for (int i = 0; i < RECURRENCE_LOOPS_MOST; i++)
			if (left >> i & 1 && (i >= spec->loops->loop_count) == tiles)
				out->time[out->time_count++] = i;
	/* What stays does so while a loop runs that is not on the array. */
	return loops <= RECURRENCE_LOOPS_MOST && out->time_count &&
	       out->time[out->time_count - 1] < spec->loops->loop_count;
}

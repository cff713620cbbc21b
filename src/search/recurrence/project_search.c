#include "search/recurrence/project_search.h"

#include "base/arena.h"
#include "base/number.h"
#include "base/random.h"
#include "base/text.h"
#include "model/recurrence/recurrence_einsum.h"

#include <stdlib.h>
#include <string.h>

/* The result of one folding. */
struct folded {
	struct space_time spec; /* its recurrence, projection and limits */
	const char *name;       /* "Weights stationary": operands that stay in their PEs */
	int64_t folds;          /* rounds of all tiles and blocks */
};

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
	return spec->whole->dimensions[loop].extent;
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
			making->space[r] = making->einsum->shape.dimension_count;
		if (!number_mul(making->out->folds, blocks ? size : number_ceil_div(extent, size),
			    &making->out->folds) ||
			!recurrence_einsum_split(making->arena, making->einsum, loop, size, &why))
			return false;
	}
	return true;
}

static bool sees(const struct dataspace *operand, int loop)
{
	return dataspace_loops(operand) >> loop & 1;
}

/* True if each PE has an element of its own, the same in all steps of the inner loop. */
static bool is_stationary(const struct folding_draft *making, int operand)
{
	const struct dataspace *of = &making->einsum->shape.spaces[operand];
	bool stays = making->inner < 0 || !sees(of, making->inner);
	for (int r = 0; r < making->folding->rows; r++)
		stays = stays && sees(of, making->space[r]);
	return stays;
}

/* True if an operand that is read comes in at an edge: it is handed on along some row.  What no two
 * points share comes to each PE. */
static bool has_edge(const struct folding_draft *making, int operand)
{
	const struct shape *shape = &making->einsum->shape;
	const struct dataspace *of = &shape->spaces[operand];
	bool handed_on = false, alone = true;
	for (int i = 0; i < shape->dimension_count; i++)
		alone = alone && (shape->dimensions[i].extent == 1 || sees(of, i));
	for (int r = 0; r < making->folding->rows; r++)
		handed_on |= !sees(of, making->space[r]);
	return handed_on || alone;
}

/* Finds the directions of operands, the order of the sum, and the recurrence that follows. */
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
	for (int i = 0; i < einsum->shape.space_count; i++) {
		bool stays = is_stationary(making, i);
		if (i < einsum->shape.space_count - 1 && !stays && !has_edge(making, i))
			return false;
		if (!stays)
			continue;
		text_add(&name, "%s%s", name.length ? ", " : "", einsum->shape.spaces[i].name);
		if (i < einsum->shape.space_count - 1 && making->inner >= 0)
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

/* Gives a wire to each value that is used in the step that makes it; false: there are not enough. */
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

/* False if the folding does not exist: too many loops, an operand that cannot be shifted in, values that
 * come too late. */
static bool folding_make(const struct space_time *spec, const struct folding *folding,
	struct arena *arena, struct folded *out)
{
	static const char *const time_names[] = {"t1", "t2", "t3", "t4", "t5", "t6", "t7", "t8"};
	struct folding_draft making = {
		.spec = spec, .folding = folding, .arena = arena, .out = out};
	int64_t inner[RECURRENCE_LOOPS_MOST] = {0};
	*out = (struct folded){.spec = {.whole = spec->whole}};
	making.einsum = arena_copy(arena, spec->einsum, sizeof *spec->einsum);
	out->spec.einsum = making.einsum;
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
	uint32_t left = (UINT32_C(1) << spec->whole->dimension_count) - 1;
	*count = spec->whole->dimension_count;
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
	for (int i = 0; more && i < spec->whole->dimension_count; i++) {
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
	const struct dataspace *of = &spec->einsum->shape.spaces[operand];
	const struct dataspace *result =
		&spec->einsum->shape.spaces[spec->einsum->shape.space_count - 1];
	int loops;
	*out = (struct folding){.rows = spec->space_rows, .drained = true, .whole = true};
	int count = 0;
	for (int reduced = 1; reduced >= 0; reduced--)
		for (int k = 0; k < of->rank_count; k++)
			for (int i = 0; i < spec->whole->dimension_count; i++) {
				bool taken = false;
				for (int r = 0; r < count; r++)
					taken |= out->loops[r] == i;
				if (!of->ranks[k].coefficient[i] || taken ||
					sees(result, i) == reduced)
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
			if (left >> i & 1 && (i >= spec->whole->dimension_count) == tiles)
				out->time[out->time_count++] = i;
	/* an operand stays while a loop runs that is not on the array */
	return loops <= RECURRENCE_LOOPS_MOST && out->time_count &&
	       out->time[out->time_count - 1] < spec->whole->dimension_count;
}

/* Sums of products that fit, or the most that does. */
static void add_capped(int64_t *sum, int64_t a, int64_t b)
{
	int64_t product;
	if (!number_mul(a, b, &product) || !number_add(*sum, product, sum))
		*sum = INT64_MAX;
}

struct score project_score(const struct recurrence *recurrence, const struct projection *projection,
	const struct projection_facts *facts, int64_t ports)
{
	struct score score = {.feasible = true,
		.cycles = facts->cycles,
		.computes = facts->points,
		.pes = facts->pes,
		.ports = ports};
	for (int s = 0; s < recurrence->stream_count; s++)
		add_capped(&score.registers, facts->registers[s], facts->pes);
	for (int d = 0; d < recurrence->dependence_count; d++)
		for (int r = 0; r < projection->space_count; r++)
			if (!projection->lanes[r])
				add_capped(&score.wire, llabs(facts->channels[d].move[r]), 1);
	if (facts->pes && facts->cycles)
		score.utilization =
			(double)facts->points / ((double)facts->pes * (double)facts->cycles);
	return score;
}

struct score project_found_score(const struct project_found *found)
{
	struct score score = project_score(
		&found->spec->recurrence, &found->projection, &found->facts, found->ports);
	if (!found->spec->einsum)
		return score;
	if (!shape_computes(found->spec->whole, &score.computes))
		score.computes = INT64_MAX;
	if (score.pes && score.cycles)
		score.utilization =
			(double)score.computes / ((double)score.pes * (double)score.cycles);
	return score;
}

void project_count_ports(const struct project_search *search, struct project_found *found)
{
	found->ports = projection_ports(&found->spec->recurrence, &found->projection, &found->facts,
		&search->wishes.asker.stopper);
}

static double draw_input(void *user, int stream, const int64_t *place)
{
	struct random random = random_open(*(const uint64_t *)user, (uint64_t)stream);
	for (int i = 0; i < RECURRENCE_LOOPS_MOST; i++)
		random = random_open(random.state, (uint64_t)place[i]);
	return (double)random_below(&random, 9) - 4;
}

struct recurrence_inputs project_inputs(const uint64_t *seed)
{
	union {
		const uint64_t *kept;
		void *given;
	} user = {seed};
	return (struct recurrence_inputs){user.given, draw_input, NULL};
}

static void add_row(struct text *text, const int64_t *row, int count)
{
	text_add(text, "[");
	for (int i = 0; i < count; i++)
		text_add(text, "%s%lld", i ? ", " : "", (long long)row[i]);
	text_add(text, "]");
}

const char *project_text(struct arena *arena, const struct recurrence *recurrence,
	const struct projection *projection)
{
	struct text text = text_open(arena);
	text_add(&text, "allocation: [");
	for (int r = 0; r < projection->space_count; r++) {
		text_add(&text, "%s", r ? ", " : "");
		add_row(&text, projection->space[r], recurrence->loop_count);
	}
	text_add(&text, "], schedule: [");
	for (int r = 0; r < projection->time_count; r++) {
		text_add(&text, "%s", r ? ", " : "");
		add_row(&text, projection->time[r], recurrence->loop_count);
	}
	text_add(&text, "]");
	return text_read(&text);
}

/* True if values are equal; NaN equals NaN. */
static bool value_equal(double a, double b)
{
	return a == b || (a != a && b != b);
}

static bool outputs_equal(const struct recurrence_values *a, const struct systolic_result *b)
{
	if (a->output_count != b->output_count)
		return false;
	for (size_t i = 0; i < a->output_count; i++) {
		const struct recurrence_output *x = &a->outputs[i], *y = &b->outputs[i];
		if (x->stream != y->stream || memcmp(x->place, y->place, sizeof x->place) != 0 ||
			!value_equal(x->value, y->value))
			return false;
	}
	return true;
}

/* Every value at every point of the domain. */
static bool values_equal(const struct recurrence *recurrence, const double *a, const double *b)
{
	int64_t point[RECURRENCE_LOOPS_MOST], box = recurrence_box(recurrence);
	for (bool more = recurrence_first(recurrence, point); more;
		more = recurrence_next(recurrence, point))
		for (int s = 0; s < recurrence->stream_count; s++) {
			int64_t at = s * box + recurrence_index(recurrence, point);
			if (recurrence->streams[s].kind == STREAM_RECURRENT &&
				!value_equal(a[at], b[at]))
				return false;
		}
	return true;
}

void project_execute(
	const struct project_search *search, struct project_found *found, struct arena *arena)
{
	const struct recurrence *recurrence = &found->spec->recurrence;
	struct recurrence_inputs inputs = project_inputs(&search->wishes.seed);
	inputs.stopper = asker_execution(&search->wishes.asker);
	struct recurrence_values expected = sequential_run(recurrence, &inputs, arena);
	found->obstacle = expected.fault;
	found->large = expected.fault && !expected.values;
	if (expected.fault)
		return;
	found->execution = systolic_run(recurrence, &found->projection, &inputs, arena);
	const struct systolic_result *got = &found->execution;
	if (got->fault == SYSTOLIC_LARGE || got->fault == SYSTOLIC_STOPPED)
		return;
	found->common.execution = (struct execution){
		.finished = true,
		.mode = SIM_DATA,
		.cycles = got->cycles,
		.events = (uint64_t)got->points,
		.agrees = got->fault == SYSTOLIC_FINE && got->pes == found->facts.pes &&
			  got->cycles == found->facts.cycles &&
			  got->points == found->facts.points &&
			  (found->facts.units < 0 || got->units == found->facts.units) &&
			  (found->facts.issues < 0 || got->issues == found->facts.issues) &&
			  memcmp(got->registers, found->facts.registers, sizeof got->registers) ==
				  0 &&
			  values_equal(recurrence, expected.values, got->values) &&
			  outputs_equal(&expected, got),
	};
}

static const char *loop_list(
	struct arena *arena, const struct recurrence *recurrence, const int *loops, int count)
{
	struct text text = text_open(arena);
	for (int i = 0; i < count; i++)
		text_add(&text, "%s%s", i ? ", " : "", recurrence->loops[loops[i]].name);
	return text_read(&text);
}

const char *project_tiles_text(
	struct arena *arena, const struct space_time *spec, const char *between)
{
	const struct recurrence_einsum *einsum = spec->einsum;
	const struct recurrence *recurrence = &spec->recurrence;
	struct text text = text_open(arena);
	int reread[RECURRENCE_LOOPS_MOST], count = 0;
	if (!einsum)
		return "";
	for (int i = 0; i < einsum->split_count; i++)
		text_add(&text, "%s%s: %lld", i ? ", " : "split: {",
			recurrence->loops[einsum->splits[i].loop].name,
			(long long)einsum->splits[i].size);
	if (einsum->split_count)
		text_add(&text, "}%s", between);
	if (einsum->order_count)
		text_add(&text, "sum: [%s]%s",
			loop_list(arena, recurrence, einsum->order, einsum->order_count), between);
	for (int i = 0; i < recurrence->loop_count; i++)
		if (einsum->reread >> i & 1)
			reread[count++] = i;
	if (count)
		text_add(&text, "reread: [%s]%s", loop_list(arena, recurrence, reread, count),
			between);
	for (int i = 0; i < einsum->load_count; i++) {
		const struct recurrence_load *load = &einsum->loads[i];
		text_add(&text, "%s%s: [%s, %s]", i ? ", " : "load: {",
			einsum->shape.spaces[load->operand].name,
			recurrence->loops[load->along].name, recurrence->loops[load->before].name);
	}
	if (einsum->load_count)
		text_add(&text, "}%s", between);
	return text_read(&text);
}

bool project_fold(const struct project_search *search, const struct folding *folding, bool ports,
	struct arena *arena, struct project_found *found, struct score *score)
{
	struct folded *folded = arena_new(arena, struct folded);
	if (!folding_make(search->spec, folding, arena, folded))
		return false;
	const struct space_time *spec = &folded->spec;
	*found = (struct project_found){.spec = spec,
		.name = folded->name,
		.folds = folded->folds,
		.projection = spec->projection,
		.facts = projection_facts(&spec->recurrence, &spec->projection, spec),
		.common.solver = solver_label(arena, search->solver)};
	if (found->facts.fault != PROJECTION_FINE)
		return false;
	if (ports)
		project_count_ports(search, found);
	*score = project_found_score(found);
	return true;
}

/* An offer of a solver, while it is judged. */
struct offered {
	struct project_found found;
	const struct candidate *candidate;
};

struct projects {
	const struct project_search *search;
	const char *solver_name;
};

static const char *price(void *self, struct found *at, struct slot *slot, struct score *score)
{
	const struct projects *projects = self;
	const struct project_search *search = projects->search;
	struct offered *offered = (struct offered *)at;
	struct project_found *found = &offered->found;
	if (offered->candidate->folding)
		return project_fold(
			       search, offered->candidate->folding, true, slot->arena, found, score)
			       ? NULL
			       : "the folding is not legal";
	const struct space_time *spec = search->spec;
	*found = (struct project_found){.spec = spec,
		.projection = *offered->candidate->projection,
		.facts = projection_facts(&spec->recurrence, offered->candidate->projection, spec),
		.common.solver = projects->solver_name};
	if (found->facts.fault != PROJECTION_FINE)
		return "the projection is not legal";
	project_count_ports(search, found);
	*score = project_found_score(found);
	return NULL;
}

/* All that a plan says. */
static const char *key(void *self, const struct found *at, struct arena *arena)
{
	const struct project_found *found = (const struct project_found *)at;
	const struct space_time *spec = found->spec;
	return arena_format(arena, "%s%s", found->name ? project_tiles_text(arena, spec, ", ") : "",
		project_text(arena, &spec->recurrence, &found->projection));
}

static bool make_task(void *self, int round, struct drive *drive, size_t *count)
{
	*count = 1;
	return round == 1;
}

static void run(void *self, size_t i, struct slot *slot)
{
	const struct project_search *search = ((struct projects *)self)->search;
	struct problem problem = {.stage = STAGE_PROJECT, .projections = search};
	struct answer answer = drive_ask(slot, search->solver, &problem, search->wishes.budget,
		search->wishes.seed, slot->scratch);
	for (size_t k = 0; k < answer.candidate_count; k++) {
		struct offered offered = {.candidate = &answer.candidates[k]};
		drive_offer(slot, &offered.found.common);
	}
}

/* Adds the classical dataflows to compare with, even if the frontier has them. */
static void add_classical(void *self, struct explored *explored, struct arena *arena)
{
	const struct project_search *search = ((struct projects *)self)->search;
	const struct recurrence_einsum *einsum = search->spec->einsum;
	if (!search->spec->folds)
		return;
	explored->beside_count = (size_t)einsum->shape.space_count;
	explored->beside = arena_array(arena, struct point, explored->beside_count);
	for (int i = 0; i < einsum->shape.space_count; i++) {
		struct folding folding;
		struct point *point = &explored->beside[i];
		struct project_found *found = arena_new(arena, struct project_found);
		if (!folding_classical(search->spec, i, &folding) ||
			!project_fold(search, &folding, true, arena, found, &point->score))
			continue;
		point->key = key(self, &found->common, arena);
		point->payload = found;
	}
}

/* Executes a projection. Reports need the execution; values of all points are too many to keep. */
static const char *execute(void *self, struct found *found, struct slot *slot, bool last)
{
	project_execute(
		((struct projects *)self)->search, (struct project_found *)found, slot->arena);
	return NULL;
}

static const struct drive_kind recurrences = {
	.tasks = make_task,
	.run = run,
	.price = price,
	.key = key,
	.size = sizeof(struct project_found),
	.finish = add_classical,
	.execute = execute,
	.executes_kept = true,
};

struct explored project_explore(const struct project_search *search, struct arena *arena)
{
	struct projects projects = {search, solver_label(arena, search->solver)};
	return drive_explore(&recurrences, &projects, &search->wishes, arena);
}

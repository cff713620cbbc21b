#include "tests/support/naive_counts.h"
#include "tests/support/lookups.h"

#include "base/arena.h"
#include "base/fatal.h"
#include "model/graph/box_nest.h"
#include "model/graph/run.h"
#include "tests/support/nest_interpreter.h"

#include <string.h>

/* A box of device coordinates, found by stretching it around one stick after the other. */
struct stretch {
	bool any;
	int64_t low[LAYOUT_RANK_MOST], high[LAYOUT_RANK_MOST];
};

struct walker {
	const struct plan *plan;
	const struct op *op;
	const struct mapping *mapping;
	const struct move *move; /* of a step that moves */
	int64_t cores, tiles;
	struct step_count *out;
	struct stretch *now, *before; /* by core */
	enum naive_rule broken;
	/* counts of a tile's nest in the scratchpad and in all, and words of its output; NULL:
	 * none */
	const struct nest_count *nest;
	const struct nest_counts *nest_all;
	int64_t nest_words;
};

static int64_t split_of(const struct walker *w, int l)
{
	return w->mapping->rows[w->plan->arch->core].spatial[l];
}

static int64_t tiles_of(const struct walker *w, int l)
{
	return w->mapping->rows[w->plan->arch->lx].temporal[l];
}

/* The slots of a core: a mixed-radix number, the first of the order its lowest digit. */
static void find_slots(const struct walker *w, int64_t core, int64_t *slots)
{
	for (int l = 0; w->move && l < w->op->loop_count; l++)
		slots[l] = core / w->move->divisor[l] % split_of(w, l);
	if (w->move)
		return;
	const uint8_t *order = w->mapping->rows[w->plan->arch->core].spatial_order;
	for (int i = 0; i < w->op->loop_count; i++) {
		slots[order[i]] = core % split_of(w, order[i]);
		core /= split_of(w, order[i]);
	}
}

static void find_tile(const struct walker *w, int64_t tile, int64_t *at)
{
	const uint8_t *order = w->mapping->rows[w->plan->arch->lx].temporal_order;
	for (int i = 0; i < w->op->loop_count; i++) {
		at[order[i]] = tile % tiles_of(w, order[i]);
		tile /= tiles_of(w, order[i]);
	}
}

/* Which elements of loop l a core computes in a tile: [first, end). */
static void find_range(
	const struct walker *w, int64_t core, int64_t tile, int l, int64_t *first, int64_t *end)
{
	int64_t slots[OP_LOOPS_MOST], at[OP_LOOPS_MOST];
	find_slots(w, core, slots);
	find_tile(w, tile, at);
	int64_t grain = op_grain(w->plan->workload, w->op, l);
	int64_t of_core = op_units(w->plan->workload, w->op, l) / split_of(w, l);
	int64_t of_tile = of_core / tiles_of(w, l);
	*first = (slots[l] * of_core + at[l] * of_tile) * grain;
	*end = *first + of_tile * grain;
	if (*end > w->op->loops[l].extent)
		*end = w->op->loops[l].extent;
}

static void stretch_around(struct stretch *box, const struct layout *layout, int64_t stick)
{
	for (int d = layout->rank - 2; d >= 0; d--) {
		int64_t at = stick % layout->size[d];
		stick /= layout->size[d];
		if (!box->any || at < box->low[d])
			box->low[d] = at;
		if (!box->any || at > box->high[d])
			box->high[d] = at;
	}
	box->any = true;
}

/* Visits every element of the tile, and the stick that holds each. */
static struct stretch find_box(const struct walker *w, int operand, int64_t core, int64_t tile)
{
	const struct access *access = op_operand(w->op, operand);
	const struct layout *layout = &w->plan->workload->tensors[access->tensor].layout;
	int64_t first[OP_LOOPS_MOST], end[OP_LOOPS_MOST], at[OP_LOOPS_MOST];
	for (int l = 0; l < w->op->loop_count; l++) {
		find_range(w, core, tile, l, &first[l], &end[l]);
		at[l] = first[l];
	}
	struct stretch box = {.any = false};
	for (int l = 0; l >= 0;) {
		int64_t host[LAYOUT_HOST_RANK_MOST];
		int lane;
		for (int h = 0; h < layout->host_rank; h++) {
			host[h] = access->host[h].offset;
			for (int i = 0; i < w->op->loop_count; i++)
				host[h] += access->host[h].coefficient[i] * at[i];
			if (host[h] < 0 || host[h] >= layout->host_size[h])
				BUG("op '%s' reaches outside operand %d", w->op->name, operand);
		}
		stretch_around(&box, layout, layout_stick(layout, host, &lane));
		for (l = w->op->loop_count - 1; l >= 0 && ++at[l] == end[l]; l--)
			at[l] = first[l];
	}
	return box;
}

static bool same(const struct stretch *a, const struct stretch *b, int dims)
{
	if (!a->any || !b->any)
		return false;
	for (int d = 0; d < dims; d++)
		if (a->low[d] != b->low[d] || a->high[d] != b->high[d])
			return false;
	return true;
}

static int64_t sticks_in(const struct stretch *box, int dims)
{
	int64_t sticks = 1;
	for (int d = 0; d < dims; d++)
		sticks *= box->high[d] - box->low[d] + 1;
	return sticks;
}

static bool in_lx(const struct walker *w, int operand, int step)
{
	int tensor = op_operand(w->op, operand)->tensor;
	for (int i = 0; i < w->plan->residency_count; i++) {
		const struct residency *stay = &w->plan->residencies[i];
		if (stay->tensor == tensor && stay->place == PLACE_LX && step >= stay->from &&
			step < stay->to)
			return true;
	}
	return false;
}

/* Fetches of a tile: who needs a new box, and who of them asks for the same one. */
static void fetch(struct walker *w, int operand, int dims)
{
	int64_t *bytes = w->out->bytes[operand];
	bool changed[64];
	for (int64_t core = 0; core < w->cores; core++)
		changed[core] = !same(&w->now[core], &w->before[core], dims);
	for (int64_t core = 0; core < w->cores; core++) {
		if (!changed[core])
			continue;
		int64_t size = sticks_in(&w->now[core], dims) * STICK_BYTES;
		bool first = true;
		for (int64_t other = 0; other < core; other++)
			if (changed[other] && same(&w->now[core], &w->now[other], dims))
				first = false;
		bytes[TRAFFIC_LX_FILL] += size;
		if (first)
			bytes[TRAFFIC_HBM_READ] += size;
	}
}

static int64_t word_bytes(const struct walker *w, int operand)
{
	int tensor = op_operand(w->op, operand)->tensor;
	if (w->broken == NAIVE_WORDS)
		return 2;
	return dtype_stored_bytes(w->plan->workload->tensors[tensor].layout.dtype);
}

/* Update by update: all are sums in fp32 but the last of each word of a tile that finishes. */
static void walk_nest(struct walker *w, bool first, bool finishes)
{
	int operand = w->op->read_count;
	int64_t *bytes = w->out->bytes[operand];
	int64_t updates = w->nest[operand].updates, last = finishes ? w->nest_words : 0;
	if (w->broken == NAIVE_ACCUMULATORS && finishes)
		last = updates;
	bytes[TRAFFIC_LX_WRITE] += (updates - last) * 4 + last * word_bytes(w, operand);
	bytes[TRAFFIC_LX_READ] += w->nest[operand].reads * 4;
	if (!first && w->broken != NAIVE_PASSES)
		bytes[TRAFFIC_LX_READ] += w->nest_words * 4;
	if (!nest_counts_add((struct nest_counts *)w->out->nests, w->nest_all, 1))
		BUG("a nest of more than an int64_t counts");
}

static void walk_read(struct walker *w, int operand, int step, bool moves)
{
	const struct access *access = op_operand(w->op, operand);
	int dims = w->plan->workload->tensors[access->tensor].layout.rank - 1;
	memset(w->before, 0, (size_t)w->cores * sizeof *w->before);
	for (int64_t tile = 0; tile < w->tiles; tile++) {
		for (int64_t core = 0; core < w->cores; core++) {
			w->now[core] = find_box(w, operand, core, tile);
			if (!moves && !w->nest)
				w->out->bytes[operand][TRAFFIC_LX_READ] +=
					sticks_in(&w->now[core], dims) * STICK_BYTES;
			if (!moves && w->nest && !(w->broken == NAIVE_TILES && tile))
				w->out->bytes[operand][TRAFFIC_LX_READ] +=
					w->nest[operand].reads * word_bytes(w, operand);
		}
		if (!in_lx(w, operand, step))
			fetch(w, operand, dims);
		memcpy(w->before, w->now, (size_t)w->cores * sizeof *w->before);
	}
}

/* Is this the first, or the last, of the tiles that work on one output tile? */
static bool at_pass(const struct walker *w, int64_t tile, bool last)
{
	int64_t at[OP_LOOPS_MOST];
	find_tile(w, tile, at);
	for (int l = 0; l < w->op->loop_count; l++)
		if (w->op->loops[l].reduction && at[l] != (last ? tiles_of(w, l) - 1 : 0))
			return false;
	return true;
}

static bool owns(const struct walker *w, int64_t core)
{
	int64_t slots[OP_LOOPS_MOST];
	find_slots(w, core, slots);
	for (int l = 0; l < w->op->loop_count; l++)
		if (w->op->loops[l].reduction && slots[l] != 0)
			return false;
	return true;
}

static void walk_output(struct walker *w, int step)
{
	int operand = w->op->read_count;
	int64_t *bytes = w->out->bytes[operand];
	const struct access *access = op_operand(w->op, operand);
	const struct layout *layout = &w->plan->workload->tensors[access->tensor].layout;
	int64_t sharers = 1;
	for (int l = 0; l < w->op->loop_count; l++)
		if (w->op->loops[l].reduction)
			sharers *= split_of(w, l);
	for (int64_t tile = 0; tile < w->tiles; tile++)
		for (int64_t core = 0; core < w->cores; core++) {
			struct stretch box = find_box(w, operand, core, tile);
			int64_t size = sticks_in(&box, layout->rank - 1) * STICK_BYTES;
			int64_t partial = size / dtype_stored_bytes(layout->dtype) * 4;
			bool last = at_pass(w, tile, true), first = at_pass(w, tile, false);
			if (w->nest)
				walk_nest(w, first, last && sharers == 1);
			if (!w->nest && !first)
				bytes[TRAFFIC_LX_READ] += partial;
			if (!w->nest && (!last || sharers > 1))
				bytes[TRAFFIC_LX_WRITE] += partial;
			if (!last)
				continue;
			if (sharers > 1)
				bytes[TRAFFIC_LX_READ] += partial;
			if (!owns(w, core)) {
				bytes[TRAFFIC_RING] += partial;
				continue;
			}
			if (!w->nest || sharers > 1)
				bytes[TRAFFIC_LX_WRITE] += size;
			if (!in_lx(w, operand, step)) {
				bytes[TRAFFIC_HBM_WRITE] += size;
				bytes[TRAFFIC_LX_DRAIN] += size;
			}
		}
}

/* Counts an eviction: the first core with a box sends it, unless HBM has it. */
static void walk_eviction(struct walker *w)
{
	int64_t *bytes = w->out->bytes[1];
	const struct tensor *to = &w->plan->workload->tensors[w->op->writes[0].tensor];
	for (int64_t tile = 0; tile < w->tiles; tile++)
		for (int64_t core = 0; core < w->cores; core++) {
			bool first = true;
			w->now[core] = find_box(w, 1, core, tile);
			for (int64_t other = 0; other < core; other++)
				first &= !same(&w->now[core], &w->now[other], to->layout.rank - 1);
			if (!first || to->copy_of)
				continue;
			int64_t size = sticks_in(&w->now[core], to->layout.rank - 1) * STICK_BYTES;
			bytes[TRAFFIC_LX_DRAIN] += size;
			bytes[TRAFFIC_HBM_WRITE] += size;
		}
}

static void count_elements(struct walker *w)
{
	for (int64_t core = 0; core < w->cores; core++)
		for (int64_t tile = 0; tile < w->tiles; tile++) {
			int64_t elements = 1;
			for (int l = 0; l < w->op->loop_count; l++) {
				int64_t first, end;
				find_range(w, core, tile, l, &first, &end);
				elements *= end - first;
			}
			w->out->computes += elements;
		}
}

static void count_opaque(struct walker *w)
{
	for (int i = 0; i < op_operands(w->op); i++) {
		int64_t bytes =
			w->plan->workload->tensors[op_operand(w->op, i)->tensor].layout.bytes;
		w->out->bytes[i][i < w->op->read_count ? TRAFFIC_HBM_READ : TRAFFIC_HBM_WRITE] =
			bytes;
	}
}

/* Executes the nest once: all tiles have one shape. */
static const struct nest_counts *interpret(
	struct walker *w, int step, struct inner_nest *nest, struct arena *arena)
{
	struct inner_question question = inner_nest_question(arena, w->plan, step);
	const char *why;
	struct nest_counts *counts = arena_new(arena, struct nest_counts);
	*nest = inner_nest_make(&question, arena, &why);
	if (!nest->hierarchy)
		return NULL;
	nest_interpret(nest->hierarchy, nest->shape, &nest->mapping, counts);
	w->out->nests = arena_new(arena, struct nest_counts);
	return counts;
}

static void take_nest(struct walker *w, int step, struct arena *arena)
{
	struct inner_nest nest;
	w->nest_all = interpret(w, step, &nest, arena);
	if (!w->nest_all)
		return;
	const struct dataspace *output = &nest.shape->spaces[w->op->read_count];
	w->nest = w->nest_all->at[hierarchy_level(nest.hierarchy, w->plan->arch->lx)];
	w->nest_words = 1;
	for (int d = 0; d < nest.shape->dimension_count; d++)
		if (output->relevant >> d & 1)
			w->nest_words *= nest.shape->dimensions[d].extent;
}

/* The op is one nest. */
static void walk_whole(struct walker *w, int step, struct arena *arena)
{
	struct inner_nest nest;
	const struct arch *arch = w->plan->arch;
	const struct nest_counts *counts = interpret(w, step, &nest, arena);
	w->out->computes = 1;
	for (int l = 0; l < w->op->loop_count; l++)
		w->out->computes *= w->op->loops[l].extent;
	if (!counts)
		return;
	nest_counts_add((struct nest_counts *)w->out->nests, counts, 1);
	for (int i = 0; i < op_operands(w->op); i++) {
		int64_t *bytes = w->out->bytes[i], word = word_bytes(w, i);
		const struct nest_count *home =
			&counts->at[hierarchy_level(nest.hierarchy, arch->hbm)][i];
		bytes[TRAFFIC_HBM_READ] = home->reads * word;
		bytes[TRAFFIC_HBM_WRITE] = (home->fills + home->updates) * word;
		if (arch->lx < 0)
			continue;
		const struct nest_count *pad =
			&counts->at[hierarchy_level(nest.hierarchy, arch->lx)][i];
		bytes[TRAFFIC_LX_FILL] = pad->fills * word;
		bytes[TRAFFIC_LX_READ] = pad->reads * word;
		bytes[TRAFFIC_LX_WRITE] = pad->updates * word;
	}
}

static void walk_step(struct walker *w, int step, struct arena *arena)
{
	w->cores = w->tiles = 1;
	for (int l = 0; l < w->op->loop_count; l++) {
		w->cores *= split_of(w, l);
		w->tiles *= tiles_of(w, l);
	}
	bool moves = plan_is_move(w->plan, step), evicts = plan_is_evict(w->plan, step);
	struct move move;
	if (moves || evicts) {
		move = move_find(w->plan, step);
		w->move = &move;
		w->cores = move.cores;
	}
	w->now = arena_array(arena, struct stretch, w->cores);
	w->before = arena_array(arena, struct stretch, w->cores);
	if (evicts) {
		walk_eviction(w);
		return;
	}
	if (!moves)
		take_nest(w, step, arena);
	for (int i = 0; i < w->op->read_count; i++)
		walk_read(w, i, step, moves);
	if (moves)
		return;
	walk_output(w, step);
	count_elements(w);
}

struct counts naive_counts(const struct plan *plan, struct arena *arena)
{
	return naive_counts_without(NAIVE_NONE, plan, arena);
}

struct counts naive_counts_without(
	enum naive_rule rule, const struct plan *plan, struct arena *arena)
{
	struct counts counts = {.step_count = plan->step_count};
	counts.steps = arena_array(arena, struct step_count, plan->step_count);
	for (int step = 0; step < plan->step_count; step++) {
		struct walker w = {
			.plan = plan,
			.op = &plan->workload->ops[plan->steps[step].op],
			.mapping = &plan->steps[step].mapping,
			.out = &counts.steps[step],
			.broken = rule,
		};
		if (w.op->primitive->kind == OP_OPAQUE)
			count_opaque(&w);
		else if (!arch_moves_boxes(plan->arch))
			walk_whole(&w, step, arena);
		else
			walk_step(&w, step, arena);
	}
	return counts;
}

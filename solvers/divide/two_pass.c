#include "solvers/divide/two_pass.h"

#include "base/arena.h"
#include "base/number.h"
#include "base/text.h"
#include "constraints/graph.h"
#include "search/drive/solver.h"

#include <inttypes.h>

static void keyed_split_put(
	struct keyed_split *list, int *count, int64_t coefficient, int64_t split)
{
	int i = 0;
	while (i < *count && list[i].coefficient != coefficient)
		i++;
	if (i == *count)
		(*count)++;
	list[i] = (struct keyed_split){coefficient, split};
}

static int64_t keyed_split_find(const struct keyed_split *list, int count, int64_t coefficient)
{
	for (int i = 0; i < count; i++)
		if (list[i].coefficient == coefficient)
			return list[i].split;
	return 1;
}

struct keyed_splits keyed_encode(
	int loop_count, const int64_t *write, const int64_t *read, const int64_t *splits)
{
	struct keyed_splits keyed = {0};
	for (int l = 0; l < loop_count; l++) {
		if (splits[l] == 1)
			continue;
		if (write[l])
			keyed_split_put(keyed.output, &keyed.output_count, write[l], splits[l]);
		else if (read[l])
			keyed_split_put(
				keyed.reduction, &keyed.reduction_count, read[l], splits[l]);
	}
	return keyed;
}

void keyed_decode(const struct keyed_splits *keyed, int loop_count, const int64_t *range,
	const int64_t *write, const int64_t *read, int64_t *splits)
{
	for (int l = 0; l < loop_count; l++) {
		splits[l] = 1;
		if (range[l] <= 1)
			continue;
		if (write[l])
			splits[l] = keyed_split_find(keyed->output, keyed->output_count, write[l]);
		else if (read[l])
			splits[l] =
				keyed_split_find(keyed->reduction, keyed->reduction_count, read[l]);
	}
}

int64_t core_split(int64_t size, int64_t cores)
{
	int64_t split = cores;
	while (split > 1 && size % split)
		split--;
	return split;
}

/* Keeps `list` in descending size, equal sizes in the order they came. */
static void two_pass_insert(int *list, int *count, const int64_t *size, int l)
{
	int at = (*count)++;
	while (at > 0 && size[list[at - 1]] < size[l]) {
		list[at] = list[at - 1];
		at--;
	}
	list[at] = l;
}

struct priorities priorities_make(
	int loop_count, const int64_t *size, uint32_t output_loops, const int64_t *least)
{
	struct priorities order = {0};
	bool reduction_divided = false;
	for (int l = 0; l < loop_count; l++) {
		bool output = output_loops >> l & 1;
		if (least[l] > 1)
			reduction_divided |= !output;
		else if (output)
			two_pass_insert(order.output, &order.output_count, size, l);
		else
			two_pass_insert(order.reduction, &order.reduction_count, size, l);
	}
	if (reduction_divided)
		order.reduction_count = 0;
	return order;
}

static void divide_reduction(
	const struct priorities *order, const int64_t *size, int64_t cores, int64_t *splits)
{
	int best = -1;
	int64_t most = 1;
	for (int i = 0; i < order->reduction_count; i++) {
		int64_t split = core_split(size[order->reduction[i]], cores);
		if (split > most) {
			most = split;
			best = order->reduction[i];
		}
	}
	if (best >= 0)
		splits[best] = most;
}

struct distribution distribute(int loop_count, const int64_t *size, uint32_t output_loops,
	const int64_t *least, int64_t cores)
{
	struct priorities order = priorities_make(loop_count, size, output_loops, least);
	struct distribution given = {.cores = 1};
	for (int l = 0; l < loop_count; l++) {
		given.splits[l] = 1;
		if (least[l] == 1)
			continue;
		if (cores < least[l]) {
			given.dropped |= UINT32_C(1) << l;
			continue;
		}
		given.splits[l] = least[l];
		cores /= least[l];
	}
	for (int i = 0; i < order.output_count; i++) {
		int64_t split = core_split(size[order.output[i]], cores);
		given.splits[order.output[i]] = split;
		cores /= split;
	}
	divide_reduction(&order, size, cores, given.splits);
	for (int l = 0; l < loop_count; l++)
		given.cores *= given.splits[l];
	return given;
}

struct span_choice {
	bool found;
	int64_t span;
	int64_t splits[OP_LOOPS_MOST];
};

/* The choice for one dimension of one operand. */
struct combining {
	const struct iteration *iteration;
	int operand;
	int64_t limit, cores;
	int loop_count;
	int loops[OP_LOOPS_MOST];
	struct divisors divisors[OP_LOOPS_MOST];
	int64_t splits[OP_LOOPS_MOST];
	struct span_choice within, above;
	uint64_t tried;
};

static void combining_weigh(struct combining *c)
{
	c->tried++;
	int64_t span = iteration_span(c->iteration, c->operand, c->splits);
	struct span_choice *choice = span <= c->limit ? &c->within : &c->above;
	bool better = span <= c->limit ? span > choice->span : span < choice->span;
	if (choice->found && !better)
		return;
	choice->found = true;
	choice->span = span;
	for (int l = 0; l < c->iteration->loop_count; l++)
		choice->splits[l] = c->splits[l];
}

/* All combinations in lexicographic order; `used` cores are taken by the other loops. */
static void combine_splits(struct combining *c, int at, int64_t used)
{
	if (at == c->loop_count) {
		combining_weigh(c);
		return;
	}
	int l = c->loops[at];
	int64_t fixed = c->splits[l];
	for (size_t i = 0; i < c->divisors[at].count; i++) {
		int64_t split = c->divisors[at].at[i];
		if (split < fixed)
			continue;
		if (split > c->cores / used)
			break;
		c->splits[l] = split;
		combine_splits(c, at + 1, used * split);
	}
	c->splits[l] = fixed;
}

static void combining_gather(struct arena *arena, struct combining *c, uint32_t loops)
{
	for (int l = 0; l < c->iteration->loop_count; l++) {
		if (!(loops >> l & 1))
			continue;
		c->loops[c->loop_count] = l;
		c->divisors[c->loop_count++] = number_divisors(arena, c->iteration->size[l]);
	}
}

/* Cores that loops outside `loops` are divided over. */
static int64_t cores_used(const struct iteration *iteration, const int64_t *splits, uint32_t loops)
{
	int64_t used = 1;
	for (int l = 0; l < iteration->loop_count; l++)
		if (!(loops >> l & 1))
			used *= splits[l];
	return used;
}

/* Divides one operand's loops, dimension by dimension. */
static void span_search_shorten(struct arena *arena, struct span_search *search,
	const struct iteration *iteration, int operand, int64_t limit, int64_t cores)
{
	const struct coordinates *coordinates = &iteration->coordinates[operand];
	for (int d = 0; d < coordinates->rank - 1; d++) {
		uint32_t loops = coordinate_loops(&coordinates->dims[d]);
		if (!loops)
			continue;
		struct combining c = {
			.iteration = iteration, .operand = operand, .limit = limit, .cores = cores};
		for (int l = 0; l < iteration->loop_count; l++)
			c.splits[l] = search->splits[l];
		combining_gather(arena, &c, loops);
		combine_splits(&c, 0, cores_used(iteration, search->splits, loops));
		search->tried += c.tried;
		const struct span_choice *choice = c.within.found ? &c.within : &c.above;
		search->considered |= loops;
		for (int l = 0; l < iteration->loop_count; l++)
			search->splits[l] = choice->splits[l];
		if (choice->span <= limit)
			return;
		int outermost = iteration_span_dim(iteration, operand, search->splits);
		if (outermost >= 0 && outermost <= d) {
			search->unmet |= UINT32_C(1) << operand;
			return;
		}
	}
}

struct span_search span_search(
	struct arena *arena, const struct iteration *iteration, int64_t limit, int64_t cores)
{
	struct span_search search = {0};
	struct arena_mark mark = arena_mark(arena);
	for (int l = 0; l < iteration->loop_count; l++)
		search.splits[l] = 1;
	for (int i = 0; i < iteration->operand_count; i++)
		if (iteration_span(iteration, i, search.splits) > limit)
			span_search_shorten(arena, &search, iteration, i, limit, cores);
	arena_release(arena, mark);
	search.reductions = search.considered & ~iteration->output_loops;
	return search;
}

/* Padding a loop lengthens only dimension `dim`, and the stick. */
static bool only_here(const struct iteration *iteration, int operand, int dim, int loop)
{
	const struct coordinates *coordinates = &iteration->coordinates[operand];
	for (int d = 0; d < coordinates->rank - 1; d++)
		if (d != dim && coordinate_loops(&coordinates->dims[d]) >> loop & 1)
			return false;
	const struct coordinate *coordinate = &coordinates->dims[dim];
	for (int p = 0; p < coordinate->part_count; p++)
		if (coordinate->parts[p].loop == loop && coordinate->parts[p].modulus)
			return false;
	return true;
}

/*
 * No size beyond the next multiple of `cores` helps if that one does not: its
 * largest divisor is `cores` itself, and more elements only lengthen the span.
 */
static bool iteration_pad(struct iteration *padded, int operand, int loop, int64_t *splits,
	int64_t limit, int64_t cores, struct span_padding *out)
{
	int64_t first = padded->size[loop] + 1, last = number_align_up(first, cores);
	int64_t grain = padded->stick[loop] ? padded->stick[loop] : 1;
	for (int64_t size = first; size <= last; size++) {
		int64_t split = core_split(size, cores);
		padded->size[loop] = size;
		padded->range[loop] = size * grain;
		splits[loop] = split;
		if (iteration_span(padded, operand, splits) > limit)
			continue;
		*out = (struct span_padding){loop, size * grain, size, split};
		return true;
	}
	return false;
}

struct span_padding padding_find(struct arena *arena, const struct iteration *iteration,
	int operand, const int64_t *least, int64_t limit, int64_t cores)
{
	struct span_padding best = {.loop = -1};
	int dim = iteration_span_dim(iteration, operand, least);
	if (dim < 0)
		return best;
	uint32_t loops = coordinate_loops(&iteration->coordinates[operand].dims[dim]);
	struct arena_mark mark = arena_mark(arena);
	for (int l = 0; l < iteration->loop_count; l++) {
		if (!(loops >> l & 1))
			continue;
		if (best.loop < 0)
			best.loop = l;
		if (!only_here(iteration, operand, dim, l))
			continue;
		struct iteration *padded = arena_copy(arena, iteration, sizeof *iteration);
		int64_t splits[OP_LOOPS_MOST], others = 1;
		for (int k = 0; k < iteration->loop_count; k++) {
			splits[k] = least[k];
			others *= k == l ? 1 : least[k];
		}
		struct span_padding found;
		if (iteration_pad(padded, operand, l, splits, limit, number_max(cores / others, 1),
			    &found) &&
			(!best.extent || found.extent - iteration->range[l] <
						 best.extent - iteration->range[best.loop]))
			best = found;
	}
	arena_release(arena, mark);
	return best;
}

enum {
	ARRAY_ROWS = 8,
	ROWS_MOST = 2 * ARRAY_ROWS, /* more fill the array without help */
	ROWS_SOME = ARRAY_ROWS / 2, /* more are fine when N is wide */
};

struct product {
	int m, n, k;
};

static bool read_product(const struct iteration *iteration, struct product *out)
{
	const struct op *op = iteration->op;
	if (op->primitive->kind != OP_EINSUM || op->read_count != 2 || op->loop_count != 3)
		return false;
	*out = (struct product){-1, -1, -1};
	for (int l = 0; l < op->loop_count; l++) {
		if (!(iteration->all_output_loops >> l & 1))
			out->k = l;
		else if (out->n < 0)
			out->n = l;
		else if (iteration->range[l] > iteration->range[out->n])
			out->m = out->n, out->n = l;
		else
			out->m = l;
	}
	return out->k >= 0 && out->n >= 0 && out->m >= 0;
}

static bool is_worth_it(int64_t m, int64_t n_sticks, int64_t k_sticks, int64_t cores)
{
	if (m < cores || m > ROWS_MOST * cores)
		return false;
	if (m > ROWS_SOME * cores && n_sticks >= cores)
		return false;
	return k_sticks >= cores;
}

bool k_fast_divide(
	const struct iteration *iteration, const int64_t *least, int64_t cores, int64_t *splits)
{
	struct product product;
	if (!read_product(iteration, &product) || least[product.k] > 1 || least[product.m] > 1)
		return false;
	int64_t per_stick = iteration->layouts[iteration->operand_count - 1]->per_stick;
	int64_t n = iteration->range[product.n], k = iteration->range[product.k];
	if (n % per_stick || k % per_stick ||
		!is_worth_it(iteration->range[product.m], n / per_stick, k / per_stick, cores))
		return false;
	for (int64_t n_split = cores - 1; n_split > 1; n_split--) {
		if (cores % n_split || n / per_stick % n_split || k / per_stick % (cores / n_split))
			continue;
		splits[product.m] = 1;
		splits[product.n] = n_split;
		splits[product.k] = cores / n_split;
		return true;
	}
	return false;
}

int k_fast_first(const struct op *op, const int64_t *splits)
{
	if (op->primitive->kind != OP_EINSUM || op->loop_count < 3)
		return -1;
	for (int l = 0; l < op->loop_count; l++)
		if (op->loops[l].reduction && splits[l] > 1)
			return l;
	return -1;
}

bool core_row_divisible(const struct op *op)
{
	return op_is_tiled(op) && !text_equal(op->type, "topk");
}

int64_t core_row_cores(
	const struct arch *arch, const struct planning *planning, const struct op *op)
{
	int64_t most = number_min(planning->cores, graph_cores(planning->constraints, op));
	return arch->core < 0 ? 1 : number_min(most, arch_cores(arch));
}

int64_t core_row_span(const struct planning *planning, const struct op *op, bool limited)
{
	int64_t limit = graph_span(planning->constraints, op);
	return limited && planning->span_limit ? number_min(planning->span_limit, limit) : limit;
}

struct mapping core_row_mapping(const struct arch *arch, const struct planning *planning,
	const struct op *op, const int64_t *splits)
{
	struct mapping mapping = mapping_make(arch, op);
	if (arch->core < 0)
		return mapping;
	struct mapping_row *row = &mapping.rows[arch->core];
	int first = planning->k_fast ? k_fast_first(op, splits) : -1;
	int at = 0;
	if (first >= 0)
		row->spatial_order[at++] = (uint8_t)first;
	for (int l = 0; l < op->loop_count; l++) {
		row->spatial[l] = (uint32_t)splits[l];
		if (l != first)
			row->spatial_order[at++] = (uint8_t)l;
	}
	return mapping;
}

static struct stored_splits two_pass_store(const struct op *op, const int64_t *splits)
{
	const int64_t *write = op->writes[0].linear.coefficient;
	const int64_t *read = op->read_count ? op->reads[0].linear.coefficient : write;
	struct stored_splits stored = {0};
	int64_t range[OP_LOOPS_MOST];
	for (int l = 0; l < op->loop_count; l++) {
		stored.stored |= splits[l] > 1;
		range[l] = op->loops[l].extent;
	}
	stored.keyed = keyed_encode(op->loop_count, write, read, splits);
	keyed_decode(&stored.keyed, op->loop_count, range, write, read, stored.splits);
	return stored;
}

struct two_pass two_pass_divide(struct arena *arena, const struct iteration *iteration,
	int64_t limit, int64_t cores, bool k_fast)
{
	const struct op *op = iteration->op;
	struct two_pass made = {.search = span_search(arena, iteration, limit, cores)};
	made.refused = made.search.reductions & (made.search.reductions - 1);
	if (made.refused)
		return made;
	made.least = two_pass_store(op, made.search.splits);
	made.k_fast = k_fast && k_fast_divide(iteration, made.least.splits, cores, made.given);
	if (!made.k_fast) {
		struct distribution given = distribute(iteration->loop_count, iteration->size,
			iteration->output_loops, made.least.splits, cores);
		made.dropped = given.dropped;
		for (int l = 0; l < op->loop_count; l++)
			made.given[l] = given.splits[l];
	}
	made.final = two_pass_store(op, made.given);
	for (int i = 0; i < iteration->operand_count; i++)
		if (iteration_span(iteration, i, made.final.splits) > limit)
			made.overlong |= UINT32_C(1) << i;
	return made;
}

/*
 * The published division, op by op.  What it stores may lose or double splits;
 * a mapping never does: a split that our machine cannot run is not taken over.
 * If no ring can combine a reduction, only a span limit divides it.
 */
struct op_division {
	struct run *run;
	const struct problem *problem;
	const struct iteration *iteration;
	int op;
	int64_t limit, cores;
	bool combines; /* what is left of a divided reduction can become one */
};

static void complain_of_span(const struct op_division *d, const struct two_pass *made, int operand,
	const int64_t *splits)
{
	struct arena *arena = run_arena(d->run);
	const struct iteration *iteration = d->iteration;
	const char *op = iteration->op->name, *tensor = iteration_tensor(iteration, operand)->name;
	int64_t span = iteration_span(iteration, operand, splits);
	struct span_padding padding =
		padding_find(arena, iteration, operand, made->least.splits, d->limit, d->cores);
	const char *remedy = "", *dimension = "";
	if (padding.loop >= 0) {
		const char *name = iteration->op->loops[padding.loop].name;
		dimension = arena_format(arena, " along '%s'", name);
		if (!padding.extent)
			remedy = arena_format(arena,
				"; no padding of '%s' helps on %" PRId64 " cores", name, d->cores);
		else if (iteration->stick[padding.loop])
			remedy = arena_format(arena,
				"; padding '%s' from %" PRId64 " to %" PRId64 " elements (%" PRId64
				" instead of %" PRId64 " sticks) would help",
				name, iteration->range[padding.loop], padding.extent, padding.size,
				iteration->size[padding.loop]);
		else
			remedy = arena_format(arena,
				"; padding '%s' from %" PRId64 " to %" PRId64 " would help", name,
				iteration->range[padding.loop], padding.extent);
	}
	run_complain(d->run, d->problem->planning->strict, d->op,
		"op '%s': a core would span %" PRId64 " bytes of '%s'%s, the limit is %" PRId64
		"%s",
		op, span, tensor, dimension, d->limit, remedy);
}

static void complain_of_reductions(const struct op_division *d, const struct two_pass *made)
{
	struct arena *arena = run_arena(d->run);
	const char *names = "";
	for (int l = 0; l < d->iteration->loop_count; l++)
		if (made->search.reductions >> l & 1)
			names = arena_format(arena, "%s%s'%s'", names, *names ? " and " : "",
				d->iteration->op->loops[l].name);
	run_complain(d->run, true, d->op,
		"op '%s': the span limit of %" PRId64
		" bytes needs the reduction loops divided: %s; "
		"at most one can be divided",
		d->iteration->op->name, d->limit, names);
}

/* Takes the splits that were read back or, if storing doubled one, those that were stored. */
static void splits_take(const struct op_division *d, const struct two_pass *made, int64_t *splits)
{
	const struct op *op = d->iteration->op;
	int64_t cores = 1;
	int reductions = 0;
	for (int l = 0; l < op->loop_count; l++) {
		cores *= made->final.splits[l];
		reductions += op->loops[l].reduction && made->final.splits[l] > 1;
	}
	bool doubled = cores > d->cores || reductions > 1;
	for (int l = 0; l < op->loop_count; l++) {
		splits[l] = doubled ? made->given[l] : made->final.splits[l];
		if (op->loops[l].reduction && !d->combines && made->least.splits[l] == 1)
			splits[l] = 1;
		int64_t units = op_units(d->problem->workload, op, l);
		if (units % splits[l] == 0)
			continue;
		run_complain(d->run, false, d->op,
			"op '%s': loop '%s' stays whole, %" PRId64 " does not divide its %" PRId64
			" indivisible units",
			op->name, op->loops[l].name, splits[l], units);
		splits[l] = 1;
	}
}

static void op_divide_twice(struct op_division *d, int64_t *splits)
{
	struct arena *arena = run_arena(d->run);
	const struct planning *planning = d->problem->planning;
	const struct op *op = &d->problem->workload->ops[d->op];
	const char *why = NULL;
	for (int l = 0; l < op->loop_count; l++)
		splits[l] = 1;
	if (!core_row_divisible(op))
		return;
	d->iteration = iteration_make(arena, d->problem->workload, op, &why);
	if (!d->iteration) {
		run_complain(d->run, planning->strict, d->op, "op '%s': %s", op->name, why);
		return;
	}
	d->combines = ring_reduces(&d->problem->arch->reduce_ring, op->primitive->partial);
	struct two_pass made = two_pass_divide(
		arena, d->iteration, d->limit, d->cores, planning->k_fast && d->combines);
	run_spend(d->run, made.search.tried + 1);
	if (made.refused) {
		complain_of_reductions(d, &made);
		return;
	}
	splits_take(d, &made, splits);
	for (int i = 0; i < d->iteration->operand_count; i++)
		if (iteration_span(d->iteration, i, splits) > d->limit)
			complain_of_span(d, &made, i, splits);
}

static void run_spyre(struct run *run, const struct problem *problem)
{
	const struct planning *planning = problem->planning;
	struct arena *arena = run_arena(run);
	int first = problem->op < 0 ? 0 : problem->op;
	int end = problem->op < 0 ? (int)problem->workload->op_count : first + 1;
	struct mapping *mappings = arena_array(arena, struct mapping, end - first);
	for (int o = first; o < end; o++) {
		if (!run_go_on(run, 1))
			return;
		int64_t splits[OP_LOOPS_MOST];
		struct op_division d = {
			.run = run,
			.problem = problem,
			.op = o,
			.limit = core_row_span(planning, &problem->workload->ops[o], true),
			.cores =
				core_row_cores(problem->arch, planning, &problem->workload->ops[o]),
		};
		op_divide_twice(&d, splits);
		mappings[o - first] = core_row_mapping(
			problem->arch, planning, &problem->workload->ops[o], splits);
	}
	struct candidate candidate = {.stage = STAGE_DIVIDE, .mappings = mappings};
	run_offer(run, &candidate, 0);
}

const struct solver divide_spyre_solver = {
	.stage = STAGE_DIVIDE,
	.name = "spyre",
	.summary = "the published passes: least division for the span, then all cores",
	.purposes = FOR_GRAPHS,
	.run = run_spyre,
};

#include "base/arena.h"
#include "base/text.h"
#include "model/graph/box_nest.h"
#include "search/language/language.h"

#include <string.h>

struct dividing {
	struct language *language;
	int op;
	int64_t most, span;                /* cores, bytes */
	const struct iteration *iteration; /* NULL: the op is not divided */
	int64_t splits[OP_LOOPS_MOST];
	uint8_t order[OP_LOOPS_MOST]; /* of split loops, fastest first */
	int order_count;
	struct array(struct division) found;
	struct array(const struct touched *) touches[OP_READS_MOST + 1]; /* that differ */
};

static const struct op *op_of(const struct dividing *dividing)
{
	return &dividing->language->workload->ops[dividing->op];
}

/* --- what a core touches */

/* The elements of a loop that a core has: first, last. */
static void find_range(const struct arch *arch, const struct workload *workload,
	const struct op *op, const struct mapping *mapping, int l, int64_t core, int64_t *first,
	int64_t *last)
{
	int64_t split = mapping_split(arch, mapping, l);
	int64_t slot = core / mapping_divisor(arch, mapping, l) % split;
	int64_t share = op_units(workload, op, l) / split * op_grain(workload, op, l);
	*first = slot * share;
	*last = number_min(op->loops[l].extent, *first + share) - 1;
}

/* The indices of a host dimension that a core touches. */
static void find_host(const struct arch *arch, const struct workload *workload, const struct op *op,
	const struct mapping *mapping, const struct access *access, int h, int64_t core,
	int64_t *low, int64_t *high)
{
	const struct affine *index = &access->host[h];
	*low = *high = index->offset;
	for (int l = 0; l < op->loop_count; l++) {
		int64_t first, last;
		find_range(arch, workload, op, mapping, l, core, &first, &last);
		*low += index->coefficient[l] * (index->coefficient[l] < 0 ? last : first);
		*high += index->coefficient[l] * (index->coefficient[l] < 0 ? first : last);
	}
	access_clip(access, workload->tensors[access->tensor].layout.host_size[h], low, high);
}

/* True if a core writes its part: its parts of divided reductions are the first. */
static bool is_owner(
	const struct arch *arch, const struct op *op, const struct mapping *mapping, int64_t core)
{
	for (int l = 0; l < op->loop_count; l++)
		if (op->loops[l].reduction &&
			core / mapping_divisor(arch, mapping, l) % mapping_split(arch, mapping, l))
			return false;
	return true;
}

struct touched touched_make(const struct arch *arch, const struct workload *workload,
	const struct op *op, const struct mapping *mapping, int operand, struct arena *arena)
{
	const struct access *access = op_operand(op, operand);
	const struct layout *layout = &workload->tensors[access->tensor].layout;
	int rank = layout->rank - 1;
	int64_t cores = mapping_cores(arch, mapping);
	int64_t *low = arena_array(arena, int64_t, cores * (rank + 1));
	int64_t *high = arena_array(arena, int64_t, cores * (rank + 1));
	bool *owns = arena_array(arena, bool, cores);
	for (int64_t core = 0; core < cores; core++) {
		owns[core] = operand < op->read_count || is_owner(arch, op, mapping, core);
		for (int d = 0; d < rank; d++) {
			int64_t *a = &low[core * rank + d], *b = &high[core * rank + d];
			if (layout->host_dim[d] < 0)
				continue;
			find_host(arch, workload, op, mapping, access, layout->host_dim[d], core, a,
				b);
			if (layout->part[d] == PART_STICK_OUTER) {
				*a /= layout->per_stick;
				*b /= layout->per_stick;
			}
		}
	}
	struct touched touch = {
		.cores = cores, .rank = rank, .low = low, .high = high, .owns = owns};
	touch_find_view(layout, &touch);
	return touch;
}

static bool is_same_touch(const struct touched *a, const struct touched *b)
{
	size_t bytes = (size_t)(a->cores * a->rank) * sizeof *a->low;
	return a->cores == b->cores && !memcmp(a->low, b->low, bytes) &&
	       !memcmp(a->high, b->high, bytes) &&
	       !memcmp(a->owns, b->owns, (size_t)a->cores * sizeof *a->owns);
}

static const struct touched *keep_touch(
	struct dividing *dividing, const struct mapping *mapping, int operand)
{
	struct arena *arena = dividing->language->arena;
	struct arena_mark mark = arena_mark(arena);
	struct touched touch = touched_make(dividing->language->arch, dividing->language->workload,
		op_of(dividing), mapping, operand, arena);
	for (size_t i = 0; i < dividing->touches[operand].count; i++)
		if (is_same_touch(dividing->touches[operand].at[i], &touch)) {
			arena_release(arena, mark);
			return dividing->touches[operand].at[i];
		}
	const struct touched *kept = arena_copy(arena, &touch, sizeof touch);
	*array_add(arena, &dividing->touches[operand]) = kept;
	return kept;
}

/* Returns the number of the parts that a division needs of the tensor of a read. */
static int keep_asked(struct dividing *dividing, const struct division *division, int read)
{
	const struct op *op = op_of(dividing);
	struct language_tensor *tensor = &dividing->language->tensors[op->reads[read].tensor];
	struct asked asked = {.op = dividing->op, .is_even = true};
	for (int i = 0; i < op->read_count; i++)
		if (op->reads[i].tensor == op->reads[read].tensor) {
			asked.touches[asked.touch_count++] = division->touches[i];
			asked.is_even &= division->touches[i]->is_view;
		}
	for (size_t a = 0; a < tensor->asked.count; a++)
		if (!memcmp(&tensor->asked.at[a], &asked, sizeof asked))
			return (int)a;
	*array_add(dividing->language->arena, &tensor->asked) = asked;
	return (int)tensor->asked.count - 1;
}

/* --- divisions */

static struct mapping make_mapping(const struct dividing *dividing)
{
	const struct arch *arch = dividing->language->arch;
	const struct op *op = op_of(dividing);
	struct mapping mapping = mapping_make(arch, op);
	if (arch->core < 0)
		return mapping;
	struct mapping_row *row = &mapping.rows[arch->core];
	int at = 0;
	for (int i = 0; i < dividing->order_count; i++)
		row->spatial_order[at++] = dividing->order[i];
	for (int l = 0; l < op->loop_count; l++) {
		row->spatial[l] = (uint32_t)dividing->splits[l];
		if (dividing->splits[l] == 1)
			row->spatial_order[at++] = (uint8_t)l;
	}
	return mapping;
}

static bool is_within_span(const struct dividing *dividing)
{
	for (int i = 0; dividing->iteration && i < dividing->iteration->operand_count; i++)
		if (iteration_span(dividing->iteration, i, dividing->splits) > dividing->span)
			return false;
	return true;
}

static void add_division(struct dividing *dividing)
{
	struct language *language = dividing->language;
	const struct op *op = op_of(dividing);
	struct division division = {.mapping = make_mapping(dividing)};
	if (mapping_check(
		    language->arena, language->arch, language->workload, op, &division.mapping) ||
		!is_within_span(dividing))
		return;
	int64_t sums = mapping_reduction_split(language->arch, op, &division.mapping);
	if (sums > 1 && !ring_reduces(&language->arch->reduce_ring, op->primitive->partial))
		return;
	division.cores = mapping_cores(language->arch, &division.mapping);
	division.partial = sums > 1;
	for (int i = 0; i < op_operands(op); i++)
		division.touches[i] = keep_touch(dividing, &division.mapping, i);
	for (int i = 0; i < op->read_count; i++)
		division.asked[i] = keep_asked(dividing, &division, i);
	*array_add(language->arena, &dividing->found) = division;
}

/* All orders of the split loops, from `at` on. */
static void language_order_loops(struct dividing *dividing, int at)
{
	uint8_t *order = dividing->order;
	if (at >= dividing->order_count) {
		add_division(dividing);
		return;
	}
	for (int i = at; i < dividing->order_count; i++) {
		uint8_t first = order[at];
		order[at] = order[i];
		order[i] = first;
		language_order_loops(
			dividing, dividing->language->kinds.orders ? at + 1 : INT8_MAX);
		order[i] = order[at];
		order[at] = first;
		if (!dividing->language->kinds.orders)
			return;
	}
}

/* Splits of loop l and those behind it. */
static void split_loops(struct dividing *dividing, int l, int64_t used)
{
	const struct op *op = op_of(dividing);
	if (l == op->loop_count) {
		dividing->order_count = 0;
		for (int i = 0; i < l; i++)
			if (dividing->splits[i] > 1)
				dividing->order[dividing->order_count++] = (uint8_t)i;
		if (dividing->order_count <= 1 || dividing->language->kinds.many_loops)
			language_order_loops(dividing, 0);
		return;
	}
	int64_t units = op_units(dividing->language->workload, op, l);
	int64_t most = dividing->iteration ? dividing->most / used : 1;
	if (op->loops[l].reduction && !dividing->language->kinds.reduction)
		most = 1;
	for (int64_t split = 1; split <= most && split <= units; split++) {
		if (units % split)
			continue;
		dividing->splits[l] = split;
		split_loops(dividing, l + 1, used * split);
	}
}

/* Keeps the divisions on the most cores, where fewer are not free; returns their number. */
static size_t keep_widest(struct dividing *dividing)
{
	size_t kept = 0;
	int64_t most = 0;
	for (size_t i = 0; i < dividing->found.count; i++)
		most = number_max(most, dividing->found.at[i].cores);
	for (size_t i = 0; i < dividing->found.count; i++)
		if (dividing->language->kinds.few_cores || dividing->found.at[i].cores == most)
			dividing->found.at[kept++] = dividing->found.at[i];
	return kept;
}

bool language_divide(struct language *language, int op, const char **why)
{
	const struct planning *planning = language->planning;
	const struct arch *arch = language->arch;
	struct dividing dividing = {.language = language, .op = op};
	const struct op *at = op_of(&dividing);
	const char *unknown = NULL;
	int64_t most = number_min(planning->cores, graph_cores(planning->constraints, at));
	dividing.most = arch->core < 0 ? 1 : number_min(most, arch_cores(arch));
	dividing.span = graph_span(planning->constraints, at);
	if (planning->strict && planning->span_limit)
		dividing.span = number_min(dividing.span, planning->span_limit);
	if (!text_equal(at->type, "topk"))
		dividing.iteration =
			iteration_make(language->arena, language->workload, at, &unknown);
	split_loops(&dividing, 0, 1);
	language->ops[op] = (struct language_op){
		.op = at, .division_count = keep_widest(&dividing), .divisions = dividing.found.at};
	if (!dividing.found.count)
		*why = arena_format(language->arena, "op '%s' has no division", at->name);
	return dividing.found.count > 0;
}

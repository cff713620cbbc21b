#include "search/drive/solver.h"
#include "search/graph/lx_views.h"
#include "search/joint/joint_making.h"

#include <string.h>

/* An op's divisions while orders are tried. */
struct ordering {
	struct joint_making *making;
	int op;
	const struct mapping *given;
	size_t first; /* of those that split alike */
	uint8_t loops[OP_LOOPS_MOST];
	int count; /* loops that are split */
};

static bool is_listed(const struct joint_making *making, const struct op *op)
{
	return name_list_has(&making->question->planning->eligible, op->type);
}

/* True if a tensor may lie in LX at all, as an operand of some op. */
bool joint_may_lie(const struct joint_making *making, int tensor)
{
	const struct workload *workload = making->question->workload;
	const struct planning *planning = making->question->planning;
	const struct tensor *at = &workload->tensors[tensor];
	bool clones = planning->clones != CLONE_OFF && joint_is_free(making, KIND_CLONE) &&
		      name_list_has(&planning->eligible, primitive_clone.name);
	if (!planning->lx_planning || making->stays[tensor] == STAY_HBM)
		return false;
	if (at->producer < 0)
		return clones && users_root(workload, &making->users, tensor) < 0;
	return is_listed(making, &workload->ops[at->producer]);
}

/* By operand, what the cores need or leave behind. */
static void find_views(struct joint_making *making, int o, struct joint_division *division)
{
	const struct joint_question *question = making->question;
	const struct op *op = &question->workload->ops[o];
	for (int i = 0; i < op_operands(op); i++) {
		int tensor = op_operand(op, i)->tensor;
		bool reads = i < op->read_count;
		struct view view;
		const char *why;
		struct arena_mark mark = arena_mark(making->scratch);
		division->views[i] = -1;
		bool owned = division->partial && !reads;
		if (joint_may_lie(making, tensor) &&
			(!owned || joint_is_free(making, KIND_OWNERS)) &&
			lx_view(question->arch, question->workload, op, division->mapping, i,
				making->scratch, &view, &why)) {
			if (owned)
				lx_leave_to_owners(question->arch, op, division->mapping, &view);
			division->views[i] = joint_views_add(making, tensor, &view, reads ? o : -1);
		} else {
			arena_release(making->scratch, mark);
		}
	}
}

static void add(struct ordering *ordering, const struct mapping *mapping)
{
	struct joint_making *making = ordering->making;
	const struct joint_question *question = making->question;
	struct joint_divisions *divisions = &making->divisions[ordering->op];
	const struct op *op = &question->workload->ops[ordering->op];
	struct joint_division division = {.mapping = mapping,
		.same = ordering->first,
		.cores = mapping_cores(question->arch, mapping),
		.partial = mapping_reduction_split(question->arch, op, mapping) > 1};
	find_views(making, ordering->op, &division);
	for (size_t i = ordering->first; i < divisions->count; i++)
		if (!memcmp(divisions->at[i].views, division.views, sizeof division.views))
			return;
	division.mapping = arena_copy(making->arena, mapping, sizeof *mapping);
	*array_add(making->scratch, divisions) = division;
}

/* All orders of the loops that are split, the given one aside. */
static void permute(struct ordering *ordering, struct mapping *mapping, int at)
{
	struct mapping_row *row = &mapping->rows[ordering->making->question->arch->core];
	if (at == ordering->count) {
		add(ordering, mapping);
		return;
	}
	for (int i = at; i < ordering->count; i++) {
		uint8_t first = row->spatial_order[at];
		row->spatial_order[at] = row->spatial_order[i];
		row->spatial_order[i] = first;
		permute(ordering, mapping, at + 1);
		row->spatial_order[i] = row->spatial_order[at];
		row->spatial_order[at] = first;
	}
}

static void add_orders(struct joint_making *making, int op, const struct mapping *given)
{
	struct ordering ordering = {making, op, given, making->divisions[op].count, {0}, 0};
	const struct arch *arch = making->question->arch;
	struct mapping mapping = *given;
	add(&ordering, given);
	if (arch->core < 0 || !joint_is_free(making, KIND_ORDERS))
		return;
	struct mapping_row *row = &mapping.rows[arch->core];
	int rest = 0;
	for (int i = 0; i < given->loop_count; i++) {
		uint8_t l = given->rows[arch->core].spatial_order[i];
		if (row->spatial[l] > 1)
			row->spatial_order[ordering.count++] = l;
		else
			ordering.loops[rest++] = l;
	}
	memcpy(&row->spatial_order[ordering.count], ordering.loops, (size_t)rest);
	permute(&ordering, &mapping, 0);
}

/* True if the kinds of decisions that are free allow a division. */
static bool is_free(const struct joint_making *making, const struct op *op,
	const struct mapping *mapping, int64_t most)
{
	const struct joint_question *question = making->question;
	int split = 0;
	for (int l = 0; l < op->loop_count; l++)
		split += mapping_split(question->arch, mapping, l) > 1;
	return (joint_is_free(making, KIND_MANY_LOOPS) || split <= 1) &&
	       (joint_is_free(making, KIND_FEW_CORES) ||
		       mapping_cores(question->arch, mapping) == most) &&
	       (joint_is_free(making, KIND_REDUCTION) ||
		       mapping_reduction_split(question->arch, op, mapping) <= 1);
}

/* The most cores that any division takes that is free otherwise. */
static int64_t most_cores(
	const struct joint_making *making, const struct op *op, const struct answer *answer)
{
	int64_t most = 0;
	struct joint_question question = *making->question;
	struct joint_making other = {.question = &question};
	question.aim.fixed &= ~(unsigned)KIND_FEW_CORES;
	for (size_t i = 0; i < answer->candidate_count; i++)
		if (is_free(&other, op, answer->candidates[i].mappings, 0))
			most = number_max(
				most, mapping_cores(question.arch, answer->candidates[i].mappings));
	return most;
}

bool joint_divisions_make(struct joint_making *making, int o)
{
	const struct joint_question *question = making->question;
	const struct op *op = &question->workload->ops[o];
	struct problem problem = {.stage = STAGE_DIVIDE,
		.arch = question->arch,
		.workload = question->workload,
		.planning = question->planning,
		.op = o};
	if (!op_is_tiled(op))
		return true;
	struct answer answer = solve(
		solver_sharing(STAGE_DIVIDE, SHARING_ENUMERATION), &problem, 0, 0, making->scratch);
	int64_t most = most_cores(making, op, &answer);
	for (size_t i = 0; i < answer.candidate_count; i++)
		if (is_free(making, op, answer.candidates[i].mappings, most))
			add_orders(making, o, answer.candidates[i].mappings);
	for (size_t i = 0; i < answer.complaint_count && !making->why; i++)
		if (answer.complaints[i].error)
			making->why = answer.complaints[i].text;
	if (!making->why && !making->divisions[o].count)
		making->why =
			arena_format(making->arena, "op '%s' has no legal division", op->name);
	return !making->why;
}

#include "search/graph/op_map.h"

#include "base/arena.h"
#include "base/diag.h"
#include "cost/graph/cost.h"
#include "model/graph/box_nest.h"
#include "model/graph/op_mapping.h"
#include "model/nest/nest_mapping.h"

/* The machine with its cores in one row, as the plan numbers them. */
static const struct arch *in_one_row(const struct arch *arch, struct arena *arena)
{
	struct arch *flat = arena_copy(arena, arch, sizeof *arch);
	struct level *core = &flat->levels[arch->core];
	if (core->fanout.x == core->instances)
		return arch;
	for (int r = 0; r <= arch->core; r++)
		flat->levels[r].fanout.x = flat->levels[r].fanout.y = 1;
	core->fanout.x = core->instances;
	return flat;
}

/* Resident operands do not pass through the home. */
static void set_residency(
	const struct plan *plan, int step, const struct op *op, struct mapping *nest)
{
	const struct arch *arch = plan->arch;
	for (int i = 0; i < op_operands(op); i++)
		nest->residency[i] = plan_lx(plan, op_operand(op, i)->tensor, step)
					     ? 1u << arch->lx
					     : 1u << arch->lx | 1u << arch->hbm;
}

void op_nest_make(const struct plan *plan, int step, struct arena *arena, struct op_nest *out)
{
	const struct op *op = &plan->workload->ops[plan->steps[step].op];
	struct diag *silent = diag_open(arena);
	*out = (struct op_nest){0};
	if (op->primitive->kind != OP_EINSUM || op_has_inner_nest(plan->arch, op))
		return;
	out->shape = op_nest_shape(arena, plan->arch, plan->workload, op);
	if (out->shape)
		out->hierarchy =
			hierarchy_make(arena, in_one_row(plan->arch, arena), out->shape, silent);
	if (!out->hierarchy) {
		out->shape = NULL;
		return;
	}
	out->mapping =
		box_nest(plan->arch, plan->workload, op, out->shape, &plan->steps[step].mapping);
	set_residency(plan, step, op, &out->mapping);
	const struct nest_model *model =
		nest_model_make(arena, out->hierarchy, out->shape, COUNTING_EXACT);
	if (!nest_verdict_counts(nest_evaluate(model, &out->mapping, &out->counts, &out->score)))
		out->shape = NULL;
}

/* Adds the counts of all tiles of a core, and the energy of their bytes in the scratchpad. */
static void op_nest_add_tiles(
	const struct plan *plan, const struct step_count *count, int64_t tiles, struct op_nest *out)
{
	const struct arch *arch = plan->arch;
	bool boxes = arch_moves_boxes(arch);
	for (int i = 0; i < out->hierarchy->level_count; i++) {
		out->counts.utilized[i] /= tiles;
		out->score.level_cycles[i] *= tiles;
		if (!boxes || out->hierarchy->levels[i].row != arch->lx)
			continue;
		out->score.level_pj[i] = out->score.network_pj[i];
		for (int t = 0; t < out->shape->space_count; t++) {
			int64_t bytes[TRAFFIC_COUNT] = {0};
			for (int k = TRAFFIC_LX_FILL; k <= TRAFFIC_LX_WRITE; k++)
				bytes[k] = count->bytes[t][k];
			out->score.space_pj[i][t] = energy_of_traffic(arch, bytes);
			out->score.level_pj[i] += out->score.space_pj[i][t];
		}
	}
	out->counts.utilized_computes /= tiles;
	out->score.cycles *= tiles;
}

void op_nest_inside(const struct plan *plan, int step, const struct step_count *count,
	struct arena *arena, struct op_nest *out)
{
	const char *why;
	struct inner_question question = inner_nest_question(arena, plan, step);
	struct inner_nest nest = inner_nest_make(&question, arena, &why);
	*out = (struct op_nest){0};
	if (!nest.hierarchy || !count->nests)
		return;
	const struct nest_model *model =
		nest_model_make(arena, nest.hierarchy, nest.shape, COUNTING_EXACT);
	int64_t times = energy_of_nests(model, count->nests, &out->score);
	if (!times)
		return;
	int64_t cores =
		arch_moves_boxes(plan->arch) ? mapping_cores(plan->arch, question.mapping) : 1;
	int64_t all = arch_moves_boxes(plan->arch) ? arch_cores(plan->arch) : 1;
	struct hierarchy *hierarchy = arena_copy(arena, nest.hierarchy, sizeof *hierarchy);
	for (int i = 0; i < hierarchy->level_count; i++)
		hierarchy->levels[i].mesh_x *= all;
	hierarchy->compute_mesh_x *= all;
	out->shape = nest.shape;
	out->hierarchy = hierarchy;
	out->mapping = nest.mapping;
	out->counts = *count->nests;
	out->counts.compute_cycles /= cores;
	out->counts.array_cycles /= cores;
	for (int i = 0; i < hierarchy->level_count; i++)
		for (int t = 0; t < nest.shape->space_count; t++)
			out->counts.at[i][t].capacity /= times;
	op_nest_add_tiles(plan, count, times / cores, out);
}

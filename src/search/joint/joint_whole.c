#include "base/number.h"
#include "cost/graph/cost.h"
#include "search/graph/lx_passes.h"
#include "search/joint/joint_making.h"

#include <stdlib.h>
#include <string.h>

/* Ops that nobody divides: opaque ones, and broadcasts with each of their staging tiles. */
/* Each tensor once; how many. */
static int list_uses(const struct op *op, struct joint_use *uses)
{
	int count = 0;
	for (int i = 0; i < op->read_count; i++)
		uses[i] = (struct joint_use){op->reads[i].tensor, JOINT_HBM, -1};
	if (op->read_count)
		qsort(uses, (size_t)op->read_count, sizeof *uses, joint_by_tensor);
	for (int i = 0; i < op->read_count; i++)
		if (i == 0 || uses[i].tensor != uses[count - 1].tensor)
			uses[count++] = uses[i];
	return count;
}

static int64_t price_whole(
	struct joint_making *making, int op, const struct staging_option *option, const char **why)
{
	const struct joint_question *question = making->question;
	struct staging staging = {0};
	struct step step = {
		.op = op, .mapping = mapping_make(question->arch, &question->workload->ops[op])};
	if (option) {
		staging = (struct staging){option->rows, option->sticks, option->count, {0}};
		step.staging = &staging;
	}
	struct plan plan = {.arch = question->arch,
		.workload = question->workload,
		.cores = question->planning->cores,
		.step_count = 1,
		.steps = &step};
	struct plan_cost cost;
	struct arena_mark mark = arena_mark(making->scratch);
	int64_t value = JOINT_NEVER;
	if (cost_plan(&plan, making->scratch, &cost))
		value = joint_worth(
			making, cost.phases[0].cycles, cost.score.energy_pj, cost.score.hbm_bytes);
	arena_release(making->scratch, mark);
	if (value == JOINT_NEVER)
		*why = arena_format(making->arena, "op '%s': a count does not fit into 64 bits",
			question->workload->ops[op].name);
	return value;
}

static void keep_whole(struct joint_making *making, int o, const struct staging_option *staging)
{
	struct arena *arena = making->arena;
	const struct op *op = &making->question->workload->ops[o];
	struct mapping mapping = mapping_make(making->question->arch, op);
	struct joint_choice *choice = arena_new(arena, struct joint_choice);
	struct joint_part part = {
		.mapping = arena_copy(arena, &mapping, sizeof mapping), .staging = staging};
	choice->parts = arena_copy(arena, &part, sizeof part);
	struct joint_use *uses = arena_array(arena, struct joint_use, op->read_count);
	struct joint_out *outs = arena_array(arena, struct joint_out, op->write_count);
	int use_count = list_uses(op, uses);
	for (int i = 0; i < op->write_count; i++)
		outs[i] = (struct joint_out){op->writes[i].tensor, -1, -1};
	*array_add(arena, &making->options) = (struct joint_option){.first = o,
		.end = o + 1,
		.value = price_whole(making, o, staging, &making->why),
		.room = staging ? staging->bytes : 0,
		.cores = 1,
		.ends_bundle = op->primitive->kind == OP_OPAQUE,
		.empties = op->primitive->kind == OP_OPAQUE,
		.use_count = use_count,
		.uses = uses,
		.out_count = op->write_count,
		.outs = outs,
		.choice = choice};
}

bool joint_whole_options(struct joint_making *making, int o)
{
	const struct planning *planning = making->question->planning;
	const struct op *op = &making->question->workload->ops[o];
	if (op->primitive->kind == OP_OPAQUE) {
		keep_whole(making, o, NULL);
		return !making->why;
	}
	const char *why = broadcast_misfit(making->arena, making->question->arch, op);
	const struct staging_menu *menu = planning->menus;
	if (!menu)
		menu = staging_menus(making->question->arch, making->question->workload,
			planning->staging_tiles, making->arena);
	while (menu->op && strcmp(menu->op, op->name))
		menu++;
	int64_t most = planning->lx_capacity;
	if (planning->staging_bytes)
		most = number_min(most, planning->staging_bytes);
	size_t before = making->options.count;
	for (size_t i = 0; !why && i < menu->count; i++)
		if (menu->options[i].bytes <= most)
			keep_whole(making, o, &menu->options[i]);
	if (!why && making->options.count == before)
		why = "no staging tiles that are worth trying fit into LX";
	if (why)
		making->why = arena_format(making->arena, "broadcast '%s': %s", op->name, why);
	return !making->why;
}

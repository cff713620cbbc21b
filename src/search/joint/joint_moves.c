#include "cost/graph/cost.h"
#include "cost/graph/traffic.h"
#include "model/graph/move.h"
#include "model/graph/workload_move.h"
#include "search/joint/joint_making.h"

/* A plan of one step: a move of the tensor, which lies in LX under the view behind it, or before. */
static struct plan *one_move(
	struct joint_making *making, enum move_kind kind, int tensor, const struct view *view)
{
	const struct joint_question *question = making->question;
	struct arena *arena = making->scratch;
	struct tensor *given =
		arena_copy(arena, &question->workload->tensors[tensor], sizeof *given);
	struct workload alone = {
		.name = question->workload->name, .tensor_count = 1, .tensors = given};
	int copy = workload_copy_in_hbm(question->workload, tensor);
	given->producer = -1;
	struct growing growing = growing_open(arena, &alone, 1);
	growing_move(&growing, kind, 0, 1, growing_name(&growing, kind, 0));
	if (kind == MOVE_EVICT && copy >= 0)
		((struct tensor *)growing.workload->tensors)[1].copy_of = 1;
	struct plan *plan = arena_new(arena, struct plan);
	*plan = (struct plan){.arch = question->arch,
		.workload = growing.workload,
		.cores = question->planning->cores,
		.step_count = 1,
		.residency_count = 1,
		.steps = arena_new(arena, struct step),
		.residencies = arena_new(arena, struct residency)};
	plan->steps[0].mapping =
		move_mapping(question->arch, growing.workload, &growing.workload->ops[0], view);
	plan->residencies[0] = (struct residency){.tensor = kind == MOVE_EVICT ? 0 : 1,
		.place = PLACE_LX,
		.view = *view,
		.size = view_bytes(&given->layout, view),
		.to = 1,
		.in_place_of = -1};
	return plan;
}

static struct joint_transfer find(
	struct joint_making *making, enum move_kind kind, int tensor, const struct view *view)
{
	struct joint_transfer transfer = {.known = true};
	struct arena_mark mark = arena_mark(making->scratch);
	struct plan *plan = one_move(making, kind, tensor, view);
	struct traffic_op *traffic = arena_new(making->scratch, struct traffic_op);
	struct step_count core;
	struct plan_cost cost;
	traffic_open_step(traffic, plan, 0, making->scratch);
	if (cost_plan(plan, making->scratch, &cost) && traffic_count_core(traffic, 0, &core)) {
		transfer.possible = true;
		transfer.cycles = cost.phases[0].cycles;
		transfer.hbm_bytes = cost.score.hbm_bytes;
		transfer.fill = core.bytes[0][TRAFFIC_LX_FILL];
		transfer.energy_pj = cost.score.energy_pj;
		transfer.cores = (int)mapping_cores(plan->arch, &plan->steps[0].mapping);
	}
	arena_release(making->scratch, mark);
	return transfer;
}

const struct joint_transfer *joint_move_in(struct joint_making *making, int tensor, int view)
{
	struct joint_views *views = &making->views[tensor];
	if (!views->in[view].known)
		views->in[view] = find(making, MOVE_RELOAD, tensor, &views->at[view]);
	return &views->in[view];
}

const struct joint_transfer *joint_move_out(struct joint_making *making, int tensor, int view)
{
	struct joint_views *views = &making->views[tensor];
	if (!views->out[view].known)
		views->out[view] = find(making, MOVE_EVICT, tensor, &views->at[view]);
	return &views->out[view];
}

#include "base/number.h"
#include "base/text.h"
#include "cost/graph/cost.h"
#include "cost/graph/footprint.h"
#include "cost/graph/latency.h"
#include "cost/graph/traffic.h"
#include "model/graph/run.h"
#include "model/graph/workload.h"
#include "search/engine/kept.h"
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
		transfer.share = arrival_share(
			plan->arch, plan->workload, traffic->op, &plan->steps[0].mapping);
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

int64_t joint_moves_cycles(
	const struct joint_making *making, int64_t hbm_bytes, int64_t fill, bool *fits)
{
	const struct arch *arch = making->question->arch;
	int64_t resources[RESOURCE_COUNT] = {0};
	struct core_work work = {.fill = fill};
	latency_raise(resources, arch, &work, fits);
	return number_max(resources[RESOURCE_FILL], latency_hbm(arch, hbm_bytes, 0, fits));
}

const struct joint_transfer *joint_move_out(struct joint_making *making, int tensor, int view)
{
	struct joint_views *views = &making->views[tensor];
	if (!views->out[view].known)
		views->out[view] = find(making, MOVE_EVICT, tensor, &views->at[view]);
	return &views->out[view];
}

/* --- relayouts, which equal layouts and views share */

struct relay_price {
	bool possible;
	int64_t cycles;
	double energy_pj;
};

static void put(struct text *key, int64_t value)
{
	text_bytes(key, (const char *)&value, sizeof value);
}

static void put_view(struct text *key, const struct view *view)
{
	put(key, view->cores);
	put(key, view->only > 1 ? view->only << 16 | view->only_divisor : 0);
	for (int i = 0; i < view->part_count; i++) {
		put(key, view->parts[i].dim);
		put(key, view->parts[i].split << 16 | view->parts[i].divisor);
	}
	put(key, -1);
}

static const struct relay_price *find_relay(struct joint_making *making,
	const struct layout *layout, const struct view *from, const struct view *to)
{
	struct text key = text_open(making->scratch);
	put(&key, layout->rank);
	put(&key, layout->stick_bytes);
	for (int d = 0; d < layout->rank; d++)
		put(&key, layout->size[d]);
	put_view(&key, from);
	put_view(&key, to);
	const struct relay_price *known = kept_find(making->kept, text_read(&key), key.length);
	if (known)
		return known;
	struct relayout_price found;
	struct relay_price price = {0};
	price.possible = relayout_price(making->question->arch, layout, from, to, &found);
	price.cycles = found.cycles;
	price.energy_pj = found.energy_pj;
	return kept_add(making->kept, text_read(&key), key.length, &price, sizeof price, 1);
}

int64_t joint_relay(struct joint_making *making, int tensor, int from, int to)
{
	const struct joint_views *views = &making->views[tensor];
	struct arena_mark mark = arena_mark(making->scratch);
	const struct relay_price *price =
		find_relay(making, &making->question->workload->tensors[tensor].layout,
			&views->at[from], &views->at[to]);
	arena_release(making->scratch, mark);
	return price->possible ? joint_worth(making, price->cycles, price->energy_pj, 0)
			       : JOINT_NEVER;
}

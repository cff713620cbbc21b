#include "base/arena.h"
#include "cost/graph/cost.h"
#include "model/graph/run.h"
#include "search/language/language.h"

#include <string.h>

/*
 * A plan of one step: the moves of its phase, then the op.  Tensors are those that the step uses, and behind them what
 * the moves make, which the op reads in their place.
 */
enum { USES_MOST = OP_READS_MOST + 2, TENSORS_MOST = 2 * USES_MOST + 1 };

struct single {
	const struct language *language;
	struct workload workload;
	struct plan plan;
	struct op ops[USES_MOST + 1];
	struct access writes[USES_MOST + 1];
	struct tensor tensors[TENSORS_MOST];
	struct step steps[USES_MOST + 1];
	struct residency stays[TENSORS_MOST];
};

static int add_tensor(struct single *single, int t, int producer)
{
	int number = (int)single->workload.tensor_count++;
	single->tensors[number] = single->language->workload->tensors[t];
	single->tensors[number].producer = producer;
	single->tensors[number].copy_of = 0;
	return number;
}

static void language_add_stay(struct single *single, int tensor, const struct view *view)
{
	struct residency *stay = &single->stays[single->plan.residency_count++];
	*stay = (struct residency){
		.tensor = tensor, .place = PLACE_LX, .to = USES_MOST + 2, .in_place_of = -1};
	if (view) {
		stay->view = *view;
		stay->size = view_bytes(&single->tensors[tensor].layout, view);
	}
}

static struct op *language_add_op(struct single *single, const struct op *op, int to)
{
	int number = (int)single->workload.op_count++;
	single->ops[number] = *op;
	single->writes[number] = op->writes[0];
	single->writes[number].tensor = to;
	single->ops[number].writes = &single->writes[number];
	single->steps[number].op = number;
	single->plan.step_count = (int)single->workload.op_count;
	return &single->ops[number];
}

static void open_single(struct single *single, const struct language *language)
{
	single->language = language;
	single->workload =
		(struct workload){.name = "step", .tensors = single->tensors, .ops = single->ops};
	single->plan = (struct plan){.arch = language->arch,
		.workload = &single->workload,
		.cores = language->planning->cores,
		.steps = single->steps,
		.residencies = single->stays};
}

/* A move of tensor `from` to a tensor that it makes. */
static void language_add_move(struct single *single, enum move_kind kind, int t, int from, int to,
	const struct view *view)
{
	struct op *move = language_add_op(single, &single->language->tensors[t].clone, to);
	move->move = kind;
	move->reads[0].tensor = from;
	single->steps[single->workload.op_count - 1].mapping =
		move_mapping(single->language->arch, &single->workload, move, view);
}

/* Tiles a move as the op is that reads what it makes: its pieces come when they are needed. */
static void tile_move(struct single *single, int move, int reader)
{
	const struct plan *plan = &single->plan;
	const struct op *op = &single->ops[reader], *own = &single->ops[move];
	struct mapping *mapping = &single->steps[move].mapping;
	struct mapping_row *row = &mapping->rows[plan->arch->lx];
	const struct mapping_row *other = &single->steps[reader].mapping.rows[plan->arch->lx];
	struct arrival_share share = arrival_share(plan->arch, &single->workload, own, mapping);
	int at = 0, matches[OP_LOOPS_MOST];
	memset(matches, -1, sizeof matches);
	for (int i = 0; i < op->read_count; i++)
		for (int h = 0; op->reads[i].tensor == own->writes[0].tensor &&
				h < single->tensors[own->writes[0].tensor].layout.host_rank;
			h++) {
			int loop = arrival_partner(&share, h, plan->arch, &single->workload, op, i,
				&single->steps[reader].mapping);
			if (loop >= 0)
				matches[share.loops[h]] = loop;
		}
	for (int i = 0; i < op->loop_count; i++)
		for (int l = 0; l < own->loop_count; l++)
			if (matches[l] == other->temporal_order[i]) {
				row->temporal[l] = other->temporal[matches[l]];
				row->temporal_order[at++] = (uint8_t)l;
			}
	for (int l = 0; l < own->loop_count; l++)
		if (matches[l] < 0)
			row->temporal_order[at++] = (uint8_t)l;
}

static bool read_price(struct single *single, struct arena *arena, struct language_price *out)
{
	struct plan_cost cost;
	if (!cost_plan(&single->plan, arena, &cost) || cost.score.rejected)
		return false;
	*out = (struct language_price){
		.hbm_bytes = cost.score.hbm_bytes, .energy_pj = cost.score.energy_pj};
	for (int p = 0; p < cost.phase_count; p++) {
		out->cycles += cost.phases[p].cycles;
		out->estimate += cost.phases[p].estimate;
	}
	for (int s = 0; s < single->plan.step_count; s++)
		out->cores = number_max(
			out->cores, mapping_cores(single->plan.arch, &single->steps[s].mapping));
	return cost.phase_count == 1;
}

bool language_price(const struct language *language, const struct language_step *step, bool least,
	struct arena *arena, struct language_price *out)
{
	const struct op *op = language->ops[step->op].op;
	struct single *single = arena_new(arena, struct single);
	int made[USES_MOST], from[USES_MOST];
	open_single(single, language);
	if (least)
		single->plan.arch = language->roomy;
	for (int u = 0; u < step->use_count; u++)
		made[u] = from[u] = add_tensor(single, step->uses[u].tensor, -1);
	int output = add_tensor(single, op->writes[0].tensor, 0);
	for (int u = 0; u < step->use_count; u++)
		if (step->uses[u].place == USE_RESIDENT)
			language_add_stay(single, from[u], NULL);
	if (step->out_in_lx)
		language_add_stay(single, output, &step->division->touches[op->read_count]->view);
	for (int u = 0; u < step->use_count; u++) {
		const struct step_use *use = &step->uses[u];
		if (use->place != USE_MOVED)
			continue;
		made[u] = add_tensor(single, use->tensor, (int)single->workload.op_count);
		language_add_stay(single, made[u], use->view);
		language_add_move(single, MOVE_RELOAD, use->tensor, from[u], made[u], use->view);
	}
	struct op *own = language_add_op(single, op, output);
	int last = (int)single->workload.op_count - 1;
	single->tensors[output].producer = last;
	single->steps[last].mapping = least ? step->division->mapping : step->mapping;
	for (int u = 0; u < step->use_count; u++)
		for (int i = 0; i < op->read_count; i++)
			if (step->uses[u].operands >> i & 1)
				own->reads[i].tensor = made[u];
	for (int move = 0; move < last; move++)
		tile_move(single, move, last);
	return read_price(single, arena, out);
}

bool language_price_evict(const struct language *language, int tensor, const struct view *view,
	struct arena *arena, struct language_price *out)
{
	struct single *single = arena_new(arena, struct single);
	open_single(single, language);
	int from = add_tensor(single, tensor, -1), to = add_tensor(single, tensor, 0);
	if (workload_copy_in_hbm(language->workload, tensor) >= 0)
		single->tensors[to].copy_of = 1 + add_tensor(single, tensor, -1);
	language_add_stay(single, from, view);
	language_add_move(single, MOVE_EVICT, tensor, from, to, view);
	return read_price(single, arena, out);
}

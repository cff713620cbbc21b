#include "search/joint/joint_graph.h"

#include "base/number.h"
#include "cost/graph/cost.h"
#include "search/engine/kept.h"
#include "search/graph/lx.h"
#include "search/joint/joint_making.h"
#include "search/joint/joint_nests.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct plan joint_steps(const struct joint_making *making, int cores)
{
	const struct workload *workload = making->question->workload;
	struct plan plan = {.arch = making->question->arch,
		.workload = workload,
		.cores = cores,
		.step_count = (int)workload->op_count,
		.steps = making->steps};
	return plan;
}

static struct step *make_steps(const struct workload *workload, struct arena *arena)
{
	struct step *steps = arena_array(arena, struct step, workload->op_count);
	for (size_t i = 0; i < workload->op_count; i++)
		steps[i].op = (int)i;
	return steps;
}

static bool find_divisions(struct joint_making *making)
{
	const struct workload *workload = making->question->workload;
	making->divisions =
		arena_array(making->scratch, struct joint_divisions, workload->op_count);
	making->views = arena_array(making->scratch, struct joint_views, workload->tensor_count);
	for (int o = 0; o < (int)workload->op_count; o++) {
		if (!joint_goes_on(making))
			return false;
		if (!arch_moves_boxes(making->question->arch))
			joint_nests_views(making, o);
		else if (!joint_divisions_make(making, o))
			return false;
	}
	if (joint_is_free(making, KIND_FUSION) && arch_moves_boxes(making->question->arch))
		joint_runs_find(making);
	joint_views_share(making,
		joint_is_free(making, KIND_SHARED) && arch_moves_boxes(making->question->arch));
	for (int t = 0; t < (int)workload->tensor_count; t++)
		if (!joint_views_close(making, t))
			return false;
	return true;
}

/* A bundle of one phase may use any number of tensors in HBM. */
static void mark_alone(const struct joint_making *making, struct joint_option *option)
{
	const struct joint_choice *choice = option->choice;
	int64_t most = making->question->arch->bundle_tensors;
	int count = option->argument_count;
	for (int u = 0; u < option->use_count; u++)
		count += option->uses[u].mode != JOINT_RESIDENT;
	for (int k = 0; k < option->out_count; k++)
		count += option->outs[k].view < 0;
	if (most > 0 && count > most && !choice->run)
		option->alone = option->ends_bundle = true;
}

static bool find_options(struct joint_making *making, struct joint_space *space)
{
	int ops = (int)making->question->workload->op_count;
	size_t *first = arena_array(making->arena, size_t, ops + 1);
	bool nests = !arch_moves_boxes(making->question->arch);
	for (int o = 0; o < ops; o++) {
		bool whole = nests && op_is_tiled(&making->question->workload->ops[o]);
		if (!(whole ? joint_nests_options : joint_options_make)(making, o))
			return false;
		joint_runs_make(making, o);
		first[o + 1] = making->options.count;
		for (size_t i = first[o]; i < first[o + 1]; i++)
			mark_alone(making, &making->options.at[i]);
	}
	space->op_count = ops;
	space->first_option = first;
	space->options = arena_copy(making->arena, making->options.at,
		making->options.count * sizeof *making->options.at);
	space->option_count = making->options.count;
	return true;
}

/* From a view under which it was left, moved in or laid out, to one that a later op asks for, and does not find
 * otherwise or in less room. */
static bool may_relay(const struct joint_making *making, int t, int from, int to)
{
	const struct joint_views *views = &making->views[t];
	int from_op = (int)number_min(views->made[from], views->first_asked[from]);
	return joint_relays(making, t) && from != to && from_op < views->asked[to] &&
	       (!joint_serves(views, from, to) || !joint_serves(views, to, from));
}

/* Writing back what an op has made, where HBM has no copy: a phase of its own. */
static void fill_moves(struct joint_making *making, int t, struct joint_tensor *out)
{
	struct joint_views *views = &making->views[t];
	bool nests = !arch_moves_boxes(making->question->arch);
	bool free = joint_is_free(making, KIND_EVICT) && !nests && making->stays[t] != STAY_LX &&
		    making->question->workload->tensors[t].producer >= 0;
	int64_t *relay = arena_array(making->arena, int64_t, views->count * views->count);
	int64_t *evict = arena_array(making->arena, int64_t, views->count);
	int64_t *bytes = arena_array(making->arena, int64_t, views->count);
	int *cores = arena_array(making->arena, int, views->count);
	const struct layout *layout = &making->question->workload->tensors[t].layout;
	for (int v = 0; v < views->count; v++) {
		bytes[v] = view_bytes(layout, &views->at[v]);
		evict[v] = JOINT_NEVER;
		for (int to = 0; to < views->count; to++)
			relay[v * views->count + to] = may_relay(making, t, v, to)
							       ? joint_relay(making, t, v, to)
							       : JOINT_NEVER;
		cores[v] = 1;
		if (nests)
			continue;
		const struct joint_transfer *move = joint_move_out(making, t, v);
		cores[v] = move->cores;
		if (free && move->possible && (views->made[v] < INT_MAX || joint_relays(making, t)))
			evict[v] =
				joint_worth(making, move->cycles, move->energy_pj, move->hbm_bytes);
	}
	out->bytes = bytes;
	out->cores = cores;
	out->relay = relay;
	out->evict = evict;
	out->serves = views->serves;
	out->view_count = views->count;
}

/* Tensors that are alike, as of equal blocks, share what moving them costs. */
static bool share_moves(const struct joint_making *making, int t, struct joint_tensor *tensors)
{
	int other = 0;
	while (other < t && (!making->views[t].count || !joint_views_alike(making, t, other)))
		other++;
	if (other == t)
		return false;
	tensors[t].bytes = tensors[other].bytes;
	tensors[t].cores = tensors[other].cores;
	tensors[t].relay = tensors[other].relay;
	tensors[t].evict = tensors[other].evict;
	tensors[t].serves = tensors[other].serves;
	tensors[t].view_count = tensors[other].view_count;
	return true;
}

static void fill_tensors(struct joint_making *making, struct joint_space *space)
{
	const struct workload *workload = making->question->workload;
	int count = (int)workload->tensor_count;
	struct joint_tensor *tensors = arena_array(making->arena, struct joint_tensor, count);
	for (int t = 0; t < count; t++) {
		const struct tensor *from = &workload->tensors[t];
		int first, end;
		users_life(&making->users, t, &first, &end);
		tensors[t] = (struct joint_tensor){.name = from->name,
			.producer = from->producer,
			.last = number_max(end - 1, from->producer),
			.output = from->role == TENSOR_OUTPUT};
		if (!share_moves(making, t, tensors))
			fill_moves(making, t, &tensors[t]);
	}
	space->tensors = tensors;
	space->tensor_count = count;
}

static const struct joint_graph *make_graph(const struct joint_making *making)
{
	struct arena *arena = making->arena;
	size_t count = making->question->workload->tensor_count;
	struct joint_graph *graph = arena_new(arena, struct joint_graph);
	const struct view **views = arena_array(arena, const struct view *, count);
	for (size_t t = 0; t < count; t++)
		if (making->views[t].count)
			views[t] = arena_copy(arena, making->views[t].at,
				(size_t)making->views[t].count * sizeof **views);
	graph->question = *making->question;
	graph->question.aim.fixed |= making->cut_tiles ? KIND_CUT_TILES : 0;
	graph->views = views;
	graph->unproven = making->unproven;
	return graph;
}

/* Sets the costs of bundles, in the unit of the space. */
static void fill_bundles(const struct joint_making *making, struct joint_space *space)
{
	const struct arch *arch = making->question->arch;
	space->bundle_most = (int)number_min(arch->bundle_tensors, INT32_MAX);
	space->bundle_value = joint_worth(making, arch->bundle_cycles, 0, 0);
	space->core_value = joint_worth(making, arch->core_cycles, 0, 0);
}

/* True if LX holds all tensors whole at once, so that no run is of use. */
static bool fits_whole(const struct joint_question *question)
{
	int64_t bytes = 0;
	for (size_t t = 0; t < question->workload->tensor_count; t++)
		bytes += question->workload->tensors[t].layout.bytes;
	return bytes <= question->planning->lx_capacity;
}

/* Takes away what there are too many choices of. */
static void joint_making_narrow(struct joint_making *making, unsigned *fixed)
{
	bool early = !(*fixed & KIND_EARLY);
	making->shares_early = making->shares;
	if (early && joint_early_tries(making, true) > EARLY_TRIES_MOST)
		making->shares_early = false;
	if (early && joint_early_tries(making, false) > EARLY_TRIES_MOST)
		*fixed |= KIND_EARLY;
	if (!making->shares || (!making->shares_early && !(*fixed & KIND_EARLY)))
		*fixed |= KIND_SHARED;
}

/* True if a bundle may have too many tensors, and it costs something to begin another one. */
static bool bundles_bind(const struct joint_question *question)
{
	const struct arch *arch = question->arch;
	return question->aim.cycles && (arch->bundle_cycles || arch->core_cycles) &&
	       arch->bundle_tensors > 0 &&
	       arch->bundle_tensors < (int64_t)question->workload->tensor_count;
}

const struct joint_space *joint_graph_make(
	const struct joint_question *question, struct arena *arena, const char **why)
{
	struct kept *own = question->aim.kept ? NULL : kept_open();
	struct joint_question narrowed = *question;
	narrowed.aim.fixed |= KIND_NEVER_FREE | (question->aim.brief ? KIND_BRIEF : 0);
	if (question->workload->op_count > SMALL_RUNS_OPS_MOST && !fits_whole(question))
		narrowed.aim.fixed |= KIND_SMALL_RUNS;
	if (question->workload->op_count > NARROW_RUNS_OPS_MOST && !fits_whole(question))
		narrowed.aim.fixed |= KIND_NARROW_RUNS;
	if (question->workload->op_count > LATE_EVICTS_OPS_MOST && bundles_bind(question))
		narrowed.aim.fixed |= KIND_LATE_EVICTS;
	struct joint_making making = {.question = &narrowed,
		.arena = arena,
		.scratch = arena_open(),
		.growing = arena_open(),
		.choices = kept_open(),
		.kept = own ? own : question->aim.kept,
		.users = users_make(arena, question->workload),
		.evicts_late = bundles_bind(question) && !(narrowed.aim.fixed & KIND_LATE_EVICTS),
		.stays = graph_stays(arena, question->planning->constraints, question->workload)};
	making.steps = make_steps(question->workload, making.scratch);
	making.apart =
		arena_array(making.scratch, struct joint_apart, question->workload->op_count);
	struct joint_space *space = arena_new(arena, struct joint_space);
	space->capacity = question->planning->lx_capacity;
	if (question->arch->lx < 0)
		making.why = "the machine has no scratchpad";
	else if (question->planning->constraints && question->planning->constraints->problem)
		making.why = "the graph is a problem with constraints of its own";
	bool made = !making.why && find_divisions(&making);
	if (made)
		joint_making_narrow(&making, &narrowed.aim.fixed);
	made = made && find_options(&making, space);
	if (made) {
		space->alignment = arch_lx(question->arch)->alignment;
		fill_tensors(&making, space);
		fill_bundles(&making, space);
		space->graph = make_graph(&making);
	}
	*why = making.why ? arena_text(arena, making.why) : NULL;
	kept_close(making.choices);
	arena_close(making.growing);
	arena_close(making.scratch);
	kept_leave(own, arena);
	return made ? space : NULL;
}

/* Ops that are not divided: opaque ones, and broadcasts with each of their staging tiles. */
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
	*array_add(making->growing, &making->options) = (struct joint_option){.first = o,
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

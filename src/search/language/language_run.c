#include "base/arena.h"
#include "base/text.h"
#include "cost/graph/cost.h"
#include "model/graph/run.h"
#include "search/language/language.h"

#include <string.h>

/*
 * Runs of ops, of the kind that joint spaces have: all ops divided alike by loops that they share, in as few tiles as
 * leave what is made and read inside all of LX on these cores, a half or a quarter of it.  Here everything from outside
 * is in HBM.
 */

/* --- a plan whose steps are the ops of the run */

/* Tensors that others than these ops use are not inside. */
static void take_tensors(
	const struct language *language, struct language_run *run, struct arena *arena)
{
	const struct workload *whole = language->workload;
	struct tensor *tensors =
		arena_copy(arena, whole->tensors, whole->tensor_count * sizeof *tensors);
	for (size_t t = 0; t < whole->tensor_count; t++) {
		int producer = tensors[t].producer;
		bool made = producer >= run->first && producer < run->end;
		tensors[t].producer = made ? producer - run->first : -1;
		if (made && language->tensors[t].last >= run->end)
			tensors[t].role = TENSOR_OUTPUT;
	}
	run->workload = (struct workload){.name = whole->name,
		.tensor_count = whole->tensor_count,
		.tensors = tensors,
		.op_count = (size_t)(run->end - run->first),
		.ops = &whole->ops[run->first]};
}

static void open_plan(
	const struct language *language, struct language_run *run, struct arena *arena)
{
	int count = run->end - run->first;
	take_tensors(language, run, arena);
	run->users = users_make(arena, &run->workload);
	run->tiles = (struct tile_run){.end = count};
	run->plan = (struct plan){.arch = language->arch,
		.workload = &run->workload,
		.cores = language->planning->cores,
		.step_count = count,
		.steps = arena_array(arena, struct step, count),
		.residencies =
			arena_array(arena, struct residency, language->workload->tensor_count),
		.run_count = 1,
		.runs = &run->tiles};
	for (int o = 0; o < count; o++)
		run->plan.steps[o].op = o;
}

static bool can_share(struct language_run *run, struct arena *arena)
{
	int step;
	return !plan_run_misfit(arena, &run->plan, 0, &step);
}

/* Loops of the first op that each by itself can be shared. */
static void language_run_find_loops(struct language_run *run, struct arena *arena)
{
	const struct op *op = &run->workload.ops[0];
	struct run_loop found[RUN_LOOPS_MOST];
	int count = 0;
	for (int l = 0; l < op->loop_count && count < RUN_LOOPS_MOST; l++) {
		run->tiles.loop_count = 1;
		run->tiles.loops[0] = (struct run_loop){op->loops[l].name, 1};
		if (can_share(run, arena))
			found[count++] = run->tiles.loops[0];
	}
	run->tiles.loop_count = count;
	memcpy(run->tiles.loops, found, (size_t)count * sizeof *found);
}

/* --- room */

static struct residency language_run_stay(const struct language_run *run, int tensor)
{
	struct residency stay = {.tensor = tensor, .place = PLACE_LX, .in_place_of = -1};
	users_life(&run->users, tensor, &stay.from, &stay.to);
	return stay;
}

static bool language_run_is_inside(const struct language_run *run, int tensor)
{
	return plan_inside(&run->plan, &run->users, tensor) != NULL;
}

/* True if a map may leave its output in the bytes of a part that dies with it. */
static bool takes_over(const struct language *language, const struct op *op, int t)
{
	const struct tensor *tensors = language->workload->tensors;
	const struct layout *own = &tensors[op->writes[0].tensor].layout;
	bool reads = false;
	if (op->primitive->kind != OP_MAP ||
		!name_list_has(&language->planning->in_place, op->type) ||
		!layout_equal(own, &tensors[t].layout))
		return false;
	for (int i = 0; i < op->read_count; i++) {
		if (op->reads[i].tensor != t)
			continue;
		reads = true;
		if (!access_equal(op, &op->reads[i], &op->writes[0], own->host_rank))
			return false;
	}
	return reads;
}

/* Bytes of all parts at one step, at most. */
static int64_t language_find_need(const struct language *language, const struct language_run *run)
{
	int64_t most = 0;
	for (int o = 0; o < run->plan.step_count; o++) {
		int64_t sum = 0;
		for (int other = 0; other <= o; other++) {
			int t = run->workload.ops[other].writes[0].tensor;
			struct residency stay = language_run_stay(run, t);
			if (!language_run_is_inside(run, t) || stay.to <= o ||
				(other < o && stay.to == o + 1 &&
					takes_over(language, &run->workload.ops[o], t)))
				continue;
			sum += plan_stay_layout(&run->plan, &stay).bytes;
		}
		most = number_max(most, sum);
	}
	return most;
}

/* The least need in tiles that are fewer of some loop, and no more of any, from loop k on; INT64_MAX: there are none. */
static int64_t find_coarser(
	const struct language *language, struct language_run *run, int k, bool fewer)
{
	if (k == run->tiles.loop_count)
		return fewer ? language_find_need(language, run) : INT64_MAX;
	int64_t tiles = run->tiles.loops[k].tiles, least = INT64_MAX;
	for (int64_t other = 1; other <= tiles; other++) {
		if (tiles % other)
			continue;
		run->tiles.loops[k].tiles = other;
		least = number_min(
			least, find_coarser(language, run, k + 1, fewer || other < tiles));
	}
	run->tiles.loops[k].tiles = tiles;
	return least;
}

/* As if the parts were divided evenly over the cores of the run. */
static bool has_few_tiles(const struct language *language, struct language_run *run)
{
	int64_t need = language_find_need(language, run),
		coarser = find_coarser(language, run, 0, false);
	int64_t cores = language->kinds.narrow_runs ? run->cores : language->planning->cores;
	for (int part = 1; part <= 4; part *= 2) {
		int64_t most = cores * (language->planning->lx_capacity / part);
		if (need <= most && coarser > most)
			return true;
	}
	return false;
}

/* True if all that may be in LX while an op of the run runs is more than LX holds, divided evenly. */
static bool is_short(const struct language *language, const struct language_run *run)
{
	for (int o = run->first; o < run->end; o++) {
		int64_t bytes = 0;
		for (size_t t = 0; t < language->workload->tensor_count; t++) {
			const struct tensor *tensor = &language->workload->tensors[t];
			const struct language_tensor *own = &language->tensors[t];
			if (own->may_lie && own->last >= o &&
				(tensor->producer < 0 || own->first <= o))
				bytes += tensor->layout.bytes / language->planning->cores;
		}
		if (bytes > language->planning->lx_capacity)
			return true;
	}
	return false;
}

/* --- divisions */

/* Units of a shared loop in one part, of all ops. */
static int64_t units_of(const struct language_run *run, const struct op *const *parts, int k)
{
	int64_t units = 0;
	for (int o = 0; o < run->plan.step_count; o++)
		units = number_gcd(units,
			op_units(&run->workload, parts[o], run_loop(parts[o], &run->tiles, k)));
	return units;
}

static int64_t language_run_most_cores(
	const struct language_run *run, const struct op *const *parts, int k, int64_t left)
{
	int64_t most = 1;
	if (k == run->tiles.loop_count)
		return 1;
	int64_t units = units_of(run, parts, k);
	for (int64_t split = 1; split <= left && split <= units; split++)
		if (units % split == 0)
			most = number_max(most,
				split * language_run_most_cores(run, parts, k + 1, left / split));
	return most;
}

/* Chooses the splits of the shared loops and their order over the cores. */
static bool choose_division(const struct language *language, struct language_run *run,
	const struct op *const *parts, struct choices *choices)
{
	int64_t most = language->planning->cores;
	int left[RUN_LOOPS_MOST], count = 0;
	run->order_count = 0;
	run->cores = 1;
	for (int k = 0; k < run->tiles.loop_count; k++) {
		run->splits[k] = choose_divisor(choices, units_of(run, parts, k));
		if (run->splits[k] > most / run->cores)
			return false;
		run->cores *= run->splits[k];
		if (run->splits[k] > 1)
			left[count++] = k;
	}
	for (; count; count--) {
		int next = (int)choose_below(choices, count);
		run->order[run->order_count++] = left[next];
		left[next] = left[count - 1];
	}
	return (language->kinds.few_cores && language->kinds.narrow_runs) ||
	       run->cores == language_run_most_cores(run, parts, 0, most);
}

static bool run_divide_loops(const struct language *language, struct language_run *run,
	const struct op *const *parts, struct arena *arena)
{
	for (int o = 0; o < run->plan.step_count; o++) {
		const struct op *op = parts[o];
		struct mapping *mapping = &run->plan.steps[o].mapping;
		*mapping = mapping_make(language->arch, op);
		struct mapping_row *row = &mapping->rows[language->arch->core];
		int at = 0;
		for (int i = 0; i < run->order_count; i++) {
			int l = run_loop(op, &run->tiles, run->order[i]);
			row->spatial[l] = (uint32_t)run->splits[run->order[i]];
			row->spatial_order[at++] = (uint8_t)l;
		}
		for (int l = 0; l < op->loop_count; l++)
			if (row->spatial[l] == 1)
				row->spatial_order[at++] = (uint8_t)l;
		if (mapping_check(arena, language->arch, &run->workload, op, mapping) ||
			run->cores > graph_cores(language->planning->constraints, op) ||
			graph_span(language->planning->constraints, op) != INT64_MAX)
			return false;
	}
	return true;
}

/* --- parts inside */

static struct touched touch_part(const struct language *language, const struct language_run *run,
	const struct op *part, int step, int operand, const struct layout *layout,
	struct arena *arena)
{
	struct tensor *tensors = arena_copy(
		arena, run->workload.tensors, run->workload.tensor_count * sizeof *tensors);
	struct workload workload = run->workload;
	tensors[op_operand(part, operand)->tensor].layout = *layout;
	workload.tensors = tensors;
	return touched_make(
		language->arch, &workload, part, &run->plan.steps[step].mapping, operand, arena);
}

/* Puts a part into LX; false if some reader does not find it where it is made, or LX cannot have it. */
static bool place_inside(const struct language *language, struct language_run *run,
	const struct op *const *parts, int t, struct arena *arena)
{
	struct residency stay = language_run_stay(run, t);
	struct layout layout = plan_stay_layout(&run->plan, &stay);
	int producer = run->workload.tensors[t].producer;
	struct touched made = touch_part(language, run, parts[producer], producer,
		parts[producer]->read_count, &layout, arena);
	if (!language->tensors[t].may_lie || !made.is_view)
		return false;
	for (size_t u = run->users.first[t]; u < run->users.first[t + 1]; u++) {
		struct user user = run->users.at[u];
		struct touched asked = touch_part(
			language, run, parts[user.op], user.op, user.operand, &layout, arena);
		if (!asked.is_view || !view_equal(&asked.view, &made.view))
			return false;
	}
	stay.view = made.view;
	stay.size = view_bytes(&layout, &made.view);
	run->plan.residencies[run->plan.residency_count++] = stay;
	return true;
}

/* Bytes of all parts at one step, at most. */
static int64_t find_room(const struct language_run *run)
{
	int64_t most = 0;
	for (int o = 0; o < run->plan.step_count; o++) {
		int64_t sum = 0;
		for (int i = 0; i < run->plan.residency_count; i++) {
			const struct residency *stay = &run->plan.residencies[i];
			if (stay->from <= o && o < stay->to)
				sum += stay->size;
		}
		most = number_max(most, sum);
	}
	return most;
}

/* --- one run */

static bool choose_shared(const struct language *language, struct language_run *run,
	struct choices *choices, struct arena *arena)
{
	int cut = 0;
	language_run_find_loops(run, arena);
	if (!run->tiles.loop_count)
		return false;
	for (int k = 0; k < run->tiles.loop_count; k++) {
		const struct op *op = &run->workload.ops[0];
		int64_t units = op_units(&run->workload, op, run_loop(op, &run->tiles, k));
		run->tiles.loops[k].tiles = choose_divisor(choices, units);
		cut += run->tiles.loops[k].tiles > 1;
	}
	return cut > 0 && (cut == 1 || language->kinds.fused_loops) && can_share(run, arena);
}

bool language_choose_run(const struct language *language, int first, struct choices *choices,
	struct arena *arena, struct language_run *run)
{
	const struct workload *workload = language->workload;
	int most = (int)workload->op_count - first - 1;
	const struct op **parts = arena_array(arena, const struct op *, workload->op_count);
	if (most < 1)
		return false;
	*run = (struct language_run){
		.first = first, .end = first + 2 + (int)choose_below(choices, most)};
	for (int o = first; o < run->end; o++)
		if (!op_is_tiled(&workload->ops[o]))
			return false;
	open_plan(language, run, arena);
	if ((!language->kinds.small_runs && !is_short(language, run)) ||
		!choose_shared(language, run, choices, arena))
		return false;
	for (int o = 0; o < run->plan.step_count; o++)
		parts[o] = run_op(arena, &run->workload, &run->workload.ops[o], &run->tiles, 0);
	if (!choose_division(language, run, parts, choices) || !has_few_tiles(language, run) ||
		!run_divide_loops(language, run, parts, arena))
		return false;
	for (int t = 0; t < (int)workload->tensor_count; t++)
		if (run->workload.tensors[t].producer >= 0 && language_run_is_inside(run, t) &&
			!place_inside(language, run, parts, t, arena))
			return false;
	for (int o = 0; o < run->plan.step_count; o++)
		language_tile(language->arch, &run->workload, parts[o], choices,
			&run->plan.steps[o].mapping);
	run->room = find_room(run);
	return run->room <= language->planning->lx_capacity;
}

bool language_price_run(
	const struct language_run *run, struct arena *arena, struct language_price *out)
{
	struct plan_cost cost;
	if (!cost_plan(&run->plan, arena, &cost) || cost.score.rejected)
		return false;
	*out = (struct language_price){.hbm_bytes = cost.score.hbm_bytes,
		.energy_pj = cost.score.energy_pj,
		.cores = run->cores};
	out->cycles = cost.score.cycles - cost.overhead_cycles;
	out->estimate = cost.score.estimate_cycles - cost.overhead_cycles;
	return true;
}

const char *language_print_run(
	const struct language *language, const struct language_run *run, struct arena *arena)
{
	struct text text = text_open(arena);
	text_add(&text, "ops '%s' to '%s' share", run->workload.ops[0].name,
		run->workload.ops[run->plan.step_count - 1].name);
	for (int k = 0; k < run->tiles.loop_count; k++)
		if (run->tiles.loops[k].tiles > 1)
			text_add(&text, " '%s' in %lld tiles", run->tiles.loops[k].name,
				(long long)run->tiles.loops[k].tiles);
	for (int o = 0; o < run->plan.step_count; o++)
		text_add(&text, ", %s",
			mapping_print(arena, language->arch, &run->workload.ops[o],
				&run->plan.steps[o].mapping));
	return text_read(&text);
}

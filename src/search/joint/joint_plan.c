#include "search/joint/joint_plan.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/number.h"
#include "base/text.h"
#include "model/graph/plan_check.h"
#include "model/graph/planning.h"
#include "model/graph/run.h"
#include "model/graph/workload.h"
#include "search/engine/kept.h"
#include "search/graph/stream.h"
#include "search/joint/joint_graph.h"
#include "search/joint/joint_nests.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* A plan in the making, beside the answer that it comes from. */
struct building {
	const struct joint_space *space;
	const struct joint_answer *answer;
	const struct joint_packing *packing;
	const struct joint_graph *graph;
	struct arena *arena;
	struct growing growing;
	int *in_hbm, *in_lx; /* by tensor of the graph: the tensor that it is there; -1 */
	int *stays;          /* by tensor of the plan: its stay + 1; 0: in HBM */
	struct residency
		*inside; /* by tensor of the plan: of one inside a run; size 0: it is none */
	size_t next_stay;
	int tensor_count, bundle;
	struct plan *plan;
	struct stream_choices choices;
	size_t step; /* of the answer */
};

static const struct view *joint_plan_view(const struct building *building, size_t stay)
{
	const struct joint_stay *at = &building->packing->stays.at[stay];
	return &building->graph->views[at->tensor][at->view];
}

/* Begins a stay in LX with this step, as this tensor of the plan. */
static size_t begin_stay(struct building *building, int of, int tensor)
{
	const struct joint_stays *stays = &building->packing->stays;
	size_t stay = building->next_stay;
	while (stays->at[stay].from < building->step || stays->at[stay].tensor != of)
		stay++;
	building->stays[tensor] = (int)stay + 1;
	building->in_lx[of] = tensor;
	return stay;
}

static struct step *joint_plan_add_step(struct building *building)
{
	struct plan *plan = building->plan;
	struct step *step = &plan->steps[plan->step_count];
	*step = (struct step){.op = plan->step_count, .bundle = building->bundle};
	plan->step_count++;
	return step;
}

/* A move of what the tensor of the graph is in HBM, or in LX. */
static void joint_plan_add_move(struct building *building, enum move_kind kind, int tensor)
{
	struct growing *growing = &building->growing;
	const struct plan *plan = building->plan;
	bool in_lx = kind == MOVE_EVICT || kind == MOVE_RELAYOUT;
	int from = in_lx ? building->in_lx[tensor] : building->in_hbm[tensor];
	int to = building->tensor_count++;
	const char *name = growing_name(growing, kind, from);
	growing_reserve(growing, name, to);
	growing_move(growing, kind, from, to, name);
	const struct view *view;
	if (kind == MOVE_EVICT) {
		view = joint_plan_view(building, (size_t)building->stays[from] - 1);
		building->in_hbm[tensor] = to;
	} else {
		view = joint_plan_view(building, begin_stay(building, tensor, to));
	}
	struct step *step = joint_plan_add_step(building);
	step->mapping = move_mapping(
		plan->arch, growing->workload, &growing->workload->ops[step->op], view);
}

/* --- options */

static const struct staging *make_staging(
	const struct building *building, const struct staging_option *option)
{
	const struct arch *arch = building->graph->question.arch;
	struct staging *staging = arena_new(building->arena, struct staging);
	*staging = (struct staging){option->rows, option->sticks, option->count, {0}};
	int64_t pitch = number_align_up(staging_bytes(staging), arch_lx(arch)->alignment);
	for (int k = 0; k < option->count; k++)
		staging->addresses[k] = building->packing->rooms[building->step] + k * pitch;
	return staging;
}

/* The tiles of a step, as the only ones that it could have. */
static const struct op_answer *only_choice(
	const struct building *building, const struct op_option *tiles)
{
	struct op_answer *answer = arena_new(building->arena, struct op_answer);
	*answer = (struct op_answer){.found = true, .count = 1};
	answer->at[0] = *tiles;
	return answer;
}

static void take_op(struct building *building, const struct joint_part *part)
{
	growing_take(&building->growing);
	struct step *step = joint_plan_add_step(building);
	step->mapping = *part->mapping;
	if (part->staging)
		step->staging = make_staging(building, part->staging);
	if (part->tiles)
		building->choices.at[step->op] = only_choice(building, part->tiles);
}

/* The run of the steps that come next. */
static void joint_plan_add_run(struct building *building, const struct tile_run *loops)
{
	struct plan *plan = building->plan;
	struct tile_run *run = &plan->runs[plan->run_count++];
	*run = *loops;
	run->first = plan->step_count;
	run->end = run->first + loops->end - loops->first;
}

/* Adds the stays of tensors inside a run. */
static void add_inside(struct building *building, const struct joint_choice *choice)
{
	int64_t room = building->packing->rooms[building->step];
	for (int i = 0; i < choice->inside_count; i++) {
		const struct joint_inside *inside = &choice->inside[i];
		building->inside[inside->tensor] = (struct residency){.place = PLACE_LX,
			.view = inside->view,
			.address = room + inside->offset,
			.size = 1,
			.in_place_of = inside->in_place_of - 1};
	}
}

/* Returns the read of an op that is of a tensor; one past the last if none is. */
static int find_read(const struct op *op, int tensor)
{
	int read = 0;
	while (read < op->read_count && op->reads[read].tensor != tensor)
		read++;
	return read;
}

/* Adds moves into LX: those that the op reads, in the order of its operands, then the others, so that the op begins as early
 * as it can (streaming_phase). */
static void add_moves_in(struct building *building, const struct joint_option *option)
{
	const struct op *op = &building->graph->question.workload->ops[option->end - 1];
	for (int read = 0; read <= op->read_count; read++)
		for (int u = 0; u < option->use_count; u++) {
			int tensor = option->uses[u].tensor;
			bool input = building->space->tensors[tensor].producer < 0;
			if (option->uses[u].mode == JOINT_MOVED && find_read(op, tensor) == read)
				joint_plan_add_move(
					building, input ? MOVE_CLONE : MOVE_RELOAD, tensor);
		}
}

static void take_option(struct building *building, const struct joint_option *option)
{
	const struct joint_choice *choice = option->choice;
	struct growing *growing = &building->growing;
	add_moves_in(building, option);
	for (int u = 0; u < option->use_count; u++) {
		const struct joint_use *use = &option->uses[u];
		growing->now[use->tensor] = use->mode == JOINT_HBM ? building->in_hbm[use->tensor]
								   : building->in_lx[use->tensor];
	}
	for (int o = 0; o < option->out_count; o++) {
		int tensor = option->outs[o].tensor;
		if (option->outs[o].view < 0)
			building->in_hbm[tensor] = tensor;
		else
			begin_stay(building, tensor, tensor);
	}
	if (choice->run)
		joint_plan_add_run(building, choice->run);
	add_inside(building, choice);
	for (int o = option->first; o < option->end; o++)
		take_op(building, &choice->parts[o - option->first]);
}

/* --- residencies */

static int tensor_of_stay(const struct building *building, int stay)
{
	for (int t = 0; t < building->tensor_count; t++)
		if (building->stays[t] == stay + 1)
			return t;
	return -1;
}

/* A part of a tensor that lives inside a run. */
static void take_inside(const struct building *building, int tensor, struct residency *stay)
{
	stay->place = PLACE_LX;
	stay->view = building->inside[tensor].view;
	stay->address = building->inside[tensor].address;
	stay->in_place_of = building->inside[tensor].in_place_of;
	struct layout layout = plan_stay_layout(building->plan, stay);
	stay->size = view_bytes(&layout, &stay->view);
}

static void add_residencies(struct building *building)
{
	struct plan *plan = building->plan;
	struct users users = users_make(building->arena, plan->workload);
	plan->residencies = arena_array(building->arena, struct residency, building->tensor_count);
	for (int t = 0; t < building->tensor_count; t++) {
		struct residency stay = {.tensor = t, .place = PLACE_HBM, .in_place_of = -1};
		plan_life(plan, &users, t, &stay.from, &stay.to);
		if (stay.from >= stay.to)
			continue;
		if (building->inside[t].size)
			take_inside(building, t, &stay);
		if (building->stays[t]) {
			size_t number = (size_t)building->stays[t] - 1;
			int parent = building->packing->in_place_of[number];
			stay.place = PLACE_LX;
			stay.view = *joint_plan_view(building, number);
			stay.address = building->packing->addresses[number];
			stay.size = view_bytes(&plan->workload->tensors[t].layout, &stay.view);
			if (parent >= 0)
				stay.in_place_of = tensor_of_stay(building, parent);
		}
		plan->residencies[plan->residency_count++] = stay;
	}
}

static int count_moves(const struct joint_space *space, const struct joint_answer *answer)
{
	int count = 0;
	for (size_t i = 0; i < answer->count; i++) {
		const struct joint_step *step = &answer->steps[i];
		if (step->kind != JOINT_OPTION) {
			count++;
			continue;
		}
		const struct joint_option *option = &space->options[step->option];
		for (int u = 0; u < option->use_count; u++)
			count += option->uses[u].mode == JOINT_MOVED;
	}
	return count;
}

static struct building joint_plan_open(const struct joint_space *space,
	const struct joint_answer *answer, const struct joint_packing *packing, struct arena *arena)
{
	const struct joint_graph *graph = space->graph;
	const struct workload *workload = graph->question.workload;
	int moves = count_moves(space, answer), tensors = (int)workload->tensor_count;
	int steps = (int)workload->op_count + moves;
	struct building building = {.space = space,
		.answer = answer,
		.packing = packing,
		.graph = graph,
		.arena = arena,
		.growing = growing_open(arena, workload, (size_t)moves),
		.in_hbm = arena_array(arena, int, tensors),
		.in_lx = arena_array(arena, int, tensors),
		.stays = arena_array(arena, int, tensors + moves),
		.inside = arena_array(arena, struct residency, tensors + moves),
		.tensor_count = tensors,
		.bundle = -1,
		.plan = arena_new(arena, struct plan),
		.choices = {arena_array(arena, const struct op_answer *, steps)}};
	for (int t = 0; t < tensors; t++)
		building.in_hbm[t] = building.in_lx[t] = t;
	*building.plan = (struct plan){.arch = graph->question.arch,
		.workload = building.growing.workload,
		.cores = graph->question.planning->cores,
		.steps = arena_array(arena, struct step, steps),
		.runs = arena_array(arena, struct tile_run, steps)};
	return building;
}

struct plan *joint_build(const struct joint_space *space, const struct joint_answer *answer,
	const struct joint_packing *packing, struct arena *arena)
{
	struct building building = joint_plan_open(space, answer, packing, arena);
	const struct joint_stays *stays = &packing->stays;
	for (; building.step < answer->count; building.step++) {
		const struct joint_step *step = &answer->steps[building.step];
		building.bundle += step->begins_bundle;
		while (building.next_stay < stays->count &&
			stays->at[building.next_stay].from < building.step)
			building.next_stay++;
		if (step->kind == JOINT_OPTION)
			take_option(&building, &space->options[step->option]);
		else
			joint_plan_add_move(&building,
				step->kind == JOINT_EVICT ? MOVE_EVICT : MOVE_RELAYOUT,
				step->tensor);
	}
	add_residencies(&building);
	if (arch_moves_boxes(building.plan->arch))
		stream_choose(building.plan, &building.choices, TILES_ALL);
	return building.plan;
}

const struct joint_space *joint_plan_space(struct run *run, const struct problem *problem)
{
	if (problem->joint)
		return problem->joint;
	struct joint_question question = {.arch = problem->arch,
		.workload = problem->workload,
		.planning = problem->planning,
		.aim = *problem->aim};
	const char *why;
	const struct joint_space *space = joint_graph_make(&question, run_arena(run), &why);
	if (!space)
		run_complain(run, true, -1, "%s", why);
	return space;
}

bool joint_plan_offer(
	struct run *run, const struct joint_space *space, const struct joint_answer *answer)
{
	struct arena *arena = run_arena(run);
	struct candidate candidate = {
		.stage = STAGE_JOINT, .joint = arena_copy(arena, answer, sizeof *answer)};
	if (space->graph) {
		struct joint_packing packing = joint_pack(space, answer, run, 0, arena);
		if (packing.status != VERDICT_YES)
			return false;
		const struct joint_graph *graph = space->graph;
		struct plan *plan = joint_build(space, answer, &packing, arena);
		plan->proof.space = joint_claim_text(arena, &graph->question);
		joint_nests_polish(graph, plan, arena);
		candidate.plan = plan;
	}
	run_offer(run, &candidate, (double)answer->value);
	return true;
}

void joint_plan_prove(
	struct run *run, const struct joint_space *space, enum proof_status status, double bound)
{
	const struct joint_graph *graph = space->graph;
	if (!graph || !graph->unproven)
		run_prove(run, status, bound);
}

const char *const joint_kind_names[] = {"evict", "reload", "clone", "few_cores", "reduction",
	"many_loops", "orders", "fusion", "fused_loops", "relay", "owners", "early_moves",
	"both_places", "shared_views", "small_runs", "unlike_runs", "other_moves", "cut_tiles",
	"late_evicts", "narrow_runs", NULL};
enum { KIND_NAMES = sizeof joint_kind_names / sizeof *joint_kind_names - 1 };
_Static_assert(1 << (KIND_NAMES - 1) == KIND_NARROW_RUNS, "every kind has a name");

static const char *const tile_names[] = {"price", "published"};
static const char *const sum_names[] = {"cycles", "energy", "hbm_bytes"};

static void write_term(struct text *text, int64_t weight, const char *name)
{
	if (!weight)
		return;
	if (text->length)
		text_add(text, " + ");
	if (weight != 1)
		text_add(text, "%" PRId64 " ", weight);
	text_add(text, "%s", name);
}

const char *joint_claim_text(struct arena *arena, const struct joint_question *question)
{
	const struct joint_aim *aim = &question->aim;
	const struct planning *planning = question->planning;
	struct text text = text_open(arena);
	write_term(&text, aim->cycles, sum_names[0]);
	write_term(&text, aim->energy, sum_names[1]);
	write_term(&text, aim->hbm_bytes, sum_names[2]);
	text_add(&text, " by %s, tiles by %s, at most %d cores, %" PRId64 " bytes of LX, fixed:",
		price_names[planning->price], tile_names[planning->published_tiles],
		planning->cores, planning->lx_capacity);
	for (int k = 0; k < KIND_NAMES; k++)
		if (aim->fixed >> k & 1)
			text_add(&text, " %s", joint_kind_names[k]);
	if (!aim->fixed)
		text_add(&text, " nothing");
	return text_read(&text);
}

/* --- back */

struct claim_reading {
	const char *at;
	const char *why;
	struct arena *arena;
};

static bool claim_take_word(struct claim_reading *reading, const char *word)
{
	size_t length = strlen(word);
	if (strncmp(reading->at, word, length) != 0)
		return false;
	reading->at += length;
	return true;
}

static void claim_reading_expect(struct claim_reading *reading, const char *word)
{
	if (!reading->why && !claim_take_word(reading, word))
		reading->why = arena_format(
			reading->arena, "'%s' is expected before '%.40s'", word, reading->at);
}

static int take_one(struct claim_reading *reading, const char *const *names, int count)
{
	for (int i = 0; i < count; i++)
		if (claim_take_word(reading, names[i]))
			return i;
	if (!reading->why)
		reading->why = arena_format(
			reading->arena, "no word that a proof uses stands at '%.40s'", reading->at);
	return 0;
}

static int64_t claim_reading_take_number(struct claim_reading *reading, int64_t otherwise)
{
	int64_t number;
	int length = 0;
	if (sscanf(reading->at, "%18" SCNd64 "%n", &number, &length) < 1 || number <= 0)
		return otherwise;
	reading->at += length;
	return number;
}

static void read_sum(struct claim_reading *reading, struct joint_aim *aim)
{
	do {
		int64_t weight = claim_reading_take_number(reading, 1);
		claim_take_word(reading, " ");
		int name = take_one(reading, sum_names, 3);
		*(name == 0 ? &aim->cycles : name == 1 ? &aim->energy : &aim->hbm_bytes) = weight;
	} while (!reading->why && claim_take_word(reading, " + "));
}

bool joint_claim_read(struct arena *arena, const char *text, struct joint_aim *aim,
	struct planning *planning, const char **why)
{
	struct claim_reading reading = {.at = text, .arena = arena};
	aim->cycles = aim->energy = aim->hbm_bytes = 0;
	aim->fixed = 0;
	read_sum(&reading, aim);
	claim_reading_expect(&reading, " by ");
	planning->price = (enum price)take_one(&reading, price_names, 2);
	claim_reading_expect(&reading, ", tiles by ");
	planning->published_tiles = take_one(&reading, tile_names, 2);
	claim_reading_expect(&reading, ", at most ");
	planning->cores = (int)claim_reading_take_number(&reading, 0);
	claim_reading_expect(&reading, " cores, ");
	planning->lx_capacity = claim_reading_take_number(&reading, 0);
	claim_reading_expect(&reading, " bytes of LX, fixed:");
	if (!claim_take_word(&reading, " nothing"))
		do {
			claim_reading_expect(&reading, " ");
			aim->fixed |= 1u << take_one(&reading, joint_kind_names, KIND_NAMES);
		} while (!reading.why && *reading.at);
	if (!reading.why && *reading.at)
		reading.why = arena_format(arena, "'%.40s' follows its end", reading.at);
	*why = reading.why;
	return !reading.why;
}

static struct joint_worth solve_without(const struct recipe *recipe, const char *kind)
{
	struct joint_worth worth = {.kind = kind};
	struct arena *arena = arena_open();
	struct recipe_result found = recipe_plan(recipe, arena);
	if (found.plan) {
		worth.cycles = found.plan->proof.value;
		worth.proven = found.plan->proof.status == PROOF_OPTIMAL;
	} else {
		worth.why = "no plan was found";
	}
	arena_close(arena);
	return worth;
}

struct joint_worths joint_worths(const struct recipe *recipe, struct arena *arena)
{
	struct joint_worths worths = {0};
	struct recipe asked = *recipe;
	asked.kept = kept_open();
	worths.at[worths.count++] = solve_without(&asked, NULL);
	for (int k = 0; joint_kind_names[k] && worths.count < JOINT_WORTHS_MOST; k++) {
		asked.aim.fixed = recipe->aim.fixed | 1u << k;
		if (1u << k != KIND_CUT_TILES && asked.aim.fixed != recipe->aim.fixed)
			worths.at[worths.count++] = solve_without(&asked, joint_kind_names[k]);
	}
	kept_leave(asked.kept, arena);
	for (size_t i = 1; i < worths.count; i++)
		if (!worths.at[i].why && worths.at[i].cycles < worths.at[0].cycles)
			worths.at[0].cycles = worths.at[i].cycles;
	return worths;
}

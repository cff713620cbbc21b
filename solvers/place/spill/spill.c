#include "solvers/place/spill/spill.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/number.h"
#include "search/engine/milp.h"
#include "solvers/place/pack/options.h"
#include "solvers/place/spill/climb.h"
#include "solvers/place/spill/model.h"
#include "solvers/place/spill/options.h"

#include <math.h>
#include <string.h>

/*
 * The integer program of most gain that holds every row and every cut.  Columns of items are
 * integers, the first columns; what versions gain and what pairs share follows from them.
 */
static struct milp *spill_master_make(struct arena *arena, const struct spill_model *model,
	const struct spill_cut *cuts, size_t cut_count);

static void add_columns(struct milp *milp, const struct spill_model *model)
{
	for (int i = 0; i < model->item_count; i++) {
		const struct spill_item *item = &model->items[i];
		bool never = item->tied && !item->parent_count;
		milp_column(milp, 0, never ? 0 : 1, true, -(double)item->gain);
	}
	for (int v = 0; v < model->version_count; v++)
		milp_column(milp, 0, 1, true, -(double)model->versions[v].gain);
	for (int p = 0; p < model->pair_count; p++)
		milp_column(milp, 0, model->pairs[p].row < 0 ? 0 : 1, false, 0);
}

static int version_column(const struct spill_model *model, int version)
{
	return model->item_count + version;
}

static int pair_column(const struct spill_model *model, int pair)
{
	return version_column(model, model->version_count) + pair;
}

static void add_room(struct milp *milp, const struct spill_model *model)
{
	for (int r = 0; r < model->row_count; r++) {
		const struct spill_row *row = &model->rows[r];
		milp_row(milp, -INFINITY, (double)model->room);
		for (int k = 0; k < row->item_count; k++)
			milp_entry(milp, row->items[k], (double)model->items[row->items[k]].size);
		for (int k = 0; k < row->pair_count; k++)
			milp_entry(milp, pair_column(model, row->pairs[k]),
				-(double)model->pairs[row->pairs[k]].size);
	}
}

/* An item shares with one neighbour on each side: of its buffer, or of its family. */
static void add_sharing(struct milp *milp, const struct spill_model *model, int i)
{
	const struct spill_item *item = &model->items[i];
	for (int side = 0; side < 2; side++) {
		bool open = false;
		for (int k = 0; k < item->pair_count; k++) {
			const struct spill_pair *pair = &model->pairs[item->pairs[k]];
			if ((side ? pair->second : pair->first) != i)
				continue;
			if (!open) {
				milp_row(milp, -INFINITY, 0);
				milp_entry(milp, i, -1);
			}
			open = true;
			milp_entry(milp, pair_column(model, item->pairs[k]), 1);
		}
	}
	for (int k = item->rival; k < item->rival_end && item->whole; k++) {
		milp_row(milp, -INFINITY, 1);
		milp_entry(milp, i, 1);
		milp_entry(milp, k, 1);
	}
	if (!item->tied || !item->parent_count)
		return;
	milp_row(milp, -INFINITY, 0);
	milp_entry(milp, i, 1);
	for (int k = 0; k < item->parent_count; k++)
		milp_entry(milp, item->parents[k], -1);
}

static void add_versions(struct milp *milp, const struct spill_model *model)
{
	for (int v = 0; v < model->version_count; v++)
		for (int i = model->versions[v].item; i < model->versions[v].item_end; i++) {
			milp_row(milp, -INFINITY, 0);
			milp_entry(milp, version_column(model, v), 1);
			milp_entry(milp, i, -1);
		}
}

static void add_cut(struct milp *milp, const struct spill_cut *cut)
{
	milp_row(milp, -INFINITY, cut->item_count - 1);
	for (int k = 0; k < cut->item_count; k++)
		milp_entry(milp, cut->items[k], 1);
	for (int k = 0; k < cut->parent_count; k++)
		milp_entry(milp, cut->parents[k], -1);
}

static struct milp *spill_master_make(struct arena *arena, const struct spill_model *model,
	const struct spill_cut *cuts, size_t cut_count)
{
	struct milp *milp = milp_make(arena);
	add_columns(milp, model);
	add_room(milp, model);
	for (int i = 0; i < model->item_count; i++)
		add_sharing(milp, model, i);
	add_versions(milp, model);
	for (size_t c = 0; c < cut_count; c++)
		add_cut(milp, &cuts[c]);
	return milp;
}

struct spilling {
	struct run *run;
	struct arena *arena; /* as long as the search */
	const struct spill_model *model;
	struct spill_climb climb; /* has the best */
	struct array(struct spill_cut) cuts;
	int64_t most;             /* no set gains more */
	uint64_t work, share;     /* of the master; how much more the climb gets */
	bool spent, is_too_large; /* for the packer */
};

/* Weights that are lost when so much is gained. */
static double lost(const struct spilling *spilling, int64_t gain)
{
	const struct spill_model *model = spilling->model;
	return (double)(model->all - gain * model->unit_gain);
}

static void offer(struct spilling *spilling)
{
	if (!spilling->climb.better)
		return;
	struct candidate candidate = {.stage = STAGE_PLACE,
		.placement = spill_placement(run_arena(spilling->run), spilling->model,
			spilling->climb.best.kept, spilling->climb.best_at)};
	spilling->climb.better = false;
	run_offer(spilling->run, &candidate, lost(spilling, spilling->climb.best.gain));
	run_report(spilling->run, lost(spilling, spilling->climb.best.gain),
		lost(spilling, spilling->most));
}

/* No set gains more than this, or than the best. */
static void bound(struct spilling *spilling, int64_t most)
{
	int64_t before = spilling->most;
	spilling->most = number_min(before, number_max(most, spilling->climb.best.gain));
	if (spilling->most < before)
		run_report(spilling->run, lost(spilling, spilling->climb.best.gain),
			lost(spilling, spilling->most));
}

static bool is_done(const struct spilling *spilling)
{
	return spilling->spent || spilling->climb.best.gain >= spilling->most;
}

/* The climb takes its share of the work. */
static bool go_on(void *user, uint64_t iterations, int rows)
{
	struct spilling *spilling = user;
	(void)rows;
	spilling->spent |= !run_spend(spilling->run, 1 + iterations);
	spilling->work += SPILL_CALL_WORK + SPILL_ITERATION_WORK * iterations;
	while (!is_done(spilling) && spilling->climb.work < spilling->work * spilling->share) {
		spill_climb_step(&spilling->climb);
		spilling->spent |= !run_spend(spilling->run, 1);
		offer(spilling);
	}
	return !is_done(spilling);
}

static bool *read_kept(struct spilling *spilling, const double *values)
{
	bool *kept = arena_array(spilling->arena, bool, spilling->model->item_count);
	for (int i = 0; i < spilling->model->item_count; i++)
		kept[i] = values[i] > 0.5;
	return kept;
}

static void found(void *user, const double *values)
{
	struct spilling *spilling = user;
	spill_climb_try(&spilling->climb, read_kept(spilling, values), SPILL_MASTER_NODES);
	offer(spilling);
}

/* What a point gains; as whole numbers. */
static int64_t bound_of(const struct spilling *spilling, const struct milp_answer *answer)
{
	double margin = milp_margin(spilling->model->item_count, answer->bound);
	if (!(answer->bound > -(double)spilling->model->total))
		return spilling->model->total;
	return (int64_t)floor(-answer->bound + margin);
}

/* Asks the packer about a set, longer and longer, and cuts it off if it does not pack. */
static void decide(struct spilling *spilling, const bool *kept)
{
	struct spill_question question =
		spill_question_make(spilling->arena, spilling->model, kept);
	struct pack_question asked = {.packing = &question.packing,
		.capacity = question.packing.capacity,
		.nodes = SPILL_MASTER_NODES,
		.varied = true,
		.explain = true};
	struct pack_answer answer = pack(spilling->run, &asked, spilling->arena);
	spilling->work += answer.nodes;
	while (answer.status == VERDICT_OPEN && !answer.is_too_large && go_on(spilling, 0, 0)) {
		asked.nodes *= SPILL_MORE_NODES;
		answer = pack(spilling->run, &asked, spilling->arena);
		spilling->work += answer.nodes;
	}
	spilling->spent |= answer.status == VERDICT_OPEN;
	spilling->is_too_large |= answer.is_too_large;
	if (answer.status == VERDICT_YES)
		spill_climb_keep(&spilling->climb, kept, &question, answer.placement);
	if (answer.status != VERDICT_NO)
		return;
	int *all = arena_array(spilling->arena, int, question.packing.count);
	for (size_t r = 0; r < question.packing.count; r++)
		all[r] = (int)r;
	*array_add(spilling->arena, &spilling->cuts) = spill_question_cut(spilling->arena,
		&question, answer.core_count ? answer.core : all,
		answer.core_count ? answer.core_count : question.packing.count);
}

static void ask_master(struct spilling *spilling)
{
	struct arena *arena = arena_open();
	struct milp_wishes wishes = {
		.user = spilling, .go_on = go_on, .found = found, .covers = true};
	struct milp *master =
		spill_master_make(arena, spilling->model, spilling->cuts.at, spilling->cuts.count);
	struct milp_answer answer = milp_solve(master, &wishes, arena);
	if (answer.status == PROOF_INFEASIBLE)
		bound(spilling, 0);
	else if (answer.bound > -INFINITY)
		bound(spilling, bound_of(spilling, &answer));
	spilling->spent |= answer.status == PROOF_NONE;
	if (answer.status == PROOF_OPTIMAL && !is_done(spilling))
		decide(spilling, read_kept(spilling, answer.values));
	arena_close(arena);
}

void spill_run(struct run *run, const struct problem *problem)
{
	struct arena *arena = arena_open();
	struct spilling spilling = {.run = run, .arena = arena};
	spilling.model = spill_model_make(arena, problem->packing, SPILL_ENTRIES_MOST);
	if (!spilling.model) {
		run_complain(run, true, -1, "the weights add up to more than 2^63 - 1");
		arena_close(arena);
		return;
	}
	spilling.most = spilling.model->total;
	spilling.share = 1;
	spilling.climb = spill_climb_start(run, arena, spilling.model);
	offer(&spilling);
	while (!is_done(&spilling)) {
		ask_master(&spilling);
		spilling.share = SPILL_CLIMB_SHARE;
		offer(&spilling);
	}
	bool optimal = spilling.climb.best.gain >= spilling.most;
	if (!optimal && spilling.is_too_large)
		run_complain(run, false, -1,
			"the proof ends early: more than %d pairs of buffers that are kept live at the same "
			"time, which no budget helps; split the table where few buffers live",
			PACK_PAIRS_MOST);
	run_prove(run, optimal ? PROOF_OPTIMAL : PROOF_BOUND, lost(&spilling, spilling.most));
	arena_close(arena);
}

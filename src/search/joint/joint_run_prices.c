#include "base/arena.h"
#include "base/number.h"
#include "model/graph/run.h"
#include "search/graph/op_map.h"
#include "search/joint/joint_making.h"

#include <stdlib.h>
#include <string.h>

/* Prices the runs that begin with one op, for every choice of homes of the tensors that they use. */
enum {
	ALL_PLACES_MOST = 4
}; /* tensors that may lie in LX of which every choice of places is tried */

/* Sums over steps and iterations. */
struct run_sums {
	int64_t cycles, hbm_bytes, fill;
	double energy_pj;
};

struct run_choosing {
	struct joint_making *making;
	struct arena *arena; /* of parts and mappings, until drafts are kept */
	struct joint_run *run;
	struct workload part; /* of the first iteration: its ops, and parts of what lives inside */
	struct joint_use *uses; /* by outer: of what is read, where it is */
	int *outs;              /* by outer: of what is made, the view under which it is left; -1 */
	bool fixed;             /* places are those of `uses`: not all are tried */
	int64_t apart;          /* the most that its ops cost one by one */
	struct joint_drafts drafts;
};

/* --- the price */

static bool run_choosing_is_in_lx(const struct run_choosing *choosing, int tensor)
{
	const struct joint_run *run = choosing->run;
	for (int i = 0; i < run->inside_count; i++)
		if (run->inside[i].tensor == tensor)
			return true;
	for (int n = 0; n < run->outer_count; n++)
		if (run->outers[n].tensor == tensor)
			return run->outers[n].made ? choosing->outs[n] >= 0
						   : choosing->uses[n].mode != JOINT_HBM;
	return false;
}

/* All iterations of one op, with the tiles that are best for the first. */
static bool run_choosing_add_op(
	struct run_choosing *choosing, int o, struct op_option *tiles, struct run_sums *sums)
{
	struct joint_making *making = choosing->making;
	const struct joint_question *asked = making->question;
	const struct joint_run *run = choosing->run;
	const struct op *whole = &asked->workload->ops[o];
	struct mapping mapping = run->mappings[o - run->loops.first];
	struct op_question question = {.arch = asked->arch,
		.workload = &choosing->part,
		.op = &choosing->part.ops[o],
		.mapping = &mapping,
		.by_rule = asked->planning->published_tiles};
	int64_t worth;
	bool fits = true;
	for (int i = 0; i < op_operands(whole); i++)
		if (run_choosing_is_in_lx(choosing, op_operand(whole, i)->tensor))
			question.in_lx |= 1u << i;
	if (!joint_tiles(making, &question, 0, tiles, &worth))
		return false;
	/* Parts have layouts of their own, but sticks are copied as they are. */
	bool moves = question.in_lx == 2 && op_copies_sticks(asked->workload, whole);
	memcpy(mapping.rows[asked->arch->lx].temporal, tiles->tiles,
		whole->loop_count * sizeof *tiles->tiles);
	memcpy(mapping.rows[asked->arch->lx].temporal_order, tiles->order,
		(size_t)whole->loop_count);
	if (tiles->nest)
		op_map_nest(asked->arch, tiles->nest, &mapping);
	struct arena_mark mark = arena_mark(making->scratch);
	struct run_classes classes =
		run_classes(making->scratch, asked->workload, whole, &run->loops);
	for (size_t c = 0; c < classes.count; c++) {
		struct op_value value = tiles->value;
		if (classes.at[c].iteration > 0 || moves) {
			struct traffic_op *traffic = arena_new(making->scratch, struct traffic_op);
			question.op = run_op(making->scratch, asked->workload, whole, &run->loops,
				classes.at[c].iteration);
			struct inner_question inner = {.arch = asked->arch,
				.workload = moves ? asked->workload : &choosing->part,
				.op = question.op,
				.mapping = &mapping,
				.in_lx = question.in_lx};
			traffic_open_nest(traffic, &inner, making->scratch);
			fits &= op_value_find(traffic, &question, &value);
		}
		if (moves) /* nothing is computed behind what comes */
			value.estimate = value.cycles;
		int64_t times = classes.at[c].count;
		sums->cycles = checked_add(&fits, sums->cycles,
			checked_mul(
				&fits, op_value_latency(&value, asked->planning->price), times));
		sums->hbm_bytes = checked_add(
			&fits, sums->hbm_bytes, checked_mul(&fits, value.hbm_bytes, times));
		sums->energy_pj += value.energy_pj * (double)times;
	}
	arena_release(making->scratch, mark);
	return fits;
}

/* Adds all ops of the run; false if their sum is no less than `most`. */
static bool run_choosing_add_ops(
	struct run_choosing *choosing, struct op_option *tiles, int64_t most, struct run_sums *sums)
{
	const struct tile_run *run = &choosing->run->loops;
	for (int o = run->first; o < run->end; o++)
		if (!run_choosing_add_op(choosing, o, &tiles[o - run->first], sums) ||
			joint_worth(choosing->making, sums->cycles, sums->energy_pj,
				sums->hbm_bytes) >= most)
			return false;
	return true;
}

/* Adds the moves into LX right before the run, which are one phase. */
static bool add_moves(struct run_choosing *choosing, struct run_sums *sums, int64_t *cores)
{
	const struct joint_run *run = choosing->run;
	struct moved moved = {0};
	bool fits = true;
	for (int n = 0; n < run->outer_count; n++) {
		const struct joint_use *use = &choosing->uses[n];
		if (run->outers[n].made || use->mode != JOINT_MOVED)
			continue;
		const struct joint_transfer *in =
			joint_move_in(choosing->making, use->tensor, use->view);
		moved_join(&moved, &in->moved, choosing->making->question->arch, &fits);
		sums->energy_pj += in->energy_pj;
		*cores = number_max(*cores, in->cores);
		fits &= in->possible;
	}
	int64_t cycles = joint_moves_cycles(choosing->making, &moved, &fits);
	sums->cycles = checked_add(&fits, sums->cycles, cycles);
	sums->hbm_bytes = checked_add(&fits, sums->hbm_bytes, moved.hbm);
	return fits;
}

/* Notes what is moved in for this run alone, under any view. */
static void note_dying(const struct run_choosing *choosing, struct joint_draft *draft)
{
	const struct joint_making *making = choosing->making;
	const struct joint_run *run = choosing->run;
	for (int u = 0; u < draft->option.use_count; u++) {
		const struct joint_use *use = &draft->option.uses[u];
		const struct joint_outer *outer = run->outers;
		while (outer->tensor != use->tensor)
			outer++;
		if (use->mode != JOINT_MOVED || !outer->dies)
			continue;
		draft->dying |= 1u << u;
		draft->dying_bytes +=
			view_bytes(&making->question->workload->tensors[use->tensor].layout,
				&making->views[use->tensor].at[use->view]);
	}
}

/* True if the run shares nothing in LX with the ops around it. */
static bool is_apart(const struct run_choosing *choosing)
{
	const struct joint_run *run = choosing->run;
	bool is = true;
	for (int n = 0; n < run->outer_count; n++)
		is &= run->outers[n].made ? choosing->outs[n] < 0
					  : choosing->uses[n].mode == JOINT_HBM ||
						    (choosing->uses[n].mode == JOINT_MOVED &&
							    run->outers[n].dies);
	return is;
}

/* Adds what is chosen, if it can be carried out, and its ops one by one are not as good. */
static void price_run(struct run_choosing *choosing)
{
	struct joint_making *making = choosing->making;
	struct joint_run *run = choosing->run;
	int ops = run->loops.end - run->loops.first;
	struct run_sums sums = {0};
	int64_t cores = run->cores;
	int64_t most = is_apart(choosing) ? choosing->apart : JOINT_NEVER;
	struct arena_mark mark = arena_mark(making->scratch);
	struct op_option *tiles = arena_array(making->scratch, struct op_option, ops);
	if (!run_choosing_add_ops(choosing, tiles, most, &sums) ||
		!add_moves(choosing, &sums, &cores)) {
		arena_release(making->scratch, mark);
		return;
	}
	struct joint_use *uses = arena_array(making->scratch, struct joint_use, run->outer_count);
	struct joint_out *outs = arena_array(making->scratch, struct joint_out, run->outer_count);
	struct joint_part *parts = arena_array(making->scratch, struct joint_part, ops);
	struct joint_draft draft = {.run = run,
		.number = choosing->drafts.count,
		.parts = parts,
		.option = {.first = run->loops.first,
			.end = run->loops.end,
			.value = joint_worth(making, sums.cycles, sums.energy_pj, sums.hbm_bytes),
			.room = run->room,
			.cores = (int)cores,
			.uses = uses,
			.outs = outs}};
	for (int n = 0; n < run->outer_count; n++)
		if (run->outers[n].made)
			outs[draft.option.out_count++] =
				(struct joint_out){run->outers[n].tensor, choosing->outs[n], -1};
		else
			uses[draft.option.use_count++] = choosing->uses[n];
	qsort(uses, (size_t)draft.option.use_count, sizeof *uses, joint_by_tensor);
	note_dying(choosing, &draft);
	qsort(outs, (size_t)draft.option.out_count, sizeof *outs, joint_by_tensor);
	for (int i = 0; i < ops; i++)
		parts[i] = (struct joint_part){.mapping = &run->mappings[i], .tiles = &tiles[i]};
	if (draft.option.value < JOINT_NEVER)
		*array_add(making->scratch, &choosing->drafts) = draft;
}

/* --- where tensors are */

static bool run_serves_all(
	const struct joint_views *views, const struct joint_outer *outer, int view)
{
	for (int a = 0; a < outer->asked_count; a++)
		if (!joint_serves(views, view, outer->asked[a]))
			return false;
	return true;
}

/* The view that serves all ops of the run that read the tensor, the smallest of those that none of them asks for;
 * -1. */
static int find_served(const struct joint_views *views, const struct joint_outer *outer)
{
	int least = -1;
	if (outer->never || !outer->asked_count)
		return -1;
	for (int a = 0; a < outer->asked_count; a++)
		if (run_serves_all(views, outer, outer->asked[a]))
			return outer->asked[a];
	for (int view = views->direct; view < views->count; view++)
		if (run_serves_all(views, outer, view) &&
			(least < 0 || joint_serves(views, least, view)))
			least = view;
	return least;
}

/* The view under which what the run makes can be left in LX; -1. */
static int find_left(const struct joint_making *making, const struct joint_run *run,
	const struct joint_outer *outer)
{
	const struct joint_views *views = &making->views[outer->tensor];
	bool wanted = false;
	if (outer->never || outer->view < 0 ||
		making->question->workload->tensors[outer->tensor].role == TENSOR_OUTPUT)
		return -1;
	for (int a = 0; a < outer->asked_count; a++)
		if (!joint_serves(views, outer->view, outer->asked[a]))
			return -1;
	for (int v = 0; v < views->count; v++)
		wanted |= views->asked[v] >= run->loops.end && joint_serves(views, outer->view, v);
	return wanted ? outer->view : -1;
}

static void choose_outer(struct run_choosing *choosing, int n);

static void choose_made(struct run_choosing *choosing, int n)
{
	struct joint_making *making = choosing->making;
	const struct joint_outer *outer = &choosing->run->outers[n];
	int left = find_left(making, choosing->run, outer);
	choosing->outs[n] = -1;
	if (making->stays[outer->tensor] != STAY_LX || left < 0)
		choose_outer(choosing, n + 1);
	if (left < 0)
		return;
	joint_note_made(making, outer->tensor, left, choosing->run->loops.first);
	choosing->outs[n] = left;
	choose_outer(choosing, n + 1);
}

static void choose_outer(struct run_choosing *choosing, int n)
{
	struct joint_making *making = choosing->making;
	if (n == choosing->run->outer_count) {
		price_run(choosing);
		return;
	}
	const struct joint_outer *outer = &choosing->run->outers[n];
	struct joint_use *use = &choosing->uses[n];
	if (outer->made) {
		choose_made(choosing, n);
		return;
	}
	if (choosing->fixed) {
		choose_outer(choosing, n + 1);
		return;
	}
	int view = find_served(&making->views[outer->tensor], outer);
	int first = choosing->run->loops.first;
	*use = (struct joint_use){outer->tensor, JOINT_HBM, -1};
	if (making->stays[outer->tensor] != STAY_LX)
		choose_outer(choosing, n + 1);
	if (view < 0)
		return;
	if (joint_may_be_found(making, outer->tensor, view, first)) {
		*use = (struct joint_use){outer->tensor, JOINT_RESIDENT, view};
		choose_outer(choosing, n + 1);
	}
	if (joint_may_be_moved(making, outer->tensor)) {
		*use = (struct joint_use){outer->tensor, JOINT_MOVED, view};
		choose_outer(choosing, n + 1);
		joint_note_made(making, outer->tensor, view, first);
	}
}

/* An outer tensor by what it costs to have it in LX. */
struct ranked_tile {
	int outer;
	int64_t bytes;
};

static int compare_ranked(const void *left, const void *right)
{
	const struct ranked_tile *a = left, *b = right;
	int order = (a->bytes > b->bytes) - (a->bytes < b->bytes);
	return order ? order : a->outer - b->outer;
}

/* With many tensors: those that take least of LX are there, one more each time. */
static void choose_by_rank(struct run_choosing *choosing, struct ranked_tile *ranked, int count)
{
	struct joint_making *making = choosing->making;
	const struct joint_run *run = choosing->run;
	int first = run->loops.first;
	choosing->fixed = true;
	qsort(ranked, (size_t)count, sizeof *ranked, compare_ranked);
	for (int n = 0; n < run->outer_count; n++)
		choosing->uses[n] = (struct joint_use){run->outers[n].tensor, JOINT_HBM, -1};
	for (int moved = 0; moved <= count; moved++) {
		bool all = true;
		for (int n = 0; n < run->outer_count; n++)
			all &= run->outers[n].made || choosing->uses[n].mode != JOINT_HBM ||
			       making->stays[run->outers[n].tensor] != STAY_LX;
		if (all)
			choose_outer(choosing, 0);
		if (moved == count)
			break;
		const struct joint_outer *outer = &run->outers[ranked[moved].outer];
		int view = find_served(&making->views[outer->tensor], outer);
		bool found = making->question->workload->tensors[outer->tensor].producer >= 0 &&
			     joint_may_be_found(making, outer->tensor, view, first);
		choosing->uses[ranked[moved].outer] = (struct joint_use){
			outer->tensor, found ? JOINT_RESIDENT : JOINT_MOVED, view};
		if (!found)
			joint_note_made(making, outer->tensor, view, first);
	}
	choosing->fixed = false;
}

static void choose_run(struct run_choosing *choosing)
{
	struct joint_making *making = choosing->making;
	const struct joint_run *run = choosing->run;
	struct arena *scratch = making->scratch;
	choosing->uses = arena_array(scratch, struct joint_use, run->outer_count);
	choosing->outs = arena_array(scratch, int, run->outer_count);
	struct ranked_tile *ranked = arena_array(scratch, struct ranked_tile, run->outer_count);
	int count = 0;
	for (int n = 0; n < run->outer_count; n++) {
		const struct joint_outer *outer = &run->outers[n];
		const struct joint_views *views = &making->views[outer->tensor];
		int view = outer->made ? -1 : find_served(views, outer);
		if (view < 0 ||
			(!joint_may_be_found(making, outer->tensor, view, run->loops.first) &&
				!joint_may_be_moved(making, outer->tensor)))
			continue;
		ranked[count++] = (struct ranked_tile){
			n, view_bytes(&making->question->workload->tensors[outer->tensor].layout,
				   &views->at[view])};
	}
	if (count > ALL_PLACES_MOST)
		choose_by_rank(choosing, ranked, count);
	else
		choose_outer(choosing, 0);
}

static bool have_same_loops(const struct tile_run *a, const struct tile_run *b)
{
	bool same = a->first == b->first && a->end == b->end && a->loop_count == b->loop_count;
	for (int k = 0; k < a->loop_count && same; k++)
		same = a->loops[k].tiles == b->loops[k].tiles &&
		       a->loops[k].name == b->loops[k].name;
	return same;
}

static void run_choosing_open_run(struct run_choosing *choosing, struct joint_run *run)
{
	bool known = choosing->run && have_same_loops(&choosing->run->loops, &run->loops);
	joint_run_open(choosing->making, run, known, &choosing->part, choosing->arena);
	choosing->run = run;
	choosing->apart = joint_all_apart(choosing->making, &run->loops);
}

void joint_runs_make(struct joint_making *making, int op)
{
	struct run_choosing choosing = {.making = making, .arena = arena_open()};
	for (size_t r = 0; r < making->runs.count; r++) {
		if (making->runs.at[r].loops.first != op ||
			stopper_stops(&making->question->planning->stopper))
			continue;
		run_choosing_open_run(&choosing, &making->runs.at[r]);
		choose_run(&choosing);
	}
	joint_drafts_keep(making, &choosing.drafts);
	arena_close(choosing.arena);
}

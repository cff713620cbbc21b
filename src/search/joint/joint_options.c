#include "base/checked.h"
#include "base/number.h"
#include "search/joint/joint_making.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A tensor that an op reads, by one operand or more. */
struct reading_of {
	int tensor;
	uint32_t operands;
	bool dies; /* no later op reads it */
};

/* The options of one op in the making. */
struct choosing {
	struct joint_making *making;
	int number;
	const struct op *op;
	int read_count;
	struct reading_of reads[OP_READS_MOST];
	const struct joint_division *division;
	struct joint_use uses[OP_READS_MOST];
	struct joint_out out;
	struct joint_drafts drafts;
};

int64_t joint_worth(
	const struct joint_making *making, int64_t cycles, double energy_pj, int64_t hbm_bytes)
{
	const struct joint_aim *weights = &making->question->aim;
	double energy = energy_pj * 1024;
	bool fits = energy < 0x1p62;
	int64_t sum = checked_mul(&fits, weights->cycles, cycles);
	if (fits && weights->energy)
		sum = checked_add(&fits, sum, checked_mul(&fits, weights->energy, llround(energy)));
	sum = checked_add(&fits, sum, checked_mul(&fits, weights->hbm_bytes, hbm_bytes));
	return fits ? sum : JOINT_NEVER;
}

/* --- one price */

bool joint_tiles(struct joint_making *making, const struct op_question *question, double moved_pj,
	struct op_option *tiles, int64_t *value)
{
	const struct joint_question *asked = making->question;
	const struct nests_wanted wanted = {.objective = OBJECTIVE_EDP,
		.solver = asked->aim.map,
		.kept = making->kept,
		.stopper = asked->planning->stopper};
	struct arena_mark mark = arena_mark(making->scratch);
	const struct op_choices *choices = op_map_all(&wanted, question, making->scratch);
	*value = JOINT_NEVER;
	for (size_t i = 0; i < choices->count; i++) {
		const struct op_value *own = &choices->at[i].value;
		int64_t cycles = op_value_latency(own, asked->planning->price);
		int64_t worth = joint_worth(making, cycles, own->energy_pj + moved_pj,
			own->hbm_bytes + question->moved_hbm);
		if (worth < *value) {
			*value = worth;
			*tiles = choices->at[i];
		}
	}
	arena_release(making->scratch, mark);
	return *value < JOINT_NEVER;
}

static int64_t bytes_of(const struct joint_making *making, const struct joint_use *use)
{
	return view_bytes(&making->question->workload->tensors[use->tensor].layout,
		&making->views[use->tensor].at[use->view]);
}

/* A clone that the graph has itself is priced as a phase of its own here, but in a plan it is part of the next
 * one, whose transfers and computes overlap with its own: a plan may take fewer cycles than the space says. */
static bool shares_phase(const struct choosing *choosing)
{
	const struct joint_question *question = choosing->making->question;
	return question->aim.cycles && choosing->out.view >= 0 &&
	       choosing->uses[0].mode == JOINT_HBM &&
	       op_copies_sticks(question->workload, choosing->op);
}

/* Adds what is chosen, if it can be carried out. */
static void price(struct choosing *choosing)
{
	struct joint_making *making = choosing->making;
	const struct joint_division *division = choosing->division;
	struct op_question question = {.arch = making->question->arch,
		.workload = making->question->workload,
		.op = choosing->op,
		.mapping = division->mapping,
		.by_rule = making->question->planning->published_tiles};
	struct joint_draft draft = {.number = choosing->drafts.count,
		.option = {.first = choosing->number,
			.end = choosing->number + 1,
			.cores = (int)division->cores,
			.use_count = choosing->read_count,
			.out_count = 1}};
	struct op_option tiles;
	double moved_pj = 0;
	bool fits = true;
	for (int r = 0; r < choosing->read_count; r++) {
		const struct joint_use *use = &choosing->uses[r];
		if (use->mode != JOINT_HBM)
			question.in_lx |= choosing->reads[r].operands;
		if (use->mode != JOINT_MOVED)
			continue;
		const struct joint_transfer *in = joint_move_in(making, use->tensor, use->view);
		question.arriving |= choosing->reads[r].operands;
		question.moved_hbm = checked_add(&fits, question.moved_hbm, in->hbm_bytes);
		question.moved_fill = checked_add(&fits, question.moved_fill, in->fill);
		moved_pj += in->energy_pj;
		draft.option.cores = (int)number_max(draft.option.cores, in->cores);
		if (choosing->reads[r].dies) {
			draft.dying |= 1u << r;
			draft.dying_bytes += bytes_of(making, use);
		}
		fits &= in->possible;
	}
	if (choosing->out.view >= 0)
		question.in_lx |= 1u << choosing->op->read_count;
	making->unproven |= shares_phase(choosing);
	if (!fits || !joint_tiles(making, &question, moved_pj, &tiles, &draft.option.value))
		return;
	struct arena *arena = making->scratch;
	const struct joint_part part = {
		division->mapping, arena_copy(arena, &tiles, sizeof tiles), NULL};
	draft.parts = arena_copy(arena, &part, sizeof part);
	draft.option.uses = arena_copy(
		arena, choosing->uses, (size_t)choosing->read_count * sizeof *choosing->uses);
	draft.option.outs = arena_copy(arena, &choosing->out, sizeof choosing->out);
	*array_add(arena, &choosing->drafts) = draft;
}

/* --- what may be taken over */

bool joint_may_take_over(const struct joint_making *making, const struct workload *workload,
	const struct op *op, int tensor)
{
	const struct planning *planning = making->question->planning;
	const struct layout *own = &workload->tensors[op->writes[0].tensor].layout;
	const struct layout *other = &workload->tensors[tensor].layout;
	bool reads = false;
	if (op->primitive->kind != OP_MAP || !name_list_has(&planning->in_place, op->type) ||
		!layout_equal(own, other))
		return false;
	for (int i = 0; i < op->read_count; i++) {
		if (op->reads[i].tensor != tensor)
			continue;
		reads = true;
		if (!access_equal(op, &op->reads[i], &op->writes[0], own->host_rank))
			return false;
	}
	return reads;
}

static void price_in_place(struct choosing *choosing)
{
	struct joint_out *out = &choosing->out;
	const struct joint_views *views = choosing->making->views;
	const struct view *own = &views[out->tensor].at[out->view];
	bool taken = false;
	for (int r = 0; r < choosing->read_count; r++) {
		const struct joint_use *use = &choosing->uses[r];
		if (use->mode == JOINT_HBM ||
			!joint_may_take_over(choosing->making, choosing->making->question->workload,
				choosing->op, use->tensor) ||
			!view_equal(&views[use->tensor].at[use->view], own))
			continue;
		out->in_place = r;
		price(choosing);
		taken = true;
	}
	out->in_place = -1;
	if (!taken)
		price(choosing);
}

/* --- where operands are */

/* Whether some later op may find the output under a view. */
static bool is_worth_making(const struct choosing *choosing, int tensor, int view)
{
	const struct joint_views *views = &choosing->making->views[tensor];
	for (int asked = 0; asked < views->count; asked++)
		if (views->asked[asked] > choosing->number &&
			(joint_serves(views, view, asked) || joint_relays(choosing->making)))
			return true;
	return false;
}

static void choose_out(struct choosing *choosing)
{
	struct joint_making *making = choosing->making;
	int tensor = choosing->op->writes[0].tensor;
	int view = choosing->division->views[choosing->op->read_count];
	bool output = making->question->workload->tensors[tensor].role == TENSOR_OUTPUT;
	choosing->out = (struct joint_out){tensor, -1, -1};
	if (making->stays[tensor] != STAY_LX || output)
		price(choosing);
	if (view < 0 || output || !is_worth_making(choosing, tensor, view))
		return;
	making->views[tensor].made[view] = choosing->number;
	choosing->out.view = view;
	price_in_place(choosing);
}

/* Whether a view serves all operands by which a tensor is read. */
static bool serves_all(const struct choosing *choosing, int r, int view)
{
	const struct reading_of *read = &choosing->reads[r];
	const struct joint_views *views = &choosing->making->views[read->tensor];
	for (int i = 0; i < choosing->op->read_count; i++)
		if (read->operands >> i & 1 &&
			(choosing->division->views[i] < 0 ||
				!joint_serves(views, view, choosing->division->views[i])))
			return false;
	return true;
}

/* The least that can be asked for: no other view that serves all is served by it. */
static bool is_least(const struct choosing *choosing, int r, int view)
{
	const struct joint_views *views = &choosing->making->views[choosing->reads[r].tensor];
	for (int other = 0; other < views->count; other++) {
		if (other == view || !joint_serves(views, view, other) ||
			!serves_all(choosing, r, other))
			continue;
		if (!joint_serves(views, other, view) || other < view)
			return false;
	}
	return true;
}

int joint_by_tensor(const void *left, const void *right)
{
	const int *a = left, *b = right;
	return *a < *b ? -1 : *a > *b;
}

void joint_note_made(struct joint_making *making, int tensor, int view, int op)
{
	int *made = &making->views[tensor].made[view];
	*made = (int)number_min(*made, op);
}

bool joint_may_be_found(const struct joint_making *making, int tensor, int asked, int op)
{
	const struct joint_views *views = &making->views[tensor];
	for (int held = 0; held < views->count; held++)
		if (views->made[held] < op &&
			(joint_serves(views, held, asked) || joint_relays(making)))
			return true;
	return false;
}

bool joint_may_be_moved(const struct joint_making *making, int tensor)
{
	bool input = making->question->workload->tensors[tensor].producer < 0;
	return joint_is_free(making, input ? KIND_CLONE : KIND_RELOAD);
}

static void choose_read(struct choosing *choosing, int r)
{
	if (r == choosing->read_count) {
		choose_out(choosing);
		return;
	}
	struct joint_making *making = choosing->making;
	int tensor = choosing->reads[r].tensor;
	struct joint_views *views = &making->views[tensor];
	struct joint_use *use = &choosing->uses[r];
	*use = (struct joint_use){tensor, JOINT_HBM, -1};
	if (making->stays[tensor] != STAY_LX)
		choose_read(choosing, r + 1);
	for (int view = 0; view < views->count; view++) {
		if (!serves_all(choosing, r, view))
			continue;
		bool least = is_least(choosing, r, view);
		if (least && joint_may_be_found(making, tensor, view, choosing->number)) {
			*use = (struct joint_use){tensor, JOINT_RESIDENT, view};
			choose_read(choosing, r + 1);
		}
		if (joint_may_be_moved(making, tensor) &&
			(least || views->asked[view] > choosing->number)) {
			*use = (struct joint_use){tensor, JOINT_MOVED, view};
			choose_read(choosing, r + 1);
		}
	}
}

/* What is moved by this op may be found by the ones behind it. */
static void note_moves(const struct choosing *choosing)
{
	for (size_t i = 0; i < choosing->drafts.count; i++)
		for (int r = 0; r < choosing->read_count; r++) {
			const struct joint_use *use = &choosing->drafts.at[i].option.uses[r];
			if (use->mode == JOINT_MOVED)
				joint_note_made(
					choosing->making, use->tensor, use->view, choosing->number);
		}
}

static void list_reads(struct choosing *choosing)
{
	const struct op *op = choosing->op;
	const struct users *users = &choosing->making->users;
	for (int i = 0; i < op->read_count; i++) {
		int r = 0, from, to;
		while (r < choosing->read_count && choosing->reads[r].tensor != op->reads[i].tensor)
			r++;
		if (r == choosing->read_count)
			choosing->reads[choosing->read_count++] =
				(struct reading_of){op->reads[i].tensor, 0, false};
		choosing->reads[r].operands |= 1u << i;
		users_life(users, op->reads[i].tensor, &from, &to);
		choosing->reads[r].dies = to == choosing->number + 1;
	}
	qsort(choosing->reads, (size_t)choosing->read_count, sizeof *choosing->reads,
		joint_by_tensor);
}

bool joint_options_make(struct joint_making *making, int o)
{
	struct choosing choosing = {
		.making = making, .number = o, .op = &making->question->workload->ops[o]};
	size_t before = making->options.count;
	struct arena_mark mark = arena_mark(making->scratch);
	if (!op_is_tiled(choosing.op))
		return joint_whole_options(making, o);
	list_reads(&choosing);
	for (size_t d = 0; d < making->divisions[o].count; d++) {
		choosing.division = &making->divisions[o].at[d];
		if (stopper_stops(&making->question->planning->stopper)) {
			making->why = "it was asked to stop";
			return false;
		}
		choose_read(&choosing, 0);
	}
	note_moves(&choosing);
	joint_drafts_keep(making, &choosing.drafts);
	arena_release(making->scratch, mark);
	if (making->options.count == before)
		making->why = arena_format(making->arena,
			"op '%s' cannot be carried out: under none of its divisions do its tiles fit",
			choosing.op->name);
	return !making->why;
}

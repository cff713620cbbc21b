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

/* An option while it is chosen, and what it is compared by. */
struct draft_option {
	int use_count, out_count;
	struct joint_use uses[OP_READS_MOST];
	bool dies[OP_READS_MOST]; /* it is moved in, and no later op reads it */
	struct joint_out out;
	int64_t value;
	int64_t dying; /* bytes of what is moved in for this op alone: its view is nobody's business */
	int cores, number;
	const struct mapping *mapping;
	struct op_option tiles;
};

/* The options of one op in the making. */
struct choosing {
	struct joint_making *making;
	int number;
	const struct op *op;
	int read_count;
	struct reading_of reads[OP_READS_MOST];
	const struct joint_division *division;
	struct draft_option draft;
	struct array(struct draft_option) drafts;
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

static void add_draft(struct choosing *choosing)
{
	choosing->draft.number = (int)choosing->drafts.count;
	*array_add(choosing->making->scratch, &choosing->drafts) = choosing->draft;
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
	return question->aim.cycles && choosing->draft.out.view >= 0 &&
	       choosing->draft.uses[0].mode == JOINT_HBM &&
	       op_copies_sticks(question->workload, choosing->op);
}

/* Adds what is chosen, priced, if it can be carried out. */
static void price(struct choosing *choosing)
{
	struct joint_making *making = choosing->making;
	const struct joint_division *division = choosing->division;
	struct draft_option *draft = &choosing->draft;
	struct op_question question = {.arch = making->question->arch,
		.workload = making->question->workload,
		.op = choosing->op,
		.mapping = division->mapping,
		.by_rule = making->question->planning->published_tiles};
	double moved_pj = 0;
	bool fits = true;
	draft->cores = (int)division->cores;
	draft->dying = 0;
	for (int r = 0; r < choosing->read_count; r++) {
		const struct joint_use *use = &draft->uses[r];
		draft->dies[r] = false;
		if (use->mode != JOINT_HBM)
			question.in_lx |= choosing->reads[r].operands;
		if (use->mode != JOINT_MOVED)
			continue;
		const struct joint_transfer *in = joint_move_in(making, use->tensor, use->view);
		question.arriving |= choosing->reads[r].operands;
		question.moved_hbm = checked_add(&fits, question.moved_hbm, in->hbm_bytes);
		question.moved_fill = checked_add(&fits, question.moved_fill, in->fill);
		moved_pj += in->energy_pj;
		draft->cores = (int)number_max(draft->cores, in->cores);
		draft->dies[r] = choosing->reads[r].dies;
		if (draft->dies[r])
			draft->dying += bytes_of(making, use);
		fits &= in->possible;
	}
	if (draft->out.view >= 0)
		question.in_lx |= 1u << choosing->op->read_count;
	draft->mapping = division->mapping;
	making->unproven |= shares_phase(choosing);
	if (fits && joint_tiles(making, &question, moved_pj, &draft->tiles, &draft->value))
		add_draft(choosing);
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
	struct draft_option *draft = &choosing->draft;
	const struct joint_views *views = choosing->making->views;
	const struct view *own = &views[draft->out.tensor].at[draft->out.view];
	bool taken = false;
	for (int r = 0; r < choosing->read_count; r++) {
		const struct joint_use *use = &draft->uses[r];
		if (use->mode == JOINT_HBM ||
			!joint_may_take_over(choosing->making, choosing->making->question->workload,
				choosing->op, use->tensor) ||
			!view_equal(&views[use->tensor].at[use->view], own))
			continue;
		draft->out.in_place = r;
		price(choosing);
		taken = true;
	}
	draft->out.in_place = -1;
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
	struct draft_option *draft = &choosing->draft;
	int tensor = choosing->op->writes[0].tensor;
	int view = choosing->division->views[choosing->op->read_count];
	bool output = making->question->workload->tensors[tensor].role == TENSOR_OUTPUT;
	draft->out = (struct joint_out){tensor, -1, -1};
	if (making->stays[tensor] != STAY_LX || output)
		price(choosing);
	if (view < 0 || output || !is_worth_making(choosing, tensor, view))
		return;
	making->views[tensor].made[view] = choosing->number;
	draft->out.view = view;
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

/* Whether anything that has happened by now leaves the tensor as it is asked for. */
static bool may_be_found(
	const struct choosing *choosing, const struct joint_views *views, int asked)
{
	for (int held = 0; held < views->count; held++)
		if (views->made[held] < choosing->number &&
			(joint_serves(views, held, asked) || joint_relays(choosing->making)))
			return true;
	return false;
}

static bool may_be_moved(const struct choosing *choosing, int tensor)
{
	const struct joint_question *question = choosing->making->question;
	bool input = question->workload->tensors[tensor].producer < 0;
	return joint_is_free(choosing->making, input ? KIND_CLONE : KIND_RELOAD);
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
	struct joint_use *use = &choosing->draft.uses[r];
	*use = (struct joint_use){tensor, JOINT_HBM, -1};
	if (making->stays[tensor] != STAY_LX)
		choose_read(choosing, r + 1);
	for (int view = 0; view < views->count; view++) {
		if (!serves_all(choosing, r, view))
			continue;
		bool least = is_least(choosing, r, view);
		if (least && may_be_found(choosing, views, view)) {
			*use = (struct joint_use){tensor, JOINT_RESIDENT, view};
			choose_read(choosing, r + 1);
		}
		if (may_be_moved(choosing, tensor) &&
			(least || views->asked[view] > choosing->number)) {
			*use = (struct joint_use){tensor, JOINT_MOVED, view};
			choose_read(choosing, r + 1);
		}
	}
}

static void note_move(const struct choosing *choosing, const struct joint_use *use)
{
	int *made = &choosing->making->views[use->tensor].made[use->view];
	*made = (int)number_min(*made, choosing->number);
}

/* What is moved by this op may be found by the ones behind it. */
static void note_moves(const struct choosing *choosing)
{
	for (size_t i = 0; i < choosing->drafts.count; i++)
		for (int r = 0; r < choosing->read_count; r++) {
			const struct joint_use *use = &choosing->drafts.at[i].uses[r];
			if (use->mode == JOINT_MOVED)
				note_move(choosing, use);
		}
}

static int compare_reads(const void *left, const void *right)
{
	const struct reading_of *a = left, *b = right;
	return a->tensor < b->tensor ? -1 : a->tensor > b->tensor;
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
		compare_reads);
	choosing->draft.use_count = choosing->read_count;
	choosing->draft.out_count = 1;
}

/* --- what is kept */

static int compare_numbers(int64_t a, int64_t b)
{
	return a < b ? -1 : a > b;
}

/* Equal for equal uses and outs. */
static int compare_places(const struct draft_option *a, const struct draft_option *b)
{
	int order = 0;
	for (int r = 0; r < a->use_count && !order; r++) {
		order = compare_numbers(a->uses[r].mode, b->uses[r].mode);
		if (!order && !a->dies[r])
			order = compare_numbers(a->uses[r].view, b->uses[r].view);
	}
	order = order ? order : compare_numbers(a->out.view, b->out.view);
	return order ? order : compare_numbers(a->out.in_place, b->out.in_place);
}

static int compare_drafts(const void *left, const void *right)
{
	const struct draft_option *a = left, *b = right;
	int order = compare_places(a, b);
	order = order ? order : compare_numbers(a->value, b->value);
	order = order ? order : compare_numbers(a->cores, b->cores);
	order = order ? order : compare_numbers(a->dying, b->dying);
	return order ? order : compare_numbers(a->number, b->number);
}

static void keep(struct joint_making *making, int op, const struct draft_option *draft)
{
	struct arena *arena = making->arena;
	struct joint_choice *choice = arena_new(arena, struct joint_choice);
	const struct joint_part part = {
		draft->mapping, arena_copy(arena, &draft->tiles, sizeof draft->tiles), NULL};
	choice->parts = arena_copy(arena, &part, sizeof part);
	*array_add(arena, &making->options) = (struct joint_option){.first = op,
		.end = op + 1,
		.value = draft->value,
		.cores = draft->cores,
		.use_count = draft->use_count,
		.out_count = draft->out_count,
		.uses = arena_copy(
			arena, draft->uses, (size_t)draft->use_count * sizeof *draft->uses),
		.outs = arena_copy(arena, &draft->out, sizeof draft->out),
		.choice = choice};
}

/* Of equal places those that need fewer cores or less room for more value. */
static void keep_best(struct choosing *choosing)
{
	struct draft_option *drafts = choosing->drafts.at;
	size_t count = choosing->drafts.count;
	size_t first = 0, kept = 0; /* of those with equal places, at the front of drafts */
	if (count)
		qsort(drafts, count, sizeof *drafts, compare_drafts);
	for (size_t i = 0; i < count; i++) {
		bool beaten = false;
		if (kept == first || compare_places(&drafts[i], &drafts[first]))
			first = kept;
		for (size_t k = first; k < kept && !beaten; k++)
			beaten = drafts[k].cores <= drafts[i].cores &&
				 drafts[k].dying <= drafts[i].dying;
		if (!beaten)
			drafts[kept++] = drafts[i];
	}
	for (size_t i = 0; i < kept; i++)
		keep(choosing->making, choosing->number, &drafts[i]);
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
	keep_best(&choosing);
	arena_release(making->scratch, mark);
	if (making->options.count == before)
		making->why = arena_format(making->arena,
			"op '%s' cannot be carried out: under none of its divisions do its tiles fit",
			choosing.op->name);
	return !making->why;
}

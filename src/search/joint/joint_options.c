#include "base/checked.h"
#include "base/number.h"
#include "model/graph/move.h"
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

/* The options of one op in the making, or of clones that the graph has itself and the op behind them: in a plan
 * they are one phase (model/graph/plan.h, point 7). */
enum { CLONES_MOST = 3 };
struct choosing {
	struct joint_making *making;
	int number;
	int first;              /* of the clones; without any the op */
	int views[CLONES_MOST]; /* under which they leave what they bring */
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

/* What the moves of a phase bring. */
struct brought {
	struct op_question *question;
	int64_t cores;
	double energy_pj;
	bool possible;
};

static void bring(struct joint_making *making, int tensor, int view, struct brought *brought)
{
	const struct joint_transfer *in = joint_move_in(making, tensor, view);
	struct op_question *question = brought->question;
	brought->possible &= in->possible;
	question->moved_hbm =
		checked_add(&brought->possible, question->moved_hbm, in->hbm_bytes);
	question->moved_fill = checked_add(&brought->possible, question->moved_fill, in->fill);
	brought->energy_pj += in->energy_pj;
	brought->cores = number_max(brought->cores, in->cores);
}

static int64_t bytes_of(const struct joint_making *making, const struct joint_use *use)
{
	return view_bytes(&making->question->workload->tensors[use->tensor].layout,
		&making->views[use->tensor].at[use->view]);
}

/* --- clones that the graph has itself */

/* An op that may move something into LX, and no more. */
static bool may_clone(const struct joint_making *making, int o)
{
	const struct workload *workload = making->question->workload;
	if (o < 0 || o >= (int)workload->op_count)
		return false;
	const struct op *op = &workload->ops[o];
	return op_is_tiled(op) && op_copies_sticks(workload, op) &&
	       making->views[op->writes[0].tensor].count > 0 &&
	       making->stays[op->reads[0].tensor] != STAY_LX;
}

/* How many such ops follow each other there. */
static int count_clones(const struct joint_making *making, int o)
{
	int first = o, end = o;
	while (may_clone(making, first - 1))
		first--;
	while (may_clone(making, end))
		end++;
	return end - first;
}

/* Whether a plan has a clone into LX by itself, and not in the phase of the op behind it.  Where it may be either a
 * clone by itself is no worse an answer than it looks. */
static bool stands_alone(struct joint_making *making, int o)
{
	const struct workload *workload = making->question->workload;
	const struct op *next = &workload->ops[o + 1];
	bool last = o + 1 == (int)workload->op_count, before_run = false;
	if (!making->question->aim.cycles)
		return true;
	for (size_t r = 0; r < making->runs.count; r++)
		before_run |= making->runs.at[r].loops.first == o + 1;
	bool alone = last || before_run || !op_is_tiled(next);
	bool many = count_clones(making, o) > CLONES_MOST;
	making->unproven |= many || (alone && may_clone(making, o - 1)) ||
			    (!last && next->primitive->kind == OP_OPAQUE);
	return alone || many;
}

/* The clone that makes a tensor for the op; -1. */
static int find_clone(const struct choosing *choosing, int tensor)
{
	int producer = choosing->making->question->workload->tensors[tensor].producer;
	return producer >= choosing->first && producer < choosing->number
		       ? producer - choosing->first
		       : -1;
}

static int cloned_tensor(const struct choosing *choosing, int clone)
{
	return choosing->making->question->workload->ops[choosing->first + clone].writes[0].tensor;
}

static bool reads_tensor(const struct choosing *choosing, int tensor)
{
	for (int r = 0; r < choosing->read_count; r++)
		if (choosing->reads[r].tensor == tensor)
			return true;
	return false;
}

/* What the op and its clones have from outside; false if a tensor would be in two places. */
static bool list_uses(const struct choosing *choosing, struct joint_draft *draft)
{
	const struct workload *workload = choosing->making->question->workload;
	struct joint_use *uses = arena_array(choosing->making->scratch, struct joint_use,
		choosing->read_count + CLONES_MOST);
	int count = 0;
	for (int r = 0; r < choosing->read_count; r++)
		if (find_clone(choosing, choosing->reads[r].tensor) < 0)
			uses[count++] = choosing->uses[r];
	for (int o = choosing->first; o < choosing->number; o++) {
		int source = workload->ops[o].reads[0].tensor, u = 0;
		while (u < count && uses[u].tensor != source)
			u++;
		if (find_clone(choosing, source) >= 0 || (u < count && uses[u].mode != JOINT_HBM))
			return false;
		uses[u] = (struct joint_use){source, JOINT_HBM, -1};
		count = (int)number_max(count, u + 1);
	}
	if (count)
		qsort(uses, (size_t)count, sizeof *uses, joint_by_tensor);
	for (int u = 0; u < count; u++)
		for (int r = 0; r < choosing->read_count; r++)
			if (uses[u].mode == JOINT_MOVED && choosing->reads[r].dies &&
				choosing->reads[r].tensor == uses[u].tensor)
				draft->dying |= 1u << u;
	draft->option.uses = uses;
	draft->option.use_count = count;
	return true;
}

/* What is left: what the op makes, and clones that somebody reads later; the others live inside. */
static void list_outs(const struct choosing *choosing, struct joint_draft *draft)
{
	struct joint_making *making = choosing->making;
	struct joint_out *outs = arena_array(making->scratch, struct joint_out, CLONES_MOST + 1);
	struct joint_inside *inside = arena_array(making->arena, struct joint_inside, CLONES_MOST);
	const struct arch *arch = making->question->arch;
	int out_count = 0, from, to;
	outs[out_count] = choosing->out;
	if (choosing->out.in_place >= 0)
		while (draft->option.uses[outs[0].in_place = out_count].tensor !=
			choosing->uses[choosing->out.in_place].tensor)
			out_count++;
	out_count = 1;
	for (int c = 0; c < choosing->number - choosing->first; c++) {
		int tensor = cloned_tensor(choosing, c);
		const struct view *view = &making->views[tensor].at[choosing->views[c]];
		users_life(&making->users, tensor, &from, &to);
		if (to > choosing->number + 1) {
			outs[out_count++] = (struct joint_out){tensor, choosing->views[c], -1};
			continue;
		}
		inside[draft->inside_count++] = (struct joint_inside){
			.tensor = tensor, .view = *view, .offset = draft->option.room};
		draft->option.room += number_align_up(
			view_bytes(&making->question->workload->tensors[tensor].layout, view),
			arch->levels[arch->lx].alignment);
	}
	qsort(outs, (size_t)out_count, sizeof *outs, joint_by_tensor);
	draft->option.outs = outs;
	draft->option.out_count = out_count;
	draft->inside = inside;
}

/* The clones, then the op. */
static void list_parts(
	const struct choosing *choosing, const struct op_option *tiles, struct joint_draft *draft)
{
	struct joint_making *making = choosing->making;
	const struct workload *workload = making->question->workload;
	struct joint_part *parts =
		arena_array(making->scratch, struct joint_part, CLONES_MOST + 1);
	int clones = choosing->number - choosing->first;
	for (int c = 0; c < clones; c++) {
		struct mapping mapping = move_mapping(making->question->arch, workload,
			&workload->ops[choosing->first + c],
			&making->views[cloned_tensor(choosing, c)].at[choosing->views[c]]);
		parts[c].mapping = arena_copy(making->arena, &mapping, sizeof mapping);
	}
	parts[clones] = (struct joint_part){choosing->division->mapping,
		arena_copy(making->scratch, tiles, sizeof *tiles), NULL};
	draft->parts = parts;
}

/* --- one option */

/* A clone that stands alone computes nothing that could come behind what it moves. */
static int64_t price_move(struct joint_making *making, const struct joint_out *out)
{
	const struct joint_transfer *in = joint_move_in(making, out->tensor, out->view);
	return joint_worth(making, in->cycles, in->energy_pj, in->hbm_bytes);
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
		.option = {.first = choosing->first, .end = choosing->number + 1}};
	struct brought brought = {
		.question = &question, .cores = division->cores, .possible = true};
	struct op_option tiles;
	if (!list_uses(choosing, &draft))
		return;
	for (int r = 0; r < choosing->read_count; r++) {
		const struct joint_use *use = &choosing->uses[r];
		if (use->mode != JOINT_HBM)
			question.in_lx |= choosing->reads[r].operands;
		if (use->mode != JOINT_MOVED)
			continue;
		question.arriving |= choosing->reads[r].operands;
		bring(making, use->tensor, use->view, &brought);
		if (choosing->reads[r].dies && find_clone(choosing, use->tensor) < 0)
			draft.dying_bytes += bytes_of(making, use);
	}
	for (int c = 0; c < choosing->number - choosing->first; c++)
		if (!reads_tensor(choosing, cloned_tensor(choosing, c)))
			bring(making, cloned_tensor(choosing, c), choosing->views[c], &brought);
	if (choosing->out.view >= 0)
		question.in_lx |= 1u << choosing->op->read_count;
	if (!brought.possible || !joint_tiles(making, &question, brought.energy_pj, &tiles,
					 &draft.option.value))
		return;
	if (question.in_lx == 2 && may_clone(making, choosing->number))
		draft.option.value = price_move(making, &choosing->out);
	draft.option.cores = (int)brought.cores;
	list_outs(choosing, &draft);
	list_parts(choosing, &tiles, &draft);
	*array_add(making->scratch, &choosing->drafts) = draft;
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
		if (find_clone(choosing, use->tensor) >= 0) { /* it is inside, or is left */
			choosing->making->unproven |= choosing->reads[r].dies;
			continue;
		}
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

/* An op that only moves is no op behind the clones before it, and may not stand alone. */
static bool is_part_of_next(const struct choosing *choosing)
{
	return choosing->uses[0].mode == JOINT_HBM &&
	       may_clone(choosing->making, choosing->number) &&
	       (choosing->first < choosing->number ||
		       !stands_alone(choosing->making, choosing->number));
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
	if (view < 0 || output || !is_worth_making(choosing, tensor, view) ||
		is_part_of_next(choosing))
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

/* Where clones leave what the op does not read. */
static void choose_clone(struct choosing *choosing, int c)
{
	if (c == choosing->number - choosing->first) {
		choose_out(choosing);
		return;
	}
	int tensor = cloned_tensor(choosing, c);
	const struct joint_views *views = &choosing->making->views[tensor];
	if (reads_tensor(choosing, tensor)) {
		choose_clone(choosing, c + 1);
		return;
	}
	for (int view = 0; view < views->count; view++) {
		if (views->asked[view] <= choosing->number)
			continue;
		choosing->views[c] = view;
		choose_clone(choosing, c + 1);
	}
}

static void choose_cloned(struct choosing *choosing, int r, int clone);

static void choose_read(struct choosing *choosing, int r)
{
	if (r == choosing->read_count) {
		choose_clone(choosing, 0);
		return;
	}
	int clone = find_clone(choosing, choosing->reads[r].tensor);
	if (clone >= 0) {
		choose_cloned(choosing, r, clone);
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

/* Where clones leave what the op reads. */
static void choose_cloned(struct choosing *choosing, int r, int clone)
{
	int tensor = choosing->reads[r].tensor;
	const struct joint_views *views = &choosing->making->views[tensor];
	for (int view = 0; view < views->count; view++) {
		if (!serves_all(choosing, r, view) ||
			(views->asked[view] <= choosing->number && !is_least(choosing, r, view)))
			continue;
		choosing->uses[r] = (struct joint_use){tensor, JOINT_MOVED, view};
		choosing->views[clone] = view;
		choose_read(choosing, r + 1);
	}
}

/* What is moved by this op, or by clones before it, may be found by the ones behind it. */
static void note_moves(const struct choosing *choosing)
{
	for (size_t i = 0; i < choosing->drafts.count; i++) {
		const struct joint_option *option = &choosing->drafts.at[i].option;
		for (int u = 0; u < option->use_count; u++)
			if (option->uses[u].mode == JOINT_MOVED)
				joint_note_made(choosing->making, option->uses[u].tensor,
					option->uses[u].view, choosing->number);
		for (int k = 0; k < option->out_count; k++)
			if (option->outs[k].tensor != choosing->op->writes[0].tensor)
				joint_note_made(choosing->making, option->outs[k].tensor,
					option->outs[k].view, choosing->number);
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

/* The options of an op with the clones before it from `first` on; false if somebody stops it. */
static bool choose(struct joint_making *making, int first, int o)
{
	struct choosing choosing = {.making = making,
		.first = first,
		.number = o,
		.op = &making->question->workload->ops[o]};
	list_reads(&choosing);
	for (size_t d = 0; d < making->divisions[o].count; d++) {
		choosing.division = &making->divisions[o].at[d];
		if (stopper_stops(&making->question->planning->stopper))
			return false;
		choose_read(&choosing, 0);
	}
	note_moves(&choosing);
	joint_drafts_keep(making, &choosing.drafts);
	return true;
}

bool joint_options_make(struct joint_making *making, int o)
{
	const struct workload *workload = making->question->workload;
	size_t before = making->options.count;
	struct arena_mark mark = arena_mark(making->scratch);
	if (!op_is_tiled(&workload->ops[o]))
		return joint_whole_options(making, o);
	bool went_on = choose(making, o, o);
	for (int end = o; went_on && making->question->aim.cycles && end < o + CLONES_MOST &&
			  may_clone(making, end) && end + 1 < (int)workload->op_count &&
			  op_is_tiled(&workload->ops[end + 1]);
		end++)
		went_on = choose(making, o, end + 1);
	arena_release(making->scratch, mark);
	if (!went_on)
		making->why = "it was asked to stop";
	else if (making->options.count == before)
		making->why = arena_format(making->arena,
			"op '%s' cannot be carried out: under none of its divisions do its tiles fit",
			workload->ops[o].name);
	return !making->why;
}

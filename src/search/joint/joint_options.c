#include "base/number.h"
#include "model/graph/run.h"
#include "model/graph/workload.h"
#include "search/graph/options.h"
#include "search/joint/joint_making.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * Clones that a graph has itself and that bring something into LX: in a plan they are of one phase with the op
 * behind them (model/graph/plan.h, point 7), so an option has them and that op; or they end their bundle and have
 * an option of their own.  A row of more than CLONES_MOST makes too many options: then, and where clones stand
 * before an opaque op, nothing is proven (joint_graph.unproven); nor where the op could take over the bytes of what
 * a clone brings for it alone, or where no op reads what a clone brings, which no option says.
 */
enum { CLONES_MOST = 3, EARLY_MOST = 2 };

/* A tensor that an op reads, by one operand or more. */
struct joint_reading {
	int tensor;
	uint32_t operands;
	bool dies; /* no later op reads it */
};

/* The options of an op in the making, with clones before it or without. */
struct joint_choosing {
	struct joint_making *making;
	int number;
	int first;              /* of the clones; without any the op */
	int views[CLONES_MOST]; /* under which they leave what they bring */
	const struct op *op;
	int read_count;
	struct joint_reading reads[OP_READS_MOST];
	const struct joint_division *division;
	struct joint_use uses[OP_READS_MOST];
	struct joint_out out;
	bool waits;      /* no op behind this one can use the output where it lies in LX */
	int early_count; /* moved in for later ops */
	struct joint_use early[EARLY_MOST];
	struct joint_drafts drafts;
};

/* An op that may move something into LX, and no more. */
static bool joint_may_clone(const struct joint_making *making, int o)
{
	const struct workload *workload = making->question->workload;
	if (o < 0 || o >= (int)workload->op_count)
		return false;
	const struct op *op = &workload->ops[o];
	return op_is_tiled(op) && op_copies_sticks(workload, op) &&
	       making->views[op->writes[0].tensor].count > 0 &&
	       making->stays[op->reads[0].tensor] != STAY_LX;
}

/* Returns the number of clones in a row before an op. */
static int count_clones(const struct joint_making *making, int o)
{
	int first = o, end = o;
	while (joint_may_clone(making, first - 1))
		first--;
	while (joint_may_clone(making, end))
		end++;
	return end - first;
}

/* True if no op reads a tensor, and it is not an output of the graph. */
static bool is_never_used(const struct joint_making *making, int tensor)
{
	const struct users *users = &making->users;
	return making->question->workload->tensors[tensor].role != TENSOR_OUTPUT &&
	       users->first[tensor + 1] - users->first[tensor] == 1;
}

/* True if such a clone by itself need not end its bundle: it is of no phase with the op behind it, or nothing is
 * proven.  Where it can be both, its price by itself is no less than what a plan takes. */
static bool joint_stands_alone(struct joint_making *making, int o)
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
	bool unread = is_never_used(making, workload->ops[o].writes[0].tensor);
	making->unproven |= many || (!last && (unread || next->primitive->kind == OP_OPAQUE));
	return alone || many;
}

/* The clone of the row that makes a tensor; -1. */
static int joint_clone_of(const struct joint_choosing *choosing, int tensor)
{
	int producer = choosing->making->question->workload->tensors[tensor].producer;
	return producer >= choosing->first && producer < choosing->number
		       ? producer - choosing->first
		       : -1;
}

/* Returns the tensor that clone c brings. */
static int joint_cloned(const struct joint_choosing *choosing, int clone)
{
	return choosing->making->question->workload->ops[choosing->first + clone].writes[0].tensor;
}

/* True if the op reads a tensor. */
static bool joint_op_reads(const struct joint_choosing *choosing, int tensor)
{
	for (int r = 0; r < choosing->read_count; r++)
		if (choosing->reads[r].tensor == tensor)
			return true;
	return false;
}

/* Adds the uses of the op and its clones from outside; false if a tensor would be in two places. */
static bool joint_clone_uses(const struct joint_choosing *choosing, struct joint_draft *draft)
{
	const struct workload *workload = choosing->making->question->workload;
	struct joint_use *uses = arena_array(choosing->making->scratch, struct joint_use,
		choosing->read_count + CLONES_MOST + EARLY_MOST);
	int count = 0;
	for (int r = 0; r < choosing->read_count; r++)
		if (joint_clone_of(choosing, choosing->reads[r].tensor) < 0)
			uses[count++] = choosing->uses[r];
	for (int o = choosing->first; o < choosing->number; o++) {
		int source = workload->ops[o].reads[0].tensor, u = 0;
		while (u < count && uses[u].tensor != source)
			u++;
		if (joint_clone_of(choosing, source) >= 0 ||
			(u < count && uses[u].mode != JOINT_HBM))
			return false;
		uses[u] = (struct joint_use){source, JOINT_HBM, -1};
		count = (int)number_max(count, u + 1);
	}
	for (int e = 0; e < choosing->early_count; e++) {
		for (int u = 0; u < count; u++)
			if (uses[u].tensor == choosing->early[e].tensor)
				return false;
		uses[count++] = choosing->early[e];
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

/* Adds the outs: the op's output, and tensors that later ops read; other tensors of clones live inside. */
static void joint_clone_outs(const struct joint_choosing *choosing, struct joint_draft *draft)
{
	struct joint_making *making = choosing->making;
	struct joint_out *outs = arena_array(making->scratch, struct joint_out, CLONES_MOST + 1);
	struct joint_inside *inside = arena_array(making->arena, struct joint_inside, CLONES_MOST);
	const struct arch *arch = making->question->arch;
	int out_count = 1, from, to;
	outs[0] = choosing->out;
	for (int u = 0; choosing->out.in_place >= 0 && u < draft->option.use_count; u++)
		if (draft->option.uses[u].tensor == choosing->uses[choosing->out.in_place].tensor)
			outs[0].in_place = u;
	for (int c = 0; c < choosing->number - choosing->first; c++) {
		int tensor = joint_cloned(choosing, c);
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
			arch_lx(arch)->alignment);
	}
	qsort(outs, (size_t)out_count, sizeof *outs, joint_by_tensor);
	draft->option.outs = outs;
	draft->option.out_count = out_count;
	draft->inside = inside;
}

/* The clones, then the op. */
static void joint_clone_parts(const struct joint_choosing *choosing, const struct op_option *tiles,
	struct joint_draft *draft)
{
	struct joint_making *making = choosing->making;
	const struct workload *workload = making->question->workload;
	int clones = choosing->number - choosing->first;
	if (!clones) {
		draft->option.choice = joint_choice_of(making, choosing->division->mapping, tiles);
		return;
	}
	struct joint_part *parts = arena_array(making->scratch, struct joint_part, clones + 1);
	for (int c = 0; c < clones; c++) {
		struct mapping mapping = move_mapping(making->question->arch, workload,
			&workload->ops[choosing->first + c],
			&making->views[joint_cloned(choosing, c)].at[choosing->views[c]]);
		parts[c].mapping = arena_copy(making->arena, &mapping, sizeof mapping);
	}
	parts[clones] = (struct joint_part){choosing->division->mapping,
		arena_copy(making->scratch, tiles, sizeof *tiles), NULL};
	draft->parts = parts;
}

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
		.stopper = asked->planning->stopper,
		.brief = asked->aim.brief};
	struct arena_mark mark = arena_mark(making->scratch);
	const struct op_choices *choices = op_map_all(&wanted, question, making->scratch);
	*value = JOINT_NEVER;
	making->cut_tiles |= choices->cut;
	for (size_t i = 0; i < choices->count; i++) {
		const struct op_value *own = &choices->at[i].value;
		int64_t cycles = op_value_latency(own, asked->planning->price);
		int64_t worth = joint_worth(making, cycles, own->energy_pj + moved_pj,
			own->hbm_bytes + question->moved.hbm);
		/* of options by number of tiles: without a proof fewer are better */
		int64_t more = asked->aim.brief && i ? *value / OP_MAP_AS_FAST : 0;
		if (worth < *value - more) {
			*value = worth;
			*tiles = choices->at[i];
		}
	}
	arena_release(making->scratch, mark);
	return *value < JOINT_NEVER;
}

/* --- ops one by one */

/* The least value of an op by itself, with all that it uses in HBM; JOINT_NEVER. */
static int64_t find_apart(struct joint_making *making, int o)
{
	const struct joint_question *asked = making->question;
	const struct op *op = &asked->workload->ops[o];
	int64_t least = JOINT_NEVER, value;
	for (int i = 0; i < op_operands(op); i++)
		if (making->stays[op_operand(op, i)->tensor] == STAY_LX)
			return JOINT_NEVER;
	for (size_t d = 0; d < making->divisions[o].count; d++) {
		const struct joint_division *division = &making->divisions[o].at[d];
		struct op_question question = {.arch = asked->arch,
			.workload = asked->workload,
			.op = op,
			.mapping = division->mapping,
			.by_rule = asked->planning->published_tiles};
		struct op_option tiles;
		if (division->same == d && joint_tiles(making, &question, 0, &tiles, &value))
			least = number_min(least, value);
	}
	return least;
}

int64_t joint_all_apart(struct joint_making *making, const struct tile_run *run)
{
	const struct arch *arch = making->question->arch;
	int64_t cores = making->question->planning->cores, ops = run->end - run->first;
	bool fits = true;
	int64_t overhead = checked_add(
		&fits, arch->bundle_cycles, checked_mul(&fits, arch->core_cycles, cores));
	int64_t sum = joint_worth(making, checked_mul(&fits, overhead, ops + 1), 0, 0);
	for (int o = run->first; o < run->end; o++) {
		struct joint_apart *apart = &making->apart[o];
		if (!apart->known)
			*apart = (struct joint_apart){true, find_apart(making, o)};
		sum = checked_add(&fits, sum, apart->value);
	}
	return fits ? sum : JOINT_NEVER;
}

/* The operands that the moves of a phase bring. */
struct brought {
	struct op_question *question;
	int64_t cores;
	double energy_pj;
	bool possible;
};

static void joint_making_bring(
	struct joint_making *making, int tensor, int view, struct brought *brought)
{
	const struct joint_transfer *in = joint_move_in(making, tensor, view);
	struct op_question *question = brought->question;
	brought->possible &= in->possible;
	arrivals_add(&question->arriving, tensor, &in->share, question->arch, question->workload,
		question->op, question->mapping, false);
	moved_join(&question->moved, &in->moved, question->arch, &brought->possible);
	brought->energy_pj += in->energy_pj;
	brought->cores = number_max(brought->cores, in->cores);
}

static int64_t joint_making_bytes(const struct joint_making *making, const struct joint_use *use)
{
	return view_bytes(&making->question->workload->tensors[use->tensor].layout,
		&making->views[use->tensor].at[use->view]);
}

/* --- one option */

/* Clones by themselves compute nothing that could come behind what they move. */
static void price_moves(
	struct joint_choosing *choosing, struct brought *brought, struct joint_option *option)
{
	struct joint_making *making = choosing->making;
	const struct op_question *question = brought->question;
	joint_making_bring(making, choosing->out.tensor, choosing->out.view, brought);
	int64_t cycles = joint_moves_cycles(making, &question->moved, &brought->possible);
	option->value = joint_worth(making, cycles, brought->energy_pj, question->moved.hbm);
	option->ends_bundle = !joint_stands_alone(making, choosing->number);
}

/* Adds what is chosen, if it can be carried out. */
static void price_option(struct joint_choosing *choosing)
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
	if (!joint_clone_uses(choosing, &draft))
		return;
	for (int r = 0; r < choosing->read_count; r++) {
		const struct joint_use *use = &choosing->uses[r];
		if (use->mode != JOINT_HBM)
			question.in_lx |= choosing->reads[r].operands;
		if (use->mode != JOINT_MOVED)
			continue;
		joint_making_bring(making, use->tensor, use->view, &brought);
		if (choosing->reads[r].dies && joint_clone_of(choosing, use->tensor) < 0)
			draft.dying_bytes += joint_making_bytes(making, use);
	}
	for (int c = 0; c < choosing->number - choosing->first; c++)
		if (!joint_op_reads(choosing, joint_cloned(choosing, c)))
			joint_making_bring(
				making, joint_cloned(choosing, c), choosing->views[c], &brought);
	for (int e = 0; e < choosing->early_count; e++)
		joint_making_bring(
			making, choosing->early[e].tensor, choosing->early[e].view, &brought);
	if (choosing->out.view >= 0)
		question.in_lx |= 1u << choosing->op->read_count;
	if (!brought.possible ||
		!joint_tiles(making, &question, brought.energy_pj, &tiles, &draft.option.value))
		return;
	if (question.in_lx == 2 && joint_may_clone(making, choosing->number))
		price_moves(choosing, &brought, &draft.option);
	draft.option.cores = (int)brought.cores;
	draft.waits = choosing->waits;
	joint_clone_outs(choosing, &draft);
	joint_clone_parts(choosing, &tiles, &draft);
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

static void price_in_place(struct joint_choosing *choosing)
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
		if (joint_clone_of(choosing, use->tensor) >= 0) { /* it is inside, or is left */
			choosing->making->unproven |= choosing->reads[r].dies;
			continue;
		}
		out->in_place = r;
		price_option(choosing);
		taken = true;
	}
	out->in_place = -1;
	if (!taken)
		price_option(choosing);
}

/* --- where operands are */

/* True if some later op may find the output under a view, or nothing uses it. */
static bool is_worth_making(const struct joint_choosing *choosing, int tensor, int view)
{
	const struct joint_views *views = &choosing->making->views[tensor];
	if (is_never_used(choosing->making, tensor))
		return true;
	for (int asked = 0; asked < views->count; asked++)
		if (views->asked[asked] > choosing->number &&
			(joint_serves(views, view, asked) ||
				joint_relays(choosing->making, tensor)))
			return true;
	return false;
}

/* True if what an op makes may lie in LX until an evict, of which an output of the graph must send something. */
static bool may_be_written_back(const struct joint_making *making, int tensor)
{
	const struct workload *workload = making->question->workload;
	return joint_is_free(making, KIND_EVICT) && making->stays[tensor] != STAY_LX &&
	       (workload->tensors[tensor].role != TENSOR_OUTPUT ||
		       (joint_is_free(making, KIND_BOTH) &&
			       workload_copy_in_hbm(workload, tensor) < 0));
}

static void choose_out(struct joint_choosing *choosing)
{
	struct joint_making *making = choosing->making;
	int tensor = choosing->op->writes[0].tensor;
	int view = choosing->division->views[choosing->op->read_count];
	bool output = making->question->workload->tensors[tensor].role == TENSOR_OUTPUT;
	choosing->out = (struct joint_out){tensor, -1, -1};
	choosing->waits = false;
	if (making->stays[tensor] != STAY_LX || output)
		price_option(choosing);
	if (view < 0)
		return;
	choosing->waits = !is_worth_making(choosing, tensor, view);
	if ((output || choosing->waits) && !may_be_written_back(making, tensor))
		return;
	if (choosing->waits && making->question->aim.brief)
		return;
	making->views[tensor].made[view] = choosing->number;
	choosing->out.view = view;
	price_in_place(choosing);
}

/* True if a view serves all operands by which a tensor is read. */
static bool option_serves_all(const struct joint_choosing *choosing, int r, int view)
{
	const struct joint_reading *read = &choosing->reads[r];
	const struct joint_views *views = &choosing->making->views[read->tensor];
	for (int i = 0; i < choosing->op->read_count; i++)
		if (read->operands >> i & 1 &&
			(choosing->division->views[i] < 0 ||
				!joint_serves(views, view, choosing->division->views[i])))
			return false;
	return true;
}

/* The least that can be asked for: no other view that serves all is served by it. */
static bool is_least(const struct joint_choosing *choosing, int r, int view)
{
	const struct joint_views *views = &choosing->making->views[choosing->reads[r].tensor];
	for (int other = 0; other < views->count; other++) {
		if (other == view || !joint_serves(views, view, other) ||
			!option_serves_all(choosing, r, other))
			continue;
		if (!joint_serves(views, other, view) || other < view)
			return false;
	}
	return true;
}

/* True if some smaller view, which is tried as well, does all that this one does for the op and for later ones. */
static bool is_displaced(const struct joint_choosing *choosing, int r, int tensor, int view)
{
	const struct joint_views *views = &choosing->making->views[tensor];
	for (int other = 0; other < views->count && view >= views->direct; other++)
		if (other != view && joint_serves(views, view, other) &&
			(r < 0 || option_serves_all(choosing, r, other)) &&
			(!joint_serves(views, other, view) || other < view) &&
			(views->asked[other] > choosing->number ||
				(r >= 0 && is_least(choosing, r, other))) &&
			joint_serves_later(views, other, choosing->number, view))
			return true;
	return false;
}

/* True if a tensor may come into LX under a view, for ops behind this one and, unless r is -1, for this one. */
static bool may_come(const struct joint_choosing *choosing, int r, int tensor, int view)
{
	return choosing->making->views[tensor].asked[view] > choosing->number &&
	       !is_displaced(choosing, r, tensor, view);
}

/* True if a tensor that the op does not read may be moved in before it, for ops behind it. */
static bool may_come_early(const struct joint_choosing *choosing, int tensor)
{
	struct joint_making *making = choosing->making;
	const struct tensor *at = &making->question->workload->tensors[tensor];
	int from, to;
	users_life(&making->users, tensor, &from, &to);
	return making->views[tensor].count && at->producer < choosing->first &&
	       to > choosing->number + 1 && joint_may_be_moved(making, tensor) &&
	       making->stays[tensor] != STAY_LX && !joint_op_reads(choosing, tensor);
}

/* The views under which it may be, which come first. */
static int early_views(const struct joint_views *views, bool shared)
{
	return shared ? views->count : views->direct;
}

int64_t joint_early_tries(const struct joint_making *making, bool shared)
{
	const struct workload *workload = making->question->workload;
	int64_t tries = 0;
	for (int o = 0; o < (int)workload->op_count; o++) {
		int64_t views = 0;
		for (int t = 0; t < (int)workload->tensor_count; t++)
			for (int v = 0; v < early_views(&making->views[t], shared); v++)
				views += making->views[t].asked[v] > o &&
					 workload->tensors[t].producer < o &&
					 joint_may_be_moved(making, t);
		tries += (int64_t)making->divisions[o].count * views * views / 2;
	}
	return tries;
}

static void choose_early(struct joint_choosing *choosing, int tensor)
{
	struct joint_making *making = choosing->making;
	choose_out(choosing);
	if (!joint_is_free(making, KIND_EARLY) || choosing->early_count == EARLY_MOST)
		return;
	for (; tensor < (int)making->question->workload->tensor_count; tensor++) {
		const struct joint_views *views = &making->views[tensor];
		if (!may_come_early(choosing, tensor))
			continue;
		for (int view = 0; view < early_views(views, making->shares_early); view++) {
			if (!may_come(choosing, -1, tensor, view))
				continue;
			choosing->early[choosing->early_count++] =
				(struct joint_use){tensor, JOINT_MOVED, view};
			choose_early(choosing, tensor + 1);
			choosing->early_count--;
		}
	}
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
			(joint_serves(views, held, asked) || joint_relays(making, tensor)))
			return true;
	return false;
}

bool joint_may_be_moved(const struct joint_making *making, int tensor)
{
	bool input = making->question->workload->tensors[tensor].producer < 0;
	return joint_is_free(making, input ? KIND_CLONE : KIND_RELOAD);
}

/* Chooses the view under which a clone leaves a tensor that the op does not read. */
static void choose_clone(struct joint_choosing *choosing, int c)
{
	if (c == choosing->number - choosing->first) {
		choose_early(choosing, 0);
		return;
	}
	int tensor = joint_cloned(choosing, c);
	const struct joint_views *views = &choosing->making->views[tensor];
	if (joint_op_reads(choosing, tensor)) {
		choose_clone(choosing, c + 1);
		return;
	}
	for (int view = 0; view < views->count; view++) {
		if (!may_come(choosing, -1, tensor, view))
			continue;
		choosing->views[c] = view;
		choose_clone(choosing, c + 1);
	}
}

static void choose_cloned(struct joint_choosing *choosing, int r, int clone);

static void choose_read(struct joint_choosing *choosing, int r)
{
	if (r == choosing->read_count) {
		choose_clone(choosing, 0);
		return;
	}
	int clone = joint_clone_of(choosing, choosing->reads[r].tensor);
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
		if (!option_serves_all(choosing, r, view))
			continue;
		bool least = is_least(choosing, r, view);
		if (least && joint_may_be_found(making, tensor, view, choosing->number)) {
			*use = (struct joint_use){tensor, JOINT_RESIDENT, view};
			choose_read(choosing, r + 1);
		}
		if (joint_may_be_moved(making, tensor) &&
			(least || may_come(choosing, r, tensor, view))) {
			*use = (struct joint_use){tensor, JOINT_MOVED, view};
			choose_read(choosing, r + 1);
		}
	}
}

/* Chooses the view under which a clone leaves a tensor that the op reads. */
static void choose_cloned(struct joint_choosing *choosing, int r, int clone)
{
	int tensor = choosing->reads[r].tensor;
	const struct joint_views *views = &choosing->making->views[tensor];
	for (int view = 0; view < views->count; view++) {
		if (!option_serves_all(choosing, r, view) ||
			(!may_come(choosing, r, tensor, view) && !is_least(choosing, r, view)))
			continue;
		choosing->uses[r] = (struct joint_use){tensor, JOINT_MOVED, view};
		choosing->views[clone] = view;
		choose_read(choosing, r + 1);
	}
}

/* Notes the views of tensors that this op, or clones before it, move: later ops may read them. */
static void note_moves(const struct joint_choosing *choosing)
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

static void list_reads(struct joint_choosing *choosing)
{
	const struct op *op = choosing->op;
	const struct users *users = &choosing->making->users;
	for (int i = 0; i < op->read_count; i++) {
		int r = 0, from, to;
		while (r < choosing->read_count && choosing->reads[r].tensor != op->reads[i].tensor)
			r++;
		if (r == choosing->read_count)
			choosing->reads[choosing->read_count++] =
				(struct joint_reading){op->reads[i].tensor, 0, false};
		choosing->reads[r].operands |= 1u << i;
		users_life(users, op->reads[i].tensor, &from, &to);
		choosing->reads[r].dies = to == choosing->number + 1;
	}
	qsort(choosing->reads, (size_t)choosing->read_count, sizeof *choosing->reads,
		joint_by_tensor);
}

/* The options of an op with the clones before it from `first` on; false if the stopper ends it. */
static bool choose_option(struct joint_making *making, int first, int o)
{
	struct joint_choosing choosing = {.making = making,
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
	bool went_on = choose_option(making, o, o);
	for (int end = o; went_on && making->question->aim.cycles && end < o + CLONES_MOST &&
			  joint_may_clone(making, end) && end + 1 < (int)workload->op_count &&
			  op_is_tiled(&workload->ops[end + 1]);
		end++)
		went_on = choose_option(making, o, end + 1);
	arena_release(making->scratch, mark);
	if (!went_on)
		making->why = "it was asked to stop";
	else if (making->options.count == before)
		making->why = arena_format(making->arena,
			"op '%s' cannot be carried out: under none of its divisions do its tiles fit",
			workload->ops[o].name);
	return !making->why;
}

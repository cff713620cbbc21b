#include "search/joint/joint_making.h"

#include "base/number.h"
#include "base/text.h"
#include "cost/graph/cost.h"
#include "cost/graph/footprint.h"
#include "cost/graph/latency.h"
#include "cost/graph/traffic.h"
#include "model/graph/run.h"
#include "model/graph/workload.h"
#include "search/drive/solver.h"
#include "search/engine/kept.h"
#include "search/graph/lx.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* An op's divisions while orders are tried. */
struct ordering {
	struct joint_making *making;
	int op;
	const struct mapping *given;
	size_t first; /* of those that split alike */
	uint8_t loops[OP_LOOPS_MOST];
	int count; /* loops that are split */
};

static bool is_division_listed(const struct joint_making *making, const struct op *op)
{
	return name_list_has(&making->question->planning->eligible, op->type);
}

/* True if a tensor may lie in LX at all, as an operand of some op. */
bool joint_may_lie(const struct joint_making *making, int tensor)
{
	const struct workload *workload = making->question->workload;
	const struct planning *planning = making->question->planning;
	const struct tensor *at = &workload->tensors[tensor];
	bool clones = planning->clones != CLONE_OFF && joint_is_free(making, KIND_CLONE) &&
		      name_list_has(&planning->eligible, primitive_clone.name);
	if (!planning->lx_planning || making->stays[tensor] == STAY_HBM)
		return false;
	if (at->producer < 0)
		return clones && users_root(workload, &making->users, tensor) < 0;
	return is_division_listed(making, &workload->ops[at->producer]);
}

/* By operand, what the cores need or leave behind. */
static void find_views(struct joint_making *making, int o, struct joint_division *division)
{
	const struct joint_question *question = making->question;
	const struct op *op = &question->workload->ops[o];
	for (int i = 0; i < op_operands(op); i++) {
		int tensor = op_operand(op, i)->tensor;
		bool reads = i < op->read_count;
		struct view view;
		const char *why;
		struct arena_mark mark = arena_mark(making->scratch);
		division->views[i] = -1;
		bool owned = division->partial && !reads;
		if (joint_may_lie(making, tensor) &&
			(!owned || joint_is_free(making, KIND_OWNERS)) &&
			lx_view(question->arch, question->workload, op, division->mapping, i,
				making->scratch, &view, &why)) {
			if (owned)
				lx_leave_to_owners(question->arch, op, division->mapping, &view);
			division->views[i] = joint_views_add(making, tensor, &view, reads ? o : -1);
		} else {
			arena_release(making->scratch, mark);
		}
	}
}

static void add_division(struct ordering *ordering, const struct mapping *mapping)
{
	struct joint_making *making = ordering->making;
	const struct joint_question *question = making->question;
	struct joint_divisions *divisions = &making->divisions[ordering->op];
	const struct op *op = &question->workload->ops[ordering->op];
	struct joint_division division = {.mapping = mapping,
		.same = ordering->first,
		.cores = mapping_cores(question->arch, mapping),
		.partial = mapping_reduction_split(question->arch, op, mapping) > 1};
	find_views(making, ordering->op, &division);
	for (size_t i = ordering->first; i < divisions->count; i++)
		if (!memcmp(divisions->at[i].views, division.views, sizeof division.views))
			return;
	division.mapping = arena_copy(making->arena, mapping, sizeof *mapping);
	*array_add(making->scratch, divisions) = division;
}

/* All orders of the loops that are split, the given one aside. */
static void ordering_permute(struct ordering *ordering, struct mapping *mapping, int at)
{
	struct mapping_row *row = &mapping->rows[ordering->making->question->arch->core];
	if (at == ordering->count) {
		add_division(ordering, mapping);
		return;
	}
	for (int i = at; i < ordering->count; i++) {
		uint8_t first = row->spatial_order[at];
		row->spatial_order[at] = row->spatial_order[i];
		row->spatial_order[i] = first;
		ordering_permute(ordering, mapping, at + 1);
		row->spatial_order[i] = row->spatial_order[at];
		row->spatial_order[at] = first;
	}
}

static void add_orders(struct joint_making *making, int op, const struct mapping *given)
{
	struct ordering ordering = {making, op, given, making->divisions[op].count, {0}, 0};
	const struct arch *arch = making->question->arch;
	struct mapping mapping = *given;
	add_division(&ordering, given);
	if (arch->core < 0 || !joint_is_free(making, KIND_ORDERS))
		return;
	struct mapping_row *row = &mapping.rows[arch->core];
	int rest = 0;
	for (int i = 0; i < given->loop_count; i++) {
		uint8_t l = given->rows[arch->core].spatial_order[i];
		if (row->spatial[l] > 1)
			row->spatial_order[ordering.count++] = l;
		else
			ordering.loops[rest++] = l;
	}
	memcpy(&row->spatial_order[ordering.count], ordering.loops, (size_t)rest);
	ordering_permute(&ordering, &mapping, 0);
}

/* True if the kinds of decisions that are free allow a division. */
static bool joint_making_is_free(const struct joint_making *making, const struct op *op,
	const struct mapping *mapping, int64_t most)
{
	const struct joint_question *question = making->question;
	int split = 0;
	for (int l = 0; l < op->loop_count; l++)
		split += mapping_split(question->arch, mapping, l) > 1;
	return (joint_is_free(making, KIND_MANY_LOOPS) || split <= 1) &&
	       (joint_is_free(making, KIND_FEW_CORES) ||
		       mapping_cores(question->arch, mapping) == most) &&
	       (joint_is_free(making, KIND_REDUCTION) ||
		       mapping_reduction_split(question->arch, op, mapping) <= 1);
}

/* The most cores that any division takes that is free otherwise. */
static int64_t most_division_cores(
	const struct joint_making *making, const struct op *op, const struct answer *answer)
{
	int64_t most = 0;
	struct joint_question question = *making->question;
	struct joint_making other = {.question = &question};
	question.aim.fixed &= ~(unsigned)KIND_FEW_CORES;
	for (size_t i = 0; i < answer->candidate_count; i++)
		if (joint_making_is_free(&other, op, answer->candidates[i].mappings, 0))
			most = number_max(
				most, mapping_cores(question.arch, answer->candidates[i].mappings));
	return most;
}

bool joint_divisions_make(struct joint_making *making, int o)
{
	const struct joint_question *question = making->question;
	const struct op *op = &question->workload->ops[o];
	struct problem problem = {.stage = STAGE_DIVIDE,
		.arch = question->arch,
		.workload = question->workload,
		.planning = question->planning,
		.op = o};
	if (!op_is_tiled(op))
		return true;
	struct answer answer = solve(
		solver_sharing(STAGE_DIVIDE, SHARING_ENUMERATION), &problem, 0, 0, making->scratch);
	int64_t most = most_division_cores(making, op, &answer);
	for (size_t i = 0; i < answer.candidate_count; i++)
		if (joint_making_is_free(making, op, answer.candidates[i].mappings, most))
			add_orders(making, o, answer.candidates[i].mappings);
	for (size_t i = 0; i < answer.complaint_count && !making->why; i++)
		if (answer.complaints[i].error)
			making->why = answer.complaints[i].text;
	if (!making->why && !making->divisions[o].count)
		making->why =
			arena_format(making->arena, "op '%s' has no legal division", op->name);
	return !making->why;
}

int joint_views_add(struct joint_making *making, int tensor, const struct view *view, int asked_by)
{
	struct joint_views *views = &making->views[tensor];
	int v = 0;
	while (v < views->count && !view_equal(&views->at[v], view))
		v++;
	if (v == views->count) {
		if (views->count == views->capacity) {
			int more = views->capacity ? 2 * views->capacity : 8;
			struct view *at = arena_array(making->scratch, struct view, more);
			int *asked = arena_array(making->scratch, int, more);
			int *first = arena_array(making->scratch, int, more);
			if (views->count) {
				memcpy(at, views->at, (size_t)views->count * sizeof *at);
				memcpy(asked, views->asked, (size_t)views->count * sizeof *asked);
				memcpy(first, views->first_asked,
					(size_t)views->count * sizeof *first);
			}
			views->at = at;
			views->asked = asked;
			views->first_asked = first;
			views->capacity = more;
		}
		views->at[v] = *view;
		views->asked[v] = -1;
		views->first_asked[v] = INT_MAX;
		views->count++;
	}
	if (asked_by > views->asked[v])
		views->asked[v] = asked_by;
	if (asked_by >= 0 && asked_by < views->first_asked[v])
		views->first_asked[v] = asked_by;
	return v;
}

/* --- views that serve several */

/* True if each core that holds something under the view finds its part of a dimension in `part`; NULL: in it whole. */
static bool part_covers(const struct view *view, int d, const struct view_part *part)
{
	const struct view_part *own = view_part_of(view, d);
	for (int64_t core = 0; core < view->cores && part->split > 1; core++)
		if (view_holds(view, core) &&
			core / own->divisor % own->split / (own->split / part->split) !=
				core / part->divisor % part->split)
			return false;
	return true;
}

/* The smallest part of a dimension that has, on each core, what the core holds under both views: parts of both end
 * where one of it ends, so their numbers are multiples of its number. */
static struct view_part join_part(const struct view *a, const struct view *b, int d)
{
	const struct view_part *p = view_part_of(a, d), *q = view_part_of(b, d);
	int64_t most = p && q ? number_gcd(p->split, q->split) : 1;
	for (int64_t split = most; split > 1; split--) {
		if (most % split)
			continue;
		struct view_part part = {d, split, p->divisor * (p->split / split)};
		if (part_covers(a, d, &part) && part_covers(b, d, &part))
			return part;
		part.divisor = q->divisor * (q->split / split);
		if (part_covers(a, d, &part) && part_covers(b, d, &part))
			return part;
	}
	return (struct view_part){d, 1, 1};
}

/* The smallest view that serves whatever either of two serves. */
static struct view views_join(
	const struct layout *layout, const struct view *a, const struct view *b)
{
	struct view view = {.cores = number_max(a->cores, b->cores)};
	if (a->only == b->only && a->only_divisor == b->only_divisor) {
		view.only = a->only;
		view.only_divisor = a->only_divisor;
	}
	for (int d = 0; d + 1 < layout->rank; d++) {
		struct view_part part = join_part(a, b, d);
		if (part.split > 1)
			view.parts[view.part_count++] = part;
	}
	return view;
}

/* True if an op reads a tensor more than once. */
static bool reads_twice(const struct joint_making *making, int o, int tensor)
{
	const struct op *op = &making->question->workload->ops[o];
	int times = 0;
	for (int i = 0; i < op->read_count; i++)
		times += op->reads[i].tensor == tensor;
	return times > 1;
}

static void add_joins(struct joint_making *making, int tensor, int a)
{
	const struct joint_views *views = &making->views[tensor];
	const struct layout *layout = &making->question->workload->tensors[tensor].layout;
	for (int b = 0; b < a && views->asked[a] >= 0; b++) {
		int last = (int)number_max(views->asked[a], views->asked[b]);
		int first = (int)number_min(views->first_asked[a], views->first_asked[b]);
		if (views->asked[b] < 0 || (first == last && !reads_twice(making, first, tensor)))
			continue;
		struct view both = views_join(layout, &views->at[a], &views->at[b]);
		joint_views_add(making, tensor, &both, first);
		joint_views_add(making, tensor, &both, last);
	}
}

void joint_views_share(struct joint_making *making, bool share)
{
	size_t count = making->question->workload->tensor_count;
	int64_t tries = 0;
	struct joint_views *before =
		arena_copy(making->scratch, making->views, count * sizeof *before);
	for (size_t t = 0; t < count; t++) {
		struct joint_views *views = &making->views[t];
		size_t bytes = (size_t)views->count * sizeof *views->asked;
		views->direct = before[t].direct = views->capacity = before[t].capacity =
			views->count;
		if (!share || !views->count)
			continue;
		before[t].asked = arena_copy(making->scratch, views->asked, bytes);
		before[t].first_asked = arena_copy(making->scratch, views->first_asked, bytes);
		for (int a = 0;
			a < views->count && tries <= SHARED_TRIES_MOST && joint_goes_on(making);
			tries += a++)
			add_joins(making, (int)t, a);
	}
	making->shares = share && tries <= SHARED_TRIES_MOST;
	if (!making->shares)
		memcpy(making->views, before, count * sizeof *before);
}

bool joint_serves_later(const struct joint_views *views, int view, int op, int other)
{
	for (int asked = 0; asked < views->direct; asked++)
		if (views->asked[asked] > op && joint_serves(views, other, asked) &&
			!joint_serves(views, view, asked))
			return false;
	return true;
}

/* Every core that needs something finds it in what it holds. */
static bool find_serves(
	const struct layout *layout, const struct view *held, const struct view *asked)
{
	int64_t more[LAYOUT_RANK_MOST]; /* of a dimension, that a core holds */
	for (int d = 0; d + 1 < layout->rank; d++) {
		more[d] = view_size(layout, held, d) - view_size(layout, asked, d);
		if (more[d] < 0)
			return false; /* core 0 takes part in every view */
	}
	for (int64_t core = 0; core < asked->cores; core++) {
		if (!view_holds(asked, core))
			continue;
		if (!view_holds(held, core))
			return false;
		for (int d = 0; d + 1 < layout->rank; d++) {
			int64_t first = view_first(layout, held, d, core);
			int64_t needed = view_first(layout, asked, d, core);
			if (needed < first || needed > first + more[d])
				return false;
		}
	}
	return true;
}

/* The same views of tensors that are laid out alike. */
static bool same_views(const struct joint_making *making, int a, int b)
{
	const struct tensor *tensors = making->question->workload->tensors;
	const struct joint_views *p = &making->views[a], *q = &making->views[b];
	return p->count == q->count && tensors[a].layout.dtype == tensors[b].layout.dtype &&
	       layout_equal(&tensors[a].layout, &tensors[b].layout) &&
	       (!p->count || !memcmp(p->at, q->at, (size_t)p->count * sizeof *p->at));
}

/* Ops counted from the first that uses the tensor; who never does stays as it is. */
static bool same_time(int a, int from_a, int b, int from_b)
{
	bool ever = a >= 0 && a < INT_MAX && b >= 0 && b < INT_MAX;
	return ever ? a - from_a == b - from_b : a == b;
}

bool joint_views_alike(const struct joint_making *making, int a, int b)
{
	const struct joint_views *p = &making->views[a], *q = &making->views[b];
	int from_a, from_b, to;
	const struct workload *workload = making->question->workload;
	if (p->serves != q->serves || p->count != q->count ||
		making->stays[a] != making->stays[b] ||
		(workload->tensors[a].producer < 0) != (workload->tensors[b].producer < 0) ||
		(workload_copy_in_hbm(workload, a) < 0) != (workload_copy_in_hbm(workload, b) < 0))
		return false;
	users_life(&making->users, a, &from_a, &to);
	users_life(&making->users, b, &from_b, &to);
	for (int v = 0; v < p->count; v++)
		if (!same_time(p->made[v], from_a, q->made[v], from_b) ||
			!same_time(p->asked[v], from_a, q->asked[v], from_b) ||
			!same_time(p->first_asked[v], from_a, q->first_asked[v], from_b))
			return false;
	return true;
}

bool joint_goes_on(struct joint_making *making)
{
	if (stopper_stops(&making->question->planning->stopper))
		making->why = "it was asked to stop";
	return !making->why;
}

bool joint_views_close(struct joint_making *making, int tensor)
{
	struct joint_views *views = &making->views[tensor];
	const struct layout *layout = &making->question->workload->tensors[tensor].layout;
	int count = views->count;
	views->made = arena_array(making->scratch, int, count);
	for (int v = 0; v < count; v++)
		views->made[v] = INT_MAX;
	views->in = arena_array(making->scratch, struct joint_transfer, count);
	views->out = arena_array(making->scratch, struct joint_transfer, count);
	for (int other = 0; other < tensor && !views->serves; other++)
		if (same_views(making, tensor, other))
			views->serves = making->views[other].serves;
	if (views->serves)
		return true;
	views->serves =
		arena_alloc_array(making->arena, (size_t)count, (size_t)count * sizeof(bool));
	for (int held = 0; held < count && joint_goes_on(making); held++)
		for (int asked = 0; asked < count; asked++)
			views->serves[held * count + asked] =
				find_serves(layout, &views->at[held], &views->at[asked]);
	return !making->why;
}

bool joint_serves(const struct joint_views *views, int held, int asked)
{
	return views->serves[held * views->count + asked];
}

/* A plan of one step: a move of the tensor, which lies in LX under the view behind it, or before. */
static struct plan *one_move(
	struct joint_making *making, enum move_kind kind, int tensor, const struct view *view)
{
	const struct joint_question *question = making->question;
	struct arena *arena = making->scratch;
	struct tensor *given =
		arena_copy(arena, &question->workload->tensors[tensor], sizeof *given);
	struct workload alone = {
		.name = question->workload->name, .tensor_count = 1, .tensors = given};
	int copy = workload_copy_in_hbm(question->workload, tensor);
	given->producer = -1;
	struct growing growing = growing_open(arena, &alone, 1);
	growing_move(&growing, kind, 0, 1, growing_name(&growing, kind, 0));
	if (kind == MOVE_EVICT && copy >= 0)
		((struct tensor *)growing.workload->tensors)[1].copy_of = 1;
	struct plan *plan = arena_new(arena, struct plan);
	*plan = (struct plan){.arch = question->arch,
		.workload = growing.workload,
		.cores = question->planning->cores,
		.step_count = 1,
		.residency_count = 1,
		.steps = arena_new(arena, struct step),
		.residencies = arena_new(arena, struct residency)};
	plan->steps[0].mapping =
		move_mapping(question->arch, growing.workload, &growing.workload->ops[0], view);
	plan->residencies[0] = (struct residency){.tensor = kind == MOVE_EVICT ? 0 : 1,
		.place = PLACE_LX,
		.view = *view,
		.size = view_bytes(&given->layout, view),
		.to = 1,
		.in_place_of = -1};
	return plan;
}

static struct joint_transfer transfer_find(
	struct joint_making *making, enum move_kind kind, int tensor, const struct view *view)
{
	struct joint_transfer transfer = {.known = true};
	struct arena_mark mark = arena_mark(making->scratch);
	struct plan *plan = one_move(making, kind, tensor, view);
	struct traffic_op *traffic = arena_new(making->scratch, struct traffic_op);
	struct step_count core;
	struct plan_cost cost;
	traffic_open_step(traffic, plan, 0, making->scratch);
	if (cost_plan(plan, making->scratch, &cost) && traffic_count_core(traffic, 0, &core)) {
		transfer.possible = true;
		transfer.cycles = cost.phases[0].cycles;
		transfer.hbm_bytes = cost.score.hbm_bytes;
		transfer.energy_pj = cost.score.energy_pj;
		transfer.cores = (int)mapping_cores(plan->arch, &plan->steps[0].mapping);
		if (kind != MOVE_EVICT)
			moved_add(&transfer.moved, traffic, transfer.hbm_bytes,
				core.bytes[0][TRAFFIC_LX_FILL], &transfer.possible);
		transfer.share = arrival_share(
			plan->arch, plan->workload, traffic->op, &plan->steps[0].mapping);
		transfer.share.lanes = traffic_lane_part(traffic, 0);
	}
	arena_release(making->scratch, mark);
	return transfer;
}

const struct joint_transfer *joint_move_in(struct joint_making *making, int tensor, int view)
{
	struct joint_views *views = &making->views[tensor];
	if (!views->in[view].known)
		views->in[view] = transfer_find(making, MOVE_RELOAD, tensor, &views->at[view]);
	return &views->in[view];
}

int64_t joint_moves_cycles(const struct joint_making *making, const struct moved *moved, bool *fits)
{
	const struct arch *arch = making->question->arch;
	int64_t resources[RESOURCE_COUNT] = {0};
	struct core_work work = {.fill = moved->fill};
	latency_raise(resources, arch, &work, fits);
	return number_max(resources[RESOURCE_FILL], latency_moved(arch, moved, fits));
}

const struct joint_transfer *joint_move_out(struct joint_making *making, int tensor, int view)
{
	struct joint_views *views = &making->views[tensor];
	if (!views->out[view].known)
		views->out[view] = transfer_find(making, MOVE_EVICT, tensor, &views->at[view]);
	return &views->out[view];
}

/* --- relayouts, which equal layouts and views share */

struct relay_price {
	bool possible;
	int64_t cycles;
	double energy_pj;
};

static void joint_key_put(struct text *key, int64_t value)
{
	text_bytes(key, (const char *)&value, sizeof value);
}

static void put_view(struct text *key, const struct view *view)
{
	joint_key_put(key, view->cores);
	joint_key_put(key, view->only > 1 ? view->only << 16 | view->only_divisor : 0);
	for (int i = 0; i < view->part_count; i++) {
		joint_key_put(key, view->parts[i].dim);
		joint_key_put(key, view->parts[i].split << 16 | view->parts[i].divisor);
	}
	joint_key_put(key, -1);
}

static const struct relay_price *find_relay(struct joint_making *making,
	const struct layout *layout, const struct view *from, const struct view *to)
{
	struct text key = text_open(making->scratch);
	joint_key_put(&key, layout->rank);
	joint_key_put(&key, layout->stick_bytes);
	for (int d = 0; d < layout->rank; d++)
		joint_key_put(&key, layout->size[d]);
	put_view(&key, from);
	put_view(&key, to);
	const struct relay_price *known = kept_find(making->kept, text_read(&key), key.length);
	if (known)
		return known;
	struct relayout_price found;
	struct relay_price price = {0};
	price.possible = relayout_price(making->question->arch, layout, from, to, &found);
	price.cycles = found.cycles;
	price.energy_pj = found.energy_pj;
	return kept_add(making->kept, text_read(&key), key.length, &price, sizeof price, 1);
}

int64_t joint_relay(struct joint_making *making, int tensor, int from, int to)
{
	const struct joint_views *views = &making->views[tensor];
	struct arena_mark mark = arena_mark(making->scratch);
	const struct relay_price *price =
		find_relay(making, &making->question->workload->tensors[tensor].layout,
			&views->at[from], &views->at[to]);
	arena_release(making->scratch, mark);
	return price->possible ? joint_worth(making, price->cycles, price->energy_pj, 0)
			       : JOINT_NEVER;
}

static int compare_numbers(int64_t a, int64_t b)
{
	return a < b ? -1 : a > b;
}

/* Zero if ops and uses are the same.  Early moves are uses, of any tensors, so their number differs. */
static int compare_uses(const struct joint_draft *a, const struct joint_draft *b)
{
	const struct joint_option *x = &a->option, *y = &b->option;
	int order = compare_numbers(x->end, y->end);
	order = order ? order : compare_numbers(x->use_count, y->use_count);
	for (int u = 0; u < x->use_count && !order; u++) {
		order = compare_numbers(x->uses[u].tensor, y->uses[u].tensor);
		order = order ? order : compare_numbers(x->uses[u].mode, y->uses[u].mode);
		if (!order && !(a->dying >> u & 1))
			order = compare_numbers(x->uses[u].view, y->uses[u].view);
	}
	return order;
}

/* Zero if ops, uses and outs are the same. */
static int joint_draft_compare_places(const struct joint_draft *a, const struct joint_draft *b)
{
	const struct joint_option *x = &a->option, *y = &b->option;
	int order = compare_uses(a, b);
	order = order ? order : compare_numbers(x->out_count, y->out_count);
	for (int i = 0; i < x->out_count && !order; i++) {
		order = compare_numbers(x->outs[i].tensor, y->outs[i].tensor);
		order = order ? order : compare_numbers(x->outs[i].view, y->outs[i].view);
		order = order ? order : compare_numbers(x->outs[i].in_place, y->outs[i].in_place);
	}
	return order;
}

static int compare_drafts(const void *left, const void *right)
{
	const struct joint_draft *a = left, *b = right;
	int order = joint_draft_compare_places(a, b);
	order = order ? order : compare_numbers(a->option.value, b->option.value);
	order = order ? order : compare_numbers(a->option.room, b->option.room);
	order = order ? order : compare_numbers(a->option.cores, b->option.cores);
	order = order ? order : compare_numbers(a->dying_bytes, b->dying_bytes);
	return order ? order : compare_numbers((int64_t)a->number, (int64_t)b->number);
}

/* The loops that are cut. */
static const struct tile_run *copy_loops(const struct tile_run *loops, struct arena *arena)
{
	struct tile_run *run = arena_copy(arena, loops, sizeof *loops);
	run->loop_count = 0;
	for (int k = 0; k < loops->loop_count; k++)
		if (loops->loops[k].tiles > 1)
			run->loops[run->loop_count++] = loops->loops[k];
	return run;
}

/* Copies what all options of a run share. */
static void keep_run(struct joint_run *run, struct arena *arena)
{
	size_t ops = (size_t)(run->loops.end - run->loops.first);
	if (run->kept)
		return;
	run->kept = true;
	run->mappings = arena_copy(arena, run->mappings, ops * sizeof *run->mappings);
	run->inside =
		arena_copy(arena, run->inside, (size_t)run->inside_count * sizeof *run->inside);
}

/* All bytes of a key count: it has no padding. */
struct choice_key {
	const struct mapping *mapping;
	struct op_option tiles;
};
_Static_assert(sizeof(struct choice_key) == sizeof(void *) + sizeof(uint32_t[OP_LOOPS_MOST]) +
						    sizeof(uint8_t[OP_LOOPS_MOST]) +
						    sizeof(void *) + 3 * sizeof(int64_t) +
						    sizeof(double),
	"a key of a choice has padding");

const struct joint_choice *joint_choice_of(
	struct joint_making *making, const struct mapping *mapping, const struct op_option *tiles)
{
	struct choice_key key = {mapping, *tiles};
	const struct joint_choice *const *known = kept_find(making->choices, &key, sizeof key);
	if (known)
		return *known;
	struct joint_part *part = arena_new(making->arena, struct joint_part);
	struct joint_choice *choice = arena_new(making->arena, struct joint_choice);
	part->mapping = mapping;
	part->tiles = arena_copy(making->arena, tiles, sizeof *tiles);
	choice->parts = part;
	kept_add(making->choices, &key, sizeof key, &choice, sizeof choice, 1);
	return choice;
}

/* Copies the choice of a draft of several ops. */
static const struct joint_choice *keep_choice(const struct joint_draft *draft, struct arena *arena)
{
	struct joint_run *run = draft->run;
	int ops = draft->option.end - draft->option.first;
	if (run)
		keep_run(run, arena);
	struct joint_part *parts = arena_copy(arena, draft->parts, (size_t)ops * sizeof *parts);
	struct joint_choice *choice = arena_new(arena, struct joint_choice);
	for (int i = 0; i < ops; i++) {
		if (parts[i].tiles)
			parts[i].tiles = arena_copy(arena, parts[i].tiles, sizeof *parts[i].tiles);
		if (run)
			parts[i].mapping = &run->mappings[i];
	}
	choice->parts = parts;
	choice->inside_count = draft->inside_count;
	choice->inside = draft->inside;
	if (run) {
		choice->run = copy_loops(&run->loops, arena);
		choice->inside_count = run->inside_count;
		choice->inside = run->inside;
	}
	return choice;
}

/* Options with equal uses follow each other, and share them. */
static void keep_draft(struct joint_making *making, const struct joint_draft *draft)
{
	struct arena *arena = making->arena;
	const struct joint_option *last =
		making->options.count ? &making->options.at[making->options.count - 1] : NULL;
	struct joint_option option = draft->option;
	size_t size = (size_t)option.use_count * sizeof *option.uses;
	bool same = last && last->use_count == option.use_count && size &&
		    !memcmp(last->uses, option.uses, size);
	option.uses = same ? last->uses : arena_copy(arena, option.uses, size);
	option.outs =
		arena_copy(arena, option.outs, (size_t)option.out_count * sizeof *option.outs);
	if (!option.choice)
		option.choice = keep_choice(draft, arena);
	*array_add(making->growing, &making->options) = option;
}

/*
 * True if a draft makes something in LX that waits for an evict, and one of the drafts before it, with equal uses,
 * writes it to HBM at no more than the price of both.  The evict can still gain a place in the bundle, if it stands
 * in a later one.
 */
static bool is_late(struct joint_making *making, const struct joint_draft *draft,
	const struct joint_draft *before, size_t count)
{
	const struct joint_option *own = &draft->option;
	if (!draft->waits || own->out_count != 1)
		return false;
	const struct joint_transfer *evict =
		joint_move_out(making, own->outs[0].tensor, own->outs[0].view);
	int64_t value = joint_worth(making, evict->cycles, evict->energy_pj, evict->hbm_bytes);
	bool fits = evict->possible && value < JOINT_NEVER;
	value = checked_add(&fits, value, own->value);
	for (size_t i = 0; i < count; i++) {
		const struct joint_option *other = &before[i].option;
		if (other->out_count == 1 && other->outs[0].view < 0 && other->value <= value &&
			other->room <= own->room && other->cores <= own->cores &&
			before[i].dying_bytes <= draft->dying_bytes)
			return true;
	}
	return !fits;
}

/* True if a draft with equal places is as good as another one of no less value: wherever the other one is, a bundle
 * is wider with it by no more than it has more cores. */
static bool joint_draft_beats(
	const struct joint_draft *a, const struct joint_draft *b, int64_t core_value)
{
	bool fits = true;
	const struct joint_option *own = &a->option, *other = &b->option;
	int64_t more = number_max(0, own->cores - other->cores);
	int64_t value = checked_add(&fits, own->value, checked_mul(&fits, core_value, more));
	return own->room <= other->room && a->dying_bytes <= b->dying_bytes &&
	       (own->cores <= other->cores || (fits && value < other->value));
}

void joint_drafts_keep(struct joint_making *making, struct joint_drafts *drafts)
{
	int64_t core_value = joint_worth(making, making->question->arch->core_cycles, 0, 0);
	struct joint_draft *at = drafts->at;
	size_t first = 0, kept = 0; /* of those with equal places, at the front of drafts */
	size_t uses = 0;            /* of those with equal uses */
	if (drafts->count)
		qsort(at, drafts->count, sizeof *at, compare_drafts);
	for (size_t i = 0; i < drafts->count; i++) {
		bool beaten = false;
		if (kept == first || joint_draft_compare_places(&at[i], &at[first]))
			first = kept;
		if (kept > uses && compare_uses(&at[i], &at[uses]))
			uses = kept;
		if (!making->evicts_late)
			beaten = is_late(making, &at[i], &at[uses], kept - uses);
		for (size_t k = first; k < kept && !beaten; k++)
			beaten = joint_draft_beats(&at[k], &at[i], core_value);
		if (!beaten)
			at[kept++] = at[i];
	}
	for (size_t i = 0; i < kept; i++)
		keep_draft(making, &at[i]);
}

#include "search/claim/plan_claim.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/number.h"

#include <stdlib.h>
#include <string.h>

/* Returns the number of codes of a tensor. */
static inline int plan_code_count(const struct plan_cuts *cuts, int tensor)
{
	return 1 + plan_code(cuts, tensor, true, cuts->space->tensors[tensor].view_count - 1);
}

static void note_use(struct plan_cuts *cuts, int t, const struct joint_option *option)
{
	if (option->end < cuts->first_use[t])
		cuts->first_use[t] = option->end;
	if (option->end - 1 > cuts->last_use[t])
		cuts->last_use[t] = option->end - 1;
}

static void find_uses(struct plan_cuts *cuts)
{
	const struct joint_space *space = cuts->space;
	for (int t = 0; t < space->tensor_count; t++) {
		cuts->first_use[t] = space->op_count + 1;
		cuts->last_use[t] = space->tensors[t].last;
	}
	for (size_t o = 0; o < space->option_count; o++) {
		const struct joint_option *option = &space->options[o];
		for (int u = 0; u < option->use_count; u++)
			note_use(cuts, option->uses[u].tensor, option);
		for (int a = 0; a < option->argument_count; a++)
			note_use(cuts, option->arguments[a], option);
	}
}

/* A tensor, and the cuts that it crosses. */
struct crossing {
	int tensor, from, to;
};

static int compare_crossings(const void *left, const void *right)
{
	const struct crossing *a = left, *b = right;
	int order = (a->to - a->from) - (b->to - b->from);
	return order ? order : a->tensor - b->tensor;
}

/* False: more than PLAN_CROSSING_MOST of them cross one cut. */
static bool find_crossings(struct plan_cuts *cuts, struct crossing *crossings)
{
	const struct joint_space *space = cuts->space;
	for (int t = 0; t < space->tensor_count; t++) {
		const struct joint_tensor *tensor = &space->tensors[t];
		int from = tensor->producer < 0 ? cuts->first_use[t] : tensor->producer + 1;
		int to = tensor->output ? space->op_count : cuts->last_use[t];
		crossings[t] = (struct crossing){t, from, to};
		for (int c = from; c <= to; c++) {
			struct plan_cut *cut = &cuts->at[c];
			if (cut->count == PLAN_CROSSING_MOST)
				return false;
			cut->tensors[cut->count++] = t;
		}
	}
	return true;
}

/* As much as there are entries for: places before views, and of those that cross few cuts first. */
static void choose_details(
	struct plan_cuts *cuts, struct crossing *crossings, size_t entries, struct arena *arena)
{
	int tensors = cuts->space->tensor_count;
	double *size = arena_array(arena, double, cuts->space->op_count + 1);
	for (int c = 0; c <= cuts->space->op_count; c++)
		size[c] = 1;
	if (tensors)
		qsort(crossings, (size_t)tensors, sizeof *crossings, compare_crossings);
	for (enum plan_detail detail = DETAIL_PLACE; detail <= DETAIL_VIEWS; detail++)
		for (const struct crossing *at = crossings; at < crossings + tensors; at++) {
			int t = at->tensor, before = plan_code_count(cuts, t);
			enum plan_detail known = cuts->detail[t];
			bool fits = known + 1 == detail;
			cuts->detail[t] = detail;
			double more = (double)plan_code_count(cuts, t) / before;
			for (int c = at->from; c <= at->to && fits; c++)
				fits = size[c] * more <= (double)entries;
			cuts->detail[t] = fits ? detail : known;
			for (int c = at->from; c <= at->to && fits; c++)
				size[c] *= more;
		}
}

static void number_states(const struct plan_cuts *cuts, struct plan_cut *cut)
{
	cut->size = 1;
	for (int k = 0; k < cut->count; k++) {
		cut->unit[k] = cut->size;
		cut->size *= (size_t)plan_code_count(cuts, cut->tensors[k]);
	}
}

/* With at most `entries` states at a cut. NULL, and *why: more than PLAN_CROSSING_MOST tensors cross a cut. */
static const struct plan_cuts *plan_cuts_make(
	const struct joint_space *space, size_t entries, struct arena *arena, const char **why)
{
	struct plan_cuts *cuts = arena_new(arena, struct plan_cuts);
	struct crossing *crossings = arena_array(arena, struct crossing, space->tensor_count);
	cuts->space = space;
	cuts->first_use = arena_array(arena, int, space->tensor_count);
	cuts->last_use = arena_array(arena, int, space->tensor_count);
	cuts->detail = arena_array(arena, enum plan_detail, space->tensor_count);
	cuts->at = arena_array(arena, struct plan_cut, space->op_count + 1);
	find_uses(cuts);
	if (!find_crossings(cuts, crossings)) {
		*why = arena_format(arena, "more than %d tensors are needed across one cut",
			PLAN_CROSSING_MOST);
		return NULL;
	}
	choose_details(cuts, crossings, entries, arena);
	for (int c = 0; c <= space->op_count; c++)
		number_states(cuts, &cuts->at[c]);
	return cuts;
}

/* The place that an option needs of a tensor before it; twice that, + 1 if its bytes may be taken over. */
enum { ASKS_NOTHING, ASKS_HBM, ASKS_TO_MOVE, ASKS_VIEW };

/* The parts that a code of a tensor before an option adds to the indices of the states before and behind it, and to
 * the bytes in LX. */
struct code_entry {
	size_t from, behind;
	int64_t bytes;
};

struct code_entries {
	int count;
	struct code_entry *at; /* NULL: not listed yet */
};

/* Options that ask the same of a state, and lead to the same one; of these the cheapest in the same room. */
struct option_class {
	int64_t cost, room; /* room: of LX, for what passes by */
	size_t behind;
	int asks[PLAN_CROSSING_MOST]; /* by tensor of the first cut */
};

struct relaxing {
	struct plan_relaxed *relaxed;
	const struct joint_space *space;
	const struct plan_cuts *cuts;
	int64_t most; /* a step that costs more is not counted: sums would not fit */
	bool fits;

	/* the options with the same ops that are looked at, or the changes at a cut */
	struct arena *scratch;
	int first, end;
	int64_t *least; /* at the first cut */
	struct array(struct option_class) classes;
	struct code_entries
		*entries[PLAN_CROSSING_MOST]; /* by tensor of that cut, by what is asked */
};

int64_t plan_share(const struct joint_space *space, int cores)
{
	return space->bundle_most ? space->bundle_value + space->core_value * cores : 0;
}

static int64_t cost_of(struct relaxing *relaxing, int64_t value, int cores, int fresh)
{
	int64_t cost = checked_add(&relaxing->fits,
		checked_mul(&relaxing->fits, value, relaxing->relaxed->scale),
		checked_mul(&relaxing->fits, fresh, plan_share(relaxing->space, cores)));
	relaxing->fits &= cost <= relaxing->most;
	return cost;
}

/* --- changes at a cut */

/* A step of the k-th tensor from one code to another; whether it made something cheaper. */
static bool relaxing_change(const struct relaxing *relaxing, int k, int from, int to, int64_t cost)
{
	const struct plan_cut *cut = &relaxing->cuts->at[relaxing->first];
	size_t unit = cut->unit[k];
	size_t block = unit * (size_t)plan_code_count(relaxing->cuts, cut->tensors[k]);
	bool cheaper = false;
	for (size_t s = 0; s < cut->size && from != to; s += block)
		for (size_t u = s; u < s + unit; u++) {
			int64_t rest = relaxing->least[u + unit * (size_t)to];
			int64_t *least = &relaxing->least[u + unit * (size_t)from];
			if (rest == JOINT_NEVER || rest + cost >= *least)
				continue;
			*least = rest + cost;
			cheaper = true;
		}
	return cheaper;
}

/* Evictions and relays, and drops of tensors that are in HBM, too, or that no op needs any more. */
static bool change_tensor(struct relaxing *relaxing, int k)
{
	const struct plan_cuts *cuts = relaxing->cuts;
	int t = cuts->at[relaxing->first].tensors[k];
	const struct joint_tensor *tensor = &relaxing->space->tensors[t];
	bool dead = tensor->last < relaxing->first && !tensor->output, cheaper = false;
	for (int v = 0; v < tensor->view_count; v++) {
		int alone = plan_code(cuts, t, false, v), both = plan_code(cuts, t, true, v);
		cheaper |= relaxing_change(relaxing, k, both, 0, 0);
		if (dead)
			cheaper |= relaxing_change(relaxing, k, alone, 0, 0);
		if (tensor->evict[v] != JOINT_NEVER)
			cheaper |= relaxing_change(relaxing, k, alone, both,
				cost_of(relaxing, tensor->evict[v], tensor->cores[v], 1));
		for (int w = 0; w < tensor->view_count; w++) {
			int64_t relay = tensor->relay[v * tensor->view_count + w];
			if (v == w || relay == JOINT_NEVER)
				continue;
			int64_t cost = cost_of(relaxing, relay, 0, 0);
			cheaper |= relaxing_change(
				relaxing, k, alone, plan_code(cuts, t, false, w), cost);
			cheaper |= relaxing_change(
				relaxing, k, both, plan_code(cuts, t, true, w), cost);
		}
	}
	return cheaper;
}

static void take_changes(struct relaxing *relaxing)
{
	const struct plan_cut *cut = &relaxing->cuts->at[relaxing->first];
	for (int k = 0; k < cut->count; k++)
		while (relaxing->cuts->detail[cut->tensors[k]] && change_tensor(relaxing, k))
			;
}

/* --- what options ask */

static bool is_asked(const struct plan_cuts *cuts, int t, int code, int asks)
{
	const struct joint_tensor *tensor = &cuts->space->tensors[t];
	if (cuts->detail[t] == DETAIL_NOTHING || asks == ASKS_NOTHING)
		return true;
	if (asks == ASKS_HBM || asks == ASKS_TO_MOVE)
		return code % 2 == 0;
	bool serves = false;
	for (int v = 0; code && v < tensor->view_count && !serves; v++)
		serves = plan_code(cuts, t, code % 2 == 0, v) == code &&
			 tensor->serves[v * tensor->view_count + asks - ASKS_VIEW];
	return serves;
}

/* The least bytes that are in LX. */
static int64_t plan_cuts_bytes(const struct plan_cuts *cuts, int t, int code)
{
	const struct joint_tensor *tensor = &cuts->space->tensors[t];
	int64_t least = INT64_MAX;
	for (int v = 0; v < tensor->view_count; v++)
		if (plan_code(cuts, t, code % 2 == 0, v) == code)
			least = number_min(least, tensor->bytes[v]);
	return least;
}

/* The codes of a tensor that give what is asked. */
static void list_entries(struct relaxing *relaxing, int k, int number)
{
	const struct plan_cuts *cuts = relaxing->cuts;
	const struct plan_cut *before = &cuts->at[relaxing->first], *end = &cuts->at[relaxing->end];
	struct code_entries *entries = &relaxing->entries[k][number];
	int t = before->tensors[k], asks = number / 2, behind = plan_cut_find(end, t);
	const struct joint_tensor *tensor = &cuts->space->tensors[t];
	bool stays = behind >= 0 && asks != ASKS_TO_MOVE;
	/* a tensor that no op needs in LX may be dropped, and so may one whose bytes another takes over */
	bool takes_room =
		number % 2 == 0 &&
		(stays ? tensor->output || tensor->last >= relaxing->end : asks >= ASKS_VIEW);
	entries->at = arena_array(relaxing->scratch, struct code_entry, plan_code_count(cuts, t));
	for (int code = 0; code < plan_code_count(cuts, t); code++)
		if (is_asked(cuts, t, code, asks))
			entries->at[entries->count++] = (struct code_entry){
				.from = before->unit[k] * (size_t)code,
				.behind = stays ? end->unit[behind] * (size_t)code : 0,
				.bytes = takes_room && code ? plan_cuts_bytes(cuts, t, code) : 0};
}

static bool is_new(const struct relaxing *relaxing, int t)
{
	int producer = relaxing->space->tensors[t].producer;
	return producer < 0 ? relaxing->cuts->first_use[t] > relaxing->first
			    : producer >= relaxing->first;
}

/* Tensors that no step can have used before: inputs that no option uses that ends before this one begins,
 * what is written, what a run makes and leaves to itself. */
static int count_new(const struct relaxing *relaxing, const struct joint_option *option)
{
	int count = 0;
	if (option->alone)
		return 0;
	for (int u = 0; u < option->use_count; u++)
		count += option->uses[u].mode != JOINT_RESIDENT &&
			 is_new(relaxing, option->uses[u].tensor);
	for (int k = 0; k < option->out_count; k++)
		count += option->outs[k].view < 0;
	for (int a = 0; a < option->argument_count; a++)
		count += is_new(relaxing, option->arguments[a]);
	return count;
}

/* Returns the part of a tensor, left so, in the index of the state behind. */
static size_t left_as(const struct relaxing *relaxing, int t, bool in_hbm, int view)
{
	const struct plan_cut *end = &relaxing->cuts->at[relaxing->end];
	int behind = plan_cut_find(end, t);
	return behind < 0 ? 0
			  : end->unit[behind] * (size_t)plan_code(relaxing->cuts, t, in_hbm, view);
}

/* Adds the outs of the option, those of a tensor in both places together.  Returns the uses whose bytes these may
 * take over. */
static unsigned make_outs(
	struct relaxing *relaxing, const struct joint_option *option, struct option_class *class)
{
	unsigned taken = 0;
	bool in_hbm = false;
	int view = -1;
	for (int i = 0; i < option->out_count; i++) {
		const struct joint_out *out = &option->outs[i];
		bool more = i + 1 < option->out_count && option->outs[i + 1].tensor == out->tensor;
		in_hbm |= out->view < 0;
		if (out->view >= 0) {
			view = out->view;
			class->room -= relaxing->space->tensors[out->tensor].bytes[view];
			taken |= out->in_place >= 0 ? 1u << out->in_place : 0;
		}
		if (more)
			continue;
		class->behind += left_as(relaxing, out->tensor, in_hbm, view);
		in_hbm = false;
		view = -1;
	}
	return taken;
}

static struct option_class class_of(struct relaxing *relaxing, const struct joint_option *option)
{
	const struct joint_space *space = relaxing->space;
	struct option_class class = {.room = space->capacity - option->room};
	unsigned taken = make_outs(relaxing, option, &class);
	for (int u = 0; u < option->use_count; u++) {
		const struct joint_use *use = &option->uses[u];
		bool gives = taken >> u & 1, moved = use->mode == JOINT_MOVED;
		int k = plan_cut_find(&relaxing->cuts->at[relaxing->first], use->tensor);
		if (moved && !gives)
			class.room -= space->tensors[use->tensor].bytes[use->view];
		if (moved)
			class.behind += left_as(relaxing, use->tensor, true, use->view);
		if (k >= 0)
			class.asks[k] = gives + 2 * (use->mode == JOINT_HBM ? ASKS_HBM
							    : moved         ? ASKS_TO_MOVE
								    : ASKS_VIEW + use->view);
	}
	class.cost = cost_of(relaxing, option->value, option->cores, count_new(relaxing, option));
	return class;
}

static bool option_class_is_no_worse(const struct option_class *a, const struct option_class *b)
{
	return a->cost <= b->cost && a->room >= b->room && a->behind == b->behind &&
	       !memcmp(a->asks, b->asks, sizeof a->asks);
}

static void add_option(struct relaxing *relaxing, const struct joint_option *option)
{
	struct option_class class = class_of(relaxing, option);
	for (size_t i = 0; i < relaxing->classes.count; i++)
		if (option_class_is_no_worse(&relaxing->classes.at[i], &class))
			return;
	if (class.room < 0)
		return;
	*array_add(relaxing->scratch, &relaxing->classes) = class;
	for (int k = 0; k < relaxing->cuts->at[relaxing->first].count; k++)
		if (!relaxing->entries[k][class.asks[k]].at)
			list_entries(relaxing, k, class.asks[k]);
}

static inline void take_from(const struct relaxing *relaxing, const struct option_class *class,
	const struct code_entry *state)
{
	int64_t rest = relaxing->relaxed->least[relaxing->end][state->behind];
	int64_t *least = &relaxing->least[state->from];
	if (rest != JOINT_NEVER)
		*least = number_min(*least, rest + class->cost);
}

/* All states from which an option of a class can be taken: what is known of tensors up to the k-th is in `state`. */
static void take_class(const struct relaxing *relaxing, const struct option_class *class, int k,
	struct code_entry state)
{
	if (!k) {
		take_from(relaxing, class, &state);
		return;
	}
	const struct code_entries *entries = &relaxing->entries[k - 1][class->asks[k - 1]];
	for (int i = 0; i < entries->count; i++) {
		const struct code_entry *own = &entries->at[i];
		struct code_entry next = {state.from + own->from, state.behind + own->behind,
			state.bytes + own->bytes};
		if (next.bytes > class->room)
			continue;
		if (k == 1)
			take_from(relaxing, class, &next);
		else
			take_class(relaxing, class, k - 1, next);
	}
}

/* Options with the same ops, from `option` on to the one behind the last. */
static const struct joint_option *take_options(struct relaxing *relaxing,
	const struct joint_option *option, const struct joint_option *last)
{
	const struct plan_cut *cut = &relaxing->cuts->at[relaxing->first];
	relaxing->scratch = arena_open();
	relaxing->classes.count = relaxing->classes.capacity = 0;
	relaxing->end = option->end;
	for (int k = 0; k < cut->count; k++)
		relaxing->entries[k] = arena_array(relaxing->scratch, struct code_entries,
			2 * (ASKS_VIEW + relaxing->space->tensors[cut->tensors[k]].view_count));
	for (; option < last && option->end == relaxing->end; option++)
		add_option(relaxing, option);
	for (size_t i = 0; i < relaxing->classes.count; i++)
		take_class(relaxing, &relaxing->classes.at[i], cut->count,
			(struct code_entry){.behind = relaxing->classes.at[i].behind});
	arena_close(relaxing->scratch);
	return option;
}

/* --- all */

/* Behind the last op only outputs are there, which must be in HBM. */
static int64_t end_at(const struct plan_cuts *cuts, size_t state)
{
	const struct plan_cut *cut = &cuts->at[cuts->space->op_count];
	bool complete = true;
	for (int k = 0; k < cut->count; k++) {
		size_t count = (size_t)plan_code_count(cuts, cut->tensors[k]);
		complete &= state / cut->unit[k] % count % 2 == 0;
	}
	return complete ? 0 : JOINT_NEVER;
}

static void look_back(struct relaxing *relaxing, int c, struct arena *arena)
{
	const struct joint_space *space = relaxing->space;
	size_t size = relaxing->cuts->at[c].size;
	relaxing->first = c;
	relaxing->least = relaxing->relaxed->least[c] = arena_array(arena, int64_t, size);
	for (size_t s = 0; s < size; s++)
		relaxing->least[s] = c == space->op_count ? end_at(relaxing->cuts, s) : JOINT_NEVER;
	if (c < space->op_count) {
		const struct joint_option *option = &space->options[space->first_option[c]];
		const struct joint_option *last = &space->options[space->first_option[c + 1]];
		while (option < last)
			option = take_options(relaxing, option, last);
	}
	take_changes(relaxing);
}

const struct plan_relaxed *plan_relaxed_make(const struct joint_space *space, size_t entries,
	const struct stopper *stopper, struct arena *arena, const char **why)
{
	struct plan_relaxed *relaxed = arena_new(arena, struct plan_relaxed);
	*relaxed = (struct plan_relaxed){.space = space,
		.cuts = plan_cuts_make(space, entries, arena, why),
		.scale = space->bundle_most ? space->bundle_most : 1,
		.least = arena_array(arena, int64_t *, space->op_count + 1)};
	struct relaxing relaxing = {.relaxed = relaxed,
		.space = space,
		.cuts = relaxed->cuts,
		.most = INT64_MAX / (128 * ((int64_t)space->op_count + 1)),
		.fits = true};
	if (!relaxed->cuts)
		return NULL;
	for (int c = space->op_count; c >= 0 && relaxing.fits; c--) {
		if (stopper_stops(stopper)) {
			*why = "it was asked to stop";
			return NULL;
		}
		look_back(&relaxing, c, arena);
	}
	*why = "a sum does not fit into 64 bits";
	return relaxing.fits ? relaxed : NULL;
}

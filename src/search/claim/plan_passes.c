#include "search/claim/plan_passes.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/checked.h"

#include <string.h>

/* What an option asks of where a tensor is before it; twice that, + 1 if its bytes may be taken over. */
enum { ASKS_NOTHING, ASKS_HBM, ASKS_TO_MOVE, ASKS_VIEW };

struct passing {
	struct plan_passes *passes;
	const struct joint_space *space;
	const struct plan_cuts *cuts;
	struct arena *arena;
	bool fits;
};

int64_t plan_share(const struct joint_space *space, int cores)
{
	return space->bundle_most ? space->bundle_value + space->core_value * cores : 0;
}

/* --- codes before and behind a pass */

static bool may_be(const struct plan_codes *before, int code, const struct plan_codes *end, int as,
	int view_count)
{
	if (before->anywhere || end->anywhere)
		return end->anywhere ? as == 0 : true;
	if (!code || !as)
		return code == as;
	bool shared = false;
	for (int v = 0; v < view_count && !shared; v++)
		shared = before->group[v] == plan_code_group(code) &&
			 end->group[v] == plan_code_group(as);
	return shared && code % 2 == as % 2;
}

/* NULL: each code before is one at the end. */
static const bool *relate_codes(struct passing *passing, const struct plan_codes *before,
	const struct plan_codes *end, int view_count)
{
	bool *related = arena_array(passing->arena, bool, before->count * end->count);
	bool single = true;
	for (int b = 0; b < before->count; b++) {
		int found = 0;
		for (int e = 0; e < end->count; e++)
			found += related[b * end->count + e] =
				may_be(before, b, end, e, view_count);
		single &= found == 1;
	}
	return single ? NULL : related;
}

static int code_at_end(
	const struct plan_codes *before, int code, const struct plan_codes *end, int view_count)
{
	int as = 0;
	while (as + 1 < end->count && !may_be(before, code, end, as, view_count))
		as++;
	return as;
}

static void open_pass(struct passing *passing, struct plan_pass *pass)
{
	const struct plan_cut *before = &passing->cuts->at[pass->first];
	const struct plan_cut *end = &passing->cuts->at[pass->end];
	for (int k = 0; k < before->count; k++) {
		int views = passing->space->tensors[before->tensors[k]].view_count;
		pass->behind[k] = plan_cut_find(end, before->tensors[k]);
		pass->entries[k] =
			arena_array(passing->arena, struct pass_entries, 2 * (ASKS_VIEW + views));
	}
	pass->size = 1;
	for (int j = 0; j < end->count; j++) {
		int k = plan_cut_find(before, end->tensors[j]);
		pass->counts[j] = end->codes[j].count;
		if (k >= 0)
			pass->may_be[j] = relate_codes(passing, &before->codes[k], &end->codes[j],
				passing->space->tensors[end->tensors[j]].view_count);
		if (pass->may_be[j])
			pass->counts[j] = before->codes[k].count;
		pass->unit[j] = pass->size;
		pass->size *= (size_t)pass->counts[j];
	}
}

/* Along one tensor: to[i] is the least of all from[j] that i may be, or j may be. */
static int64_t *spread(const int64_t *from, size_t unit, size_t rest, int from_count, int to_count,
	const bool *may_be, bool back, struct arena *arena)
{
	int64_t *to = arena_array(arena, int64_t, unit * rest * (size_t)to_count);
	for (size_t i = 0; i < unit * rest * (size_t)to_count; i++)
		to[i] = JOINT_NEVER;
	for (size_t r = 0; r < rest; r++)
		for (int i = 0; i < to_count; i++)
			for (int j = 0; j < from_count; j++) {
				if (!may_be[back ? j * to_count + i : i * from_count + j])
					continue;
				int64_t *least = &to[(r * (size_t)to_count + (size_t)i) * unit];
				const int64_t *is =
					&from[(r * (size_t)from_count + (size_t)j) * unit];
				for (size_t u = 0; u < unit; u++)
					least[u] = number_min(least[u], is[u]);
			}
	return to;
}

const int64_t *pass_behind(const struct plan_passes *passes, const struct plan_pass *pass,
	const int64_t *end, struct arena *arena)
{
	const struct plan_cut *cut = &passes->cuts->at[pass->end];
	size_t rest = cut->size, unit = 1;
	for (int j = 0; j < cut->count; j++) {
		rest /= (size_t)cut->codes[j].count;
		if (pass->may_be[j])
			end = spread(end, unit, rest, cut->codes[j].count, pass->counts[j],
				pass->may_be[j], false, arena);
		unit *= (size_t)pass->counts[j];
	}
	return end;
}

const int64_t *pass_end(const struct plan_passes *passes, const struct plan_pass *pass,
	const int64_t *behind, struct arena *arena)
{
	const struct plan_cut *cut = &passes->cuts->at[pass->end];
	size_t rest = pass->size, unit = 1;
	for (int j = 0; j < cut->count; j++) {
		rest /= (size_t)pass->counts[j];
		if (pass->may_be[j])
			behind = spread(behind, unit, rest, pass->counts[j], cut->codes[j].count,
				pass->may_be[j], true, arena);
		unit *= (size_t)cut->codes[j].count;
	}
	return behind;
}

/* --- what options ask */

static bool is_asked(
	const struct joint_tensor *tensor, const struct plan_codes *codes, int code, int asks)
{
	if (codes->anywhere || asks == ASKS_NOTHING)
		return true;
	if (asks == ASKS_HBM || asks == ASKS_TO_MOVE)
		return code % 2 == 0;
	bool serves = false;
	for (int v = 0; code && v < tensor->view_count && !serves; v++)
		serves = codes->group[v] == plan_code_group(code) &&
			 tensor->serves[v * tensor->view_count + asks - ASKS_VIEW];
	return serves;
}

/* The codes of a tensor that give what is asked. */
static void list_entries(struct passing *passing, struct plan_pass *pass, int k, int number)
{
	const struct plan_cut *before = &passing->cuts->at[pass->first];
	const struct plan_cut *end = &passing->cuts->at[pass->end];
	const struct joint_tensor *tensor = &passing->space->tensors[before->tensors[k]];
	const struct plan_codes *codes = &before->codes[k];
	struct pass_entries *entries = &pass->entries[k][number];
	int asks = number / 2, j = pass->behind[k];
	bool stays = j >= 0 && asks != ASKS_TO_MOVE;
	/* What nobody needs in LX may be dropped, and so may what another tensor takes over. */
	bool takes_room = number % 2 == 0 &&
			  (stays ? tensor->output || tensor->last >= pass->end : asks >= ASKS_VIEW);
	entries->at = arena_array(passing->arena, struct pass_entry, codes->count);
	entries->by_code = arena_array(passing->arena, const struct pass_entry *, codes->count);
	for (int code = 0; code < codes->count; code++) {
		if (!is_asked(tensor, codes, code, asks))
			continue;
		struct pass_entry *entry = &entries->at[entries->count++];
		entries->by_code[code] = entry;
		entry->from = before->unit[k] * (size_t)code;
		entry->place =
			(uint32_t)before->place_unit[k] * (uint32_t)plan_code_place(codes, code);
		if (takes_room && code)
			entry->bytes = codes->bytes[plan_code_group(code)];
		if (!stays)
			continue;
		int as = code_at_end(codes, code, &end->codes[j], tensor->view_count);
		entry->behind = pass->unit[j] * (size_t)(pass->may_be[j] ? code : as);
		bool unknown =
			!codes->has_place && end->codes[j].has_place && end->codes[j].count > 1;
		int place = unknown ? PLACE_IN_BOTH : plan_code_place(&end->codes[j], as);
		entry->place_behind = (uint32_t)end->place_unit[j] * (uint32_t)place;
	}
}

static bool is_new(const struct passing *passing, int t, const struct joint_option *option)
{
	int producer = passing->space->tensors[t].producer;
	return producer < 0 ? passing->cuts->first_use[t] > option->first
			    : producer >= option->first;
}

/* Tensors that no step can have used before: inputs that no option uses that ends before this one begins,
 * what is written, what a run makes and leaves to itself. */
static int count_new(const struct passing *passing, const struct joint_option *option)
{
	int count = 0;
	for (int u = 0; u < option->use_count; u++)
		count += option->uses[u].mode != JOINT_RESIDENT &&
			 is_new(passing, option->uses[u].tensor, option);
	for (int k = 0; k < option->out_count; k++)
		count += option->outs[k].view < 0;
	for (int a = 0; a < option->argument_count; a++)
		count += is_new(passing, option->arguments[a], option);
	return count;
}

/* Where an option leaves a tensor of the end. */
static void leave(const struct passing *passing, const struct plan_pass *pass, int tensor,
	bool in_hbm, int view, struct pass_class *class)
{
	const struct plan_cut *before = &passing->cuts->at[pass->first];
	const struct plan_cut *end = &passing->cuts->at[pass->end];
	int j = plan_cut_find(end, tensor), k = plan_cut_find(before, tensor);
	if (j < 0)
		return;
	const struct plan_codes *told = pass->may_be[j] ? &before->codes[k] : &end->codes[j];
	class->behind += pass->unit[j] * (size_t)plan_code(told, in_hbm, view);
	class->place_behind +=
		(uint32_t)end->place_unit[j] *
		(uint32_t)plan_code_place(&end->codes[j], plan_code(&end->codes[j], in_hbm, view));
}

static void class_of(struct passing *passing, const struct plan_pass *pass,
	const struct joint_option *option, struct pass_class *class)
{
	const struct joint_space *space = passing->space;
	const struct plan_cut *before = &passing->cuts->at[pass->first];
	unsigned taken = 0;
	memset(class, 0, sizeof *class);
	class->room = space->capacity - option->room;
	for (int i = 0; i < option->out_count; i++) {
		const struct joint_out *out = &option->outs[i];
		bool both = i && option->outs[i - 1].tensor == out->tensor;
		bool more = i + 1 < option->out_count && option->outs[i + 1].tensor == out->tensor;
		if (out->view >= 0)
			class->room -= space->tensors[out->tensor].bytes[out->view];
		if (out->view >= 0 && out->in_place >= 0)
			taken |= 1u << out->in_place;
		if (!more)
			leave(passing, pass, out->tensor, both || out->view < 0,
				both && out->view < 0 ? option->outs[i - 1].view : out->view,
				class);
	}
	for (int u = 0; u < option->use_count; u++) {
		const struct joint_use *use = &option->uses[u];
		bool gives = taken >> u & 1;
		int k = plan_cut_find(before, use->tensor);
		if (use->mode == JOINT_MOVED && !gives)
			class->room -= space->tensors[use->tensor].bytes[use->view];
		if (use->mode == JOINT_MOVED)
			leave(passing, pass, use->tensor, true, use->view, class);
		if (k >= 0)
			class->asks[k] =
				gives + 2 * (use->mode == JOINT_HBM            ? ASKS_HBM
						    : use->mode == JOINT_MOVED ? ASKS_TO_MOVE
						    : before->codes[k].anywhere
							    ? ASKS_NOTHING
							    : ASKS_VIEW + use->view);
	}
	class->cores = option->cores;
	class->ends_bundle = option->ends_bundle;
	class->fresh = count_new(passing, option);
	class->value = checked_mul(&passing->fits, option->value, passing->passes->scale);
	class->cost = checked_add(&passing->fits, class->value,
		checked_mul(&passing->fits, class->fresh, plan_share(space, option->cores)));
}

static bool is_no_worse(const struct pass_class *a, const struct pass_class *b)
{
	return a->value <= b->value && a->cost <= b->cost && a->room >= b->room &&
	       a->cores <= b->cores && a->fresh <= b->fresh && a->ends_bundle <= b->ends_bundle &&
	       a->behind == b->behind && a->place_behind == b->place_behind &&
	       !memcmp(a->asks, b->asks, sizeof a->asks);
}

struct pass_classes array(struct pass_class);

static void list_classes(struct passing *passing, struct plan_pass *pass, size_t from, size_t to)
{
	struct pass_classes classes = {0};
	const struct plan_cut *before = &passing->cuts->at[pass->first];
	for (size_t o = from; o < to; o++) {
		struct pass_class class;
		size_t i = 0;
		class_of(passing, pass, &passing->space->options[o], &class);
		while (i < classes.count && !is_no_worse(&classes.at[i], &class))
			i++;
		if (i == classes.count && class.room >= 0)
			*array_add(passing->arena, &classes) = class;
	}
	for (size_t i = 0; i < classes.count; i++)
		for (int k = 0; k < before->count; k++)
			if (!pass->entries[k][classes.at[i].asks[k]].at)
				list_entries(passing, pass, k, classes.at[i].asks[k]);
	pass->classes = classes.at;
	pass->class_count = classes.count;
}

/* --- walks */

struct walk {
	const struct plan_pass *pass;
	const struct pass_class *class;
	pass_visit *visit;
	void *context;
};

static inline struct pass_entry sum(struct pass_entry a, const struct pass_entry *b)
{
	return (struct pass_entry){a.from + b->from, a.behind + b->behind, a.bytes + b->bytes,
		a.place + b->place, a.place_behind + b->place_behind};
}

static void walk_from(const struct walk *walk, int k, struct pass_entry state)
{
	const struct pass_entries *entries = &walk->pass->entries[k][walk->class->asks[k]];
	for (int i = 0; i < entries->count; i++) {
		struct pass_entry next = sum(state, &entries->at[i]);
		if (next.bytes > walk->class->room)
			continue;
		if (k)
			walk_from(walk, k - 1, next);
		else
			walk->visit(walk->context, walk->class, &next);
	}
}

static struct pass_entry start_of(const struct pass_class *class)
{
	return (struct pass_entry){.behind = class->behind, .place_behind = class->place_behind};
}

void pass_walk(const struct plan_passes *passes, const struct plan_pass *pass, pass_visit *visit,
	void *context)
{
	int count = passes->cuts->at[pass->first].count;
	for (size_t i = 0; i < pass->class_count; i++) {
		struct walk walk = {pass, &pass->classes[i], visit, context};
		struct pass_entry start = start_of(walk.class);
		if (count)
			walk_from(&walk, count - 1, start);
		else
			visit(context, walk.class, &start);
	}
}

/* From one state, by options of all classes. */
static void walk_state(const struct plan_cut *cut, const struct plan_pass *pass, size_t s,
	pass_visit *visit, void *context)
{
	int codes[PLAN_CROSSING_MOST];
	for (int k = 0; k < cut->count; k++)
		codes[k] = (int)(s / cut->unit[k] % (size_t)cut->codes[k].count);
	for (size_t i = 0; i < pass->class_count; i++) {
		const struct pass_class *class = &pass->classes[i];
		const struct pass_entry *entry;
		struct pass_entry state = start_of(class);
		int k = 0;
		for (; k < cut->count; k++) {
			entry = pass->entries[k][class->asks[k]].by_code[codes[k]];
			if (!entry)
				break;
			state = sum(state, entry);
		}
		if (k == cut->count && state.bytes <= class->room)
			visit(context, class, &state);
	}
}

void pass_walk_live(const struct plan_passes *passes, const struct plan_pass *pass,
	const int64_t *live, pass_visit *visit, void *context)
{
	const struct plan_cut *cut = &passes->cuts->at[pass->first];
	for (size_t s = 0; s < cut->size; s++)
		if (live[s] != JOINT_NEVER)
			walk_state(cut, pass, s, visit, context);
}

/* --- all */

/* Sums along a path of as many steps as there can be fit into 64 bits. */
static bool are_small(
	const struct plan_passes *passes, const struct plan_edges (*edges)[PLAN_CROSSING_MOST])
{
	int ops = passes->space->op_count;
	int64_t most = INT64_MAX / (128 * ((int64_t)ops + 1));
	for (size_t p = 0; p < passes->first[ops]; p++)
		for (size_t i = 0; i < passes->at[p].class_count; i++)
			if (passes->at[p].classes[i].cost > most)
				return false;
	for (int c = 0; c <= ops; c++)
		for (int k = 0; k < PLAN_CROSSING_MOST; k++)
			for (size_t i = 0; i < edges[c][k].count; i++)
				if (edges[c][k].at[i].cost > most)
					return false;
	return true;
}

struct passes array(struct plan_pass);

const struct plan_passes *plan_passes_make(
	const struct plan_cuts *cuts, struct arena *arena, const char **why)
{
	const struct joint_space *space = cuts->space;
	struct plan_passes *passes = arena_new(arena, struct plan_passes);
	struct passing passing = {passes, space, cuts, arena, true};
	struct passes all = {0};
	size_t *first = arena_array(arena, size_t, space->op_count + 1);
	struct plan_edges(*edges)[PLAN_CROSSING_MOST] =
		arena_alloc_array(arena, (size_t)space->op_count + 1, sizeof *edges);
	*passes = (struct plan_passes){.space = space,
		.cuts = cuts,
		.scale = space->bundle_most ? space->bundle_most : 1,
		.first = first,
		.edges = (const struct plan_edges(*)[PLAN_CROSSING_MOST])edges};
	for (int op = 0; op < space->op_count; op++) {
		first[op] = all.count;
		for (size_t o = space->first_option[op], to; o < space->first_option[op + 1];
			o = to) {
			for (to = o; to < space->first_option[op + 1] &&
				     space->options[to].end == space->options[o].end;)
				to++;
			struct plan_pass *pass = array_add(arena, &all);
			pass->first = op;
			pass->end = space->options[o].end;
			open_pass(&passing, pass);
			list_classes(&passing, pass, o, to);
		}
	}
	first[space->op_count] = all.count;
	passes->at = all.at;
	for (int c = 0; c <= space->op_count; c++)
		for (int k = 0; k < cuts->at[c].count; k++)
			edges[c][k] =
				plan_edges_make(space, passes->scale, c, cuts->at[c].tensors[k],
					&cuts->at[c].codes[k], &passing.fits, arena);
	if (passing.fits && are_small(passes, passes->edges))
		return passes;
	*why = "a sum does not fit into 64 bits";
	return NULL;
}

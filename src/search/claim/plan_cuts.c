#include "search/claim/plan_cuts.h"

#include "base/arena.h"

#include <string.h>

struct cutting {
	struct plan_cuts *cuts;
	const struct joint_space *space;
	struct arena *arena;
	size_t entries;
	int **asked; /* by tensor, then view: the last op that may find it in LX under this view; -1 */
	uint16_t **group; /* by tensor, then view, as of the cut before */
};

/* --- what crosses the cuts */

static void note_use(struct plan_cuts *cuts, int t, const struct joint_option *option)
{
	if (option->end < cuts->first_use[t])
		cuts->first_use[t] = option->end;
	if (option->end - 1 > cuts->last_use[t])
		cuts->last_use[t] = option->end - 1;
}

static void find_uses(struct cutting *cutting)
{
	const struct joint_space *space = cutting->space;
	struct plan_cuts *cuts = cutting->cuts;
	for (int t = 0; t < space->tensor_count; t++) {
		int views = space->tensors[t].view_count;
		cuts->first_use[t] = space->op_count + 1;
		cuts->last_use[t] = space->tensors[t].last;
		cutting->asked[t] = arena_array(cutting->arena, int, views);
		cutting->group[t] = arena_array(cutting->arena, uint16_t, views);
		for (int v = 0; v < views; v++) {
			cutting->asked[t][v] = -1;
			cutting->group[t][v] = (uint16_t)v;
		}
	}
	for (size_t o = 0; o < space->option_count; o++) {
		const struct joint_option *option = &space->options[o];
		for (int u = 0; u < option->use_count; u++) {
			const struct joint_use *use = &option->uses[u];
			note_use(cuts, use->tensor, option);
			if (use->mode == JOINT_RESIDENT)
				cutting->asked[use->tensor][use->view] = option->first;
		}
		for (int a = 0; a < option->argument_count; a++)
			note_use(cuts, option->arguments[a], option);
	}
}

static bool find_crossing(struct cutting *cutting, int c)
{
	const struct joint_space *space = cutting->space;
	struct plan_cut *cut = &cutting->cuts->at[c];
	for (int t = 0; t < space->tensor_count; t++) {
		const struct joint_tensor *tensor = &space->tensors[t];
		int from =
			tensor->producer < 0 ? cutting->cuts->first_use[t] : tensor->producer + 1;
		int to = tensor->output ? space->op_count : cutting->cuts->last_use[t];
		if (from > c || to < c)
			continue;
		if (cut->count == PLAN_CROSSING_MOST)
			return false;
		cut->tensors[cut->count++] = t;
	}
	return true;
}

/* --- groups */

/* Whether all uses from a cut on that a view serves are served by another one that takes no more room. */
static bool is_covered(const struct cutting *cutting, int t, int cut, int view, int by)
{
	const struct joint_tensor *tensor = &cutting->space->tensors[t];
	int count = tensor->view_count;
	if (tensor->bytes[by] > tensor->bytes[view])
		return false;
	for (int v = 0; v < count; v++)
		if (cutting->asked[t][v] >= cut && tensor->serves[view * count + v] &&
			!tensor->serves[by * count + v])
			return false;
	for (int v = 0; v < count; v++)
		if (v != view && v != by &&
			tensor->relay[by * count + v] > tensor->relay[view * count + v])
			return false;
	return true;
}

/* Joins groups whose first views are covered by one that stays.  group[v] is the number of a view. */
static void join_groups(struct cutting *cutting, int t, int cut)
{
	uint16_t *group = cutting->group[t];
	int count = cutting->space->tensors[t].view_count;
	for (int v = 0; v < count; v++) {
		int by = group[v] == v ? 0 : count;
		while (by < count &&
			(by == v || group[by] != by || !is_covered(cutting, t, cut, v, by)))
			by++;
		for (int w = 0; w < count && by < count; w++)
			if (group[w] == v)
				group[w] = (uint16_t)by;
	}
}

/* --- codes */

static void number_groups(struct cutting *cutting, int t, struct plan_codes *codes)
{
	const struct joint_tensor *tensor = &cutting->space->tensors[t];
	int count = tensor->view_count;
	uint16_t *group = arena_array(cutting->arena, uint16_t, count);
	int64_t *bytes = arena_array(cutting->arena, int64_t, count);
	int *numbers = arena_array(cutting->arena, int, count);
	codes->group_count = 0;
	for (int v = 0; v < count; v++) {
		int first = cutting->group[t][v];
		if (!numbers[first]) {
			numbers[first] = ++codes->group_count;
			bytes[numbers[first] - 1] = tensor->bytes[v];
		}
		group[v] = (uint16_t)(numbers[first] - 1);
		if (tensor->bytes[v] < bytes[group[v]])
			bytes[group[v]] = tensor->bytes[v];
	}
	codes->group = group;
	codes->bytes = bytes;
	codes->anywhere = false;
	codes->count = 1 + 2 * codes->group_count;
}

/* All views are one. */
static void number_place(struct cutting *cutting, int t, struct plan_codes *codes)
{
	const struct joint_tensor *tensor = &cutting->space->tensors[t];
	int64_t *least = arena_new(cutting->arena, int64_t);
	for (int v = 0; v < tensor->view_count; v++)
		if (!v || tensor->bytes[v] < *least)
			*least = tensor->bytes[v];
	codes->group_count = tensor->view_count > 0;
	codes->group = arena_array(cutting->arena, uint16_t, tensor->view_count);
	codes->bytes = least;
	codes->anywhere = false;
	codes->count = 1 + 2 * codes->group_count;
}

/* The first op from a cut on that uses the tensor. */
static int next_use(const struct cutting *cutting, int t, int cut)
{
	const struct joint_space *space = cutting->space;
	for (size_t o = space->first_option[cut]; o < space->option_count; o++)
		for (int u = 0; u < space->options[o].use_count; u++)
			if (space->options[o].uses[u].tensor == t)
				return space->options[o].first;
	return space->op_count;
}

/* By numbers at the cut: those that are needed next first. */
static void rank_tensors(const struct cutting *cutting, int c, int *ranked)
{
	const struct plan_cut *cut = &cutting->cuts->at[c];
	int use[PLAN_CROSSING_MOST];
	for (int k = 0; k < cut->count; k++) {
		int at = k;
		use[k] = c < cutting->space->op_count ? next_use(cutting, cut->tensors[k], c) : c;
		for (; at && use[ranked[at - 1]] > use[k]; at--)
			ranked[at] = ranked[at - 1];
		ranked[at] = k;
	}
}

static void number_codes(struct cutting *cutting, int c)
{
	struct plan_cut *cut = &cutting->cuts->at[c];
	int ranked[PLAN_CROSSING_MOST];
	cut->size = cut->place_size = 1;
	rank_tensors(cutting, c, ranked);
	for (int k = 0; k < cut->count; k++)
		cut->codes[k] = (struct plan_codes){.count = 1, .anywhere = true};
	for (int views = 0; views <= 1; views++)
		for (int i = 0; i < cut->count; i++) {
			struct plan_codes *codes = &cut->codes[ranked[i]], more = *codes;
			int t = cut->tensors[ranked[i]];
			if (views)
				number_groups(cutting, t, &more);
			else
				number_place(cutting, t, &more);
			size_t size = cut->size / (size_t)codes->count * (size_t)more.count;
			if (size > cutting->entries || (views && codes->anywhere))
				continue;
			more.has_place = i < PLAN_FOLLOWED_MOST;
			*codes = more;
			cut->size = size;
		}
	cut->size = 1;
	for (int k = 0; k < cut->count; k++) {
		bool follows = cut->codes[k].has_place && cut->codes[k].count > 1;
		cut->unit[k] = cut->size;
		cut->place_unit[k] = cut->place_size;
		cut->size *= (size_t)cut->codes[k].count;
		cut->place_size *= follows ? PLACE_COUNT : 1;
	}
}

const struct plan_cuts *plan_cuts_make(
	const struct joint_space *space, size_t entries, struct arena *arena, const char **why)
{
	struct plan_cuts *cuts = arena_new(arena, struct plan_cuts);
	struct cutting cutting = {cuts, space, arena, entries,
		arena_array(arena, int *, space->tensor_count),
		arena_array(arena, uint16_t *, space->tensor_count)};
	cuts->space = space;
	cuts->first_use = arena_array(arena, int, space->tensor_count);
	cuts->last_use = arena_array(arena, int, space->tensor_count);
	cuts->at = arena_array(arena, struct plan_cut, space->op_count + 1);
	find_uses(&cutting);
	for (int c = 0; c <= space->op_count; c++) {
		if (!find_crossing(&cutting, c)) {
			*why = arena_format(arena, "more than %d tensors are needed across one cut",
				PLAN_CROSSING_MOST);
			return NULL;
		}
		for (int k = 0; k < cuts->at[c].count; k++)
			join_groups(&cutting, cuts->at[c].tensors[k], c);
		number_codes(&cutting, c);
	}
	return cuts;
}

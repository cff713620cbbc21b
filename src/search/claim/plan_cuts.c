#include "search/claim/plan_cuts.h"

#include "base/arena.h"

#include <stdlib.h>

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

/* False: more of them cross one cut than can be told apart. */
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

const struct plan_cuts *plan_cuts_make(
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

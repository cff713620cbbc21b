#include "search/claim/plan_relaxed.h"

#include "base/arena.h"
#include "base/number.h"
#include "search/claim/plan_bundles.h"

struct relaxing {
	const struct joint_space *space;
	const struct plan_cuts *cuts;
	const struct plan_passes *passes;
	struct arena *arena;
	int64_t limit;
	int64_t **least, **reached; /* by cut, then state */

	/* of the pass that is walked */
	int64_t *here;
	const int64_t *behind;
	int64_t *spread;
};

static int64_t *fill(struct arena *arena, size_t count)
{
	int64_t *values = arena_array(arena, int64_t, count);
	for (size_t i = 0; i < count; i++)
		values[i] = JOINT_NEVER;
	return values;
}

/* A step of the k-th tensor at a cut, from all states; whether it made something cheaper. */
static bool take_edge(const struct plan_cut *cut, int k, const struct plan_edge *edge,
	int64_t *values, bool forward)
{
	size_t unit = cut->unit[k], block = unit * (size_t)cut->codes[k].count;
	size_t to = (size_t)(forward ? edge->to : edge->from) * unit;
	size_t by = (size_t)(forward ? edge->from : edge->to) * unit;
	bool cheaper = false;
	for (size_t s = 0; s < cut->size; s += block)
		for (size_t u = s; u < s + unit; u++) {
			int64_t is = values[by + u];
			if (is == JOINT_NEVER || is + edge->cost >= values[to + u])
				continue;
			values[to + u] = is + edge->cost;
			cheaper = true;
		}
	return cheaper;
}

/* Steps at a cut, until they make nothing cheaper: for what is still to come, or for what led here. */
static void close_cut(const struct relaxing *relaxing, int c, int64_t *values, bool forward)
{
	const struct plan_cut *cut = &relaxing->cuts->at[c];
	for (int k = 0; k < cut->count; k++) {
		const struct plan_edges *edges = &relaxing->passes->edges[c][k];
		for (bool again = true; again;) {
			again = false;
			for (size_t i = 0; i < edges->count; i++)
				again |= take_edge(cut, k, &edges->at[i], values, forward);
		}
	}
}

static void pull(void *context, const struct pass_class *class, const struct pass_entry *state)
{
	struct relaxing *relaxing = context;
	int64_t rest = relaxing->behind[state->behind];
	if (rest != JOINT_NEVER && rest + class->cost < relaxing->here[state->from])
		relaxing->here[state->from] = rest + class->cost;
}

static void push(void *context, const struct pass_class *class, const struct pass_entry *state)
{
	struct relaxing *relaxing = context;
	int64_t *least = &relaxing->spread[state->behind];
	*least = number_min(*least, relaxing->here[state->from] + class->cost);
}

/* Behind the last op only outputs are there, which must be in HBM. */
static void fill_end(struct relaxing *relaxing, int64_t *values)
{
	const struct plan_cut *cut = &relaxing->cuts->at[relaxing->space->op_count];
	for (size_t s = 0; s < cut->size; s++) {
		bool complete = true;
		for (int k = 0; k < cut->count; k++)
			complete &= s / cut->unit[k] % (size_t)cut->codes[k].count % 2 == 0;
		values[s] = complete ? 0 : JOINT_NEVER;
	}
}

static void go_backward(struct relaxing *relaxing, int c)
{
	const struct plan_passes *passes = relaxing->passes;
	relaxing->here = relaxing->least[c] = fill(relaxing->arena, relaxing->cuts->at[c].size);
	if (c == relaxing->space->op_count)
		fill_end(relaxing, relaxing->here);
	for (size_t p = passes->first[c]; c < relaxing->space->op_count && p < passes->first[c + 1];
		p++) {
		struct arena *scratch = arena_open();
		relaxing->behind = pass_behind(
			passes, &passes->at[p], relaxing->least[passes->at[p].end], scratch);
		pass_walk(passes, &passes->at[p], pull, relaxing);
		arena_close(scratch);
	}
	close_cut(relaxing, c, relaxing->least[c], false);
}

static void go_forward(struct relaxing *relaxing, int c)
{
	const struct plan_passes *passes = relaxing->passes;
	relaxing->here = relaxing->reached[c];
	close_cut(relaxing, c, relaxing->here, true);
	for (size_t s = 0; s < relaxing->cuts->at[c].size; s++)
		if (relaxing->here[s] == JOINT_NEVER || relaxing->least[c][s] == JOINT_NEVER ||
			relaxing->here[s] + relaxing->least[c][s] >= relaxing->limit)
			relaxing->here[s] = relaxing->least[c][s] = JOINT_NEVER;
	for (size_t p = passes->first[c]; c < relaxing->space->op_count && p < passes->first[c + 1];
		p++) {
		const struct plan_pass *pass = &passes->at[p];
		struct arena *scratch = arena_open();
		relaxing->spread = fill(scratch, pass->size);
		pass_walk_live(passes, pass, relaxing->here, push, relaxing);
		const int64_t *end = pass_end(passes, pass, relaxing->spread, scratch);
		for (size_t s = 0; s < relaxing->cuts->at[pass->end].size; s++)
			relaxing->reached[pass->end][s] =
				number_min(relaxing->reached[pass->end][s], end[s]);
		arena_close(scratch);
	}
}

const struct plan_relaxed *plan_relaxed_make(const struct joint_space *space, int64_t limit,
	size_t entries, const struct stopper *stopper, struct arena *arena, const char **why)
{
	struct relaxing relaxing = {.space = space, .arena = arena, .limit = limit};
	struct arena *scratch = arena_open();
	int cuts = space->op_count + 1;
	relaxing.cuts = plan_cuts_make(space, entries, arena, why);
	relaxing.passes = relaxing.cuts ? plan_passes_make(relaxing.cuts, arena, why) : NULL;
	struct plan_relaxed *relaxed = NULL;
	if (relaxing.passes) {
		relaxing.least = arena_array(arena, int64_t *, cuts);
		relaxing.reached = arena_array(scratch, int64_t *, cuts);
		bool stopped = false;
		for (int c = cuts; c-- > 0 && !(stopped = stopper_stops(stopper));) {
			relaxing.reached[c] = fill(scratch, relaxing.cuts->at[c].size);
			go_backward(&relaxing, c);
		}
		if (!stopped)
			relaxing.reached[0][0] = 0;
		for (int c = 0; c < cuts && !stopped; c++) {
			go_forward(&relaxing, c);
			stopped = stopper_stops(stopper);
		}
		if (stopped) {
			*why = "it was asked to stop";
			arena_close(scratch);
			return NULL;
		}
		relaxed = arena_new(arena, struct plan_relaxed);
		*relaxed = (struct plan_relaxed){
			space, relaxing.cuts, relaxing.passes, relaxing.least, NULL};
		relaxed->bundles = plan_bundles_make(relaxed, relaxing.reached, limit, arena);
	}
	arena_close(scratch);
	return relaxed;
}

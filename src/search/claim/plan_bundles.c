#include "search/claim/plan_bundles.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/number.h"

/* The least reduced cost of all steps that lead from places to places alike. */
struct bundle_step {
	uint32_t place, behind;
	int end, cores, fresh;
	bool ends_bundle;
	int64_t cost;
};

struct bundle_steps array(struct bundle_step);

struct plan_bundles {
	const struct plan_relaxed *relaxed;
	int most, width_count;
	const int *widths; /* ascending; of them the number by cores: */
	const int *width_of;
	size_t states;   /* of bundles: tensors used x widths, and one that the next step begins */
	int64_t **least; /* by cut, then place * states + state */
};

struct bundling {
	struct plan_bundles *bundles;
	const struct plan_relaxed *relaxed;
	const struct joint_space *space;
	struct arena *scratch;
	struct bundle_steps steps;
	uint32_t *slots; /* by hash: a step + 1 */
	size_t slot_count;

	/* the pass that is walked */
	const struct plan_pass *pass;
	const int64_t *here, *behind, *reached;
	int64_t limit;
};

/* --- widths */

static int most_cores(const struct joint_space *space)
{
	int most = 0;
	for (size_t o = 0; o < space->option_count; o++)
		most = space->options[o].cores > most ? space->options[o].cores : most;
	for (int t = 0; t < space->tensor_count; t++)
		for (int v = 0; v < space->tensors[t].view_count; v++)
			most = space->tensors[t].cores[v] > most ? space->tensors[t].cores[v]
								 : most;
	return most;
}

static void find_widths(struct plan_bundles *bundles, struct arena *arena)
{
	const struct joint_space *space = bundles->relaxed->space;
	int most = most_cores(space);
	int *width_of = arena_array(arena, int, most + 1);
	int *widths = arena_array(arena, int, most + 1);
	width_of[0] = 1;
	for (size_t o = 0; o < space->option_count; o++)
		width_of[space->options[o].cores] = 1;
	for (int t = 0; t < space->tensor_count; t++)
		for (int v = 0; v < space->tensors[t].view_count; v++)
			width_of[space->tensors[t].cores[v]] = 1;
	for (int w = 0; w <= most; w++)
		if (width_of[w]) {
			width_of[w] = bundles->width_count;
			widths[bundles->width_count++] = w;
		}
	bundles->widths = widths;
	bundles->width_of = width_of;
}

/* --- steps, by places */

static uint32_t *slot_of(struct bundling *bundling, const struct bundle_step *step)
{
	uint64_t hash = step->place * 0x9e3779b97f4a7c15u + step->behind;
	hash = (hash ^ (uint64_t)step->end << 40 ^ (uint64_t)step->cores << 20 ^
		       (uint64_t)step->fresh << 1 ^ step->ends_bundle) *
	       0xbf58476d1ce4e5b9u;
	size_t s = (size_t)(hash >> 20) & (bundling->slot_count - 1);
	for (; bundling->slots[s]; s = (s + 1) & (bundling->slot_count - 1)) {
		const struct bundle_step *other = &bundling->steps.at[bundling->slots[s] - 1];
		if (other->place == step->place && other->behind == step->behind &&
			other->end == step->end && other->cores == step->cores &&
			other->fresh == step->fresh && other->ends_bundle == step->ends_bundle)
			break;
	}
	return &bundling->slots[s];
}

static void grow_slots(struct bundling *bundling)
{
	bundling->slot_count = bundling->slot_count ? 2 * bundling->slot_count : 1 << 10;
	bundling->slots = arena_array(bundling->scratch, uint32_t, bundling->slot_count);
	for (size_t i = 0; i < bundling->steps.count; i++)
		*slot_of(bundling, &bundling->steps.at[i]) = (uint32_t)i + 1;
}

static void add_step(struct bundling *bundling, struct bundle_step step)
{
	if (2 * bundling->steps.count >= bundling->slot_count)
		grow_slots(bundling);
	uint32_t *slot = slot_of(bundling, &step);
	if (!*slot) {
		*array_add(bundling->scratch, &bundling->steps) = step;
		*slot = (uint32_t)bundling->steps.count;
	}
	struct bundle_step *least = &bundling->steps.at[*slot - 1];
	least->cost = number_min(least->cost, step.cost);
}

static void reduce(void *context, const struct pass_class *class, const struct pass_entry *state)
{
	struct bundling *bundling = context;
	int64_t here = bundling->here[state->from], behind = bundling->behind[state->behind];
	if (here == JOINT_NEVER || behind == JOINT_NEVER)
		return;
	add_step(bundling, (struct bundle_step){state->place, state->place_behind,
				   bundling->pass->end, class->cores, class->fresh,
				   class->ends_bundle, class->cost + behind - here});
}

static uint32_t place_of(const struct plan_cut *cut, size_t state)
{
	size_t place = 0;
	for (int k = 0; k < cut->count; k++) {
		int code = (int)(state / cut->unit[k] % (size_t)cut->codes[k].count);
		place += cut->place_unit[k] * (size_t)plan_code_place(&cut->codes[k], code);
	}
	return (uint32_t)place;
}

/* Steps at the cut.  Those that change views only neither use HBM nor change a place. */
static void reduce_edges(struct bundling *bundling, int c)
{
	const struct plan_cut *cut = &bundling->relaxed->cuts->at[c];
	const int64_t *least = bundling->relaxed->least[c];
	for (size_t s = 0; s < cut->size; s++)
		for (int k = 0; k < cut->count && least[s] != JOINT_NEVER; k++) {
			const struct plan_edges *edges = &bundling->relaxed->passes->edges[c][k];
			int code = (int)(s / cut->unit[k] % (size_t)cut->codes[k].count);
			for (size_t i = 0; i < edges->count; i++) {
				const struct plan_edge *edge = &edges->at[i];
				if (edge->from != code)
					continue;
				size_t to = s - cut->unit[k] * (size_t)code +
					    cut->unit[k] * (size_t)edge->to;
				uint32_t was = place_of(cut, s), is = place_of(cut, to);
				if (least[to] == JOINT_NEVER || (was == is && !edge->fresh) ||
					bundling->reached[s] + edge->cost + least[to] >=
						bundling->limit)
					continue;
				add_step(bundling,
					(struct bundle_step){was, is, c, edge->cores, edge->fresh,
						false, edge->cost + least[to] - least[s]});
			}
		}
}

/* --- backwards */

static size_t state_of(const struct plan_bundles *bundles, int used, int width)
{
	return (size_t)used * (size_t)bundles->width_count + (size_t)width;
}

/* A step from one place under all states of the bundle; a drop is in no bundle.  Whether it made something
 * less. */
static bool take(const struct bundling *bundling, int c, const struct bundle_step *step)
{
	const struct plan_bundles *bundles = bundling->bundles;
	const struct joint_space *space = bundling->space;
	int64_t *here = &bundles->least[c][step->place * bundles->states];
	const int64_t *behind = &bundles->least[step->end][step->behind * bundles->states];
	if (step->end == c && !step->fresh) {
		bool lower = false;
		for (size_t i = 0; i < bundles->states; i++) {
			int64_t rest =
				behind[i] == JOINT_NEVER ? behind[i] : behind[i] + step->cost;
			lower |= rest < here[i];
			here[i] = number_min(here[i], rest);
		}
		return lower;
	}
	size_t closed = bundles->states - 1;
	int64_t scale = bundles->relaxed->passes->scale;
	int64_t cost = step->cost - step->fresh * plan_share(space, step->cores);
	int own = bundles->width_of[step->cores];
	if (step->fresh > bundles->most)
		return false;
	int64_t rest = behind[step->ends_bundle ? closed : state_of(bundles, step->fresh, own)];
	int64_t begins =
		rest == JOINT_NEVER ? rest : rest + cost + scale * plan_share(space, step->cores);
	bool less = begins < here[closed];
	here[closed] = number_min(here[closed], begins);
	for (int used = 0; used <= bundles->most; used++)
		for (int w = 0; w < bundles->width_count; w++) {
			int width = w > own ? w : own;
			int64_t *least = &here[state_of(bundles, used, w)], goes_on = begins;
			if (used + step->fresh <= bundles->most) {
				rest = behind[step->ends_bundle
						      ? closed
						      : state_of(bundles, used + step->fresh,
								width)];
				if (rest != JOINT_NEVER)
					goes_on = number_min(goes_on,
						rest + cost +
							scale * space->core_value *
								(bundles->widths[width] -
									bundles->widths[w]));
			}
			less |= goes_on < *least;
			*least = number_min(*least, goes_on);
		}
	return less;
}

/* What is in both places is no worse off than in one. */
static void close_places(const struct bundling *bundling, int c)
{
	const struct plan_cut *cut = &bundling->relaxed->cuts->at[c];
	size_t states = bundling->bundles->states;
	int64_t *least = bundling->bundles->least[c];
	for (int k = 0; k < cut->count; k++) {
		size_t unit = cut->place_unit[k];
		bool follows = cut->codes[k].has_place && cut->codes[k].count > 1;
		for (size_t p = 0; follows && p < cut->place_size; p++) {
			if (p / unit % PLACE_COUNT != PLACE_IN_BOTH)
				continue;
			int64_t *both = &least[p * states];
			const int64_t *hbm = &least[(p - 2 * unit) * states];
			const int64_t *lx = &least[(p - unit) * states];
			for (size_t i = 0; i < states; i++)
				both[i] = number_min(both[i], number_min(hbm[i], lx[i]));
		}
	}
}

static void fill_cut(struct bundling *bundling, int c, const int64_t *reached, struct arena *arena)
{
	const struct plan_relaxed *relaxed = bundling->relaxed;
	const struct plan_passes *passes = relaxed->passes;
	size_t count = relaxed->cuts->at[c].place_size * bundling->bundles->states;
	int64_t *least = bundling->bundles->least[c] = arena_array(arena, int64_t, count);
	bool last = c == bundling->space->op_count, again = true;
	for (size_t i = 0; i < count; i++)
		least[i] = last ? 0 : JOINT_NEVER;
	bundling->scratch = arena_open();
	bundling->steps.count = bundling->steps.capacity = bundling->slot_count = 0;
	bundling->here = relaxed->least[c];
	bundling->reached = reached;
	for (size_t p = last ? 0 : passes->first[c]; !last && p < passes->first[c + 1]; p++) {
		bundling->pass = &passes->at[p];
		bundling->behind = pass_behind(passes, bundling->pass,
			relaxed->least[bundling->pass->end], bundling->scratch);
		pass_walk_live(passes, bundling->pass, bundling->here, reduce, bundling);
	}
	reduce_edges(bundling, c);
	while (again) {
		again = false;
		close_places(bundling, c);
		for (size_t i = 0; i < bundling->steps.count; i++)
			again |= take(bundling, c, &bundling->steps.at[i]);
	}
	arena_close(bundling->scratch);
}

const struct plan_bundles *plan_bundles_make(const struct plan_relaxed *relaxed,
	int64_t *const *reached, int64_t limit, struct arena *arena)
{
	const struct joint_space *space = relaxed->space;
	if (!space->bundle_most)
		return NULL;
	struct plan_bundles *bundles = arena_new(arena, struct plan_bundles);
	struct bundling bundling = {
		.bundles = bundles, .relaxed = relaxed, .space = space, .limit = limit};
	bundles->relaxed = relaxed;
	bundles->most = space->bundle_most;
	find_widths(bundles, arena);
	bundles->states = (size_t)(bundles->most + 1) * (size_t)bundles->width_count + 1;
	bundles->least = arena_array(arena, int64_t *, space->op_count + 1);
	for (int c = space->op_count; c >= 0; c--)
		fill_cut(&bundling, c, reached[c], arena);
	return bundles;
}

int64_t plan_bundles_rest(const struct plan_bundles *bundles, int cut, size_t place, int used,
	int widest, bool begins)
{
	size_t state =
		begins ? bundles->states - 1 : state_of(bundles, used, bundles->width_of[widest]);
	return bundles->least[cut][place * bundles->states + state];
}

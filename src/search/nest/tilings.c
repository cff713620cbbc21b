#include "search/nest/tilings.h"

#include "base/array.h"
#include "base/number.h"

/* A factorization as far as it goes, from the innermost loop outwards. */
struct partial {
	int64_t left, inside;
	int64_t *values, *bounds;
};

struct partials array(struct partial);

struct tilings_walk {
	const struct tilings_question *question;
	struct tilings_work *work;
	struct arena *arena;
	int64_t extent;
	const struct factors *factors;
	int loop_count;
	int last_tile; /* the outermost loop whose tile is watched; -1 */
	bool exact_tiles;
	int sink; /* a free loop outside all watched tiles, which takes what is left; or -1 */
	bool divides;
};

/* An unwatched temporal loop that may have any bound takes what the loops inside it leave.  With
 * imperfect factors only as the last loop: what it leaves is then always 1. */
static int find_sink(const struct tilings_walk *finding)
{
	const struct space *space = finding->question->space;
	for (int loop = finding->loop_count - 1; loop > finding->last_tile; loop--) {
		const struct tiling_level *level = &space->levels[loop];
		const struct row_domain *row = &space->domain->rows[level->row];
		const struct factor_domain *factor =
			level->spatial ? &row->spatial[finding->question->dimension]
				       : &row->temporal[finding->question->dimension];
		if (!level->spatial && finding->question->watches[loop] == WATCH_NOT &&
			factor->most >= finding->extent)
			return loop;
		if (!finding->divides && factor->most > 1)
			return -1;
	}
	return -1;
}

/* Whatever completes b completes a, with values no greater. */
static bool dominates(const struct tilings_walk *finding, int loop, const struct partial *a,
	const struct partial *b)
{
	const enum watch *watches = finding->question->watches;
	bool absorbed = loop < finding->sink &&
			(finding->divides ? a->left % b->left == 0 : a->left >= b->left);
	if (a->left != b->left && !absorbed)
		return false;
	if (loop < finding->last_tile &&
		(a->inside > b->inside || (finding->exact_tiles && a->inside != b->inside)))
		return false;
	for (int i = 0; i <= loop; i++) {
		if (watches[i] == WATCH_LEAST && a->values[i] > b->values[i])
			return false;
		if (watches[i] == WATCH_EXACT && a->values[i] != b->values[i])
			return false;
	}
	return true;
}

static bool is_dominated(const struct tilings_walk *finding, int loop, const struct partials *kept,
	const struct partial *candidate)
{
	for (size_t i = 0; i < kept->count; i++)
		if (dominates(finding, loop, &kept->at[i], candidate))
			return true;
	return false;
}

/* Adds what is inside `loop` with one bound of it; what it makes superfluous goes. */
static void keep(struct tilings_walk *finding, int loop, struct partials *kept,
	const struct partial *inner, int64_t bound, int64_t left)
{
	const struct tilings_question *question = finding->question;
	bool spatial = question->space->levels[loop].spatial;
	int64_t inside = inner->inside * bound, value = 0;
	if (question->watches[loop] != WATCH_NOT)
		value = spatial ? bound : number_min(inside, finding->extent);
	if (value && !question->room(question->context, question->dimension, loop, value))
		return;
	int64_t values[FACTORS_LOOPS_MOST], bounds[FACTORS_LOOPS_MOST];
	for (int i = 0; i < loop; i++) {
		values[i] = inner->values[i];
		bounds[i] = inner->bounds[i];
	}
	values[loop] = value;
	bounds[loop] = bound;
	struct partial candidate = {left, inside, values, bounds};
	finding->work->done += 1 + kept->count / 8;
	if (is_dominated(finding, loop, kept, &candidate))
		return;
	size_t count = 0;
	for (size_t i = 0; i < kept->count; i++)
		if (!dominates(finding, loop, &candidate, &kept->at[i]))
			kept->at[count++] = kept->at[i];
	kept->count = count;
	size_t size = (size_t)finding->loop_count * sizeof *values;
	candidate.values = arena_copy(finding->arena, values, size);
	candidate.bounds = arena_copy(finding->arena, bounds, size);
	*array_add(finding->arena, kept) = candidate;
}

bool work_is_out(struct tilings_work *work)
{
	work->stopped = work->stopped || stopper_stops(work->stopper);
	return work->stopped || work->done > work->most;
}

/* All bounds of one loop after each of what is inside it. */
static struct partials pass_loop(
	struct tilings_walk *finding, int loop, const struct partials *inner)
{
	struct partials kept = {0};
	bool least = finding->question->watches[loop] != WATCH_EXACT && !finding->exact_tiles;
	for (size_t i = 0; i < inner->count; i++) {
		const struct partial *from = &inner->at[i];
		struct factor_step step = {0};
		while (factors_step(finding->factors, loop, from->left, step.last + 1, &step))
			for (int64_t bound = step.first; bound <= (least ? step.first : step.last);
				bound++) {
				if (work_is_out(finding->work))
					return kept;
				keep(finding, loop, &kept, from, bound, step.left);
			}
	}
	return kept;
}

static struct tilings tilings_of(const struct tilings_walk *finding, const struct partials *found)
{
	struct tilings tilings = {found->count,
		arena_array(finding->arena, struct dimension_tiling, found->count),
		!work_is_out(finding->work)};
	for (size_t i = 0; i < found->count; i++)
		tilings.at[i] = (struct dimension_tiling){found->at[i].values, found->at[i].bounds};
	return tilings;
}

struct tilings tilings_find(
	const struct tilings_question *question, struct tilings_work *work, struct arena *arena)
{
	const struct space *space = question->space;
	struct tilings_walk finding = {
		.question = question,
		.work = work,
		.arena = arena,
		.extent = space->domain->shape->dimensions[question->dimension].extent,
		.factors = space->factors[question->dimension],
		.loop_count = space->level_count,
		.last_tile = -1,
		.divides = !(space->domain->imperfect >> question->dimension & 1),
	};
	for (int i = 0; i < space->level_count; i++)
		if (!space->levels[i].spatial && question->watches[i] != WATCH_NOT) {
			finding.last_tile = i;
			finding.exact_tiles |= question->watches[i] == WATCH_EXACT;
		}
	finding.sink = find_sink(&finding);
	struct partials partials = {0};
	*array_add(arena, &partials) = (struct partial){.left = finding.extent, .inside = 1};
	for (int loop = 0; loop < space->level_count; loop++)
		partials = pass_loop(&finding, loop, &partials);
	return tilings_of(&finding, &partials);
}

#include "solvers/map/uneven/uneven.h"

#include "base/arena.h"
#include "base/array.h"
#include "search/nest/nest_search.h"
#include "solvers/map/exact/exact.h"
#include "solvers/map/local/moves.h"

#include <math.h>
#include <string.h>

int64_t uneven_padded_extent(int64_t extent)
{
	static const int primes[] = {2, 3, 5, 7};
	for (int64_t padded = extent; padded <= SHAPE_EXTENT_MOST; padded++) {
		int64_t left = padded;
		for (int i = 0; i < 4; i++)
			while (left % primes[i] == 0)
				left /= primes[i];
		if (left == 1)
			return padded;
	}
	return extent;
}

/* The problem with extents whose factors divide. */
static struct nest_search nest_search_pad(struct arena *arena, const struct nest_search *search)
{
	struct nest_search padded = *search;
	struct shape *shape = arena_copy(arena, search->shape, sizeof *shape);
	struct domain *domain = arena_copy(arena, search->domain, sizeof *domain);
	for (int d = 0; d < shape->dimension_count; d++) {
		int64_t extent = shape->dimensions[d].extent, more = extent;
		if (domain->imperfect >> d & 1)
			more = uneven_padded_extent(extent);
		shape->dimensions[d].extent = more;
		for (int r = 0; r < domain->arch->level_count; r++) {
			struct factor_domain *factors[] = {
				&domain->rows[r].temporal[d], &domain->rows[r].spatial[d]};
			for (int k = 0; k < 2; k++)
				if (factors[k]->most == extent && factors[k]->most_by < 0)
					factors[k]->most = more;
		}
	}
	domain->shape = shape;
	domain->imperfect = 0;
	padded.shape = shape;
	padded.domain = domain;
	padded.space = space_make(arena, domain);
	padded.model = nest_model_make(arena, search->hierarchy, shape, search->counting);
	padded.start = NULL;
	return padded;
}

/* Offers what came of a search.  What is cut back may break a bound of the space: the nearest mapping
 * of the space takes its place. */
static void adopt_padded(
	struct nest_offers *offers, const struct map_moves *moves, const struct answer *answer)
{
	for (size_t i = 0; i < answer->candidate_count; i++) {
		struct offer_price price;
		struct mapping mapping = map_moves_adopt(moves, answer->candidates[i].mappings);
		nest_offers_price(offers, &mapping, &price);
	}
}

/* The best so far of the first objective. */
static const struct mapping *best_of(const struct nest_offers *offers)
{
	return offers->kept.count ? offers->kept.points[0].payload : NULL;
}

void uneven_padded(struct run *run, const struct nest_search *search, struct nest_offers *offers,
	uint64_t ticks, double bound)
{
	if (!space_factors_count(search->space))
		return;
	struct arena *arena = arena_open();
	struct nest_search uneven = *search, padded = nest_search_pad(arena, search);
	struct map_moves moves = map_moves_make(search->space);
	struct answer answer =
		nest_ask(run, "exact", &padded, 0, 1, ticks - ticks / LOCAL_SHARE + 1, arena);
	adopt_padded(offers, &moves, &answer);
	run_report(run, nest_offers_best(offers), bound);
	for (int turn = 0; turn < LOCAL_TURNS; turn++) {
		uneven.start = best_of(offers) ? best_of(offers) : search->start;
		uneven.wishes.seed = search->wishes.seed + (uint64_t)turn;
		answer = nest_ask(
			run, "anneal", &uneven, 0, 1, ticks / LOCAL_SHARE / LOCAL_TURNS + 1, arena);
		adopt_padded(offers, &moves, &answer);
		run_report(run, nest_offers_best(offers), bound);
	}
	arena_close(arena);
}

/*
 * A part of the mapspace.  Behind it: by level from the outermost one inwards the chosen rests, by
 * dimension; then, of the level in question, the least and the most rest.
 */
struct branch {
	double bound;
	uint64_t number; /* as they came */
	uint32_t outer;
	int8_t level, first;
	uint64_t residency;
	uint64_t orders[ARCH_LEVELS_MOST]; /* by level, of the space's arrangements */
	uint32_t rests[];
};

struct uneven_tree {
	struct run *run;
	struct arena *arena;
	struct nest_offers offers;
	struct nest_frame frame;
	struct uneven_branches outer;
	struct array(struct branch *) heap; /* the least bound first */
	size_t branch_bytes, bytes;
	struct array(struct branch *) unused;
	size_t next_outer;
	uint64_t branches, bounds;
	uint64_t look_at, report_at; /* bounds */
	bool stopped, full;          /* of open nodes */

	/* For the branch at hand. */
	struct nest_view view;
	struct uneven_part part;
	struct mapping mapping;
	uint64_t orders[ARCH_LEVELS_MOST];
	uint32_t at_outer;
	uint64_t residency;
};

static int dimension_count(const struct uneven_tree *tree)
{
	return tree->frame.search->shape->dimension_count;
}

/* --- the heap */

static bool is_before(const struct branch *a, const struct branch *b)
{
	return a->bound != b->bound ? a->bound < b->bound : a->number < b->number;
}

static void sift_up(struct branch **heap, size_t at)
{
	for (; at > 0 && is_before(heap[at], heap[(at - 1) / 2]); at = (at - 1) / 2) {
		struct branch *kept = heap[at];
		heap[at] = heap[(at - 1) / 2];
		heap[(at - 1) / 2] = kept;
	}
}

static void sift_down(struct branch **heap, size_t count)
{
	for (size_t at = 0, child; (child = 2 * at + 1) < count; at = child) {
		if (child + 1 < count && is_before(heap[child + 1], heap[child]))
			child++;
		if (!is_before(heap[child], heap[at]))
			return;
		struct branch *kept = heap[at];
		heap[at] = heap[child];
		heap[child] = kept;
	}
}

static struct branch *new_branch(struct uneven_tree *tree)
{
	if (tree->unused.count)
		return tree->unused.at[--tree->unused.count];
	if (tree->bytes + tree->branch_bytes > (size_t)NODES_MIB_MOST << 20)
		return NULL;
	tree->bytes += tree->branch_bytes;
	return arena_alloc(tree->arena, tree->branch_bytes);
}

/* --- branches */

static bool uneven_tree_beaten(const struct uneven_tree *tree, const struct score *bound)
{
	return frontier_beats(&tree->offers.kept, bound, NULL);
}

static struct score uneven_tree_bound(struct uneven_tree *tree)
{
	if (++tree->bounds % BOUNDS_PER_TICK == 0)
		tree->stopped |= !run_spend(tree->run, 1);
	return uneven_bound(&tree->view, &tree->part);
}

/* Keeps the part at hand for later, unless it is beaten or cannot fit. */
static void uneven_tree_push(struct uneven_tree *tree)
{
	const struct uneven_part *part = &tree->part;
	int count = dimension_count(tree), levels = tree->frame.count;
	if (part->level > 0 && !nest_view_fits(&tree->view, part->level - 1, part->least))
		return;
	struct score bound = uneven_tree_bound(tree);
	if (uneven_tree_beaten(tree, &bound))
		return;
	struct branch *branch = new_branch(tree);
	if (!branch) {
		tree->stopped = tree->full = true;
		return;
	}
	branch->bound = objective_value(tree->frame.search->wishes.objectives.at[0], &bound);
	branch->number = tree->branches++;
	branch->outer = tree->at_outer;
	branch->residency = tree->residency;
	branch->level = (int8_t)part->level;
	branch->first = (int8_t)part->first;
	memcpy(branch->orders, tree->orders, sizeof branch->orders);
	uint32_t *out = branch->rests;
	for (int j = levels; j > part->level; j--)
		for (int d = 0; d < count; d++)
			*out++ = (uint32_t)part->rest[j][d];
	for (int d = 0; d < count; d++)
		*out++ = (uint32_t)part->least[d];
	for (int d = 0; d < count; d++)
		*out++ = (uint32_t)part->most[d];
	*array_add(tree->arena, &tree->heap) = branch;
	sift_up(tree->heap.at, tree->heap.count - 1);
}

static struct mapping_row *uneven_tree_row(struct uneven_tree *tree, int j)
{
	const struct space *space = tree->frame.search->space;
	return &tree->mapping.rows[space->levels[tree->frame.tiling[j]].row];
}

/* Puts a level's bounds and one of its orders into the mapping. */
static void arrange_level(struct uneven_tree *tree, int j)
{
	const struct space *space = tree->frame.search->space;
	struct mapping_row *row = uneven_tree_row(tree, j);
	for (int d = 0; d < dimension_count(tree); d++)
		row->temporal[d] = (uint32_t)tree->part.bound[j][d];
	space_level_arrange(
		space, &space->levels[tree->frame.tiling[j]], tree->orders[j], &tree->mapping);
	tree->part.order[j] = row->temporal_order;
}

static bool open_outer(struct uneven_tree *tree, uint32_t outer, uint64_t residency)
{
	tree->at_outer = outer;
	tree->residency = residency;
	bool fits = uneven_branch_view(&tree->frame, &tree->outer, outer, residency, &tree->view);
	tree->mapping = tree->view.mapping;
	return fits;
}

/* Makes a branch the part at hand. */
static void uneven_tree_restore(struct uneven_tree *tree, const struct branch *branch)
{
	struct uneven_part *part = &tree->part;
	const uint32_t *in = branch->rests;
	int count = dimension_count(tree);
	open_outer(tree, branch->outer, branch->residency);
	memcpy(tree->orders, branch->orders, sizeof tree->orders);
	for (part->level = tree->frame.count; part->level > branch->level; part->level--) {
		for (int d = 0; d < count; d++)
			part->least[d] = *in++;
		uneven_choose(&tree->view, part);
		if (part->level < tree->frame.count)
			arrange_level(tree, part->level);
	}
	part->first = branch->first;
	for (int d = 0; d < count; d++)
		part->least[d] = *in++;
	for (int d = 0; d < count; d++)
		part->most[d] = *in++;
}

/* All rests that `level` can leave, by the dimension of its innermost loop. */
static void uneven_tree_enter(struct uneven_tree *tree, int level)
{
	struct uneven_part *part = &tree->part;
	int count = dimension_count(tree);
	part->level = level;
	for (int first = -1; first < (level == tree->frame.count ? 0 : count); first++) {
		bool some = true;
		part->first = first;
		for (int d = 0; d < count && some; d++) {
			part->least[d] = 1;
			part->most[d] = SHAPE_EXTENT_MOST;
			some = uneven_clip(
				&tree->view, part, d, first, &part->least[d], &part->most[d]);
		}
		if (some && !tree->stopped)
			uneven_tree_push(tree);
	}
}

/* --- whole mappings */

/* Orders and axes of the spatial tiling levels from s on: neighbours may hand words on. */
static void arrange_blocks(struct uneven_tree *tree, int s)
{
	const struct space *space = tree->frame.search->space;
	if (s == tree->outer.spatial.fanout_count) {
		struct offer_price price;
		tree->stopped |= !nest_offers_price(&tree->offers, &tree->mapping, &price);
		return;
	}
	const struct tiling_level *level = &space->levels[tree->outer.spatial.fanouts[s]];
	uint64_t count = space_level_count(space, level, &tree->mapping);
	for (uint64_t i = 0; i < count && !tree->stopped; i++) {
		space_level_arrange(space, level, i, &tree->mapping);
		arrange_blocks(tree, s + 1);
	}
}

/* --- what becomes of a part */

static bool uneven_tree_split(struct uneven_tree *tree)
{
	struct uneven_part *part = &tree->part;
	int widest = -1;
	double ratio = 1;
	for (int d = 0; d < dimension_count(tree); d++) {
		double mine = (double)part->most[d] / (double)part->least[d];
		if (mine > ratio) {
			widest = d;
			ratio = mine;
		}
	}
	if (widest < 0)
		return false;
	int d = widest;
	int64_t least = part->least[d], most = part->most[d];
	int64_t middle = (int64_t)sqrt((double)least * (double)most);
	middle = middle < least ? least : middle >= most ? most - 1 : middle;
	for (int upper = 0; upper < 2; upper++) {
		part->least[d] = upper ? middle + 1 : least;
		part->most[d] = upper ? most : middle;
		if (uneven_clip(&tree->view, part, d, part->first, &part->least[d], &part->most[d]))
			uneven_tree_push(tree);
	}
	return true;
}

/* The dimension of the innermost loop. */
static int first_of(const struct uneven_part *part, int j, int count)
{
	for (int n = 0; n < count; n++)
		if (part->bound[j][part->order[j][n]] > 1)
			return part->order[j][n];
	return -1;
}

/* All orders of the level at hand, whose rests are chosen. */
static void uneven_tree_order(struct uneven_tree *tree)
{
	struct uneven_part *part = &tree->part;
	const struct space *space = tree->frame.search->space;
	int j = part->level, first = part->first;
	const struct tiling_level *level = &space->levels[tree->frame.tiling[j]];
	uneven_choose(&tree->view, part);
	for (int d = 0; d < dimension_count(tree); d++)
		uneven_tree_row(tree, j)->temporal[d] = (uint32_t)part->bound[j][d];
	uint64_t count = space_level_count(space, level, &tree->mapping);
	for (uint64_t i = 0; i < count && !tree->stopped; i++) {
		tree->stopped = !run_go_on(tree->run, 1);
		tree->orders[j] = i;
		arrange_level(tree, j);
		if (first_of(part, j, dimension_count(tree)) != first)
			continue;
		if (j == 0)
			arrange_blocks(tree, 0);
		else
			uneven_tree_enter(tree, j - 1);
	}
}

/* An outer branch, with every residency. */
static void uneven_tree_begin(struct uneven_tree *tree, uint32_t outer)
{
	uint64_t count = space_residency_count(tree->frame.search->space);
	for (uint64_t r = 0; r < count && !tree->stopped; r++) {
		tree->stopped = !run_go_on(tree->run, 1);
		if (open_outer(tree, outer, r))
			uneven_tree_enter(tree, tree->frame.count);
	}
}

static void uneven_tree_expand(struct uneven_tree *tree, const struct branch *branch)
{
	uneven_tree_restore(tree, branch);
	struct score bound = uneven_tree_bound(tree);
	if (uneven_tree_beaten(tree, &bound) || uneven_tree_split(tree))
		return;
	if (branch->level < tree->frame.count) {
		uneven_tree_order(tree);
		return;
	}
	uneven_choose(&tree->view, &tree->part);
	uneven_tree_enter(tree, tree->frame.count - 1);
}

/* The least bound of all that is left. */
static double least_bound(const struct uneven_tree *tree)
{
	double least = INFINITY;
	if (tree->next_outer < tree->outer.count)
		least = tree->outer.at[tree->next_outer].bound;
	if (tree->heap.count)
		least = fmin(least, tree->heap.at[0]->bound);
	return least;
}

/* Better mappings to compare with, for some times what was spent already: what is soon searched
 * through needs none. */
static void look_around(struct uneven_tree *tree, double bound)
{
	tree->look_at *= LOOK_AGAIN;
	uneven_padded(tree->run, tree->frame.search, &tree->offers,
		LOOK_TIMES * tree->bounds / BOUNDS_PER_TICK, bound);
}

/* No bounds are kept of objectives other than the first. */
static void prove_first(struct uneven_tree *tree, double first)
{
	const struct nest_search *search = tree->frame.search;
	double bounds[OBJECTIVE_COUNT] = {first};
	for (size_t k = 1; k < search->wishes.objectives.count; k++)
		bounds[k] = nest_floor(search, search->wishes.objectives.at[k]);
	run_prove_each(tree->run, bounds, search->wishes.objectives.count);
}

static void search(struct uneven_tree *tree)
{
	double bound = 0;
	while (!tree->stopped && least_bound(tree) < INFINITY) {
		const struct uneven_branches *outer = &tree->outer;
		bound = least_bound(tree);
		if (tree->bounds >= tree->look_at)
			look_around(tree, bound);
		if (tree->bounds >= tree->report_at) {
			tree->report_at = tree->bounds + REPORT_AFTER;
			run_report(tree->run, nest_offers_best(&tree->offers),
				fmin(nest_offers_best(&tree->offers), bound));
		}
		if (tree->next_outer < outer->count && outer->at[tree->next_outer].bound <= bound) {
			uneven_tree_begin(tree, (uint32_t)tree->next_outer++);
			continue;
		}
		struct branch *branch = tree->heap.at[0];
		tree->heap.at[0] = tree->heap.at[--tree->heap.count];
		sift_down(tree->heap.at, tree->heap.count);
		uneven_tree_expand(tree, branch);
		*array_add(tree->arena, &tree->unused) = branch;
	}
	bound = fmin(nest_offers_best(&tree->offers), tree->stopped ? bound : INFINITY);
	if (!tree->outer.complete)
		bound = fmin(bound, tree->outer.floor);
	if (tree->offers.uncounted || tree->frame.ways)
		run_prove(tree->run, PROOF_NONE, 0);
	else if (!tree->stopped && tree->outer.complete)
		run_prove(tree->run, PROOF_OPTIMAL, 0);
	else if (tree->frame.search->wishes.objectives.count == 1)
		run_prove(tree->run, PROOF_BOUND, bound);
	else
		prove_first(tree, bound);
}

void uneven_run(struct run *run, const struct problem *problem)
{
	const struct nest_search *nest = problem->nest;
	struct uneven_tree tree = {.run = run, .arena = arena_open(), .look_at = LOOK_AFTER};
	tree.offers = nest_offers_open(run, nest);
	tree.frame = nest_frame_make(nest);
	tree.outer = uneven_branches_make(run, tree.arena, &tree.frame);
	size_t rests = (size_t)(dimension_count(&tree) * (tree.frame.count + 3));
	tree.branch_bytes = sizeof(struct branch) + rests * sizeof(uint32_t);
	search(&tree);
	if (tree.full)
		run_complain(run, false, -1,
			"the proof ends early: its open nodes take %d MiB, which no budget helps; "
			"let factors of fewer dimensions not divide (--imperfect M,N), or add constraints",
			NODES_MIB_MOST);
	nest_offers_close(&tree.offers);
	arena_close(tree.arena);
}

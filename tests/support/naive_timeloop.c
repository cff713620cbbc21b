#include "tests/support/naive_timeloop.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Points of a dataspace, ascending; a point is its coordinates in one number. */
struct set {
	size_t count;
	int64_t *at;
};

static const int64_t side = 1 << 12; /* coordinates are far smaller */

static int64_t point_of(const struct dataspace *space, const int64_t *index, int dimension_count)
{
	int64_t point = 0;
	for (int r = 0; r < space->rank_count; r++) {
		int64_t coordinate = 0;
		for (int d = 0; d < dimension_count; d++)
			coordinate += space->ranks[r].coefficient[d] * index[d];
		point = point * side + coordinate;
	}
	return point;
}

static bool same_set(struct set a, struct set b)
{
	return a.count == b.count && (!a.count || !memcmp(a.at, b.at, a.count * sizeof *a.at));
}

static struct set minus(struct arena *arena, struct set a, struct set b)
{
	struct set left = {0, arena_array(arena, int64_t, a.count)};
	for (size_t i = 0, j = 0; i < a.count; i++) {
		while (j < b.count && b.at[j] < a.at[i])
			j++;
		if (j == b.count || b.at[j] != a.at[i])
			left.at[left.count++] = a.at[i];
	}
	return left;
}

/* Words of one dataspace that one instance of a level holds. */
struct memory {
	bool seen, moved;
	int64_t low, move; /* of the last tile; of the last move that was one */
	struct set last;
	struct set *before; /* what its children asked for last, by place; NULL: nothing yet */
};

/* Accesses of a level by (children, groups), all instances. */
struct record {
	int count;
	struct {
		int64_t children, groups;
		double words, hops; /* hops: of all words */
	} at[4096];
};

struct run {
	struct arena *arena;
	const struct hierarchy *hierarchy;
	const struct shape *shape;
	const struct mapping *mapping;
	const struct dataspace *space;
	int t;
	int64_t index[SHAPE_DIMENSIONS_MOST]; /* where all outer loops stand */
	int64_t stride[ARCH_LEVELS_MOST][2][SHAPE_DIMENSIONS_MOST];
	int64_t tile[ARCH_LEVELS_MOST][SHAPE_DIMENSIONS_MOST];
	int64_t fan[ARCH_LEVELS_MOST], fan_x[ARCH_LEVELS_MOST], instances[ARCH_LEVELS_MOST];
	struct memory *memories[ARCH_LEVELS_MOST]; /* by level, instance */
	struct record records[ARCH_LEVELS_MOST];
	double links[ARCH_LEVELS_MOST];
};

static const struct mapping_row *temporal_row(const struct run *run, int i)
{
	return &run->mapping->rows[run->hierarchy->levels[i].row];
}

static const struct mapping_row *spatial_row(const struct run *run, int i)
{
	return &run->mapping->rows[run->hierarchy->levels[i].block_row];
}

static void record(
	struct run *run, int i, int64_t children, int64_t groups, double words, double hops)
{
	struct record *record = &run->records[i];
	int k = 0;
	while (k < record->count &&
		(record->at[k].children != children || record->at[k].groups != groups))
		k++;
	if (k == record->count) {
		record->at[k].children = children;
		record->at[k].groups = groups;
		record->at[k].words = record->at[k].hops = 0;
		record->count++;
	}
	record->at[k].words += words;
	record->at[k].hops += hops;
}

static void fill_box(struct run *run, const int64_t *high, int d, int64_t *index, struct set *out)
{
	(void)d;
	/* corners in ranks, then every point between them */
	const struct dataspace *space = run->space;
	int64_t low[SHAPE_RANKS_MOST], extent[SHAPE_RANKS_MOST], total = 1;
	for (int r = 0; r < space->rank_count; r++) {
		low[r] = 0;
		extent[r] = 1;
		for (int e = 0; e < run->shape->dimension_count; e++) {
			low[r] += space->ranks[r].coefficient[e] * index[e];
			extent[r] += space->ranks[r].coefficient[e] * high[e];
		}
		total *= extent[r];
	}
	*out = (struct set){0, arena_array(run->arena, int64_t, total)};
	for (int64_t n = 0; n < total; n++) {
		int64_t point = 0, rest = n, outer = total;
		for (int r = 0; r < space->rank_count; r++) {
			outer /= extent[r];
			point = point * side + low[r] + rest / outer;
			rest %= outer;
		}
		out->at[out->count++] = point;
	}
}

static struct set visit(struct run *run, int i, int64_t instance, double epochs);

/* Along X to the farthest column, and in each column from the middle to the farthest child above
 * and below. */
static double hops_to(const struct run *run, int i, const bool *member)
{
	const struct nest_level *level = &run->hierarchy->levels[i];
	int64_t fan = run->fan[i], fan_y = fan / run->fan_x[i], farthest = 0;
	int64_t width = level->fanout.x > run->fan_x[i] ? level->fanout.x : run->fan_x[i];
	int64_t height = level->fanout.y > fan_y ? level->fanout.y : fan_y;
	double middle = (double)(height - 1) / 2, hops = 0;
	for (int64_t x = 0; x < width; x++) {
		double above = 0, below = 0;
		for (int64_t c = x; c < fan; c += width) {
			if (!member[c])
				continue;
			double y = (double)(c / width);
			above = fmax(above, middle - y);
			below = fmax(below, y - middle);
			farthest = x;
		}
		hops += above + below;
	}
	return hops + (double)farthest;
}

/* Groups of equal sets among the children that `skip` does not name; words served. */
static int64_t serve(
	struct run *run, int i, const struct set *asked, const bool *skip, double epochs, bool keep)
{
	int64_t fan = run->fan[i], words = 0;
	bool shares = !(run->hierarchy->levels[i].no_spatial_reuse >> run->t & 1);
	bool *done = arena_array(run->arena, bool, fan);
	struct {
		int64_t groups;
		double words, hops;
	} *by_size = arena_alloc_array(run->arena, (size_t)fan + 1, sizeof *by_size);
	for (int64_t c = 0; c < fan; c++) {
		if (done[c] || skip[c])
			continue;
		int64_t size = 1;
		bool *member = arena_array(run->arena, bool, fan);
		member[c] = true;
		for (int64_t o = c + 1; shares && o < fan; o++)
			if (!done[o] && !skip[o] && same_set(asked[c], asked[o])) {
				done[o] = member[o] = true;
				size++;
			}
		if (asked[c].count == 0)
			continue;
		words += (int64_t)asked[c].count;
		by_size[size].groups++;
		by_size[size].words += (double)asked[c].count * epochs;
		by_size[size].hops += hops_to(run, i, member);
	}
	if (keep)
		for (int64_t m = 1; m <= fan; m++)
			if (by_size[m].groups)
				record(run, i, m, by_size[m].groups, by_size[m].words,
					by_size[m].hops / (double)by_size[m].groups *
						by_size[m].words);
	return words;
}

/* Children that a neighbour can serve with what it got one time before. */
static double hand_on(
	struct run *run, int i, const struct set *asked, const struct set *before, bool *skip)
{
	const struct nest_level *level = &run->hierarchy->levels[i];
	int64_t fan = run->fan[i];
	int64_t width = level->fanout.x > run->fan_x[i] ? level->fanout.x : run->fan_x[i];
	double words = 0;
	for (int64_t c = 0; c < fan; c++) {
		int64_t x = c % width, y = c / width;
		for (int64_t n = 0; n < fan; n++) {
			int64_t away = llabs(n % width - x) + llabs(n / width - y);
			if (away == 1 && asked[c].count && same_set(asked[c], before[n]))
				skip[c] = true;
		}
		if (skip[c])
			words += (double)asked[c].count;
	}
	return words;
}

/* All children of one instance, at one moment. */
static void serve_block(struct run *run, int i, int64_t instance, double epochs)
{
	int64_t fan = run->fan[i];
	int d_count = run->shape->dimension_count;
	struct set *asked = arena_array(run->arena, struct set, fan);
	int64_t saved[SHAPE_DIMENSIONS_MOST];
	memcpy(saved, run->index, sizeof saved);
	for (int64_t c = 0; c < fan; c++) {
		/* The first X loop changes fastest, Y loops after X loops. */
		int64_t rest = c;
		for (int axis = 0; axis < 2; axis++)
			for (int k = 0; k < d_count; k++) {
				const struct mapping_row *row = spatial_row(run, i);
				int d = row->spatial_order[k];
				if ((row->spatial_y >> d & 1) != axis)
					continue;
				run->index[d] += rest % row->spatial[d] * run->stride[i][1][d];
				rest /= row->spatial[d];
			}
		if (i > 0) {
			asked[c] = visit(run, i - 1, instance * fan + c, epochs);
		} else {
			asked[c] = (struct set){1, arena_new(run->arena, int64_t)};
			*asked[c].at = point_of(run->space, run->index, d_count);
		}
		memcpy(run->index, saved, sizeof saved);
	}
	struct memory *memory = &run->memories[i][instance];
	bool *none = arena_array(run->arena, bool, fan), *skip = arena_array(run->arena, bool, fan);
	bool linked = false;
	if (fan == 1) {
		record(run, i, 1, 1, (double)asked[0].count * epochs, 0);
		return;
	}
	if (memory->before && !(run->hierarchy->levels[i].no_link_transfer >> run->t & 1)) {
		double handed = hand_on(run, i, asked, memory->before, skip);
		linked = serve(run, i, asked, skip, epochs, false) <
			 serve(run, i, asked, none, epochs, false);
		if (linked)
			run->links[i] += handed * epochs;
	}
	serve(run, i, asked, linked ? skip : none, epochs, true);
	memory->before = asked;
}

/* Temporal loops of a level from number k of its order down to the innermost. */
static void iterate(struct run *run, int i, int k, int64_t instance, double epochs)
{
	if (k < 0) {
		serve_block(run, i, instance, epochs);
		return;
	}
	const struct mapping_row *row = temporal_row(run, i);
	int d = row->temporal_order[k];
	iterate(run, i, k - 1, instance, epochs);
	if (row->temporal[d] > 1) {
		run->index[d] += run->stride[i][0][d];
		iterate(run, i, k - 1, instance, epochs * (row->temporal[d] - 1));
		run->index[d] -= run->stride[i][0][d];
	}
}

/* Runs one instance of a level for its outer loops' present place: what it asks its parent for. */
static struct set visit(struct run *run, int i, int64_t instance, double epochs)
{
	iterate(run, i, run->shape->dimension_count - 1, instance, epochs);
	struct set tile;
	int64_t high[SHAPE_DIMENSIONS_MOST];
	for (int d = 0; d < run->shape->dimension_count; d++)
		high[d] = run->tile[i][d] - 1;
	fill_box(run, high, 0, run->index, &tile);
	if (run->hierarchy->levels[i].no_temporal_reuse >> run->t & 1)
		return tile;
	struct memory *memory = &run->memories[i][instance];
	int64_t low = tile.at[0], move = low - memory->low;
	struct set delta;
	if (!memory->seen || move == 0) {
		delta = minus(run->arena, tile, memory->last);
	} else if (!memory->moved || move == memory->move) {
		delta = minus(run->arena, tile, memory->last);
		memory->moved = true;
		memory->move = move;
	} else {
		delta = tile;
		memory->moved = false;
	}
	memory->seen = true;
	memory->low = low;
	memory->last = tile;
	return delta;
}

static int compare_entries(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;
	if (x[0] != y[0])
		return x[0] < y[0] ? -1 : 1;
	return (x[1] > y[1]) - (x[1] < y[1]);
}

static double sum(const struct record *record, bool delivered)
{
	double words = 0;
	for (int k = 0; k < record->count; k++)
		words += record->at[k].words * (double)(delivered ? record->at[k].children : 1);
	return words;
}

static int64_t box_words(const struct run *run, const int64_t *extents)
{
	int64_t words = 1;
	for (int r = 0; r < run->space->rank_count; r++) {
		int64_t extent = 1;
		for (int d = 0; d < run->shape->dimension_count; d++)
			extent += run->space->ranks[r].coefficient[d] * (extents[d] - 1);
		words *= extent;
	}
	return words;
}

static bool to_count(double words, int64_t instances, int64_t *out)
{
	words = round(words);
	*out = (int64_t)words * instances;
	return words >= 0;
}

/* Counts the words that pass the network below a level: the words of a sum that a level cannot add
 * to come down first, but for its first words, and touch routers as well.  Timeloop adds routers up
 * in whole numbers, each sum cut as its doubles have it; hops are averaged here in another order,
 * so those that are almost whole count as whole. */
static void pass(const struct run *run, int i, double part, struct nest_counts *out)
{
	const struct record *record = &run->records[i];
	bool twice = run->space->written && !run->hierarchy->levels[i].store.reduces;
	double hops = 0, routers = 0;
	for (int k = 0; k < record->count; k++) {
		double words = twice ? 2 * record->at[k].words - part : record->at[k].words;
		hops += record->at[k].hops;
		if (words > 0)
			routers += (1 + floor(record->at[k].hops / words + 1e-9)) * words;
		routers = floor(routers);
	}
	out->hops[i] += (hops + run->links[i]) * (double)run->instances[i];
	out->routers[i] += (routers + 2 * run->links[i]) * (double)run->instances[i];
}

/* From accesses to reads, fills and updates. */
static bool finish(struct run *run, struct nest_counts *out)
{
	int count = run->hierarchy->level_count, t = run->t, home = -1;
	double content[ARCH_LEVELS_MOST], share[ARCH_LEVELS_MOST] = {0};
	int64_t part[ARCH_LEVELS_MOST];
	bool kept[ARCH_LEVELS_MOST];
	for (int i = 0; i < count; i++) {
		const struct nest_level *level = &run->hierarchy->levels[i];
		struct record *record = &run->records[i];
		kept[i] = level->storage && run->mapping->residency[t] >> level->row & 1;
		if (kept[i])
			home = i;
		qsort(record->at, (size_t)record->count, sizeof record->at[0], compare_entries);
		for (int k = 0; k < record->count; k++) {
			record->at[k].words /= (double)run->instances[i];
			record->at[k].hops /= (double)run->instances[i];
		}
		run->links[i] /= (double)run->instances[i];
		content[i] = sum(record, false);
		for (int k = 0; i > 0 && k < record->count; k++)
			share[i - 1] += record->at[k].words * (double)record->at[k].children /
					(double)run->fan[i];
	}
	part[count - 1] = box_words(run, run->tile[count - 1]);
	for (int i = count - 2; i >= 0; i--) {
		int64_t spanned[SHAPE_DIMENSIONS_MOST];
		for (int d = 0; d < run->shape->dimension_count; d++)
			spanned[d] = run->tile[i][d] * spatial_row(run, i + 1)->spatial[d];
		part[i] = part[i + 1];
		if (run->fan[i + 1] > 1)
			part[i] = part[i] * box_words(run, run->tile[i]) / box_words(run, spanned);
	}
	for (int i = 0; i + 1 < count; i++) {
		if (kept[i] && !(run->hierarchy->levels[i].no_coalesce >> t & 1))
			continue;
		double factor =
			content[i] * (double)run->fan[i + 1] / sum(&run->records[i + 1], true);
		for (int k = 0; k < run->records[i + 1].count; k++) {
			run->records[i + 1].at[k].words *= factor;
			run->records[i + 1].at[k].hops *= factor;
		}
		run->links[i + 1] = 0;
		content[i + 1] = sum(&run->records[i + 1], false);
	}
	bool whole = true;
	for (int i = 0; i < count; i++) {
		const struct nest_level *level = &run->hierarchy->levels[i];
		struct nest_count *to = &out->at[i][t];
		*to = (struct nest_count){0};
		if (i <= home)
			pass(run, i, kept[i] ? (double)part[i] : 0, out);
		if (!kept[i])
			continue;
		if (i == home && level->no_coalesce >> t & 1) {
			*to = (struct nest_count){0};
			continue;
		}
		to->capacity = box_words(run, run->tile[i]);
		double peer = i < home ? run->links[i + 1] / (double)run->instances[i] : 0;
		to->links = (int64_t)round(peer > 0 ? run->links[i + 1] : 0);
		double less = 0;
		if (run->space->written && !(level->rmw_first_update >> t & 1))
			less = (double)part[i];
		double reads = content[i] + peer - less, fills = share[i] + peer - less;
		if (!run->space->written)
			fills = floor(fills);
		if (i == home)
			fills = 0;
		if (run->space->written && i != home && level->no_coalesce >> t & 1)
			reads = fills = content[i] + peer;
		whole &= to_count(reads, run->instances[i], &to->reads);
		whole &= to_count(fills, run->instances[i], &to->fills);
		if (run->space->written)
			whole &= to_count(content[i], run->instances[i], &to->updates);
	}
	return whole;
}

/* Strides of the loops, tiles, instances. */
static void measure(struct run *run)
{
	int count = run->hierarchy->level_count;
	int64_t inside[SHAPE_DIMENSIONS_MOST];
	for (int d = 0; d < run->shape->dimension_count; d++)
		inside[d] = 1;
	for (int i = 0; i < count; i++) {
		const struct mapping_row *block = spatial_row(run, i), *own = temporal_row(run, i);
		run->fan[i] = run->fan_x[i] = 1;
		for (int d = 0; d < run->shape->dimension_count; d++) {
			run->stride[i][1][d] = inside[d];
			inside[d] *= block->spatial[d];
			run->stride[i][0][d] = inside[d];
			inside[d] *= own->temporal[d];
			run->tile[i][d] = inside[d];
			run->fan[i] *= block->spatial[d];
			if (!(block->spatial_y >> d & 1))
				run->fan_x[i] *= block->spatial[d];
		}
	}
	int64_t instances = 1;
	for (int i = count - 1; i >= 0; i--) {
		run->instances[i] = instances;
		run->memories[i] = arena_array(run->arena, struct memory, instances);
		instances *= run->fan[i];
	}
}

bool naive_timeloop(const struct hierarchy *hierarchy, const struct shape *shape,
	const struct mapping *mapping, struct nest_counts *out)
{
	bool whole = true;
	*out = (struct nest_counts){.computes = 1, .compute_cycles = 1};
	for (int t = 0; t < shape->space_count; t++) {
		struct arena *arena = arena_open();
		struct run *run = arena_new(arena, struct run);
		run->arena = arena;
		run->hierarchy = hierarchy;
		run->shape = shape;
		run->mapping = mapping;
		run->space = &shape->spaces[t];
		run->t = t;
		measure(run);
		visit(run, hierarchy->level_count - 1, 0, 1);
		whole &= finish(run, out);
		for (int i = 0; i < hierarchy->level_count; i++)
			out->utilized[i] = run->instances[i];
		out->utilized_computes = run->instances[0] * run->fan[0];
		arena_close(arena);
	}
	for (int d = 0; d < shape->dimension_count; d++) {
		out->computes *= shape->dimensions[d].extent;
		for (int i = 0; i < hierarchy->level_count; i++)
			out->compute_cycles *= mapping->rows[hierarchy->levels[i].row].temporal[d];
	}
	return whole;
}

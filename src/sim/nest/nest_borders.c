#include "sim/nest/nest_borders.h"

#include "base/array.h"
#include "sim/nest/nest_picture.h"

/* Instances below one of the parent's that have the same indices of the loop's dimension, if that is
 * relevant: the least and largest shifts of each dimension. */
struct border_group {
	int64_t parent;
	int64_t low[SHAPE_DIMENSIONS_MOST], high[SHAPE_DIMENSIONS_MOST];
};

/* Where one level meets its parent in one dataspace. */
struct border {
	int level, space;
	const struct nest_store *parent;
	bool relevant; /* each iteration has words of its own */
	bool adjacent; /* which begin where those of the one before end */
	int64_t apart; /* places from those to these in the parent's buffer */
	int64_t reach[SHAPE_DIMENSIONS_MOST]; /* indices of an instance in one iteration */
	struct array(struct border_group) groups;
	size_t latest; /* group that was found */
};

struct nest_borders {
	struct nest_run *run;
	int k, count;
	struct border at[SHAPE_SPACES_MOST * (ARCH_LEVELS_MOST + 1)];
};

static bool joins(const struct border *border, const struct border_group *group, int64_t parent,
	int dimension, const int64_t *shift)
{
	return group->parent == parent &&
	       (!border->relevant || group->low[dimension] == shift[dimension]);
}

/* Its group; those of neighbours follow each other, again and again. */
static struct border_group *find_group(
	struct nest_run *run, struct border *border, int k, int64_t parent, const int64_t *shift)
{
	static const size_t none = SIZE_MAX;
	size_t found = none, count = border->groups.count;
	struct border_group *groups = border->groups.at;
	int d = run->rounds[k].dimension;
	size_t after = border->latest + 1;
	if (after < count && joins(border, &groups[after], parent, d, shift))
		found = after;
	for (size_t g = count; g > 0 && found == none && groups[g - 1].parent == parent; g--)
		if (joins(border, &groups[g - 1], parent, d, shift))
			found = g - 1;
	if (found == none) {
		found = count;
		struct border_group *group = array_add(run->arena, &border->groups);
		group->parent = parent;
		memcpy(group->low, shift, (size_t)run->shape->dimension_count * sizeof *shift);
		memcpy(group->high, shift, (size_t)run->shape->dimension_count * sizeof *shift);
	}
	border->latest = found;
	return &border->groups.at[found];
}

static void group_instances(struct nest_run *run, struct border *border, int k, int64_t children)
{
	const struct nest_site *site = site_of(run, border->level);
	int dimensions = run->shape->dimension_count;
	for (int64_t n = 0; n < site->instances; n++) {
		const int64_t *shift = &site->shift[n * dimensions];
		struct border_group *group = find_group(run, border, k, n / children, shift);
		for (int d = 0; d < dimensions; d++) {
			group->low[d] = number_min(group->low[d], shift[d]);
			group->high[d] = number_max(group->high[d], shift[d]);
		}
	}
}

/* Adds the border between a level and its parent, if there is one. */
static void find_border(struct nest_borders *borders, int level, int space)
{
	struct nest_run *run = borders->run;
	int k = borders->k;
	const struct nest_store *store = level < 0 ? NULL : run->stores[level][space];
	const struct nest_feed *feed = store ? &store->feed : &run->multiplier_feed[space];
	if (level >= 0 && (!store || !nest_store_moves_in(store, k)))
		return;
	if (nest_store_moves_in(feed->parent, k))
		return;
	const struct nest_round *round = &run->rounds[k];
	const struct nest_site *site = site_of(run, level);
	struct border *border = &borders->at[borders->count++];
	border->level = level;
	border->space = space;
	border->parent = feed->parent;
	border->relevant = run->shape->spaces[space].relevant >> round->dimension & 1;
	for (int r = 0; r < feed->parent->ranks; r++)
		border->apart += nest_run_step(run, space, r, k) * feed->parent->stride[r];
	for (int d = 0; d < run->shape->dimension_count; d++)
		border->reach[d] = site->span[d];
	for (int q = k + 1; q < site->outside; q++)
		border->reach[run->rounds[q].dimension] +=
			(run->rounds[q].bound - 1) * run->rounds[q].stride;
	border->adjacent = border->reach[round->dimension] == round->stride;
	group_instances(run, border, k, feed->children);
}

struct nest_borders *nest_borders_find(struct nest_run *run, int k)
{
	struct nest_borders *borders = arena_new(run->arena, struct nest_borders);
	borders->run = run;
	borders->k = k;
	for (int t = 0; t < run->shape->space_count; t++)
		for (int i = MULTIPLIERS; i < run->hierarchy->level_count; i++)
			find_border(borders, i, t);
	return borders;
}

/* Words of `count` iterations from the one that is `later` after the one that begins; false if the parent
 * does not hold them. */
static bool find_box(const struct nest_borders *borders, const struct border *border,
	const struct border_group *group, int64_t later, int64_t count, struct nest_box *box)
{
	const struct nest_run *run = borders->run;
	const struct shape *shape = run->shape;
	const struct nest_round *round = &run->rounds[borders->k];
	int64_t low[SHAPE_DIMENSIONS_MOST], high[SHAPE_DIMENSIONS_MOST];
	box->words = 0;
	for (int d = 0; d < shape->dimension_count; d++) {
		int64_t extent = shape->dimensions[d].extent;
		bool own = d == round->dimension;
		low[d] = run->base[d] + group->low[d] + (own ? later * round->stride : 0);
		high[d] = run->base[d] + group->high[d] + border->reach[d];
		high[d] += own ? (later + count - 1) * round->stride : 0;
		high[d] = number_min(high[d], extent) - 1;
		if (low[d] >= extent)
			return true;
	}
	nest_run_project(&shape->spaces[border->space], shape->dimension_count, low, high, box);
	struct nest_words all = nest_words_of(box);
	return nest_words_inside(border->parent->ranks, &all, &border->parent->held[group->parent]);
}

enum row_act { ROWS_PICTURE, ROWS_EQUAL, ROWS_COPY };

static bool act_on(
	uint8_t *row, int64_t length, enum row_act act, int64_t apart, struct nest_picture *picture)
{
	if (act == ROWS_PICTURE)
		nest_picture_add(picture, row, (size_t)length);
	else if (act == ROWS_EQUAL)
		return memcmp(row, row + apart, (size_t)length) == 0;
	else if (apart >= length)
		memcpy(row, row - apart, (size_t)length);
	else
		for (int64_t w = 0; w < length; w++) /* which may copy what it has copied */
			row[w] = row[w - apart];
	return true;
}

/* Goes through the states of a box's words in the order of their places, row by row: adds them to a picture,
 * compares them with those `apart` places on, false if they differ, or copies those so far before them. */
static bool go_through(const struct nest_store *store, int64_t instance, const struct nest_box *box,
	enum row_act act, int64_t apart, struct nest_picture *picture)
{
	int last = store->ranks - 1;
	struct nest_words heads = nest_words_of(box);
	int64_t length = 1;
	if (box->words && last >= 0) {
		length = box->high[last] - box->low[last];
		heads.hull.high[last] = heads.hull.low[last] + 1;
		heads.count /= length;
	}
	bool goes_on = true;
	for (struct nest_walk walk = nest_walk_first(store->ranks, &heads); walk.any && goes_on;
		nest_walk_next(store->ranks, &heads, &walk)) {
		int64_t place = nest_store_place(store, &store->held[instance], walk.at);
		goes_on = act_on(&store->state[instance][place], length, act, apart, picture);
	}
	return goes_on;
}

void nest_states_draw(const struct nest_store *store, int64_t instance, const struct nest_box *box,
	struct nest_picture *picture)
{
	go_through(store, instance, box, ROWS_PICTURE, 0, picture);
}

/* The same for all groups; false also if the parent does not hold their words. */
static bool go_along(const struct nest_borders *borders, const struct border *border, int64_t later,
	int64_t count, enum row_act act, int64_t apart, struct nest_picture *picture)
{
	bool goes_on = true;
	for (size_t g = 0; g < border->groups.count && goes_on; g++) {
		const struct border_group *group = &border->groups.at[g];
		struct nest_box box;
		goes_on = find_box(borders, border, group, later, count, &box) &&
			  go_through(border->parent, group->parent, &box, act, apart, picture);
	}
	return goes_on;
}

bool nest_borders_draw(const struct nest_borders *borders, struct nest_picture *picture)
{
	bool there = true;
	for (int b = 0; b < borders->count && there; b++) {
		const struct border *border = &borders->at[b];
		if (border->parent->written && border->relevant)
			there = go_along(borders, border, -1, 1, ROWS_PICTURE, 0, picture);
		if (border->parent->written && there)
			there = go_along(borders, border, 0, 1, ROWS_PICTURE, 0, picture);
	}
	return there;
}

static bool border_goes_on(
	const struct nest_borders *borders, const struct border *border, int64_t times)
{
	struct nest_box box;
	for (size_t g = 0; g < border->groups.count; g++)
		if (!find_box(borders, border, &border->groups.at[g], times - 1, 1, &box))
			return false;
	if (!border->parent->written || !border->relevant)
		return true;
	int64_t at_once = border->adjacent ? times - 1 : 1;
	bool goes_on = true;
	for (int64_t later = 0; goes_on && later < times - 1; later += at_once)
		goes_on =
			go_along(borders, border, later, at_once, ROWS_EQUAL, border->apart, NULL);
	return goes_on;
}

bool nest_borders_go_on(const struct nest_borders *borders, int64_t times)
{
	bool goes_on = true;
	for (int b = 0; b < borders->count && goes_on; b++)
		goes_on = border_goes_on(borders, &borders->at[b], times);
	return goes_on;
}

void nest_borders_leave(const struct nest_borders *borders, int64_t times)
{
	for (int b = 0; b < borders->count; b++) {
		const struct border *border = &borders->at[b];
		int64_t at_once = border->adjacent ? times : 1;
		if (!border->parent->written || !border->relevant)
			continue;
		go_along(borders, border, times - 1, 1, ROWS_COPY, times * border->apart, NULL);
		for (int64_t later = -1; later < times - 1; later += at_once)
			go_along(borders, border, later, at_once, ROWS_COPY, border->apart, NULL);
	}
}

#include "sim/nest/nest_run.h"

#include "base/arena.h"
#include "base/array.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

/* Instances below one of the parent's that have the same indices of the loop's dimension, if that is
 * relevant: the least and largest shifts of each dimension. */
struct border_group {
	int64_t parent;
	int64_t low[SHAPE_DIMENSIONS_MOST], high[SHAPE_DIMENSIONS_MOST];
};

/* The border between one level and its parent in one dataspace. */
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

/*
 * The borders of loop k while a nest only counts (struct nest_periods): buffers that keep their tiles while
 * the loop goes on, each with the multipliers or the buffers further in that exchange words with it and do not keep
 * theirs.  An iteration exchanges boxes of words there.  If the loop is relevant they are all its own, and the next
 * iteration touches them once more, when they drain.
 */
struct nest_borders {
	struct nest_run *run;
	int k, count;
	struct border at[SHAPE_SPACES_MOST * (ARCH_LEVELS_MOST + 1)];
};

static bool border_joins(const struct border *border, const struct border_group *group,
	int64_t parent, int dimension, const int64_t *shift)
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
	if (after < count && border_joins(border, &groups[after], parent, d, shift))
		found = after;
	for (size_t g = count; g > 0 && found == none && groups[g - 1].parent == parent; g--)
		if (border_joins(border, &groups[g - 1], parent, d, shift))
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

static struct nest_borders *nest_borders_find(struct nest_run *run, int k)
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

/* Adds the states of a box's words in an instance's buffer. */
static void nest_states_draw(const struct nest_store *store, int64_t instance,
	const struct nest_box *box, struct nest_picture *picture)
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

/* Adds the sums that the iteration before and the one that begins touch; false if they are not there. */
static bool nest_borders_draw(const struct nest_borders *borders, struct nest_picture *picture)
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

/* True if the next `times` iterations find what this one finds: the buffers hold the words of the last one, so
 * that they hold those of all, and sums are as this one's. */
static bool nest_borders_go_on(const struct nest_borders *borders, int64_t times)
{
	bool goes_on = true;
	for (int b = 0; b < borders->count && goes_on; b++)
		goes_on = border_goes_on(borders, &borders->at[b], times);
	return goes_on;
}

/* Sums of the next `times` iterations become those that they would leave: the last one's as those of the
 * iteration before this one are now, all others' as those of the one before that. */
static void nest_borders_leave(const struct nest_borders *borders, int64_t times)
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

struct nest_sim_moves {
	struct nest_run *run;
	struct nest_groups all, unlinked; /* by child of one parent instance */
	struct nest_words *sets;          /* what each of them moves */
	bool *linked;
	int64_t *giver; /* the neighbour that a linked child takes from */
	int64_t *read;  /* words of it that drain */
};

struct nest_sim_moves *nest_moves_open(struct nest_run *run)
{
	int64_t most = 1;
	for (const struct nest_store *store = run->first_store; store; store = store->after)
		most = number_max(most, store->feed.children);
	struct nest_sim_moves *moves = arena_new(run->arena, struct nest_sim_moves);
	moves->run = run;
	nest_groups_open(&moves->all, most, run->arena);
	nest_groups_open(&moves->unlinked, most, run->arena);
	moves->sets = arena_array(run->arena, struct nest_words, most);
	moves->linked = arena_array(run->arena, bool, most);
	moves->giver = arena_array(run->arena, int64_t, most);
	moves->read = arena_array(run->arena, int64_t, most);
	return moves;
}

/* True if everything leaves and enters again: an instance with work, without temporal reuse. */
static bool nest_store_renews(const struct nest_store *store, int64_t instance)
{
	return store->refetch && !store->stays[instance];
}

void nest_moves_plan(struct nest_sim_moves *moves, struct nest_store *store, int changed)
{
	int64_t instances = site_of(moves->run, store->level)->instances;
	store->moving = !store->home && changed <= store->pace;
	for (int64_t n = 0; store->moving && n < instances; n++) {
		if (changed == NEST_END)
			store->next[n].words = 0;
		else
			nest_run_tile(moves->run, store, n, &store->next[n]);
		if (!store->refetch)
			continue;
		store->stays[n] = changed > store->tile_pace && !store->next[n].words;
		if (store->stays[n])
			nest_box_copy(store->ranks, &store->next[n], &store->held[n]);
	}
}

/* Levels that only count what passes: each word comes, inwards or outwards, and is read, once for each
 * of their instances above a member of the group. */
static void count_passing(struct nest_sim_moves *moves, const struct nest_store *store,
	const struct nest_groups *groups, int64_t parent, int64_t leader, bool leader_only,
	enum nest_action comes)
{
	const struct nest_feed *feed = &store->feed;
	struct nest_run *run = moves->run;
	int64_t words = moves->sets[leader].count;
	for (int p = 0; p < feed->pass_count; p++) {
		int level = feed->pass[p];
		int64_t before = -1;
		for (int64_t n = leader; n >= 0; n = leader_only ? -1 : groups->behind[n]) {
			int64_t through = (parent * feed->children + n) / feed->below[p];
			if (through == before)
				continue;
			before = through;
			nest_run_pass(run, level, through, store->space, comes, words);
		}
	}
}

/* Reads the sums of a group out of the buffers that have one, and adds them to what the parent has. */
static void carry_out(struct nest_sim_moves *moves, struct nest_store *store,
	int64_t parent_instance, int64_t leader)
{
	struct nest_run *run = moves->run;
	struct nest_store *parent = store->feed.parent;
	const struct nest_words *set = &moves->sets[leader];
	int64_t first_child = parent_instance * store->feed.children, met = 0;
	bool unread = nest_run_fault(run, NEST_SIM_DRAIN_UNREAD);
	for (int64_t n = leader; n >= 0; n = moves->all.behind[n])
		moves->read[n] = 0;
	for (struct nest_walk walk = nest_walk_first(store->ranks, set); walk.any;
		nest_walk_next(store->ranks, set, &walk)) {
		double sum = run->arithmetic.neutral;
		for (int64_t n = leader; n >= 0; n = moves->all.behind[n]) {
			int64_t instance = first_child + n;
			int64_t place = nest_store_place(store, &store->held[instance], walk.at);
			if (!(store->state[instance][place] & WORD_SUM) || unread)
				continue;
			moves->read[n]++;
			if (run->tensors)
				sum = nest_arithmetic_join(
					&run->arithmetic, sum, store->value[instance][place]);
		}
		int64_t place = nest_store_place(parent, &parent->held[parent_instance], walk.at);
		met += (parent->state[parent_instance][place] & WORD_SUM) != 0;
		nest_store_add(run, parent, parent_instance, place, sum);
	}
	for (int64_t n = leader; n >= 0; n = moves->all.behind[n])
		nest_run_drain(run, store->level, first_child + n, store->space, moves->read[n]);
	nest_run_drain(run, parent->level, parent_instance, parent->space, met);
}

static void drain_group(struct nest_sim_moves *moves, struct nest_store *store,
	int64_t parent_instance, int64_t leader)
{
	struct nest_run *run = moves->run;
	struct nest_store *parent = store->feed.parent;
	const struct nest_words *set = &moves->sets[leader];
	int64_t first_child = parent_instance * store->feed.children;
	if (!nest_words_inside(store->ranks, set, &parent->held[parent_instance])) {
		nest_run_wrong(run,
			"%s %" PRId64 " drains %s into %s %" PRId64 ", which does not hold it",
			run->hierarchy->levels[store->level].name, first_child + leader,
			nest_run_word(run, store->space, set),
			run->hierarchy->levels[parent->level].name, parent_instance);
		return;
	}
	count_passing(moves, store, &moves->all, parent_instance, leader, false, NEST_UPDATE);
	nest_run_count(run, parent->level, parent_instance, store->space, NEST_UPDATE, set->count);
	if (nest_run_fault(run, NEST_SIM_DRAIN_LOST))
		return;
	carry_out(moves, store, parent_instance, leader);
}

void nest_moves_drain(struct nest_sim_moves *moves, struct nest_store *store)
{
	const struct nest_feed *feed = &store->feed;
	int64_t instances = site_of(moves->run, store->level)->instances;
	for (int64_t first = 0; first < instances; first += feed->children) {
		for (int64_t n = 0; n < feed->children; n++)
			nest_words_without(store->ranks, &store->held[first + n],
				nest_store_renews(store, first + n) ? NULL
								    : &store->next[first + n],
				&moves->sets[n]);
		nest_groups_find(
			&moves->all, store->ranks, moves->sets, feed->children, feed->apart, NULL);
		for (int64_t n = 0; n < feed->children; n++) {
			if (moves->all.leader[n] == n)
				drain_group(moves, store, first / feed->children, n);
		}
	}
}

/* The neighbour, one step in X or Y, that entered the same words the last time; -1: none. */
static int64_t find_giver(
	struct nest_sim_moves *moves, const struct nest_store *store, int64_t first, int64_t n)
{
	const struct nest_site *site = site_of(moves->run, store->level);
	int64_t width = site->block_x, height = site->block / width;
	int64_t slot = n % site->block, x = slot % width, y = slot / width;
	static const int64_t step_x[] = {-1, 1, 0, 0}, step_y[] = {0, 0, -1, 1};
	for (int k = 0; k < 4; k++) {
		if (x + step_x[k] < 0 || x + step_x[k] >= width || y + step_y[k] < 0 ||
			y + step_y[k] >= height)
			continue;
		int64_t other = n + step_x[k] + step_y[k] * width;
		if (nest_words_equal(store->ranks, &store->entered[first + other], &moves->sets[n]))
			return other;
	}
	return -1;
}

/* Chooses between serving all from the parent and letting neighbours hand on. */
static const struct nest_groups *choose_groups(
	struct nest_sim_moves *moves, const struct nest_store *store, int64_t first)
{
	const struct nest_feed *feed = &store->feed;
	bool any = false;
	memset(moves->linked, 0, (size_t)feed->children * sizeof *moves->linked);
	nest_groups_find(&moves->all, store->ranks, moves->sets, feed->children, feed->apart, NULL);
	if (!store->links)
		return &moves->all;
	for (int64_t n = 0; n < feed->children; n++) {
		moves->giver[n] = moves->sets[n].count ? find_giver(moves, store, first, n) : -1;
		moves->linked[n] = moves->giver[n] >= 0;
		any |= moves->linked[n];
	}
	if (!any)
		return &moves->all;
	nest_groups_find(&moves->unlinked, store->ranks, moves->sets, feed->children, feed->apart,
		moves->linked);
	if (moves->unlinked.words < moves->all.words)
		return &moves->unlinked;
	memset(moves->linked, 0, (size_t)feed->children * sizeof *moves->linked);
	return &moves->all;
}

/* Words that stay find their place in the new tile. */
static void keep_words(struct nest_run *run, struct nest_store *store, int64_t instance)
{
	const struct nest_box *held = &store->held[instance], *next = &store->next[instance];
	struct nest_words kept = {0};
	nest_box_meet(store->ranks, held, next, &kept.hull);
	kept.count = nest_store_renews(store, instance) ? 0 : kept.hull.words;
	for (struct nest_walk walk = nest_walk_first(store->ranks, &kept); walk.any;
		nest_walk_next(store->ranks, &kept, &walk)) {
		int64_t from = nest_store_place(store, held, walk.at);
		int64_t to = nest_store_place(store, next, walk.at);
		if (run->tensors)
			store->spare_value[instance][to] = store->value[instance][from];
		if (store->written)
			store->spare_state[instance][to] = store->state[instance][from];
	}
}

/* Words of a set, from a buffer that holds them into the new tile. */
static void copy_words(struct nest_store *store, int64_t instance, const struct nest_words *set,
	const struct nest_store *giver, int64_t giver_instance)
{
	for (struct nest_walk walk = nest_walk_first(store->ranks, set); walk.any;
		nest_walk_next(store->ranks, set, &walk))
		store->spare_value[instance][nest_store_place(store, &store->next[instance],
			walk.at)] = giver->value[giver_instance][nest_store_place(giver,
			&giver->held[giver_instance], walk.at)];
}

/* True if the words are where they are to be taken from. */
static bool find_words(struct nest_sim_moves *moves, const struct nest_store *store,
	int64_t instance, const struct nest_words *set, const struct nest_store *giver,
	int64_t giver_instance)
{
	if (nest_words_inside(store->ranks, set, &giver->held[giver_instance]))
		return true;
	struct nest_run *run = moves->run;
	nest_run_wrong(run, "%s %" PRId64 " takes %s from %s %" PRId64 ", which does not hold it",
		run->hierarchy->levels[store->level].name, instance,
		nest_run_word(run, store->space, set), run->hierarchy->levels[giver->level].name,
		giver_instance);
	return false;
}

static void fill_read_group(struct nest_sim_moves *moves, struct nest_store *store,
	const struct nest_groups *groups, int64_t parent_instance, int64_t leader)
{
	struct nest_run *run = moves->run;
	const struct nest_store *parent = store->feed.parent;
	const struct nest_words *set = &moves->sets[leader];
	int64_t first = parent_instance * store->feed.children;
	if (!find_words(moves, store, first + leader, set, parent, parent_instance))
		return;
	nest_run_count(run, parent->level, parent_instance, store->space, NEST_READ, set->count);
	nest_run_rows(run, parent->level, parent_instance, store->space, set);
	count_passing(moves, store, groups, parent_instance, leader, false, NEST_FILL);
	for (int64_t n = leader; n >= 0; n = groups->behind[n]) {
		nest_run_count(run, store->level, first + n, store->space, NEST_FILL, set->count);
		if (run->tensors)
			copy_words(store, first + n, set, parent, parent_instance);
	}
}

static void fill_linked(
	struct nest_sim_moves *moves, struct nest_store *store, int64_t first, int64_t n)
{
	struct nest_run *run = moves->run;
	const struct nest_words *set = &moves->sets[n];
	int64_t giver = first + moves->giver[n];
	if (!find_words(moves, store, first + n, set, store, giver))
		return;
	nest_run_count(run, store->level, giver, store->space, NEST_READ, set->count);
	nest_run_count(run, store->level, first + n, store->space, NEST_FILL, set->count);
	run->counts.at[store->level][store->space].links += set->count;
	if (run->tensors)
		copy_words(store, first + n, set, store, giver);
}

/* A sum that the parent has returns to the leader; everything else starts without. */
static void fill_written_group(struct nest_sim_moves *moves, struct nest_store *store,
	int64_t parent_instance, int64_t leader)
{
	struct nest_run *run = moves->run;
	struct nest_store *parent = store->feed.parent;
	struct nest_words *set = &moves->sets[leader];
	int64_t first = parent_instance * store->feed.children, returned = 0;
	if (!find_words(moves, store, first + leader, set, parent, parent_instance))
		return;
	for (struct nest_walk walk = nest_walk_first(store->ranks, set); walk.any;
		nest_walk_next(store->ranks, set, &walk)) {
		for (int64_t n = leader; n >= 0; n = moves->all.behind[n])
			store->spare_state[first + n][nest_store_place(
				store, &store->next[first + n], walk.at)] = WORD_FRESH;
		int64_t from = nest_store_place(parent, &parent->held[parent_instance], walk.at);
		uint8_t *state = &parent->state[parent_instance][from];
		if (!(*state & WORD_SUM))
			continue;
		int64_t to = nest_store_place(store, &store->next[first + leader], walk.at);
		store->spare_state[first + leader][to] = WORD_SUM;
		if (run->tensors)
			store->spare_value[first + leader][to] =
				parent->value[parent_instance][from];
		*state = nest_run_fault(run, NEST_SIM_SUM_COPIED) ? WORD_SUM : 0;
		returned++;
	}
	if (!returned)
		return;
	set->count = returned;
	nest_run_count(run, parent->level, parent_instance, store->space, NEST_READ, returned);
	count_passing(moves, store, &moves->all, parent_instance, leader, true, NEST_FILL);
	nest_run_count(run, store->level, first + leader, store->space, NEST_FILL, returned);
}

/* The new tiles take the place of the old ones. */
static void turn_over(struct nest_sim_moves *moves, struct nest_store *store, int64_t first)
{
	for (int64_t n = 0; n < store->feed.children; n++) {
		int64_t instance = first + n;
		if (store->links)
			store->entered[instance] = moves->sets[n];
		if (!nest_store_renews(store, instance) &&
			nest_box_equal(
				store->ranks, &store->held[instance], &store->next[instance]))
			continue;
		nest_box_copy(store->ranks, &store->held[instance], &store->next[instance]);
		double *value = store->value[instance];
		store->value[instance] = store->spare_value[instance];
		store->spare_value[instance] = value;
		uint8_t *state = store->state[instance];
		store->state[instance] = store->spare_state[instance];
		store->spare_state[instance] = state;
	}
}

/* Plants the fault of a test in a fill. */
static void break_fill(struct nest_sim_moves *moves, struct nest_store *store, int64_t first)
{
	int64_t before = -1;
	for (int64_t n = 0; n < store->feed.children; n++) {
		if (!moves->sets[n].count)
			continue;
		if (nest_run_fault(moves->run, NEST_SIM_FILL_LOST))
			store->next[first + n].words = 0;
		if (before >= 0 &&
			!nest_words_equal(store->ranks, &moves->sets[before], &moves->sets[n]) &&
			nest_run_fault(moves->run, NEST_SIM_GROUP_WRONG))
			store->next[first + n] = store->next[first + before];
		before = n;
	}
}

static void fill_children(struct nest_sim_moves *moves, struct nest_store *store, int64_t parent)
{
	struct nest_run *run = moves->run;
	const struct nest_feed *feed = &store->feed;
	int64_t first = parent * feed->children;
	for (int64_t n = 0; n < feed->children; n++) {
		nest_words_without(store->ranks, &store->next[first + n],
			nest_store_renews(store, first + n) ? NULL : &store->held[first + n],
			&moves->sets[n]);
		if ((run->tensors || store->written) &&
			!nest_box_equal(
				store->ranks, &store->held[first + n], &store->next[first + n]))
			keep_words(run, store, first + n);
	}
	const struct nest_groups *groups = choose_groups(moves, store, first);
	for (int64_t n = 0; n < feed->children; n++) {
		if (moves->linked[n])
			fill_linked(moves, store, first, n);
		else if (groups->leader[n] == n && store->written)
			fill_written_group(moves, store, parent, n);
		else if (groups->leader[n] == n)
			fill_read_group(moves, store, groups, parent, n);
	}
	if (run->options->fault)
		break_fill(moves, store, first);
	turn_over(moves, store, first);
}

void nest_moves_fill(struct nest_sim_moves *moves, struct nest_store *store)
{
	int64_t parents = site_of(moves->run, store->level)->instances / store->feed.children;
	for (int64_t parent = 0; parent < parents; parent++)
		fill_children(moves, store, parent);
}

/* Numbers of the run that grow with each period; none of what the run does without. */
enum { OF_COUNTS, OF_EVENTS, OF_STEPS, OF_CLOCK, OF_ARRAY, NUMBERS };

/* The beginning of an iteration of a loop. */
struct period_mark {
	struct nest_picture picture;
	int64_t *grown[NUMBERS]; /* the numbers then */
};

struct period_loop {
	bool known; /* whether the beginning of the iteration before is marked, in marks[latest] */
	int latest;
	struct period_mark marks[2];
	struct nest_borders *borders; /* once it is asked for */
};

struct nest_periods {
	struct nest_run *run;
	struct nest_numbers numbers[NUMBERS];
	struct period_loop *loops;
};

struct nest_periods *nest_periods_open(struct nest_run *run)
{
	const struct nest_sim_options *options = run->options;
	if (options->data || options->trace || options->fault || options->every_step)
		return NULL;
	struct nest_periods *periods = arena_new(run->arena, struct nest_periods);
	periods->run = run;
	periods->loops = arena_array(run->arena, struct period_loop, run->round_count);
	periods->numbers[OF_COUNTS] = (struct nest_numbers){(int64_t *)&run->counts, NEST_INTEGERS};
	periods->numbers[OF_EVENTS] = (struct nest_numbers){&run->events, 1};
	periods->numbers[OF_STEPS] = (struct nest_numbers){&run->step, 1};
	if (run->clock)
		periods->numbers[OF_CLOCK] = nest_clock_numbers(run->clock);
	if (run->array)
		periods->numbers[OF_ARRAY] = nest_array_numbers(run->array);
	for (int k = 0; k < run->round_count; k++)
		for (int m = 0; m < 2; m++)
			periods->loops[k].marks[m].picture.arena = run->arena;
	return periods;
}

static void draw_box(const struct nest_run *run, const struct nest_store *store, int k,
	const struct nest_box *box, struct nest_picture *picture)
{
	nest_picture_number(picture, box->words);
	for (int r = 0; box->words && r < store->ranks; r++) {
		int64_t origin = run->index[k] * nest_run_step(run, store->space, r, k);
		nest_picture_number(picture, box->low[r] - origin);
		nest_picture_number(picture, box->high[r] - origin);
	}
}

static void draw_store(
	struct nest_run *run, const struct nest_store *store, int k, struct nest_picture *picture)
{
	for (int64_t n = 0; n < site_of(run, store->level)->instances; n++) {
		draw_box(run, store, k, &store->held[n], picture);
		if (store->refetch)
			nest_picture_number(picture, store->stays[n]);
		if (store->links) {
			nest_picture_number(picture, store->entered[n].count);
			draw_box(run, store, k, &store->entered[n].hull, picture);
			draw_box(run, store, k, &store->entered[n].hole, picture);
		}
		if (store->written)
			nest_states_draw(store, n, &store->held[n], picture);
	}
}

/* Levels whose tiles move in loop k, as bits. */
static uint32_t moving_levels(const struct nest_run *run, int k)
{
	uint32_t levels = 0;
	for (const struct nest_store *store = run->first_store; store; store = store->after)
		if (nest_store_moves_in(store, k))
			levels |= 1u << store->level;
	return levels;
}

/* Levels whose rounds take time and begin again in loop k, as bits. */
static uint32_t turning_rounds(struct nest_run *run, int k)
{
	uint32_t levels = 0;
	for (int i = 0; i < run->hierarchy->level_count; i++)
		if (run->hierarchy->levels[i].store.round_cycles.num &&
			k < site_of(run, i)->outside)
			levels |= 1u << i;
	return levels;
}

/* False if iterations touch what is not there. */
static bool nest_run_draw(struct nest_run *run, int k, const struct nest_borders *borders,
	struct nest_picture *picture)
{
	picture->count = 0;
	if (!nest_borders_draw(borders, picture))
		return false;
	for (const struct nest_store *store = run->first_store; store; store = store->after)
		if (nest_store_moves_in(store, k))
			draw_store(run, store, k, picture);
	nest_picture_add(picture, run->latencies, sizeof run->latencies);
	if (run->clock)
		nest_clock_draw(run->clock, moving_levels(run, k), turning_rounds(run, k), picture);
	if (run->array)
		nest_array_draw(run->array, k, picture);
	return true;
}

/* Iterations from the one that begins here on of which no instance reaches beyond the extent. */
static int64_t count_whole(const struct nest_run *run, int k)
{
	const struct nest_round *round = &run->rounds[k];
	int64_t last = run->base[round->dimension] + run->furthest[round->dimension];
	for (int q = k + 1; q < run->round_count; q++)
		if (run->rounds[q].dimension == round->dimension)
			last += (run->rounds[q].bound - 1) * run->rounds[q].stride;
	int64_t left = run->shape->dimensions[round->dimension].extent - last;
	return left <= 0 ? 0
			 : number_min(number_ceil_div(left, round->stride),
				   round->bound - run->index[k]);
}

static void shift_box(const struct nest_run *run, const struct nest_store *store, int k,
	int64_t times, struct nest_box *box)
{
	for (int r = 0; box->words && r < store->ranks; r++) {
		box->low[r] += times * nest_run_step(run, store->space, r, k);
		box->high[r] += times * nest_run_step(run, store->space, r, k);
	}
}

static void shift_store(struct nest_run *run, struct nest_store *store, int k, int64_t times)
{
	for (int64_t n = 0; n < site_of(run, store->level)->instances; n++) {
		shift_box(run, store, k, times, &store->held[n]);
		if (store->links) {
			shift_box(run, store, k, times, &store->entered[n].hull);
			shift_box(run, store, k, times, &store->entered[n].hole);
		}
	}
}

static void move_on(struct nest_run *run, int k, int64_t times)
{
	for (struct nest_store *store = run->first_store; store; store = store->after)
		if (nest_store_moves_in(store, k))
			shift_store(run, store, k, times);
	run->index[k] += times - 1;
	run->base[run->rounds[k].dimension] += (times - 1) * run->rounds[k].stride;
}

/* Repeats all changes since the mark this many times. */
static void nest_periods_grow(
	struct nest_periods *periods, const struct period_mark *mark, int64_t times)
{
	for (int n = 0; n < NUMBERS; n++)
		for (size_t i = 0; i < periods->numbers[n].count; i++) {
			int64_t *number = &periods->numbers[n].at[i], more;
			bool fits = number_mul(*number - mark->grown[n][i], times, &more) &&
				    number_add(*number, more, number);
			periods->run->overflow |= !fits;
		}
}

static void set_mark(struct nest_periods *periods, struct period_mark *mark)
{
	for (int n = 0; n < NUMBERS; n++) {
		size_t count = periods->numbers[n].count;
		if (count && !mark->grown[n])
			mark->grown[n] = arena_array(periods->run->arena, int64_t, count);
		for (size_t i = 0; i < count; i++)
			mark->grown[n][i] = periods->numbers[n].at[i];
	}
}

bool nest_periods_skip(struct nest_periods *periods, int k)
{
	if (!periods || k < 0)
		return false;
	struct nest_run *run = periods->run;
	struct period_loop *loop = &periods->loops[k];
	for (int q = k + 1; q < run->round_count; q++)
		periods->loops[q].known = false;
	int64_t times = count_whole(run, k);
	if (run->index[k] == 1)
		loop->known = false;
	const struct period_mark *before = loop->known ? &loop->marks[loop->latest] : NULL;
	struct period_mark *mark = &loop->marks[!loop->latest];
	loop->known = false;
	if (times + (before == NULL ? 0 : 1) < 2)
		return false;
	if (!loop->borders)
		loop->borders = nest_borders_find(run, k);
	if (!nest_run_draw(run, k, loop->borders, &mark->picture))
		return false;
	if (before && nest_picture_equal(&before->picture, &mark->picture) &&
		(!run->array ||
			nest_array_goes_on(run->array, before->grown[OF_ARRAY], k, times)) &&
		nest_borders_go_on(loop->borders, times)) {
		assert(times > 0);
		nest_periods_grow(periods, before, times);
		nest_borders_leave(loop->borders, times);
		move_on(run, k, times);
		return true;
	}
	set_mark(periods, mark);
	loop->latest = !loop->latest;
	loop->known = true;
	return false;
}

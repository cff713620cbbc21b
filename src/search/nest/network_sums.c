#include "search/nest/network_sums.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/number.h"

#include <stdlib.h>

/* Parts of a higher count are doubled up; more sums are not made in one addition. */
enum { COUNT_MOST = 256, FORMED_MOST = 1 << 20 };

/* Where a kept sum comes from: a sum of the step `left`, and one of `right`. */
struct origin {
	uint32_t left, right;
};

/* An addition, or a part's own points.  The operands of step i are steps before i. */
struct sums_step {
	int part;           /* these are points of a part, and origin.left is which; -1 */
	size_t left, right; /* steps that were added up */
	size_t count;
	struct origin *origins;
	double excess;
	struct arena *own; /* where the values live, until no step needs them */
	struct sums_point *at;
};

struct maker {
	struct arena *arena;
	size_t most;
	uint64_t formed;
	struct array(struct sums_step) steps;
};

static int compare(struct sums_point a, struct sums_point b)
{
	if (a.x != b.x)
		return a.x < b.x ? -1 : 1;
	return a.y == b.y ? 0 : a.y < b.y ? -1 : 1;
}

/* --- leaving some out */

/* 1 + 2^-shift times as much, rounded down. */
static wide stretched(wide y, int shift)
{
	return y + (y >> shift);
}

/* How many stay, if a sum goes whose y is at most stretched below that of the last one that stays;
 * the last of all always stays.  With `keep` they go. */
static size_t thin_by(struct sums_step *step, int shift, bool keep)
{
	size_t kept = 0;
	wide last = 0;
	for (size_t i = 0; i < step->count; i++) {
		if (i && i + 1 < step->count && last <= stretched(step->at[i].y, shift))
			continue;
		last = step->at[i].y;
		if (keep) {
			step->at[kept] = step->at[i];
			step->origins[kept] = step->origins[i];
		}
		kept++;
	}
	return kept;
}

/* Leaves at most `most`, as many as the finest power of two allows. */
static void thin(struct sums_step *step, size_t most)
{
	int shift = 62;
	if (step->count <= most)
		return;
	while (shift > 0 && thin_by(step, shift, false) > most)
		shift--;
	step->count = thin_by(step, shift, true);
	step->excess = (1 + step->excess) * (1 + 1 / (double)((int64_t)1 << shift)) - 1;
}

/* --- adding */

/* The least sum not yet looked at of one of the shorter operand. */
struct head {
	struct sums_point at;
	uint32_t row, column; /* of the shorter and the longer operand */
};

static bool comes_before(const struct head *a, const struct head *b)
{
	int order = compare(a->at, b->at);
	if (order)
		return order < 0;
	return a->row != b->row ? a->row < b->row : a->column < b->column;
}

static void sift(struct head *heap, size_t count, size_t i)
{
	for (size_t child; (child = 2 * i + 1) < count; i = child) {
		if (child + 1 < count && comes_before(&heap[child + 1], &heap[child]))
			child++;
		if (!comes_before(&heap[child], &heap[i]))
			return;
		struct head swap = heap[i];
		heap[i] = heap[child];
		heap[child] = swap;
	}
}

static struct sums_point plus(struct sums_point a, struct sums_point b)
{
	return (struct sums_point){a.x + b.x, a.y + b.y};
}

/* The values of a step that are added up, and their numbers in it. */
struct sums_operand {
	size_t count;
	const struct sums_point *at;
	const struct origin *numbers; /* .left; NULL: 0, 1, 2, ... */
	double excess;
};

static uint32_t number_of(const struct sums_operand *operand, uint32_t i)
{
	return operand->numbers ? operand->numbers[i].left : i;
}

/* A copy of at most `most`: others may know the step's sums by number. */
static struct sums_operand open_operand(
	const struct sums_step *step, size_t most, struct arena *scratch)
{
	if (step->count <= most)
		return (struct sums_operand){step->count, step->at, NULL, step->excess};
	struct sums_step copy = *step;
	copy.at = arena_copy(scratch, step->at, step->count * sizeof *step->at);
	copy.origins = arena_array(scratch, struct origin, step->count);
	for (size_t i = 0; i < step->count; i++)
		copy.origins[i].left = (uint32_t)i;
	thin(&copy, most);
	return (struct sums_operand){copy.count, copy.at, copy.origins, copy.excess};
}

/* All sums of two steps in the order of x, of which those stay whose y is below all before. */
static void merge(struct maker *maker, const struct sums_operand *rows,
	const struct sums_operand *columns, bool swapped, struct sums_step *out,
	struct arena *scratch)
{
	struct head *heap = arena_array(scratch, struct head, rows->count);
	struct array(struct sums_point) values = {0};
	struct array(struct origin) origins = {0};
	size_t count = rows->count;
	for (size_t i = 0; i < count; i++)
		heap[i] = (struct head){plus(rows->at[i], columns->at[0]), (uint32_t)i, 0};
	for (size_t i = count; i-- > 0;)
		sift(heap, count, i);
	while (count) {
		struct head *least = &heap[0];
		if (!values.count || least->at.y < values.at[values.count - 1].y) {
			uint32_t row = number_of(rows, least->row);
			uint32_t column = number_of(columns, least->column);
			*array_add(out->own, &values) = least->at;
			*array_add(scratch, &origins) = swapped ? (struct origin){column, row}
								: (struct origin){row, column};
		}
		if (++least->column < columns->count)
			least->at = plus(rows->at[least->row], columns->at[least->column]);
		else
			heap[0] = heap[--count];
		sift(heap, count, 0);
	}
	maker->formed += rows->count * columns->count;
	out->count = values.count;
	out->at = values.at;
	out->origins = origins.at;
	thin(out, maker->most);
	out->origins = arena_copy(maker->arena, origins.at, out->count * sizeof *origins.at);
}

static size_t add(struct maker *maker, size_t left, size_t right)
{
	struct arena *scratch = arena_open();
	struct sums_step step = {.part = -1, .left = left, .right = right, .own = arena_open()};
	const struct sums_step *steps = maker->steps.at;
	struct sums_operand a = open_operand(&steps[left], SIZE_MAX, scratch);
	struct sums_operand b = open_operand(&steps[right], SIZE_MAX, scratch);
	for (size_t most = maker->most; a.count * b.count > FORMED_MOST; most /= 2) {
		a = open_operand(&steps[left], most, scratch);
		b = open_operand(&steps[right], most, scratch);
	}
	step.excess = a.excess > b.excess ? a.excess : b.excess;
	if (a.count <= b.count)
		merge(maker, &a, &b, false, &step, scratch);
	else
		merge(maker, &b, &a, true, &step, scratch);
	*array_add(maker->arena, &maker->steps) = step;
	arena_close(scratch);
	return maker->steps.count - 1;
}

static void drop_values(struct maker *maker, size_t step)
{
	arena_close(maker->steps.at[step].own);
	maker->steps.at[step].own = NULL;
	maker->steps.at[step].at = NULL;
}

/* --- parts */

struct ranked {
	struct sums_point at;
	uint32_t point;
};

static int by_value(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;
	int order = compare(x->at, y->at);
	return order ? order : (x->point > y->point) - (x->point < y->point);
}

/* The points of a part that none of the others beats. */
static size_t add_points(struct maker *maker, const struct sums_part *part, int number)
{
	struct sums_step step = {.part = number, .own = arena_open()};
	struct ranked *ranked = arena_array(step.own, struct ranked, part->point_count);
	step.at = arena_array(step.own, struct sums_point, part->point_count);
	step.origins = arena_array(maker->arena, struct origin, part->point_count);
	for (size_t i = 0; i < part->point_count; i++)
		ranked[i] = (struct ranked){part->points[i], (uint32_t)i};
	qsort(ranked, part->point_count, sizeof *ranked, by_value);
	for (size_t i = 0; i < part->point_count; i++) {
		if (step.count && ranked[i].at.y >= step.at[step.count - 1].y)
			continue;
		step.at[step.count] = ranked[i].at;
		step.origins[step.count++] = (struct origin){ranked[i].point, 0};
	}
	*array_add(maker->arena, &maker->steps) = step;
	return maker->steps.count - 1;
}

#define NO_STEP SIZE_MAX

/* `total` and a step once more; the values of `total` are then no longer needed. */
static size_t add_to(struct maker *maker, size_t total, size_t step)
{
	if (total == NO_STEP)
		return step;
	size_t sum = add(maker, total, step);
	if (maker->steps.at[total].part < 0)
		drop_values(maker, total);
	return sum;
}

/* A count's binary digits: points, twice as many, four times as many, ... */
static size_t add_doubled(struct maker *maker, size_t total, size_t points, int64_t count)
{
	size_t power = points;
	for (; count; count >>= 1) {
		if (count & 1)
			total = add_to(maker, total, power);
		if (count > 1)
			power = add(maker, power, power);
	}
	return total;
}

static size_t add_part(struct maker *maker, size_t total, size_t points, int64_t count)
{
	if (count > COUNT_MOST)
		return add_doubled(maker, total, points, count);
	for (int64_t n = 0; n < count; n++)
		total = add_to(maker, total, points);
	return total;
}

/* Whether no sum of all exceeds 2^126. */
static bool can_be_counted(const struct sums_part *parts, size_t part_count)
{
	const wide limit = (wide)1 << 126;
	wide x = 0, y = 0;
	for (size_t p = 0; p < part_count; p++) {
		struct sums_point most = {0, 0};
		for (size_t i = 0; i < parts[p].point_count; i++) {
			if (parts[p].points[i].x > most.x)
				most.x = parts[p].points[i].x;
			if (parts[p].points[i].y > most.y)
				most.y = parts[p].points[i].y;
		}
		if (most.x > limit / parts[p].count || most.y > limit / parts[p].count)
			return false;
		x += most.x * parts[p].count;
		y += most.y * parts[p].count;
		if (x > limit || y > limit)
			return false;
	}
	return true;
}

struct sums sums_make(
	struct arena *arena, const struct sums_part *parts, size_t part_count, size_t most)
{
	struct sums sums = {.counted = can_be_counted(parts, part_count),
		.parts = parts,
		.part_count = part_count};
	struct maker maker = {.arena = arena, .most = most};
	size_t total = NO_STEP;
	if (!sums.counted || !part_count)
		return sums;
	for (size_t p = 0; p < part_count; p++) {
		size_t points = add_points(&maker, &parts[p], (int)p);
		total = add_part(&maker, total, points, parts[p].count);
	}
	const struct sums_step *last = &maker.steps.at[total];
	sums.count = last->count;
	sums.at = arena_copy(arena, last->at, last->count * sizeof *last->at);
	sums.excess = last->excess;
	sums.formed = maker.formed;
	for (size_t i = 0; i < maker.steps.count; i++)
		if (maker.steps.at[i].own)
			drop_values(&maker, i);
	sums.steps = maker.steps.at;
	sums.step_count = total + 1;
	return sums;
}

/* --- which points a sum is of */

struct point_use {
	uint32_t sum;
	int64_t times;
};

struct uses array(struct point_use);

static void use(struct arena *arena, struct uses *uses, uint32_t sum, int64_t times)
{
	for (size_t i = 0; i < uses->count; i++)
		if (uses->at[i].sum == sum) {
			uses->at[i].times += times;
			return;
		}
	*array_add(arena, uses) = (struct point_use){sum, times};
}

void sums_choice(const struct sums *sums, size_t i, int64_t *const *taken, struct arena *scratch)
{
	struct arena_mark mark = arena_mark(scratch);
	struct uses *uses = arena_array(scratch, struct uses, sums->step_count);
	use(scratch, &uses[sums->step_count - 1], (uint32_t)i, 1);
	for (size_t s = sums->step_count; s-- > 0;) {
		const struct sums_step *step = &sums->steps[s];
		for (size_t u = 0; u < uses[s].count; u++) {
			struct point_use of = uses[s].at[u];
			struct origin origin = step->origins[of.sum];
			if (step->part >= 0) {
				taken[step->part][origin.left] += of.times;
				continue;
			}
			use(scratch, &uses[step->left], origin.left, of.times);
			use(scratch, &uses[step->right], origin.right, of.times);
		}
	}
	arena_release(scratch, mark);
}

/* --- limits */

/* By how much a sum exceeds a limit; a limit of 0 counts as 1. */
static double factor(wide value, wide most)
{
	if (most == SUMS_NO_LIMIT)
		return 0;
	return (double)value / (double)(most ? most : 1);
}

static bool is_within(wide value, wide most)
{
	return most == SUMS_NO_LIMIT || value <= most;
}

size_t sums_within(const struct sums *sums, wide x_most, wide y_most)
{
	size_t best = SIZE_MAX;
	double least = 0;
	for (size_t i = 0; i < sums->count; i++) {
		const struct sums_point *at = &sums->at[i];
		double product = (double)at->x * (double)at->y;
		bool better = best == SIZE_MAX || product < least;
		if (!is_within(at->x, x_most) || !is_within(at->y, y_most))
			continue;
		if (x_most == SUMS_NO_LIMIT && y_most != SUMS_NO_LIMIT)
			return i; /* x ascends */
		if (y_most == SUMS_NO_LIMIT && x_most != SUMS_NO_LIMIT)
			better = true; /* y descends */
		if (!better)
			continue;
		best = i;
		least = product;
	}
	return best;
}

size_t sums_nearest(const struct sums *sums, wide x_most, wide y_most)
{
	size_t best = SIZE_MAX;
	double least = 0;
	for (size_t i = 0; i < sums->count; i++) {
		double x = factor(sums->at[i].x, x_most), y = factor(sums->at[i].y, y_most);
		double value = x > y ? x : y;
		if (best != SIZE_MAX && value >= least)
			continue;
		best = i;
		least = value;
	}
	return best;
}

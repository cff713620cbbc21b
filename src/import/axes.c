#include "import/axes.h"

enum { BOUNDARIES_MOST = 128 };

int axes_new(struct axis_classes *axes, int64_t extent)
{
	int a = (int)axes->at.count;
	*array_add(axes->arena, &axes->at) =
		(struct axis_class){.parent = a, .extent = extent, .first = -1};
	return a;
}

static int find(struct axis_classes *axes, int a)
{
	while (axes->at.at[a].parent != a) {
		int up = axes->at.at[a].parent;
		axes->at.at[a].parent = axes->at.at[up].parent;
		a = up;
	}
	return a;
}

struct axis_class *axes_find(struct axis_classes *axes, int axis)
{
	return &axes->at.at[find(axes, axis)];
}

void axes_join(struct axis_classes *axes, int a, int b)
{
	a = find(axes, a);
	b = find(axes, b);
	if (a == b)
		return;
	axes->at.at[b].parent = a;
	axes->at.at[a].fixed |= axes->at.at[b].fixed;
}

void axes_fix(struct axis_classes *axes, int a)
{
	axes_find(axes, a)->fixed = true;
}

int axes_factors(struct axis_classes *axes, int a, int64_t *sizes)
{
	const struct axis_class *axis = axes_find(axes, a);
	int64_t outer = axis->extent;
	int count = 0;
	if (axis->extent == 1 && !axis->fixed)
		return 0;
	for (int s = axis->split_count - 1; s >= 0; s--) {
		sizes[count++] = outer / axis->splits[s];
		outer = axis->splits[s];
	}
	sizes[count++] = outer;
	return count;
}

/* Products of innermost factors where one list of axes can be cut. */
static int add_boundaries(
	struct axis_classes *axes, const int *list, int count, int64_t *boundaries, int found)
{
	int64_t inner = 1;
	for (int i = count - 1; i >= 0; i--) {
		const struct axis_class *axis = axes_find(axes, list[i]);
		for (int s = 0; s <= axis->split_count && found < BOUNDARIES_MOST; s++)
			boundaries[found++] =
				inner * (s < axis->split_count ? axis->splits[s] : axis->extent);
		inner *= axis->extent;
	}
	return found;
}

static int sort_boundaries(int64_t *boundaries, int count)
{
	int kept = 0;
	for (int i = 1; i < count; i++)
		for (int k = i; k > 0 && boundaries[k] < boundaries[k - 1]; k--) {
			int64_t swap = boundaries[k];
			boundaries[k] = boundaries[k - 1];
			boundaries[k - 1] = swap;
		}
	for (int i = 0; i < count; i++)
		if (boundaries[i] > 1 && (!kept || boundaries[kept - 1] != boundaries[i]))
			boundaries[kept++] = boundaries[i];
	return kept;
}

static bool is_chain(const int64_t *boundaries, int count)
{
	for (int i = 1; i < count; i++)
		if (boundaries[i] % boundaries[i - 1])
			return false;
	return true;
}

/* A class takes a split; false: it would break its chain, or cannot be split. */
static bool take_split(struct axis_class *axis, int64_t split, bool *changed)
{
	int at = 0;
	while (at < axis->split_count && axis->splits[at] < split)
		at++;
	if (at < axis->split_count && axis->splits[at] == split)
		return true;
	if (axis->fixed || axis->split_count == AXIS_SPLITS_MOST || axis->extent % split ||
		(at > 0 && split % axis->splits[at - 1]) ||
		(at < axis->split_count && axis->splits[at] % split))
		return false;
	for (int k = axis->split_count++; k > at; k--)
		axis->splits[k] = axis->splits[k - 1];
	axis->splits[at] = split;
	*changed = true;
	return true;
}

static bool refine(struct axis_classes *axes, const int *list, int count, const int64_t *boundaries,
	int boundary_count, bool *changed)
{
	int64_t inner = 1;
	for (int i = count - 1; i >= 0; i--) {
		struct axis_class *axis = axes_find(axes, list[i]);
		int64_t outer = inner * axis->extent;
		for (int b = 0; b < boundary_count; b++)
			if (boundaries[b] > inner && boundaries[b] < outer &&
				!take_split(axis, boundaries[b] / inner, changed))
				return false;
		inner = outer;
	}
	return true;
}

bool axes_align(struct axis_classes *axes, const int *a, int a_count, const int *b, int b_count,
	bool *changed)
{
	int64_t boundaries[BOUNDARIES_MOST];
	int count = add_boundaries(axes, a, a_count, boundaries, 0);
	count = add_boundaries(axes, b, b_count, boundaries, count);
	if (count >= BOUNDARIES_MOST)
		return false;
	count = sort_boundaries(boundaries, count);
	return is_chain(boundaries, count) &&
	       refine(axes, a, a_count, boundaries, count, changed) &&
	       refine(axes, b, b_count, boundaries, count, changed);
}

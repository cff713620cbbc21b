#include "base/number.h"
#include "model/graph/workload.h"
#include "search/joint/joint_making.h"

#include <limits.h>
#include <string.h>

int joint_views_add(struct joint_making *making, int tensor, const struct view *view, int asked_by)
{
	struct joint_views *views = &making->views[tensor];
	int v = 0;
	while (v < views->count && !view_equal(&views->at[v], view))
		v++;
	if (v == views->count) {
		if (views->count == views->capacity) {
			int more = views->capacity ? 2 * views->capacity : 8;
			struct view *at = arena_array(making->scratch, struct view, more);
			int *asked = arena_array(making->scratch, int, more);
			int *first = arena_array(making->scratch, int, more);
			if (views->count) {
				memcpy(at, views->at, (size_t)views->count * sizeof *at);
				memcpy(asked, views->asked, (size_t)views->count * sizeof *asked);
				memcpy(first, views->first_asked,
					(size_t)views->count * sizeof *first);
			}
			views->at = at;
			views->asked = asked;
			views->first_asked = first;
			views->capacity = more;
		}
		views->at[v] = *view;
		views->asked[v] = -1;
		views->first_asked[v] = INT_MAX;
		views->count++;
	}
	if (asked_by > views->asked[v])
		views->asked[v] = asked_by;
	if (asked_by >= 0 && asked_by < views->first_asked[v])
		views->first_asked[v] = asked_by;
	return v;
}

/* --- views that serve several */

/* True if each core that holds something under the view finds its part of a dimension in `part`; NULL: in it whole. */
static bool part_covers(const struct view *view, int d, const struct view_part *part)
{
	const struct view_part *own = view_part_of(view, d);
	for (int64_t core = 0; core < view->cores && part->split > 1; core++)
		if (view_holds(view, core) &&
			core / own->divisor % own->split / (own->split / part->split) !=
				core / part->divisor % part->split)
			return false;
	return true;
}

/* The smallest part of a dimension that has, on each core, what the core holds under both views: parts of both end
 * where one of it ends, so their numbers are multiples of its number. */
static struct view_part join_part(const struct view *a, const struct view *b, int d)
{
	const struct view_part *p = view_part_of(a, d), *q = view_part_of(b, d);
	int64_t most = p && q ? number_gcd(p->split, q->split) : 1;
	for (int64_t split = most; split > 1; split--) {
		if (most % split)
			continue;
		struct view_part part = {d, split, p->divisor * (p->split / split)};
		if (part_covers(a, d, &part) && part_covers(b, d, &part))
			return part;
		part.divisor = q->divisor * (q->split / split);
		if (part_covers(a, d, &part) && part_covers(b, d, &part))
			return part;
	}
	return (struct view_part){d, 1, 1};
}

/* The smallest view that serves whatever either of two serves. */
static struct view join(const struct layout *layout, const struct view *a, const struct view *b)
{
	struct view view = {.cores = number_max(a->cores, b->cores)};
	if (a->only == b->only && a->only_divisor == b->only_divisor) {
		view.only = a->only;
		view.only_divisor = a->only_divisor;
	}
	for (int d = 0; d + 1 < layout->rank; d++) {
		struct view_part part = join_part(a, b, d);
		if (part.split > 1)
			view.parts[view.part_count++] = part;
	}
	return view;
}

/* True if an op reads a tensor more than once. */
static bool reads_twice(const struct joint_making *making, int o, int tensor)
{
	const struct op *op = &making->question->workload->ops[o];
	int times = 0;
	for (int i = 0; i < op->read_count; i++)
		times += op->reads[i].tensor == tensor;
	return times > 1;
}

static void add_joins(struct joint_making *making, int tensor, int a)
{
	const struct joint_views *views = &making->views[tensor];
	const struct layout *layout = &making->question->workload->tensors[tensor].layout;
	for (int b = 0; b < a && views->asked[a] >= 0; b++) {
		int last = (int)number_max(views->asked[a], views->asked[b]);
		int first = (int)number_min(views->first_asked[a], views->first_asked[b]);
		if (views->asked[b] < 0 || (first == last && !reads_twice(making, first, tensor)))
			continue;
		struct view both = join(layout, &views->at[a], &views->at[b]);
		joint_views_add(making, tensor, &both, first);
		joint_views_add(making, tensor, &both, last);
	}
}

void joint_views_share(struct joint_making *making, bool share)
{
	size_t count = making->question->workload->tensor_count;
	int64_t tries = 0;
	struct joint_views *before =
		arena_copy(making->scratch, making->views, count * sizeof *before);
	for (size_t t = 0; t < count; t++) {
		struct joint_views *views = &making->views[t];
		size_t bytes = (size_t)views->count * sizeof *views->asked;
		views->direct = before[t].direct = views->capacity = before[t].capacity =
			views->count;
		if (!share || !views->count)
			continue;
		before[t].asked = arena_copy(making->scratch, views->asked, bytes);
		before[t].first_asked = arena_copy(making->scratch, views->first_asked, bytes);
		for (int a = 0; a < views->count && tries <= SHARED_TRIES_MOST; tries += a++)
			add_joins(making, (int)t, a);
	}
	making->shares = share && tries <= SHARED_TRIES_MOST;
	if (!making->shares)
		memcpy(making->views, before, count * sizeof *before);
}

bool joint_serves_later(const struct joint_views *views, int view, int op, int other)
{
	for (int asked = 0; asked < views->direct; asked++)
		if (views->asked[asked] > op && joint_serves(views, other, asked) &&
			!joint_serves(views, view, asked))
			return false;
	return true;
}

/* Every core that needs something finds it in what it holds. */
static bool find_serves(
	const struct layout *layout, const struct view *held, const struct view *asked)
{
	for (int64_t core = 0; core < asked->cores; core++) {
		if (!view_holds(asked, core))
			continue;
		if (!view_holds(held, core))
			return false;
		for (int d = 0; d + 1 < layout->rank; d++) {
			int64_t first = view_first(layout, held, d, core);
			int64_t needed = view_first(layout, asked, d, core);
			if (needed < first || needed + view_size(layout, asked, d) >
						      first + view_size(layout, held, d))
				return false;
		}
	}
	return true;
}

/* The same views of tensors that are laid out alike. */
static bool same_views(const struct joint_making *making, int a, int b)
{
	const struct tensor *tensors = making->question->workload->tensors;
	const struct joint_views *p = &making->views[a], *q = &making->views[b];
	return p->count == q->count && tensors[a].layout.dtype == tensors[b].layout.dtype &&
	       layout_equal(&tensors[a].layout, &tensors[b].layout) &&
	       (!p->count || !memcmp(p->at, q->at, (size_t)p->count * sizeof *p->at));
}

/* Ops counted from the first that uses the tensor; who never does stays as it is. */
static bool same_time(int a, int from_a, int b, int from_b)
{
	bool ever = a >= 0 && a < INT_MAX && b >= 0 && b < INT_MAX;
	return ever ? a - from_a == b - from_b : a == b;
}

bool joint_views_alike(const struct joint_making *making, int a, int b)
{
	const struct joint_views *p = &making->views[a], *q = &making->views[b];
	int from_a, from_b, to;
	const struct workload *workload = making->question->workload;
	if (p->serves != q->serves || p->count != q->count ||
		making->stays[a] != making->stays[b] ||
		(workload->tensors[a].producer < 0) != (workload->tensors[b].producer < 0) ||
		(workload_copy_in_hbm(workload, a) < 0) != (workload_copy_in_hbm(workload, b) < 0))
		return false;
	users_life(&making->users, a, &from_a, &to);
	users_life(&making->users, b, &from_b, &to);
	for (int v = 0; v < p->count; v++)
		if (!same_time(p->made[v], from_a, q->made[v], from_b) ||
			!same_time(p->asked[v], from_a, q->asked[v], from_b) ||
			!same_time(p->first_asked[v], from_a, q->first_asked[v], from_b))
			return false;
	return true;
}

void joint_views_close(struct joint_making *making, int tensor)
{
	struct joint_views *views = &making->views[tensor];
	const struct layout *layout = &making->question->workload->tensors[tensor].layout;
	int count = views->count;
	views->made = arena_array(making->scratch, int, count);
	for (int v = 0; v < count; v++)
		views->made[v] = INT_MAX;
	views->in = arena_array(making->scratch, struct joint_transfer, count);
	views->out = arena_array(making->scratch, struct joint_transfer, count);
	for (int other = 0; other < tensor && !views->serves; other++)
		if (same_views(making, tensor, other))
			views->serves = making->views[other].serves;
	if (views->serves)
		return;
	views->serves =
		arena_alloc_array(making->arena, (size_t)count, (size_t)count * sizeof(bool));
	for (int held = 0; held < count; held++)
		for (int asked = 0; asked < count; asked++)
			views->serves[held * count + asked] =
				find_serves(layout, &views->at[held], &views->at[asked]);
}

bool joint_serves(const struct joint_views *views, int held, int asked)
{
	return views->serves[held * views->count + asked];
}

#include "base/arena.h"
#include "search/language/language.h"

#include <string.h>

bool view_serves(const struct layout *layout, const struct view *view, const struct touched *touch)
{
	for (int64_t core = 0; core < touch->cores; core++) {
		if (!touch->owns[core])
			continue;
		if (!view_holds(view, core))
			return false;
		for (int d = 0; d < touch->rank; d++) {
			int64_t first = view_first(layout, view, d, core);
			if (touch->low[core * touch->rank + d] < first ||
				touch->high[core * touch->rank + d] >=
					first + view_size(layout, view, d))
				return false;
		}
	}
	return true;
}

bool view_serves_asked(
	const struct layout *layout, const struct view *view, const struct asked *asked)
{
	for (int i = 0; i < asked->touch_count; i++)
		if (!view_serves(layout, view, asked->touches[i]))
			return false;
	return true;
}

bool view_has(const struct layout *layout, const struct view *held, const struct view *asked)
{
	for (int64_t core = 0; core < asked->cores; core++) {
		if (!view_holds(asked, core))
			continue;
		if (!view_holds(held, core))
			return false;
		for (int d = 0; d + 1 < layout->rank; d++) {
			int64_t own = view_first(layout, held, d, core);
			int64_t first = view_first(layout, asked, d, core);
			if (first < own || first + view_size(layout, asked, d) >
						   own + view_size(layout, held, d))
				return false;
		}
	}
	return true;
}

/* --- the view of a touch */

/* True if each core that has a part holds just its part of dimension d under the view. */
static bool is_cut_so(
	const struct layout *layout, const struct view *view, const struct touched *touch, int d)
{
	for (int64_t core = 0; core < touch->cores; core++) {
		int64_t first = view_first(layout, view, d, core);
		if (touch->low[core * touch->rank + d] != first ||
			touch->high[core * touch->rank + d] !=
				first + view_size(layout, view, d) - 1)
			return false;
	}
	return true;
}

/* Finds the cut of dimension d by trying all. */
static bool find_cut(
	const struct layout *layout, const struct touched *touch, int d, struct view *view)
{
	int at = view->part_count;
	int64_t size = touch->high[d] - touch->low[d] + 1; /* of core 0 */
	if (size == layout->size[d])
		return is_cut_so(layout, view, touch, d);
	if (layout->size[d] % size)
		return false;
	view->part_count++;
	for (int64_t divisor = 1; divisor < touch->cores; divisor++) {
		view->parts[at] = (struct view_part){d, layout->size[d] / size, divisor};
		if (is_cut_so(layout, view, touch, d))
			return true;
	}
	return false;
}

/* Finds which cores hold nothing by trying all. */
static bool find_only(const struct touched *touch, struct view *view)
{
	for (int64_t only = 1; only <= touch->cores; only++)
		for (int64_t divisor = 1; divisor <= (only > 1 ? touch->cores : 1); divisor++) {
			bool same = true;
			view->only = only > 1 ? only : 0;
			view->only_divisor = only > 1 ? divisor : 0;
			for (int64_t core = 0; same && core < touch->cores; core++)
				same = view_holds(view, core) == touch->owns[core];
			if (same)
				return true;
		}
	return false;
}

void touch_find_view(const struct layout *layout, struct touched *touch)
{
	touch->view = (struct view){.cores = touch->cores};
	touch->is_view = true;
	for (int d = 0; touch->is_view && d < touch->rank; d++)
		touch->is_view = find_cut(layout, touch, d, &touch->view);
	touch->is_view = touch->is_view && find_only(touch, &touch->view);
}

/* --- all views of a tensor */

enum { VIEWS_MOST = 4000 };

struct view_listing {
	struct language *language;
	int tensor;
	struct array(struct view) views;
	size_t tried;
};

static const struct layout *view_listing_layout(const struct view_listing *listing)
{
	return &listing->language->workload->tensors[listing->tensor].layout;
}

/* True if a move can hand its slices out so: every combination of parts lies on equally many cores, which are
 * numbered part by part. */
static bool is_dealt(const struct view *view)
{
	int64_t inner = 1, slices = 1;
	for (int i = 0; i < view->part_count; i++)
		slices *= view->parts[i].split;
	for (int i = 0; i < view->part_count; i++) {
		int next = -1;
		for (int k = 0; k < view->part_count; k++)
			if (view->parts[k].divisor >= inner &&
				(next < 0 || view->parts[k].divisor < view->parts[next].divisor))
				next = k;
		if (next < 0 || view->parts[next].divisor % inner)
			return false;
		inner = view->parts[next].divisor * view->parts[next].split;
	}
	return view->cores % inner == 0 && view->cores % slices == 0 && view->only <= 1;
}

/* Adds a view that serves something. */
static void add_view(struct view_listing *listing, const struct view *view)
{
	const struct language_tensor *tensor = &listing->language->tensors[listing->tensor];
	bool serves = false;
	for (size_t i = 0; i < listing->views.count; i++)
		if (view_equal(&listing->views.at[i], view))
			return;
	for (size_t a = 0; !serves && a < tensor->asked.count; a++)
		serves =
			view_serves_asked(view_listing_layout(listing), view, &tensor->asked.at[a]);
	if (serves && is_dealt(view))
		*array_add(listing->language->arena, &listing->views) = *view;
}

/* All cuts of dimension d and those behind it, of which no two have one divisor. */
static void cut_dimensions(struct view_listing *listing, struct view *view, int d)
{
	const struct layout *layout = view_listing_layout(listing);
	if (listing->tried > VIEWS_MOST)
		return;
	if (d + 1 >= layout->rank) {
		listing->tried++;
		add_view(listing, view);
		return;
	}
	cut_dimensions(listing, view, d + 1);
	for (int64_t split = 2; split <= view->cores; split++)
		for (int64_t divisor = 1;
			layout->size[d] % split == 0 && split * divisor <= view->cores; divisor++) {
			bool again = false;
			for (int i = 0; i < view->part_count; i++)
				again |= view->parts[i].divisor == divisor;
			if (again)
				continue;
			view->parts[view->part_count++] = (struct view_part){d, split, divisor};
			cut_dimensions(listing, view, d + 1);
			view->part_count--;
		}
}

void language_list_views(struct language *language, int t)
{
	struct language_tensor *tensor = &language->tensors[t];
	struct view_listing listing = {.language = language, .tensor = t};
	for (size_t a = 0; a < tensor->asked.count; a++)
		for (int i = 0; i < tensor->asked.at[a].touch_count; i++)
			if (tensor->asked.at[a].touches[i]->is_view)
				add_view(&listing, &tensor->asked.at[a].touches[i]->view);
	for (int64_t cores = language->planning->cores; language->kinds.shared && cores > 0;
		cores--) {
		bool asked = false;
		for (size_t a = 0; a < tensor->asked.count; a++)
			asked |= tensor->asked.at[a].touches[0]->cores == cores;
		struct view view = {.cores = cores};
		if (asked)
			cut_dimensions(&listing, &view, 0);
	}
	tensor->views = listing.views.at;
	tensor->view_count = listing.views.count;
	tensor->views_cut = listing.tried > VIEWS_MOST;
}

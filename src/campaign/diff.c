#include "base/arena.h"
#include "base/array.h"
#include "base/names.h"
#include "base/text.h"
#include "campaign/outputs.h"
#include "report/run/json_text.h"
#include "report/run/listing.h"

#include <string.h>

/* A point of one campaign. */
struct compared {
	const char *key; /* name and values, as they are told */
	const char *status, *version, *pareto;
	bool has_best;
	double best;
};

struct compared_side {
	struct arena *arena;
	json_t *columns;
	struct array(struct compared) points;
	struct names names;
	const char *objective;
};

static const char *make_key(struct arena *arena, json_t *columns, const struct store_point *point)
{
	struct text text = text_open(arena);
	json_t *labels = json_loads(point->labels, 0, NULL);
	text_add(&text, "%s", point->name);
	for (size_t t = 0; t < json_array_size(columns); t++) {
		const char *label = json_string_value(json_array_get(labels, t));
		if (label)
			text_add(&text, "%s%s=%s", text.length ? " " : "",
				json_string_value(json_array_get(columns, t)), label);
	}
	json_decref(labels);
	return text_read(&text);
}

static void add_point(
	void *context, const struct store_point *point, const struct task_result *result)
{
	struct compared_side *side = context;
	const char *key = make_key(side->arena, side->columns, point);
	if (names_find(&side->names, key) >= 0)
		return; /* the same values twice, as of two named points */
	names_add(side->arena, &side->names, key, (int)side->points.count);
	*array_add(side->arena, &side->points) = (struct compared){
		.key = key,
		.status = task_status_name(result),
		.version = result ? arena_text(side->arena, result->version) : "",
		.pareto = result ? arena_text(side->arena, result->pareto) : "",
		.has_best = result && *result->objective,
		.best = result ? result->best : 0,
	};
	if (result && *result->objective && !side->objective)
		side->objective = arena_text(side->arena, result->objective);
}

static const char *read_side(struct arena *arena, struct store *store, struct compared_side *out)
{
	struct store_head head;
	const char *why = store_filled_head(store, &head);
	*out = (struct compared_side){.arena = arena};
	if (why)
		return why;
	out->columns = json_loads(head.columns, 0, NULL);
	why = store_each_point(store, add_point, out);
	json_decref(out->columns);
	return why;
}

/* --- what differs */

struct difference {
	const char *key;
	const struct compared *a, *b; /* NULL: it has no such point */
};

struct differences array(struct difference);

static void find_differences(struct arena *arena, const struct compared_side *a,
	const struct compared_side *b, struct campaign_diff *counts, struct differences *out)
{
	for (size_t i = 0; i < a->points.count; i++) {
		const struct compared *x = &a->points.at[i];
		int other = names_find(&b->names, x->key);
		const struct compared *y = other < 0 ? NULL : &b->points.at[other];
		if (y && text_equal(x->pareto, y->pareto) && text_equal(x->status, y->status)) {
			counts->equal++;
			continue;
		}
		*(y ? &counts->changed : &counts->only_a) += 1;
		*array_add(arena, out) = (struct difference){x->key, x, y};
	}
	for (size_t i = 0; i < b->points.count; i++) {
		const struct compared *y = &b->points.at[i];
		if (names_find(&a->names, y->key) >= 0)
			continue;
		counts->only_b++;
		*array_add(arena, out) = (struct difference){y->key, NULL, y};
	}
}

/* --- texts */

static const char *best_text(struct arena *arena, const struct compared *point)
{
	if (!point)
		return "";
	return point->has_best ? arena_format(arena, "%.17g", point->best) : point->status;
}

static const char *ratio_text(struct arena *arena, const struct difference *at)
{
	bool both = at->a && at->b && at->a->has_best && at->b->has_best && at->a->best > 0;
	return both ? arena_format(arena, "%.6g", at->b->best / at->a->best) : "";
}

static const char *make_listing(struct arena *arena, const struct differences *all,
	const struct campaign_diff *counts, const char *objective)
{
	const char *const titles[] = {objective ? arena_format(arena, "%s of A", objective) : "A",
		"of B", "B/A", "<point", NULL};
	struct listing *listing = listing_open(arena, titles);
	for (size_t i = 0; i < all->count; i++) {
		const struct difference *at = &all->at[i];
		listing_cell(listing, "%s", at->a ? best_text(arena, at->a) : "none");
		listing_cell(listing, "%s", at->b ? best_text(arena, at->b) : "none");
		listing_cell(listing, "%s", ratio_text(arena, at));
		listing_cell(listing, "%s", at->key);
	}
	return arena_format(arena,
		"%s%zu points are equal, %zu differ, %zu are in A alone, %zu in B alone\n",
		all->count ? listing_text(listing) : "", counts->equal, counts->changed,
		counts->only_a, counts->only_b);
}

static const char *make_csv(struct arena *arena, const struct differences *all)
{
	struct text text = text_open(arena);
	text_add(&text, "point,status_a,status_b,best_a,best_b,ratio,version_a,version_b\n");
	for (size_t i = 0; i < all->count; i++) {
		const struct difference *at = &all->at[i];
		const struct compared *a = at->a, *b = at->b;
		csv_field(&text, at->key);
		text_add(&text, ",%s,%s,%s,%s,%s,%s,%s\n", a ? a->status : "", b ? b->status : "",
			a && a->has_best ? best_text(arena, a) : "",
			b && b->has_best ? best_text(arena, b) : "", ratio_text(arena, at),
			a ? a->version : "", b ? b->version : "");
	}
	return text_read(&text);
}

static json_t *side_value(const struct compared *point)
{
	return point ? json_pack("{s:s, s:s, s:o, s:s}", "status", point->status, "version",
			       point->version, "best",
			       point->has_best ? json_real(point->best) : json_null(), "pareto",
			       point->pareto)
		     : json_null();
}

static const char *make_json(
	struct arena *arena, const struct differences *all, const struct campaign_diff *counts)
{
	json_t *list = json_array();
	for (size_t i = 0; i < all->count; i++)
		json_array_append_new(
			list, json_pack("{s:s, s:o, s:o}", "point", all->at[i].key, "a",
				      side_value(all->at[i].a), "b", side_value(all->at[i].b)));
	return json_text(arena,
		json_pack("{s:I, s:I, s:I, s:I, s:o}", "equal", (json_int_t)counts->equal, "differ",
			(json_int_t)counts->changed, "only_a", (json_int_t)counts->only_a, "only_b",
			(json_int_t)counts->only_b, "points", list));
}

const char *campaign_diff(struct arena *arena, struct store *a, struct store *b,
	enum diff_form form, struct campaign_diff *counts, const char **out)
{
	struct compared_side x, y;
	struct differences all = {0};
	*counts = (struct campaign_diff){0};
	const char *why = read_side(arena, a, &x);
	if (!why)
		why = read_side(arena, b, &y);
	if (why)
		return why;
	find_differences(arena, &x, &y, counts, &all);
	*out = form == DIFF_TEXT  ? make_listing(arena, &all, counts, x.objective)
	       : form == DIFF_CSV ? make_csv(arena, &all)
				  : make_json(arena, &all, counts);
	return NULL;
}

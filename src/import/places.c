#include "import/writing.h"

void writing_align(struct build *b)
{
	bool changed = true;
	while (changed) {
		changed = false;
		for (size_t s = 0; s < b->statements.count; s++) {
			struct statement *statement = &b->statements.at[s];
			if (statement->form != FORM_RESHAPE)
				continue;
			struct model_view *view = &b->views.at[statement->writes[0]];
			const struct model_view *source = view_at(b, view->source);
			if (!view->copied && !axes_align(&b->axes, source->axis, source->shape.rank,
						     view->axis, view->shape.rank, &changed))
				view->copied = changed = true;
		}
	}
}

/* --- names of dimensions */

static bool taken(const struct workload_writing *w, const char *name, int loop, int factor)
{
	for (int l = 0; l <= loop; l++)
		for (int f = 0; f < (l == loop ? factor : w->loop_factors[l]); f++)
			if (text_equal(w->loop_names[l][f], name))
				return true;
	return false;
}

/* "d64", of a class that is not alike "d64_b", and where one op walks both "d64_c". */
static const char *name_dimension(struct workload_writing *w, int64_t extent, int loop, int factor)
{
	for (int i = 0;; i++) {
		const char *name =
			i == 0 ? arena_format(w->b->arena, "d%lld", (long long)extent)
			       : arena_format(w->b->arena, "d%lld_%d", (long long)extent, i + 1);
		if (taken(w, name, loop, factor))
			continue;
		if (names_find(&w->dimension_names, name) < 0) {
			names_add(w->b->arena, &w->dimension_names, name, 0);
			*array_add(w->b->arena, &w->dimensions) =
				(struct named_size){name, extent, true};
		}
		return name;
	}
}

void writing_name_loops(struct workload_writing *w, const struct statement *statement)
{
	int total = 0;
	for (int l = 0; l < statement->loop_count; l++) {
		int64_t sizes[FACTORS_MOST];
		w->loop_factors[l] = axes_factors(&w->b->axes, statement->loops[l], sizes);
		for (int f = 0; f < w->loop_factors[l]; f++) {
			w->loop_names[l][f] = NULL;
			if (sizes[f] == 1) {
				w->loop_names[l][f] = "";
				continue;
			}
			w->loop_names[l][f] = name_dimension(w, sizes[f], l, f);
			total++;
		}
	}
	if (total > LOOPS_MOST)
		w->why = "its loops are more than 16";
}

/* --- from views to stored tensors */

struct index_place place_of(const char *dimension)
{
	struct index_place place = {0};
	if (dimension[0]) {
		place.term_count = 1;
		place.terms[0].dimension = dimension;
		place.terms[0].factor = 1;
	}
	return place;
}

static struct index_place place_scale(struct index_place place, int64_t step, int64_t offset)
{
	for (int i = 0; i < place.term_count; i++)
		place.terms[i].factor *= step;
	place.offset = place.offset * step + offset;
	return place;
}

/* The factors of an axis at a fixed index. */
static void place_constant(
	struct workload_writing *w, int axis, int64_t value, int *count, struct index_place *at)
{
	int64_t sizes[FACTORS_MOST];
	*count = axes_factors(&w->b->axes, axis, sizes);
	for (int f = *count - 1; f >= 0; f--) {
		at[f] = (struct index_place){.offset = value % sizes[f]};
		value /= sizes[f];
	}
}

static void regroup(struct workload_writing *w, const struct model_view *view,
	const struct factor_places *from, struct factor_places *to)
{
	const struct model_view *source = view_at(w->b, view->source);
	struct index_place flat[PLACES_MOST];
	int count = 0, next = 0;
	for (int h = 0; h < view->shape.rank; h++) {
		int64_t sizes[FACTORS_MOST];
		int factors = axes_factors(&w->b->axes, view->axis[h], sizes);
		for (int f = 0; f < factors; f++)
			if (sizes[f] > 1)
				flat[count++] = f < from->count[h] ? from->at[h][f]
								   : (struct index_place){0};
	}
	for (int h = 0; h < source->shape.rank; h++) {
		int64_t sizes[FACTORS_MOST];
		to->count[h] = axes_factors(&w->b->axes, source->axis[h], sizes);
		for (int f = 0; f < to->count[h]; f++)
			to->at[h][f] = sizes[f] > 1 && next < count ? flat[next++]
								    : (struct index_place){0};
	}
}

static void follow(struct workload_writing *w, const struct model_view *view,
	const struct factor_places *from, struct factor_places *to)
{
	const struct model_view *source = view_at(w->b, view->source);
	for (int h = 0; h < source->shape.rank; h++) {
		const struct view_source_axis *axis = &view->from[h];
		if (axis->axis < 0) {
			place_constant(w, source->axis[h], axis->offset, &to->count[h], to->at[h]);
			continue;
		}
		to->count[h] = from->count[axis->axis];
		for (int f = 0; f < to->count[h]; f++)
			to->at[h][f] = from->at[axis->axis][f];
		if (axis->step != 1 || axis->offset) {
			int64_t sizes[FACTORS_MOST];
			to->count[h] = axes_factors(&w->b->axes, source->axis[h], sizes);
			to->at[h][0] =
				place_scale(from->count[axis->axis] ? from->at[axis->axis][0]
								    : (struct index_place){0},
					axis->step, axis->offset);
		}
	}
}

/* The stored tensor that a view reads, a copy of a reshape among them. */
int writing_stored(struct workload_writing *w, int v, struct factor_places *places)
{
	while (view_at(w->b, v)->kind != VIEW_STORED && !view_at(w->b, v)->copied) {
		const struct model_view *view = view_at(w->b, v);
		struct factor_places *next = arena_new(w->b->arena, struct factor_places);
		if (view->kind == VIEW_RESHAPED)
			regroup(w, view, places, next);
		else
			follow(w, view, places, next);
		*places = *next;
		v = view->source;
	}
	return v;
}

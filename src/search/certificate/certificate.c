#include "search/certificate/certificate.h"

#include "base/arena.h"

bool certificate_covers(const struct nest_search *search)
{
	for (int d = 0; d < search->shape->dimension_count; d++)
		if (search->domain->imperfect >> d & 1 && search->shape->dimensions[d].extent > 1)
			return false;
	return true;
}

static void add_points(struct arena *arena, const struct nest_search *search,
	const struct frontier *frontier, struct certificate *out)
{
	size_t objective_count = search->wishes.objectives.count;
	struct certificate_point *points =
		arena_array(arena, struct certificate_point, frontier->count);
	for (size_t i = 0; i < frontier->count; i++) {
		const struct point *point = &frontier->points[i];
		double *values = arena_array(arena, double, objective_count);
		for (size_t k = 0; k < objective_count; k++)
			values[k] = objective_value(search->wishes.objectives.at[k], &point->score);
		points[i] = (struct certificate_point){.mapping = point->key,
			.cycles = point->score.cycles,
			.energy_pj = point->score.energy_pj,
			.values = values};
	}
	out->points = points;
	out->point_count = frontier->count;
}

struct certificate *certificate_make(
	struct arena *arena, const struct nest_search *search, const struct explored *explored)
{
	bool bound = !explored->complete && explored->bound > 0 && explored->frontier.count &&
		     search->wishes.objectives.count == 1;
	bool near = !explored->complete && explored->within > 0;
	if (!certificate_covers(search) || (!explored->complete && !bound && !near))
		return NULL;
	struct certificate *out = arena_new(arena, struct certificate);
	out->counting = search->counting;
	out->objectives = search->wishes.objectives;
	out->claim = bound ? PROOF_BOUND : PROOF_OPTIMAL;
	out->epsilon = CERTIFICATE_EPSILON;
	if (near)
		out->epsilon = explored->within * (1 + CERTIFICATE_EPSILON) - 1;
	add_points(arena, search, &explored->frontier, out);
	if (bound) {
		out->bound = explored->bound;
		out->gap = out->points[0].values[0] - out->bound;
	}
	return out;
}

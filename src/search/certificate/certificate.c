#include "search/certificate/certificate.h"

#include "base/array.h"

bool certificate_covers(const struct nest_search *search)
{
	for (int d = 0; d < search->shape->dimension_count; d++)
		if (search->domain->imperfect >> d & 1 && search->shape->dimensions[d].extent > 1)
			return false;
	return true;
}

const char *certificate_residency(struct arena *arena, const struct nest_search *search, int k)
{
	const struct space *space = search->space;
	return arena_format(arena, "%s %s", search->arch->levels[space->free[k].row].name,
		search->shape->spaces[space->free[k].space].name);
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

/* What was left of the cells: none is below that. */
static double least_of(const struct certificate *certificate)
{
	bool one = certificate->objectives.count == 1 && certificate->point_count;
	return one ? certificate->points[0].values[0] : 0;
}

static void add_lines(struct arena *arena, const struct space *space, struct cell *cells,
	enum certificate_extent extent, struct certificate *out)
{
	struct array(struct certificate_line) lines = {0};
	double least = least_of(out);
	cells_sort(space, cells, out->opened);
	for (size_t i = 0; i < out->opened; i++) {
		struct certificate_line *last = lines.count ? &lines.at[lines.count - 1] : NULL;
		bool same = last && (extent == LINE_SPACE ||
					    (extent == LINE_RESIDENCY &&
						    last->cell.residency == cells[i].residency));
		if (same)
			last->opened++;
		else
			*array_add(arena, &lines) = (struct certificate_line){
				.extent = extent, .cell = cells[i], .opened = 1, .least = least};
	}
	out->lines = lines.at;
	out->line_count = lines.count;
}

/* One line for each cell, or as few as there may be. */
static void add_cells(struct arena *arena, const struct nest_search *search,
	const struct explored *explored, size_t lines_most, struct certificate *out)
{
	const struct nest_cells *all = explored->more;
	size_t count = all->count;
	struct cell *cells = arena_copy(arena, all->at, count * sizeof *cells);
	out->opened = count;
	out->rest = out->choices - count;
	enum certificate_extent extent = count > lines_most ? LINE_RESIDENCY : LINE_CELL;
	do
		add_lines(arena, search->space, cells, extent, out);
	while (out->line_count > lines_most && extent++ < LINE_SPACE);
}

/* Who stopped the search does not wait for its certificate. */
enum { TRIES_MOST = 1 << 26, TRIES_STOPPED = 1 << 17 };

struct certificate *certificate_make(struct arena *arena, const struct nest_search *search,
	const struct explored *explored, size_t lines_most)
{
	bool bound = !explored->complete && explored->bound > 0 && explored->frontier.count &&
		     search->wishes.objectives.count == 1;
	bool near = !explored->complete && explored->within > 0;
	if (!certificate_covers(search) || (!explored->complete && !bound && !near))
		return NULL;
	struct certificate *out = arena_new(arena, struct certificate);
	struct cells cells = cells_make(arena, search->space);
	out->choices = cells_count(&cells, explored->stopped ? TRIES_STOPPED : TRIES_MOST);
	if (out->choices == UINT64_MAX)
		return NULL;
	out->problem = certificate_problem_hash(search);
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
	add_cells(arena, search, explored, lines_most, out);
	return out;
}

#include "search/certificate/certificate_check.h"

#include "base/arena.h"
#include "base/text.h"
#include "constraints/constraints.h"
#include "model/nest/nest_mapping.h"
#include "search/certificate/certificate_cell.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>

struct certificate_checker {
	const struct certificate *certificate;
	const struct nest_search *search;
	const struct certificate_checking *checking;
	struct arena *arena;
	struct certificate_result *result;
	struct cell_walker walker;
	struct cells cells;
	double *claimed; /* rows of the claim's target */
	size_t claimed_count;
};

__attribute__((format(printf, 3, 4))) static bool reject(
	struct certificate_checker *check, struct span span, const char *format, ...)
{
	char text[1024];
	va_list list;
	va_start(list, format);
	vsnprintf(text, sizeof text, format, list);
	va_end(list);
	check->result->answer = VERDICT_NO;
	check->result->span = span;
	check->result->why = arena_text(check->arena, text);
	return false;
}

/* A point's mapping as the space has it. */
static bool in_space(struct certificate_checker *check, const struct mapping *mapping)
{
	const struct space *space = check->search->space;
	const struct domain *domain = space->domain;
	for (int i = 0; i < space->level_count; i++) {
		const struct mapping_row *row = &mapping->rows[space->levels[i].row];
		const struct row_domain *may = &domain->rows[space->levels[i].row];
		for (int d = 0; d < domain->shape->dimension_count; d++) {
			bool spatial = space->levels[i].spatial;
			int64_t bound = spatial ? row->spatial[d] : row->temporal[d];
			const struct factor_domain *factor =
				spatial ? &may->spatial[d] : &may->temporal[d];
			if (bound < factor->least || bound > factor->most)
				return false;
		}
	}
	for (int t = 0; t < domain->shape->space_count; t++) {
		uint32_t must = space->blank.residency[t], may = must;
		for (int i = 0; i < space->free_count; i++)
			if (space->free[i].space == t)
				may |= 1u << space->free[i].row;
		if ((mapping->residency[t] & may) != mapping->residency[t] ||
			(mapping->residency[t] & must) != must)
			return false;
	}
	return true;
}

/* What speaks against a point; NULL.  *score: what it really has. */
static const char *judge_mapping(struct certificate_checker *check,
	const struct certificate_point *point, struct score *score, const char **line)
{
	const struct nest_search *search = check->search;
	struct mapping mapping;
	struct nest_counts counts;
	struct nest_score found;
	bool perfect;
	const char *why = nest_mapping_parse(
		check->arena, search->arch, search->shape, point->mapping, &mapping);
	if (!why)
		why = nest_mapping_check(
			check->arena, search->arch, search->shape, &mapping, &perfect);
	if (!why && !perfect)
		why = "its factors do not divide";
	if (!why && !in_space(check, &mapping))
		why = "it is no mapping of this space";
	if (!why)
		why = constraints_check(
			search->constraints, search->domain, &mapping, check->arena);
	if (why)
		return why;
	if (nest_evaluate(search->model, &mapping, &counts, &found) != NEST_FITS)
		return nest_verdict_text(check->arena, search->hierarchy, search->shape, &found);
	*score = nest_summary(search, &counts, &found);
	*line = nest_mapping_print(check->arena, search->arch, search->shape, &mapping);
	return NULL;
}

static bool check_values(struct certificate_checker *check, size_t i, const struct score *score)
{
	const struct certificate_point *point = &check->certificate->points[i];
	const struct objectives *objectives = &check->certificate->objectives;
	if (score->cycles != point->cycles)
		return reject(check, point->span,
			"point %zu takes %" PRId64 " cycles, not %" PRId64, i + 1, score->cycles,
			point->cycles);
	if (score->energy_pj != point->energy_pj)
		return reject(check, point->span, "point %zu takes %.17g pJ, not %.17g", i + 1,
			score->energy_pj, point->energy_pj);
	for (size_t k = 0; k < objectives->count; k++) {
		double value = objective_value(objectives->at[k], score);
		if (value != point->values[k])
			return reject(check, point->span, "point %zu has %s %.17g, not %.17g",
				i + 1,
				nest_objective_text(
					check->arena, objectives->at[k], check->search->hierarchy),
				value, point->values[k]);
	}
	return true;
}

static bool check_points(struct certificate_checker *check)
{
	const struct certificate *certificate = check->certificate;
	struct frontier frontier = frontier_open(certificate->objectives);
	for (size_t i = 0; i < certificate->point_count; i++) {
		const struct certificate_point *point = &certificate->points[i];
		struct point found = {.payload = (void *)point};
		const char *why = judge_mapping(check, point, &found.score, &found.key);
		if (why)
			return reject(check, point->span, "point %zu: %s", i + 1, why);
		if (!check_values(check, i, &found.score))
			return false;
		if (!text_equal(found.key, point->mapping))
			return reject(check, point->span,
				"point %zu is not written as mappings are: \"%s\"", i + 1,
				found.key);
		frontier_add(&frontier, check->arena, found);
	}
	for (size_t i = 0; i < certificate->point_count; i++)
		if (frontier.count != certificate->point_count ||
			frontier.points[i].payload != &certificate->points[i])
			return reject(check, certificate->points[i].span,
				"point %zu is beaten by another one, or not in its place", i + 1);
	return true;
}

static bool is_number(double value)
{
	return isfinite(value) && value >= 0;
}

static bool check_claim(struct certificate_checker *check)
{
	const struct certificate *certificate = check->certificate;
	size_t count = certificate->objectives.count;
	if (!is_number(certificate->epsilon))
		return reject(check, certificate->claim_span, "epsilon is no number of 0 or more");
	if (certificate->epsilon > NEST_EPSILON_MOST)
		return reject(check, certificate->claim_span, "epsilon is %g; it can be at most %g",
			certificate->epsilon, NEST_EPSILON_MOST);
	check->claimed_count = certificate->point_count;
	check->claimed = arena_array(check->arena, double, (certificate->point_count + 1) * count);
	for (size_t i = 0; i < certificate->point_count; i++)
		for (size_t k = 0; k < count; k++)
			check->claimed[i * count + k] = certificate->points[i].values[k];
	if (certificate->claim != PROOF_BOUND)
		return true;
	if (count != 1 || certificate->point_count != 1)
		return reject(check, certificate->claim_span,
			"a bound is of one objective, and of one point");
	double value = check->claimed[0];
	if (!is_number(certificate->bound) || certificate->bound > value)
		return reject(check, certificate->bound_span,
			"the bound %.17g is above the point, which has %.17g", certificate->bound,
			value);
	if (certificate->gap != value - certificate->bound)
		return reject(check, certificate->gap_span,
			"the gap between %.17g and the bound %.17g is %.17g, not %.17g", value,
			certificate->bound, value - certificate->bound, certificate->gap);
	check->claimed[0] = certificate->bound;
	return true;
}

static const char *cell_text(struct certificate_checker *check, const struct cell *cell)
{
	struct mapping mapping;
	cell_set(check->search->space, cell, &mapping);
	return nest_mapping_print(
		check->arena, check->search->arch, check->search->shape, &mapping);
}

static const char *values_text(struct certificate_checker *check, const struct score *score)
{
	const struct objectives *objectives = &check->certificate->objectives;
	struct text text = text_open(check->arena);
	for (size_t k = 0; k < objectives->count; k++)
		text_add(&text, "%s%s %.17g", k ? ", " : "",
			nest_objective_text(
				check->arena, objectives->at[k], check->search->hierarchy),
			objective_value(objectives->at[k], score));
	return text_read(&text);
}

/* A mapping that nothing of the certificate beats. */
static bool reject_cell(
	struct certificate_checker *check, const struct cell *cell, const struct mapping *witness)
{
	const struct certificate *certificate = check->certificate;
	bool bound = certificate->claim == PROOF_BOUND;
	struct nest_counts counts;
	struct nest_score score;
	nest_evaluate(check->search->model, witness, &counts, &score);
	struct score summary = nest_summary(check->search, &counts, &score);
	return reject(check, bound ? certificate->bound_span : certificate->points_span,
		"%s: \"%s\" has %s, of the choice \"%s\"",
		bound                      ? "a mapping is below the bound"
		: certificate->point_count ? "a mapping is better"
					   : "a mapping fits",
		nest_mapping_print(
			check->arena, check->search->arch, check->search->shape, witness),
		values_text(check, &summary), cell_text(check, cell));
}

static bool visit(const struct cell *cell, void *user)
{
	struct certificate_checker *check = user;
	struct certificate_result *result = check->result;
	struct target target = {check->claimed_count, check->claimed, check->certificate->epsilon};
	struct mapping witness;
	enum cell_verdict verdict = cell_check(&check->walker, cell, &target, &witness);
	if (check->checking->progress)
		check->checking->progress(
			check->checking->stopper.listener, result->done, result->choices);
	result->done += verdict == CELL_EXCLUDED || verdict == CELL_SEARCHED;
	result->excluded += verdict == CELL_EXCLUDED;
	if (verdict == CELL_BEATEN)
		return reject_cell(check, cell, &witness);
	if (verdict == CELL_UNCOUNTED || verdict == CELL_STOPPED)
		result->answer = VERDICT_OPEN;
	if (verdict == CELL_UNCOUNTED)
		result->why = arena_format(check->arena, "\"%s\" has no counts",
			nest_mapping_print(
				check->arena, check->search->arch, check->search->shape, &witness));
	return verdict == CELL_EXCLUDED || verdict == CELL_SEARCHED;
}

struct certificate_result certificate_check(
	const struct certificate_checking *checking, struct arena *arena)
{
	struct certificate_result result = {.answer = VERDICT_YES};
	struct certificate_checker check = {.cells = cells_make(arena, checking->search->space),
		.certificate = checking->certificate,
		.search = checking->search,
		.checking = checking,
		.arena = arena,
		.result = &result};
	if (!certificate_covers(checking->search)) {
		result.answer = VERDICT_OPEN;
		result.why = "its factors need not divide, which certificates do not cover";
		return result;
	}
	if (!check_points(&check) || !check_claim(&check))
		return result;
	result.choices = cells_count(&check.cells);
	if (result.choices == UINT64_MAX) {
		result.answer = VERDICT_OPEN;
		result.why = "the space has more choices than can be counted";
		return result;
	}
	check.walker = cell_walker_open(checking->search, checking->budget);
	check.walker.stopper = checking->stopper;
	cells_each(&check.cells, visit, &check);
	result.steps = check.walker.steps;
	result.evaluated = check.walker.evaluated;
	cell_walker_close(&check.walker);
	return result;
}

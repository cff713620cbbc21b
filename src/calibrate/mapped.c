#include "base/arena.h"
#include "calibrate/measured.h"
#include "constraints/constraints.h"
#include "cost/nest/nest.h"
#include "model/nest/nest_mapping.h"
#include "spec/reader.h"

#include <math.h>

/* Nests of a row: the problem on the machine, with the flags of the machine's constraints. */
static const struct hierarchy *find_hierarchy(
	const struct reading *reading, const struct arch *arch, const struct shape *shape)
{
	const struct node *const none[] = {NULL};
	struct constraint_context context = {.reading = reading, .arch = arch, .shape = shape};
	struct hierarchy *hierarchy = hierarchy_make(reading->arena, arch, shape, reading->diag);
	if (!hierarchy)
		return NULL;
	hierarchy_price(hierarchy, reading->arena, arch, COUNTING_EXACT);
	struct constraints constraints = constraints_read(&context, none);
	constraints_flag(&constraints, hierarchy);
	return hierarchy;
}

double mapped_predict(
	const struct measured *row, const struct arch *arch, struct arena *arena, struct diag *diag)
{
	struct reading reading = {.arena = arena, .diag = diag};
	struct mapping mapping;
	struct nest_counts *counts = arena_new(arena, struct nest_counts);
	struct nest_score *score = arena_new(arena, struct nest_score);
	const struct shape *shape = shape_read(&reading, row->problem);
	const struct hierarchy *hierarchy = shape ? find_hierarchy(&reading, arch, shape) : NULL;
	if (!hierarchy)
		return NAN;
	const char *why = nest_mapping_parse(arena, arch, shape, row->mapping, &mapping);
	/* A measured mapping did fit. */
	if (!why && !nest_verdict_counts(
			    nest_evaluate(nest_model_make(arena, hierarchy, shape, COUNTING_EXACT),
				    &mapping, counts, score)))
		why = nest_verdict_text(arena, hierarchy, shape, score);
	if (!why)
		return arch_nanoseconds(arch, score->cycles) / 1000;
	diag_warning(diag, row->problem->span, "line %d has no prediction: %s", row->line, why);
	return NAN;
}

#ifndef DIVIDE_CORE_ROW_H
#define DIVIDE_CORE_ROW_H

#include "model/graph/plan.h"
#include "model/graph/planning.h"

/*
 * From a division to a mapping: splits become the spatial row of the core level.
 *
 * Cores are numbered with the first loop fastest; under the K-fast setting
 * the divided reduction of an einsum comes before all others.
 */

/* Ops that always run undivided: opaque ones and top-k. */
bool core_row_divisible(const struct op *op);

/* Cores that an op may use. */
int64_t core_row_cores(
	const struct arch *arch, const struct planning *planning, const struct op *op);

/* Bytes that an operand of it may span: by its constraints, and by the planning's limit if that
 * is asked for.  INT64_MAX: any number. */
int64_t core_row_span(const struct planning *planning, const struct op *op, bool limited);

struct mapping core_row_mapping(const struct arch *arch, const struct planning *planning,
	const struct op *op, const int64_t *splits);

#endif

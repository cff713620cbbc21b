#ifndef REPORT_RECURRENCE_PROJECTION_CODE_H
#define REPORT_RECURRENCE_PROJECTION_CODE_H

#include "search/recurrence/project_search.h"

/*
 * The projected recurrence as a C function that computes it: loops of time around loops of space,
 * the reverse transform, the guard, shift registers.
 *
 *	void project(void);
 *
 * It calls a function for each input (indices in, value out) and for each output (indices and the
 * value in), by their names; a recurrence without outputs hands every value of a stream S at its
 * point to S_at.  Names that C has taken get an underscore.  The projection must be legal and have
 * no wires in opposite directions; NULL and *why else.
 */
struct arena;
const char *projection_code(struct arena *arena, const struct recurrence *recurrence,
	const struct projection *projection, const struct projection_facts *facts,
	const char **why);

#endif

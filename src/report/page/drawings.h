#ifndef REPORT_DRAWINGS_H
#define REPORT_DRAWINGS_H

#include <jansson.h>

/*
 * The drawings of a page as files for papers, SVG 1.1 (report/run/svg.h); the same data give the same bytes.
 * `rows` are those of pareto.csv (report/run/pareto.h), `details` what the kind says of a point (page.h).
 * NULL where there is nothing to draw.
 */
struct arena;

/*
 * All rows as dots by two columns, and stairs through those that no other beats in both, except for rows of a
 * campaign (with a column `frontier`), which are of several frontiers; NULL for a column is
 * the first of the usual ones that has numbers.  An axis whose ends are far apart is logarithmic.  Dots
 * have the colours of the values of a column, with a legend; NULL: one colour.
 */
const char *frontier_svg(struct arena *arena, const char *title, const json_t *rows, const char *x,
	const char *y, const char *colour);

/* Operations per byte of HBM against operations per ns of each op, beneath the machine's peaks. */
const char *roofline_svg(struct arena *arena, const char *title, const json_t *details);

/* What is in LX: addresses upwards, steps across. */
const char *lx_svg(struct arena *arena, const char *title, const json_t *details);

/* The loops of a mapping, or of the mapping of each op, as boxes within each other. */
const char *nest_svg(struct arena *arena, const char *title, const json_t *details);

#endif

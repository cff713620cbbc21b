#ifndef REPORT_PAGE_H
#define REPORT_PAGE_H

#include <jansson.h>
#include <stdbool.h>

/*
 * One HTML file about a results folder or a campaign.  The data, whose reference it takes, is an object:
 *
 *	title    what was explored
 *	run      run.json of a results folder; `csv` its pareto.csv; `points` by number of the point:
 *	         plan (text), details (report of its kind: score, timeline, machine), or why there are none
 *	layers   layers.csv of a network
 *	campaign what `campaign export --format json` says; in place of the others
 *	notes    sentences for the reader
 *
 * Names are text everywhere: nothing in them can become markup.
 */
struct arena;
const char *page_html(struct arena *arena, json_t *data);

/* True if the charts were there when the program was built. */
bool page_has_charts(void);

/*
 * The drawings of a page as files for papers, SVG 1.1 (report/run/svg.h); the same data give the same bytes.
 * `rows` are those of pareto.csv (report/run/pareto.h), `details` what the kind says of a point (page.h).
 * NULL where there is nothing to draw.
 */

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

/* Contents of LX: addresses upwards, steps across. */
const char *lx_svg(struct arena *arena, const char *title, const json_t *details);

/* The loops of a mapping, or of the mapping of each op, as boxes within each other. */
const char *nest_svg(struct arena *arena, const char *title, const json_t *details);

#endif

#ifndef REPORT_PLACE_SVG_H
#define REPORT_PLACE_SVG_H

#include "report/packing/place_report.h"

/*
 * A picture of a placement, SVG 1.1: addresses upwards against time, a box for each stay, its name
 * where there is room and all that is known of it as a tooltip; reserved bytes; beneath, the load
 * of all buffers and of those kept; beneath that, a bar for each that is spilled, or for the steps
 * between its parts.  At most PLACE_SVG_BOXES_MOST boxes and bars: the largest of bytes x steps;
 * a line says how many are left out.
 */
enum { PLACE_SVG_BOXES_MOST = 20000 };

struct place_svg_words {
	const char *title, *line;
	const char *const
		*steps; /* what steps from 0 on are called, or their numbers; NULL: numbers */
	bool whole;     /* addresses are shown up to the capacity, however low the peak */
};

/* Reads packing, placement, load and has_capacity of the report. */
const char *place_svg(struct arena *arena, const struct place_report *report,
	const struct place_svg_words *words);

#endif

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

#endif

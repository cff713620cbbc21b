#ifndef REPORT_RUN_PARETO_H
#define REPORT_RUN_PARETO_H

#include "base/array.h"
#include "base/text.h"
#include "model/machine/arch.h"
#include "search/drive/drive.h"

#include <jansson.h>
#include <stddef.h>

/*
 * Tables of results: reading and writing of pareto.csv, the summary of a frontier, and tables for people.
 */

/* The cells of a line, without quotes; *line becomes the next one, "" at the end.  RFC 4180 but for line ends in
 * quotes, which our tables have not. */
struct csv_cells array(const char *);
struct csv_cells csv_cells(struct arena *arena, const char **line);

/*
 * The rows of a table that lxplore wrote (pareto.csv), as a list of objects by column: numbers where
 * cells are numbers, null where they are empty, else texts.
 */
json_t *csv_rows(struct arena *arena, const char *csv);

/*
 * pareto.csv of every kind of input: header always, columns only ever appended, doubles with 17
 * digits.  A kind says which groups of columns apply to a row; the others are empty.
 */
enum pareto_group {
	PARETO_ALWAYS = 0,
	PARETO_TIME = 1,     /* cycles have a length */
	PARETO_ENERGY = 2,   /* and bytes of the outermost storage */
	PARETO_CORES = 4,    /* and the scratchpads of cores */
	PARETO_USE = 8,      /* of multipliers */
	PARETO_CLOCKED = 16, /* an execution has cycles */
	PARETO_ARRAY = 32,   /* of PEs */
	PARETO_LINKS = 64,
	PARETO_ROUNDS = 128,
	PARETO_ESTIMATE = 256, /* cycles are a bound, and there is an estimate beside it */
};

struct pareto_row {
	unsigned groups;
	const struct score *score;
	const struct found *found;
	double nanoseconds, estimate_nanoseconds; /* the latter with PARETO_ESTIMATE */
	const char *solver, *mapping, *plan;      /* mapping, plan: "" where there is none */
};

/* The header and a row, both without their line end: a kind may add columns. */
void pareto_head(struct text *text);
void pareto_add(struct text *text, size_t number, const struct pareto_row *row);

/* The whole text.  `row` comes with what the point and its payload, which begins with a struct found,
 * say: score, solver, its key as the mapping, and the path of its plan; the kind completes it. */
struct arena;
const char *pareto_csv(struct arena *arena, const struct frontier *frontier,
	void (*complete)(const void *self, const struct point *point, struct arena *arena,
		struct pareto_row *row),
	const void *self);

/* The file of point i (from 0) inside the results folder. */
const char *pareto_plan_path(struct arena *arena, size_t i);

/*
 * The first lines that end an exploration: its fastest and its leanest point, each with its values,
 * the proof beside the latency, and what bounds that latency:
 *
 *	fastest: point 1, 159.04 us (proven), 25127 uJ; HBM 61 %, overhead 21 %
 *	leanest: point 18, 510.6 us (within 33.7 %), 12740 uJ; array 50 %, HBM 30 %
 */

struct summary_point {
	size_t number; /* from 1 */
	double nanoseconds, energy_pj;
	const char *proof; /* summary_proof */
	const char *bound; /* "HBM 61 %, overhead 21 %"; "": not known */
};

/* One line where both are the same point, and where only the latency counts (leanest NULL). */
const char *summary_text(struct arena *arena, const struct summary_point *fastest,
	const struct summary_point *leanest);

/* "proven", "within 3.1 %" of its value (rounded up), "not proven". */
const char *summary_proof(struct arena *arena, const struct found *found, double value);

/* The point of a frontier with the least of an objective, the first of several; frontier->count > 0. */
size_t summary_least(const struct frontier *frontier, enum objective objective);

/* Points of a frontier that are proven. */
size_t summary_proven(const struct frontier *frontier);

/* "least latency: point 1 (12 cycles), pes: point 5 (3)": the best value of each objective, by their names. */
const char *summary_bests(
	struct arena *arena, const struct frontier *frontier, const char *const *names);

/* The points of `count` that a table shows, at most SUMMARY_ROWS: the first ones and the best of each
 * objective.  shown: one flag for each point. */
enum { SUMMARY_ROWS = 12 };
void summary_choose(const struct frontier *frontier, bool *shown);

#endif

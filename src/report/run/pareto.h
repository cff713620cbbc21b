#ifndef REPORT_RUN_PARETO_H
#define REPORT_RUN_PARETO_H

#include "base/array.h"
#include "base/text.h"
#include "model/machine/arch.h"
#include "search/drive/drive.h"

#include <jansson.h>

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

#endif

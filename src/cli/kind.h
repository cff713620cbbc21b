#ifndef CLI_KIND_H
#define CLI_KIND_H

#include "base/array.h"
#include "cli/command.h"
#include "cli/inputs.h"
#include "cli/listener.h"
#include "report/run/folder.h"
#include "report/run/json.h"
#include "search/drive/solver.h"

#include <jansson.h>
#include <stdio.h>

/*
 * A kind of input, as the commands see it: graphs, problems, networks, recurrences, broadcasts,
 * packings.  The commands name none of them: they read the specs, ask the registry whose they are,
 * and call what the kind's table has.  To add a kind, write src/cli/kind_<name>.c and define
 *
 *	const struct input_kind <name>_kind = {...};
 *
 * in it; the build finds it.  What explores it is a table of its own (search/drive/drive.h).
 *
 * A function that answers an int answers an exit status.  It prints what inputs->diag collected
 * before anything else; who answers `false` leaves that to the command.  What explores says all
 * to exploring->people, for a campaign explores many at a time.
 */
/* A line of `lxplore list`. */
struct list_row {
	const char *name, *summary;
};
struct list_rows array(struct list_row);

struct diff;
struct exploring;
struct nest_inputs;

/* The results of an exploration as texts. */
struct result_texts {
	const char *run;    /* run.json */
	const char *pareto; /* pareto.csv */
	const char *table;  /* for people */
	const char *work;   /* "12 candidates" */
	/* The fastest and the leanest point, in lines; NULL: the best values of the objectives. */
	const char *summary;
	size_t proven; /* points that are, where they are not those of the frontier */
};

/* The part of a kind that `explore` calls. */
struct explorer {
	const char *counted; /* what progress counts: "candidates" */
	const char *found;   /* what was found, or not: "plan" */
	const char *
		none; /* message for a proof that there is none; NULL: only a limit ends the search */
	/* Before the folder is made: EXIT_FOUND to go on; NULL: there is nothing to do. */
	int (*prepare)(struct exploring *exploring);
	struct explored (*run)(struct exploring *exploring);
	/* Fills the objectives and the counting of the record; NULL: the names of objectives, exact. */
	void (*describe)(struct exploring *exploring);
	/* Afterwards: what run.json shall know besides, further files, warnings; NULL: none. */
	void (*finish)(struct exploring *exploring);
	size_t (*points)(const struct exploring *exploring); /* NULL: those of the frontier */
	/* The plan of point i, in the arena; NULL: it has no file. */
	const char *(*plan)(const struct exploring *exploring, size_t i);
	struct result_texts (*texts)(const struct exploring *exploring);
	/* The sentence where no point was found, and whether that is certain; NULL: in the words above. */
	const char *(*nothing)(const struct exploring *exploring, bool *certain);
	/* Compares the result with the request, reports a difference and returns the exit status.  NULL: never differs. */
	int (*judge)(const struct exploring *exploring);
};

struct input_kind {
	const char *name;    /* as in the table of settings: "graph" */
	const char *noun;    /* what messages call one: "a workload graph" */
	const char *plural;  /* "workload graphs" */
	const char *summary; /* one line for `lxplore list kinds` */
	const char *key; /* whose presence in a spec makes it one of this kind; NULL: none does */
	int rank;        /* of several kinds whose keys are there, the one of the highest rank */
	enum subject subject;          /* what its objectives are about */
	struct objectives objectives;  /* the default objectives of the frontier */
	unsigned stages;               /* bits of those whose solvers may be chosen */
	const struct option *settings; /* of its own, beside the table's; NULL: none */
	const struct command *command; /* that it alone has; NULL: none */
	const char *plan;              /* what `diff` compares: "plan"; NULL: nothing */
	const char *list;              /* of `lxplore list`, that it alone has; NULL: none */

	/* Into inputs->own and inputs->name; false after complaining. */
	bool (*read)(struct inputs *inputs, struct sheet *sheet);
	struct explorer explore;
	int (*score)(const struct inputs *inputs, enum format format, bool simulated);
	bool stops;    /* score and check poll `inputs->wishes.asker` */
	bool timeloop; /* its score has the form of Timeloop's statistics, too */
	/* The details of the plan among the inputs for a page: report/page/page.h; NULL: none. */
	json_t *(*details)(const struct inputs *inputs);
	int (*check)(const struct inputs *inputs, enum format format);
	/* True if the specs have a plan of this kind. */
	bool (*has_plan)(const struct inputs *inputs);
	/* NULL, or why two inputs cannot be compared; NULL in the table: they always can. */
	const char *(*unlike)(const struct inputs *a, const struct inputs *b);
	/* The choices and counts of both; false where a plan is illegal, after printing why. */
	bool (*compare)(const struct inputs *a, const struct inputs *b, struct diff *diff);
	/* The problem that a certificate is of, `layer` NULL or a network's; NULL after complaining. */
	const struct nest_inputs *(*certified)(
		const struct inputs *inputs, const char *layer, struct span span);
	/* Checks the claim of the plan in the specs; NULL: plans make no claims. */
	int (*check_claim)(
		const struct inputs *inputs, uint64_t budget, int64_t seconds, enum format format);
	void (*listed)(struct arena *arena, struct list_rows *rows); /* adds the rows of the list */
};

extern const struct input_kind *const input_kinds[]; /* by name; NULL ends them */

struct listener;
/* Opens the listener for Ctrl-C in front of a score or a check, if the kind asks one. */
void kind_listen(struct inputs *inputs, struct listener *listener);

/* Prints the score of the inputs, an exit status; complains where the kind has none in this format. */
int kind_score(const struct inputs *inputs, enum format format, bool simulated);

/* The same of what `check` says. */
int kind_check(const struct inputs *inputs, enum format format);

/* True if a setting is for inputs of this kind. */
bool kind_takes(const struct input_kind *kind, const struct option *setting);

/* An exploration from the command line: what was asked, and what came of it. */
struct exploring {
	struct arena *arena;
	const struct inputs *inputs;
	struct listener listener;
	FILE *people;         /* where is said what is for people: stderr */
	struct wishes wishes; /* as in the inputs, and who asks */
	void *search;         /* the kind's own */
	struct folder *folder;
	struct explored explored;
	struct run_record record;
};

/*
 * One exploration of any kind of input, as `explore` and campaigns carry it out: they make the
 * struct with exploration_open, prepare and run it, and take its results where they want them.
 */

/* Begins an exploration of the inputs; copies the listener.  The caller sets `wishes.asker`. */
struct exploring exploration_open(
	const struct inputs *inputs, const struct listener *listener, FILE *people);

/* EXIT_FOUND where the search can begin; else why not was said.  The complaints so far are, too. */
int exploration_prepare(struct exploring *exploring);

void exploration_run(struct exploring *exploring);

/* Returns the texts of the results and puts all files into exploring->folder. */
struct result_texts exploration_gather(struct exploring *exploring);

size_t exploration_points(const struct exploring *exploring);

/* Returns the exit status of the search, and reports a missing point, the gap of a proof, and simulations that disagree
 * with the model. */
int exploration_end(const struct exploring *exploring);

/* Its folder: `--output`, or results/NAME, one folder below it for any name of a workload or problem. */
const char *explore_folder(
	struct arena *arena, const struct arguments *arguments, const char *name);

/* Says what the diag collected; EXIT_INPUT. */
int exploration_refuse(const struct exploring *exploring);

#endif

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

/* What an exploration comes to. */
struct result_texts {
	const char *run;    /* run.json */
	const char *pareto; /* pareto.csv */
	const char *table;  /* for people */
	const char *work;   /* "12 candidates" */
	/* The fastest and the leanest point, in lines; NULL: the best values of the objectives. */
	const char *summary;
	size_t proven; /* points that are, where they are not those of the frontier */
};

/* What `explore` asks of a kind. */
struct explorer {
	const char *counted; /* what progress counts: "candidates" */
	const char *found;   /* what was found, or not: "plan" */
	const char
		*none; /* said where it is proven that there is none; NULL: a limit alone tells */
	/* Before the folder is made: EXIT_FOUND to go on; NULL: there is nothing to do. */
	int (*prepare)(struct exploring *exploring);
	struct explored (*run)(struct exploring *exploring);
	/* Afterwards: what run.json shall know besides, further files, warnings; NULL: none. */
	void (*finish)(struct exploring *exploring);
	size_t (*points)(const struct exploring *exploring); /* NULL: those of the frontier */
	/* The plan of point i, in the arena; NULL: it has no file. */
	const char *(*plan)(const struct exploring *exploring, size_t i);
	struct result_texts (*texts)(const struct exploring *exploring);
	/* The sentence where no point was found, and whether that is certain; NULL: in the words above. */
	const char *(*nothing)(const struct exploring *exploring, bool *certain);
	/* Whether what was found is what was asked for; told if not.  NULL: it is. */
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
	struct objectives objectives;  /* those of the frontier, if nobody asks for others */
	unsigned stages;               /* bits of those whose solvers may be chosen */
	const struct option *settings; /* of its own, beside the table's; NULL: none */
	const struct command *command; /* that it alone has; NULL: none */
	const char *plan;              /* what `diff` compares: "plan"; NULL: nothing */
	const char *list;              /* of `lxplore list`, that it alone has; NULL: none */

	/* Into inputs->own and inputs->name; false after complaining. */
	bool (*read)(struct inputs *inputs, struct sheet *sheet);
	struct explorer explore;
	int (*score)(const struct inputs *inputs, enum format format, bool simulated);
	bool stops;      /* score and check ask inputs->wishes.asker whether to stop */
	bool sizes_help; /* the least latency is no more where storages are larger */
	bool timeloop;   /* its score has the form of Timeloop's statistics, too */
	/* What a page shows of the plan among the inputs: report/page/page.h; NULL: nothing can be said. */
	json_t *(*details)(const struct inputs *inputs);
	int (*check)(const struct inputs *inputs, enum format format);
	/* Whether the specs bring a plan of it. */
	bool (*has_plan)(const struct inputs *inputs);
	/* NULL, or why two inputs cannot be compared; NULL in the table: they always can. */
	const char *(*unlike)(const struct inputs *a, const struct inputs *b);
	/* The choices and counts of both; false where a plan is illegal, after printing why. */
	bool (*compare)(const struct inputs *a, const struct inputs *b, struct diff *diff);
	/* The problem that a certificate is of, `layer` NULL or a network's; NULL after complaining. */
	const struct nest_inputs *(*certified)(
		const struct inputs *inputs, const char *layer, struct span span);
	/* Whether what the plan that the specs bring says of itself holds; NULL: plans say nothing. */
	int (*check_claim)(
		const struct inputs *inputs, uint64_t budget, int64_t seconds, enum format format);
	void (*listed)(struct arena *arena, struct list_rows *rows); /* what is on the list */
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

#endif

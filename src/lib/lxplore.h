#ifndef LXPLORE_H
#define LXPLORE_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define LXPLORE_API __attribute__((visibility("default")))
#else
#define LXPLORE_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/*
 * liblxplore explores how to run tensor programs on tiled accelerators, as the program lxplore does.
 *
 *	struct lxplore *run = lxplore_open();
 *	lxplore_add(run, "arch.yaml");
 *	lxplore_add(run, "workload.yaml");
 *	lxplore_set(run, "objective", "latency,energy");
 *	enum lxplore_status status = lxplore_explore(run);
 *	if (status == LXPLORE_FOUND)
 *		for (size_t i = 0; i < lxplore_points(run); i++)
 *			fprintf(out, "%s cycles\n", lxplore_cell(run, i, "latency_cycles"));
 *	else
 *		fputs(lxplore_message(run), stderr);
 *	lxplore_close(run);
 *
 * A handle (`struct lxplore`) holds specs, settings and the results of the last call.  All formats are
 * those of the program: `lxplore manual man` and the pages beside the specs describe them.
 *
 * Linking: `cc main.c $(pkg-config --cflags --libs lxplore)`, with `--static` for the archive.
 *
 * Errors.  A function with a status says how it ended; what was said is lxplore_message, and what is
 * said about places in specs is a lxplore_complaint, too.  The library prints nothing, and wrong
 * input never ends the process.  Where memory or threads run out, or lxplore finds a mistake of its
 * own, the call answers LXPLORE_FAILED, and so does every later call of this process, for what was
 * begun cannot be taken back.  Where OpenMP's runtime cannot have the threads of the setting "jobs",
 * it ends the process: ask for fewer.
 *
 * Ownership.  Texts and structs that are returned belong to the handle: they live until its next check,
 * score, simulation or exploration, or lxplore_close.  Texts that are given are copied.
 *
 * Threads.  Different handles may be used by different threads at the same time.  One handle is for one
 * thread at a time, except for lxplore_stop; a second thread that asks it for work gets LXPLORE_BUSY.
 * Work runs on threads of the library, not on the caller's: a small stack is enough for the caller.
 * After a fork the child must not use the library.
 *
 * Units are in the names of columns: _cycles, _ns, _pj, _bytes; edp is in pJ x cycles.  "sim_" is of
 * the execution of the point, the others are of the model.
 */
struct lxplore;

/* The numbers are the exit statuses of the program. */
enum lxplore_status {
	LXPLORE_FOUND = 0,      /* done; of an exploration: there are points */
	LXPLORE_IMPOSSIBLE = 1, /* it is proven that nothing can be found */
	LXPLORE_WRONG = 2,      /* specs or settings are wrong: see the complaints */
	LXPLORE_NOTHING = 3,    /* nothing was found before a limit, which proves nothing */
	LXPLORE_FAILED = 4,     /* the system refused something */
	LXPLORE_BUSY = 5,       /* another thread works with this handle */
	LXPLORE_STOPPED = 130,  /* lxplore_stop ended it; what was found until then is there */
};

/* Version of the library, "MAJOR.MINOR.PATCH".  The major number changes with what programs must know. */
LXPLORE_API const char *lxplore_version(void);

/* NULL if memory is exhausted. */
LXPLORE_API struct lxplore *lxplore_open(void);

/* Ends the handle, in no call; NULL is fine. */
LXPLORE_API void lxplore_close(struct lxplore *run);

/* --- what is asked
 *
 * These return LXPLORE_FOUND, LXPLORE_FAILED without memory, or LXPLORE_BUSY; the work that follows reports errors
 * in their arguments. */

/* A spec file, a folder of them ("specs": its *.yaml files), or a pattern ("specs/a*.yaml").  A relative
 * path "specs/.." that is not there is looked for in the installation that the shared library is part of
 * ("specs/arch/eyeriss.yaml").  It is read by each check and exploration. */
LXPLORE_API enum lxplore_status lxplore_add(struct lxplore *run, const char *path);

/* A spec in memory, `length` bytes of YAML in UTF-8; complaints call it `name`. */
LXPLORE_API enum lxplore_status lxplore_add_text(
	struct lxplore *run, const char *name, const char *text, size_t length);

/* An option of `lxplore explore`, by its long name and in its words: ("objective", "latency,energy"),
 * ("jobs", "2"), ("time-limit", "10"); the value of a flag is NULL.  Later values win, those of repeatable
 * options add up, and all of them win over `search:` of specs.  Options about printing and files (output,
 * format, quiet, verbose, write-lp) are none of the library, and those of the search alone mean nothing
 * without one.  Complaints call the first setting "argument 1", and so on.  Environment variables count
 * as they do for the program. */
LXPLORE_API enum lxplore_status lxplore_set(
	struct lxplore *run, const char *name, const char *value);

/* Progress of an exploration.  Unknown members are 0.  Later versions may append members. */
struct lxplore_progress {
	double seconds;       /* since it began */
	int round;            /* 1, 2, ..; 0: within one */
	uint64_t done, tasks; /* of the round */
	uint64_t count;       /* candidates, or mappings evaluated, so far */
	double best;          /* least value of the first objective so far */
	double bound;         /* no candidate is below */
};

/* `tell` is called at most ten times a second, by one thread at a time, none of them the caller's.  It
 * may call lxplore_stop and nothing else of the library.  NULL ends the calls. */
LXPLORE_API enum lxplore_status lxplore_on_progress(struct lxplore *run,
	void (*tell)(void *context, const struct lxplore_progress *progress), void *context);

/* --- work */

/* Tells all that is wrong with specs, settings and the plan among the specs, if there is one, as `lxplore
 * check` does: LXPLORE_IMPOSSIBLE where a plan is illegal or nothing fits, LXPLORE_NOTHING where that was
 * not decided. */
LXPLORE_API enum lxplore_status lxplore_check(struct lxplore *run);

/* Counts, time and energy of the plan or mapping among the specs, or of the plan that default settings
 * make, by the model; lxplore_simulate executes it, too, and compares: LXPLORE_IMPOSSIBLE where it
 * cannot be, or the two differ.  The numbers are in lxplore_output. */
LXPLORE_API enum lxplore_status lxplore_score(struct lxplore *run);
LXPLORE_API enum lxplore_status lxplore_simulate(struct lxplore *run);

/* Searches, and returns when that has ended, or been stopped. */
LXPLORE_API enum lxplore_status lxplore_explore(struct lxplore *run);

/* Answers the one compiler's capture that was added, a path or text in memory, as `lxplore place
 * CAPTURE.json --format json` does: lxplore_output has the capture with divisions, residency and
 * addresses.  The settings are options of that command: ("capacity", "1612185"), ("case", "mlp"). */
LXPLORE_API enum lxplore_status lxplore_place(struct lxplore *run);

/* Ends the exploration at work in the handle soon; one that has not begun is not affected.  Any thread
 * may call it, and a signal handler. */
LXPLORE_API void lxplore_stop(struct lxplore *run);

/* --- what is said */

/* All of it, as the program says it on stderr: complaints with the lines they are about, why nothing
 * was found, what failed; "" where there is nothing to say. */
LXPLORE_API const char *lxplore_message(const struct lxplore *run);

/* Returns the result of lxplore_check, lxplore_score, lxplore_simulate or lxplore_place as the program prints it
 * with `--format json`; "" after others. */
LXPLORE_API const char *lxplore_output(const struct lxplore *run);

enum lxplore_severity {
	LXPLORE_ERROR,
	LXPLORE_WARNING,
	LXPLORE_NOTE,   /* explains the error or warning before it */
	LXPLORE_REMARK, /* something was read in a way that the user may not expect */
};

/* Lines and columns are 1-based; columns count characters.  The end is one past the last character.
 * Later versions may append members. */
struct lxplore_complaint {
	enum lxplore_severity severity;
	const char *file; /* as it was given; NULL: it is about no place */
	int line, column; /* 0: about the file as a whole */
	int end_line, end_column;
	const char *text; /* "unknown key 'capcity' in level 'LX'; did you mean 'capacity'?" */
};

LXPLORE_API size_t lxplore_complaints(const struct lxplore *run);

/* Number i from 0; NULL beyond the last. */
LXPLORE_API const struct lxplore_complaint *lxplore_complaint(const struct lxplore *run, size_t i);

/* --- what was found
 *
 * Points are the rows of pareto.csv, sorted by the first objective; results/README.md describes the
 * columns.  What is asked beyond the last one, or of a column that is not there, is NULL. */

LXPLORE_API size_t lxplore_points(const struct lxplore *run);
LXPLORE_API size_t lxplore_columns(const struct lxplore *run);
LXPLORE_API const char *lxplore_column(const struct lxplore *run, size_t i);

/* The cell of a point (from 0) in a column by name: "latency_cycles", "proof", "solver", "mapping"; ""
 * where it does not apply. */
LXPLORE_API const char *lxplore_cell(const struct lxplore *run, size_t point, const char *column);

/* The same as a number; NaN where it is none. */
LXPLORE_API double lxplore_number(const struct lxplore *run, size_t point, const char *column);

/* The plan of a point as YAML, which `lxplore score` and `simulate` read beside the specs; "" where it has
 * none. */
LXPLORE_API const char *lxplore_plan(const struct lxplore *run, size_t point);

/* The files that the program would write: "pareto.csv", "run.json", "plans/point-001.yaml", .. */
LXPLORE_API size_t lxplore_files(const struct lxplore *run);
LXPLORE_API const char *lxplore_file_name(const struct lxplore *run, size_t i);
LXPLORE_API const char *lxplore_file_text(const struct lxplore *run, size_t i);

/* Writes all of them as the results folder of a run, at once: the folder has the files of before or
 * these.  LXPLORE_FAILED with a message where it cannot be written. */
LXPLORE_API enum lxplore_status lxplore_write(struct lxplore *run, const char *folder);

#ifdef __cplusplus
}
#endif

#endif

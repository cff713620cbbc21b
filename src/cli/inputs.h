#ifndef CLI_INPUTS_H
#define CLI_INPUTS_H

#include "cli/settings.h"
#include "model/nest/hierarchy.h"
#include "report/run/json.h"
#include "search/drive/frontier.h"
#include "search/drive/solver.h"
#include "search/drive/wishes.h"
#include "spec/reader.h"
#include "spec/sheet.h"

/*
 * Everything that the spec files and the options of one command say, read, checked and put
 * together.  Precedence: built-in default, environment, `search:` of the specs, command line.
 */
struct input_kind;
struct solver;
struct hierarchy;

/* A solver that is to be asked. */
struct choice {
	const struct solver *solver;
	struct span span;
	bool line; /* the command line says so; these come last */
};

struct inputs {
	struct arena *arena;
	struct diag *diag;
	const struct arguments *arguments;
	const struct input_kind *kind;
	const void *own;  /* what the kind read */
	const char *name; /* of what is explored: what the results folder is called by default */
	struct reading reading;
	struct reader search; /* of `search:`; its map is NULL where there is none */
	struct wishes wishes;
	size_t choice_count;
	const struct choice *choices;
	size_t source_count;
	const struct run_source *sources;
};

/* The files of the arguments, of the kind whose key they have; false after complaining. */
bool inputs_read(struct arena *arena, const struct arguments *arguments, struct diag *diag,
	struct inputs *out);

/* The files of the arguments, each read once; NULL in the place of one that could not be, after
 * complaining.  And inputs_read of such, for who asks about some of them twice. */
const struct node *const *inputs_files(
	struct arena *arena, const struct arguments *arguments, struct diag *diag);
bool inputs_read_files(struct arena *arena, const struct arguments *arguments,
	const struct node *const *files, struct diag *diag, struct inputs *out);

/* A solver of a stage by name; NULL after complaining, with the nearest one. */
const struct solver *inputs_solver(
	enum stage stage, const char *name, struct span span, struct diag *diag);

/* --- for kinds, while they read */

/* The one solver that was named, on the command line rather than in the specs; `usual` if none
 * was.  Complains of a second one. */
const struct solver *inputs_one_solver(const struct inputs *inputs, const struct solver *usual);

/* The settings that all kinds have, and refusals of those that are for others: objectives (of a
 * problem with its hierarchy), solvers, budget, seed, what is executed.  Then the kind reads its own,
 * and inputs_settings_done complains about keys that were not read. */
void inputs_settings(struct inputs *inputs, const struct hierarchy *hierarchy);
void inputs_settings_done(struct inputs *inputs);

/* The value of a setting, `search:` before the command line; *out stays where neither says it. */
void inputs_count(struct inputs *inputs, const char *name, uint64_t *out);
void inputs_word(struct inputs *inputs, const char *name, int *out);

/* The same as a node to read, the command line's if it says it, and what messages call it; NULL. */
const struct node *inputs_node(struct inputs *inputs, const char *name, const char **what);

/* The names of a list setting: first those of `search:`, then those of the command line, which commas part and
 * which replace them. */
struct given_name {
	const char *text;
	struct span span;
};

struct given_names {
	bool given; /* perhaps as an empty list */
	size_t count;
	const struct given_name *at;
};

void inputs_names(struct inputs *inputs, const char *name, struct given_names out[2]);

/* True if the setting was given on the command line. */
bool inputs_given(const struct inputs *inputs, const char *name);

/* The machine of `architecture:`, with the energies of an `ERT:`; NULL after complaining. */
const struct arch *inputs_machine(
	struct sheet *sheet, const struct reading *reading, const struct node *node);

/* A complaint where keys are there that do not go with this kind: "a 'plan' stands beside a
 * 'problem'". */
void inputs_refuse_keys(struct inputs *inputs, struct sheet *sheet, const char *const *keys);

/*
 * Objectives by name, as specs and options list them; all of these complain.  accesses:LEVEL is
 * for problems and names a level that keeps words.
 */
struct objective_scope {
	struct arena *arena;
	struct diag *diag;
	enum subject subject;
	const struct hierarchy *hierarchy; /* of a problem; NULL: it could not be read */
};

void objectives_add(struct objectives *objectives, const char *name, struct span span,
	const struct objective_scope *scope);

/* Accesses of a level of scope->hierarchy that keeps words. */
void objectives_add_level(struct objectives *objectives, int level, struct span span,
	const struct objective_scope *scope);

#endif

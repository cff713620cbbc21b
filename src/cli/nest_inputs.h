#ifndef CLI_NEST_INPUTS_H
#define CLI_NEST_INPUTS_H

#include "cli/inputs.h"
#include "constraints/constraints.h"
#include "model/nest/nest_score.h"
#include "search/nest/nest_search.h"

/* Timeloop's search, as a `mapper:` describes it. */
struct mapper_search {
	const char *keys; /* those given, quoted, in a list; NULL: none, or all of them are used */
	bool several;
	struct span file; /* without a line */
	struct patience patience;
	uint64_t size; /* mappings; 0: no limit */
};

/*
 * A problem for the loop-nest model: `problem`, `architecture`, and what may come
 * with them: `ERT`, `mapping`, `constraints` in all forms, `search` or Timeloop's
 * `mapper`.  Flags of constraints and mapping are in the hierarchy.
 */
struct nest_inputs {
	struct mapper_search mapper;
	const struct arch *arch;
	const struct shape *shape;
	const struct hierarchy *hierarchy;
	const struct constraints *constraints; /* those of the mapping apart */
	uint32_t
		imperfect; /* bit d: factors of dimension d need not divide, even where constraints say so */
	const struct domain *domain;   /* of the machine: no constraint narrows it yet */
	const struct mapping *mapping; /* NULL: none given, or an empty list */
	struct span mapping_span;
	bool mapping_flags; /* it sets flags that no constraint sets */
	enum counting counting;
	double epsilon;              /* of proofs: how much worse than the best points may be */
	const struct solver *solver; /* of the stage `map`; NULL: not chosen */
	struct patience patience;    /* of draws */
	struct span patience_span;
};

/* Into inputs->own; false after complaining. */
bool nest_inputs_read(struct inputs *inputs, struct sheet *sheet);

/* The parts of it that networks share; all of these complain.  The machine with its energies: */
const struct arch *nest_inputs_machine(struct sheet *sheet, const struct reading *reading);

/* `mapper:` (NULL: none), `search:` and the options, up to inputs_settings_done; after the
 * hierarchy, if there is one. */
void nest_inputs_settings(
	struct inputs *inputs, struct nest_inputs *own, const struct node *mapper);

/* Constraints, the flags of a mapping (NULL: none), and the domain; into the hierarchy, too. */
void nest_inputs_constraints(struct nest_inputs *inputs, struct hierarchy *hierarchy,
	const struct reading *reading, const struct node *const *lists, const struct node *mapping);

/* Refuses densities; a warning under Timeloop's counting, which counts every element. */
void nest_inputs_density(const struct shape *shape, enum counting counting, struct diag *diag);

/* The keys of a `mapper:`. */
extern const struct noun mapper_noun;

/* Reads Timeloop's `mapper:`: its metrics become objectives, its search goes to own->mapper; one
 * note names the keys that have no meaning here. */
void nest_inputs_mapper(struct inputs *inputs, struct nest_inputs *own, const struct node *node);

/* Takes over how Timeloop would search, if the solver that was named draws mappings as it does. */
void nest_inputs_draw(struct inputs *inputs, struct nest_inputs *own);

/* Notes, in one line, that Timeloop's search is not used, and `instead`. */
void nest_inputs_note_search(const struct nest_inputs *own, const char *instead, struct diag *diag);

/*
 * The search that the inputs describe.
 */

/* True if objectives and solver are of problems; complains. */
bool request_check(
	const struct nest_inputs *inputs, const struct objectives *objectives, struct diag *diag);

/* The search of one problem, in one thread, without progress; `wishes` may stop the preparation.  False after
 * complaining if the constraints leave no mapping, or if it is stopped before the domain is known. */
bool request_search(struct arena *arena, const struct nest_inputs *inputs,
	const struct wishes *wishes, struct diag *diag, struct nest_search *out);

#endif

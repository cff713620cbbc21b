#ifndef INPUTS_NEST_H
#define INPUTS_NEST_H

#include "base/option.h"
#include "constraints/constraints.h"
#include "model/nest/nest_score.h"
#include "search/graph/explore.h"
#include "search/nest/nest_search.h"
#include "spec/sheet.h"

struct network_limits;

/*
 * A problem for the loop-nest model: `problem`, `architecture`, and what may come
 * with them: `ERT`, `mapping`, `constraints` in all forms, `search` or Timeloop's
 * `mapper`.  Flags of constraints and mapping are in the hierarchy.
 */
struct nest_inputs {
	const struct arch *arch;
	const struct shape *shape;
	const struct hierarchy *hierarchy;
	const struct constraints *constraints; /* those of the mapping apart */
	uint32_t
		imperfect; /* bit d: factors of dimension d need not divide, whatever constraints say */
	const struct domain *domain;   /* of the machine: no constraint narrows it yet */
	const struct mapping *mapping; /* NULL: none given, or an empty list */
	struct span mapping_span;
	bool mapping_flags; /* it sets flags that no constraint sets */
	enum counting counting;
	double epsilon;           /* of proofs: how much worse than the best points may be */
	const char *solver;       /* of the stage `map`; NULL: not chosen */
	struct patience patience; /* of draws */
	struct span patience_span;
	struct network_limits *limits; /* of a layer of a network: are read, too */
};

/* Objectives, budgets, seed and so on go to `exploration`.  NULL after complaining. */
const struct nest_inputs *nest_inputs_read(struct sheet *sheet, const struct reading *reading,
	const struct arguments *arguments, struct exploration *exploration);

/* The parts of it that networks share; all of these complain.  The machine with its energies: */
const struct arch *nest_inputs_machine(struct sheet *sheet, const struct reading *reading);

/* `mapper:` and `search:` (NULL: none) and the options; after the hierarchy, if there is one. */
void nest_inputs_wishes(struct nest_inputs *inputs, const struct reading *reading,
	const struct arguments *arguments, const struct node *mapper, const struct node *search,
	struct exploration *exploration);

/* Constraints, the flags of a mapping (NULL: none), and the domain; into the hierarchy, too. */
void nest_inputs_constraints(struct nest_inputs *inputs, struct hierarchy *hierarchy,
	const struct reading *reading, const struct node *const *lists, const struct node *mapping);

/* When draws end by themselves: victory, timeout and sequences, under these names. */
void nest_inputs_patience(
	struct reader *reader, const char *const names[3], struct nest_inputs *inputs);

/* Timeloop's `mapper:` as settings of ours; what has no meaning here gets one note. */
void nest_inputs_mapper(const struct reading *reading, const struct node *node,
	struct nest_inputs *inputs, struct exploration *exploration);

#endif

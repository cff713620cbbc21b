#ifndef GRAPH_NESTS_H
#define GRAPH_NESTS_H

#include "base/stopper.h"
#include "constraints/constraints.h"
#include "model/graph/box_nest.h"
#include "search/drive/drive.h"

/*
 * The constraints of the nests of a graph's ops: those inline in the machine, and those of files, in
 * Timeloop's form.  Dataspaces go by role or tensor, dimensions by loop.  An entry of a file holds for
 * each op that has all its names.
 */

/* The machine with the entries of files that are not of `type: graph`; `lists` as of constraints_lists. */
const struct arch *op_constraints_take(
	const struct reading *reading, const struct arch *arch, const struct node *const *lists);

/* True if one is about nests: where tiles move in boxes these are what is inside a tile. */
bool op_constraints_inside(const struct arch *arch, const struct constraint *constraint);

/* True if there are any. */
bool op_constraints_any(const struct arch *arch);

/* The workload with the flags (no_reuse, ..) of each op.  Complains about what no op of the graph can
 * have, and warns of entries that some ops go without. */
const struct workload *op_constraints_flag(const struct arch *arch, const struct workload *workload,
	struct diag *diag, struct arena *arena);

/* The first constraint that a step of a plan breaks, in a sentence; NULL: none.  Complains about all of
 * them (diag NULL: in silence).  What is resident in the scratchpad has its home there. */
const char *op_constraints_check(
	const struct plan *plan, int step, struct diag *diag, struct arena *arena);

/*
 * The nests of all steps of a plan, on a machine whose tiles do not move in boxes, once it is known what
 * is resident in the scratchpad: stage `map` is asked for the best of each op, in what the machine allows
 * the op's operands by their roles.  A proof that takes more than NEST_STEP_TICKS, of a tile NEST_TILE_TICKS
 * (options.h), ends with the best that was found.
 *
 * False, and *why, when a step has no nest that fits.  The stopper (NULL: none) is asked for every step;
 * after a yes the other steps have none.  Answers are kept by all that they depend on: ops that are alike
 * are asked about once.
 */
struct arena;
struct constraints;
struct kept;
struct solver;
struct nests_wanted {
	enum objective objective;    /* latency, energy, edp or hbm_bytes */
	const struct solver *solver; /* of the stage; NULL: as for problems */
	struct kept *kept;           /* what is known already; NULL: nothing */
	struct stopper stopper;
	const struct constraints
		*constraints; /* of streaming tiles, where a problem is the graph; NULL */
	enum price price;     /* of streaming tiles */
	/* NEST_BRIEF_TICKS mappings of a whole nest by who finds something good (FOR_STARTS), or
	 * OP_BRIEF_EVALUATIONS tilings: no proof. */
	bool brief;
};
bool nests_plan(struct plan *plan, const struct nests_wanted *wanted, struct arena *arena,
	const char **why);

/* The nest of one op, or of a tile of its mapping (model/graph/box_nest.h), on its own. */
struct nest_answer {
	const char *why; /* nothing fits; else NULL */
	bool proven;     /* nothing fits that is better in the objective */
	uint64_t ticks;
	struct mapping mapping; /* of the nest */
};
const struct nest_answer *nests_ask(const struct inner_question *question,
	const struct nests_wanted *wanted, struct arena *arena);

/*
 * The frontier of the nests of an op: of those found in `ticks`, all that no
 * other beats in every objective. `proven`: no other nest belongs to them.
 */
struct nest_choice {
	struct mapping mapping;
	/* As a step of a plan, where tiles do not move in boxes. */
	int64_t cycles, hbm_bytes;
	int64_t room; /* bytes of the scratchpad that its tiles take, residents apart */
	double energy_pj;
};
struct nest_front {
	const char *why; /* nothing fits; else NULL */
	bool proven;
	uint64_t ticks;
	size_t count;
	struct nest_choice at[];
};
const struct nest_front *nests_front(const struct inner_question *question,
	const struct nests_wanted *wanted, const struct objectives *objectives, uint64_t ticks,
	struct arena *arena);

/*
 * The frontier of the nests of an op that is all of a graph, with the budget of a problem: its points
 * (struct nest_found) are those of the same problem.  Objectives of the request that do not
 * depend on nests are left out.  What a plan adds to a nest may change the order of two nests: then nothing is proven.
 * Without points *why is set.
 */
struct explored nests_explore(const struct inner_question *question,
	const struct nests_wanted *wanted, const struct wishes *wishes, struct arena *arena,
	const char **why);

/*
 * A lower bound of the cycles of every plan whose steps are whole nests, one after the other: each op computes
 * on all its multipliers at once.  The home moves every input and output of the graph once.  0: none is known.
 */
int64_t nests_floor(const struct arch *arch, const struct workload *workload);

/* Why an op cannot have the operands of `in_lx` in the scratchpad, by what the machine says of their roles;
 * NULL: it can. */
const char *nests_home(const struct arch *arch, const struct workload *workload,
	const struct op *op, uint32_t in_lx, struct arena *arena);

#endif

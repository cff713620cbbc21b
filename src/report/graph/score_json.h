#ifndef REPORT_GRAPH_SCORE_JSON_H
#define REPORT_GRAPH_SCORE_JSON_H

#include "search/graph/evaluate.h"
#include "search/graph/recipe.h"
#include "search/joint/joint_plan.h"

#include <jansson.h>

/*
 * The output of `score` and `simulate`: one JSON object of the same shape.  Its
 * numbers come from the model, or, when `from_simulator`, from the execution.
 *
 *	feasible, cycles, latency_ns, computes, energy_pj, utilization,
 *	hbm_bytes, lx_peak_bytes, cores, overhead_cycles,
 *	levels   innermost first: name, instances, utilized_instances, bytes by kind
 *	energy   pJ: by level and by tensor, each with its levels; others_pj (computes, leakage,
 *	         networks) is of no tensor; levels, and tensors with others, add up to energy_pj
 *	ops      by step: name, type, cores, bundle, mapping, computes, bytes per
 *	         operand; for the model also the phase's cycles and its slowest resource; of
 *	         an einsum the same as a `nest` on this machine: mapping, computes, and the
 *	         words of every level and operand (search/graph/op_nest.h); where its computes
 *	         are nests, these, with cycles and energies
 *	tensors  where each lies: place, address, size, from, to, in_place_of, or why not in LX
 *
 * A simulation adds: executed, finished, events, agrees, faults, worst_ulps; and where a tensor
 * is off by more than it may be, off.
 */
struct arena;
json_t *score_json(struct arena *arena, const struct outcome *outcome,
	const struct recipe_result *made, bool from_simulator);

/* The nest of a step as reports of problems take it; it points into `nest`. */
struct nest_report;
struct op_nest;
struct nest_report score_nest_report(const struct arch *arch, const struct op_nest *nest);

/* For people: totals, one line per op, one per tensor. */
const char *score_text(struct arena *arena, const struct outcome *outcome,
	const struct recipe_result *made, bool from_simulator);

/*
 * Why a plan costs what it does: for each phase the cycles of every resource and the slowest, what each resource
 * bounds, and for each tensor in HBM what breaks if it lies in LX, or what it gains (search/graph/lx_trial.h).
 * Then what each kind of decision is worth; none: nothing was solved again.  Last the energy.
 */
struct text;
const char *explain_text(struct arena *arena, const struct outcome *outcome,
	const struct planning *planning, const struct joint_worths *worths);

/* The energy by level, which of it is assumed and where it comes from, and by tensor; the model's or the simulator's. */
void energy_text(struct text *text, const struct outcome *outcome, bool from_simulator);

#endif

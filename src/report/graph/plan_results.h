#ifndef GRAPH_PLAN_RESULTS_H
#define GRAPH_PLAN_RESULTS_H

#include "report/run/json.h"
#include "search/claim/plan_claim.h"
#include "search/graph/evaluate.h"
#include "search/graph/explore.h"
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
 *	         words of every level and operand (search/graph/op_nest.c); where its computes
 *	         are nests, these, with cycles and energies
 *	tensors  where each lies: place, address, size, from, to, in_place_of, or why not in LX
 *
 * A simulation adds: executed, finished, events, agrees, faults, worst_ulps; and where a tensor
 * is off by more than it may be, off.
 */
struct arena;
json_t *score_json(struct arena *arena, const struct outcome *outcome,
	const struct recipe_result *made, bool from_simulator);

/* The tree of score_json for people: totals, a row for each op, the nests inside ops, a row for each tensor, energy. */
const char *score_text(struct arena *arena, const struct outcome *outcome, const json_t *tree);

/*
 * Why a plan costs what it does: for each phase the cycles of every resource and the slowest, what each resource
 * bounds, and for each tensor in HBM what breaks if it lies in LX, or what it gains (search/graph/lx_trial.c).
 * Then what each kind of decision is worth; none: nothing was solved again.  Last the energy.
 */
const char *explain_text(struct arena *arena, const struct outcome *outcome,
	const struct planning *planning, const struct joint_worths *worths);

/* The results folder of a graph: columns of report/run/pareto.h; a plan is that of
 * model/graph/plan_file.h. */

const char *plan_pareto_csv(
	struct arena *arena, const struct arch *arch, const struct frontier *frontier);

/* The fastest and the leanest point; NULL where the first objective is not the latency. */
const char *plan_summary(
	struct arena *arena, const struct arch *arch, const struct frontier *frontier);

/* For people: the best points (summary_choose), without `all`; with it also why executions of points take longer
 * than the model says. */
const char *plan_pareto_table(
	struct arena *arena, const struct arch *arch, const struct frontier *frontier, bool all);

const char *plan_run_json(struct arena *arena, const struct run_record *record,
	const struct arch *arch, const struct explored *explored);

/*
 * The output of `check` for a graph as a tree: the specs, then a plan that was executed without a fault and whose counts
 * are the model's.  The text is that of the specs, or of the plan once it is in the tree.
 */
json_t *plan_check_json(const struct arch *arch, const struct workload *workload);
void plan_check_add(json_t *tree, const struct outcome *outcome);
const char *plan_check_text(struct arena *arena, const json_t *tree);

/*
 * A line for each tensor: "x  0: 8 of n/64  1: 512 of m  stick 2: 64 of n" is of 8 sticks of 64 elements along n,
 * each for 512 of m.
 */
const char *layouts_text(struct arena *arena, const struct workload *workload);

/* The output of `check --certificate` for a plan: the claim, the answer, and the number of states examined. */
json_t *claim_report_json(const struct plan_claim *claim);
const char *claim_report_text(struct arena *arena, const json_t *tree);

/*
 * When each engine worked on each step of an execution, all cores together, for drawings.  A list by step, then
 * engine: {step, engine, from, to, busy}, in nanoseconds; `busy` is the mean over the cores that have the
 * engine at work.  The simulation must have kept its trace.
 */
json_t *timeline_json(struct arena *arena, const struct outcome *outcome);

/* Peaks of a plan's machine: HBM bytes and operations of all cores per nanosecond, bytes of LX. */
json_t *timeline_machine(const struct outcome *outcome);

/*
 * When every instruction ran, in the trace-event format that Perfetto and
 * chrome://tracing open: a process for each core, a thread for each engine,
 * microseconds.  What several cores do in the same tile is one event, of the first of them and at its
 * time, unless `each_core`: `cores` has all of them, all_end_us when the last one ends, and
 * all_busy_us the sum of their times, where these are not those of the event.
 * The simulation must have kept its trace.
 */
const char *trace_json(struct arena *arena, const struct outcome *outcome, bool each_core);

#endif

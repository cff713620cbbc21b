#ifndef REPORT_EXPLAIN_TEXT_H
#define REPORT_EXPLAIN_TEXT_H

#include "search/graph/evaluate.h"
#include "search/joint/joint_worth.h"

/*
 * Why a plan costs what it does: for each phase the cycles of every resource and the slowest, what each resource
 * bounds, and for each tensor in HBM what breaks if it lies in LX, or what it gains (search/graph/lx_trial.h).
 * Then what each kind of decision is worth; none: nothing was solved again.  Last the energy.
 */
struct arena;
struct text;
const char *explain_text(struct arena *arena, const struct outcome *outcome,
	const struct planning *planning, const struct joint_worths *worths);

/* The energy by level, which of it is assumed and where it comes from, and by tensor; the model's or the simulator's. */
void energy_text(struct text *text, const struct outcome *outcome, bool from_simulator);

#endif

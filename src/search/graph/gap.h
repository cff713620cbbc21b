#ifndef SEARCH_GAP_H
#define SEARCH_GAP_H

#include "search/graph/evaluate.h"

/*
 * Why a plan takes longer on the simulator than in the model: the phase that
 * loses most, what it waits for before its first compute, and what follows its
 * last.
 */
#define GAP_RATIO 1.15
#define GAP_NANOSECONDS 50e3

/* The simulator takes over GAP_RATIO times the model's cycles, and those are
 * longer than GAP_NANOSECONDS. */
bool gap_is_large(const struct arch *arch, int64_t cycles, int64_t simulated_cycles);

/* One sentence, from an execution with a trace; NULL if it cannot be lowered. */
struct arena;
const char *gap_explain(const struct outcome *outcome, struct arena *arena);

#endif

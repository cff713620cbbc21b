#ifndef SIM_FAULT_H
#define SIM_FAULT_H

#include "sim/graph/sim.h"

/*
 * Collects what a program does wrong: of each kind the first that an
 * instruction does, until there are SIM_FAULTS_MOST.
 */
struct arena;

enum { FAULT_IN_HBM = -1 }; /* in place of a core */

struct faults {
	const struct program *program;
	struct arena *arena;
	int64_t cycle; /* the clock */
	int rank;      /* whose memories are looked at */
	int count;
	struct sim_fault *at; /* SIM_FAULTS_MOST */
};

/* The sentence goes behind "op 'sub' (step 1, instruction 7), core 3, address 4096, cycle 12: ". */
void fault_add(struct faults *faults, enum sim_fault_kind kind, uint32_t instruction, int core,
	int64_t address, const char *format, ...) __attribute__((format(printf, 6, 7)));

/* A fault of no instruction; step -1: of the program as a whole. */
void fault_add_step(struct faults *faults, enum sim_fault_kind kind, int step, int core,
	int64_t address, const char *format, ...) __attribute__((format(printf, 6, 7)));

static inline bool faults_full(const struct faults *faults)
{
	return faults->count == SIM_FAULTS_MOST;
}

#endif

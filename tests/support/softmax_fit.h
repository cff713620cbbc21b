#ifndef SUPPORT_SOFTMAX_FIT_H
#define SUPPORT_SOFTMAX_FIT_H

#include "model/machine/arch.h"

#include <stdbool.h>
#include <stdio.h>

/*
 * The two overheads of a machine, fitted to the published softmax table:
 * (512, 1024) fp16 along dim 0, medians of 1000 runs, on one core in four
 * stages of LX planning and once on four cores.
 *
 *	time = model at the sourced rates + bundles * bundle_overhead
 *	       + used cores of every bundle * core_overhead
 *
 * A row whose bytes alone, through HBM or LX's read port at their sourced
 * rates, take longer than measured contradicts these rates: no overhead can mend
 * it, so it is left out.  Of the other rows the least squares over non-negative
 * overheads are taken, and where they leave a choice, the least norm.
 */
enum { SOFTMAX_ROWS = 5 };

struct softmax_row {
	const char *name;
	int cores;
	double measured_us;
	int64_t hbm_bytes;
	int64_t bytes_cycles;        /* bytes alone: of each phase, HBM or LX reads */
	int64_t model_cycles;        /* without overheads */
	int64_t bundles, cores_used; /* summed over the bundles */
	bool contradicts;
	double predicted_us; /* with the machine's own overheads */
};

struct softmax_fit {
	struct softmax_row rows[SOFTMAX_ROWS];
	double bundle_cycles, core_cycles; /* fitted */
	double bundle_ns, core_ns;
};

/* The workload is read from the file; BUG if one of its plans cannot be made. */
struct arena;
struct softmax_fit softmax_fit(
	struct arena *arena, const struct arch *arch, const char *workload_path);

void softmax_fit_print(const struct softmax_fit *fit, FILE *stream);

#endif

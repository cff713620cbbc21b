#include "search/nest/nest_search.h"

#include <signal.h>
#include <stdlib.h>

static int depth(volatile char *above, int n)
{
	volatile char here[4096];
	here[0] = above ? above[0] : 0;
	return n < 0 ? here[0] : depth(here, n + 1) + here[0];
}

/* Ends the program in a way that depends on the size of the first dimension. */
static void run_crash(struct run *run, const struct problem *problem)
{
	switch (problem->nest->space->domain->shape->dimensions[0].extent) {
	case 4:
		raise(SIGSEGV);
		break;
	case 8:
		abort();
	default:
		exit(depth(NULL, 0));
	}
}

const struct solver map_crash_solver = {
	.stage = STAGE_MAP,
	.name = "crash",
	.summary = "ends the program",
	.run = run_crash,
};

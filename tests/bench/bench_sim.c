#include "base/arena.h"
#include "lower/graph/lower.h"
#include "sim/graph/sim.h"
#include "tests/support/plan_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Speed of programs in the three modes; REPEAT= runs each as often (default 5), the best counts. */
static const struct row {
	const char *name;
	enum sim_mode mode;
	const char *workload;
	const char *mappings[2];
} rows[] = {
	{"matrix product, as a candidate", SIM_COUNT,
		"{dimensions: {m: 2048, n: 2048, k: 4096}, "
		"ops: ['y[m,n] = sum(k) a[m,k] * b[k,n]']}",
		{"core: m8 n4 | LX: m8 n8 k4"}},
	{"pointwise, 32 cores, tiles of a row", SIM_COUNT,
		"{dimensions: {m: 16384, n: 4096}, ops: ['y[m,n] = exp(x[m,n])']}",
		{"core: m32 | LX: n64 m256"}},
	{"matrix product, 32 cores, passes of a stick", SIM_COUNT,
		"{dimensions: {m: 2048, n: 2048, k: 4096}, "
		"ops: ['y[m,n] = sum(k) a[m,k] * b[k,n]']}",
		{"core: m8 n4 | LX: m8 n8 k64"}},
	{"matrix product, reduction over 4 cores", SIM_COUNT,
		"{dimensions: {m: 2048, n: 2048, k: 4096}, "
		"ops: ['y[m,n] = sum(k) a[m,k] * b[k,n]']}",
		{"core: k4 m8 | LX: m16 n32 k16"}},
	{"matrix product, identity", SIM_IDENTITY,
		"{dimensions: {m: 2048, n: 2048, k: 4096}, "
		"ops: ['y[m,n] = sum(k) a[m,k] * b[k,n]']}",
		{"core: m8 n4 | LX: m2 n4 k16"}},
	{"matrix product of 2^27 multiply-adds", SIM_DATA,
		"{dimensions: {m: 512, n: 512, k: 512}, "
		"ops: ['y[m,n] = sum(k) a[m,k] * b[k,n]']}",
		{"core: m8 n4 | LX: m2 k4"}},
	{"pointwise over 2^22 elements", SIM_DATA,
		"{dimensions: {m: 2048, n: 2048}, ops: ['y[m,n] = exp(x[m,n])']}",
		{"core: m32 | LX: n4"}},
};

static double seconds(void)
{
	struct timespec now;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

struct measure {
	double time;
	uint64_t events;
	int64_t operations;
};

/* In memory that is used again and again, as the explorer does. */
static struct measure run_once(
	const struct row *row, const struct program *program, struct arena *arena)
{
	struct arena_mark mark = arena_mark(arena);
	struct sim_options options = {.mode = row->mode, .small_integers = true};
	double start = seconds();
	struct sim_result result = sim_run(program, &options, arena);
	struct measure measure = {
		seconds() - start, result.events, result.counts.steps[0].computes};
	arena_release(arena, mark);
	return measure;
}

static void run_row(const struct row *row, int repeat)
{
	struct arena *arena = arena_open();
	const char *why, *stays[] = {NULL};
	const struct plan *plan = plan_text(arena, 32, row->workload, row->mappings, stays);
	const struct program *program = lower_plan(plan, arena, &why);
	if (!program) {
		printf("%s: %s\n", row->name, why);
		exit(1);
	}
	struct measure best = {0};
	for (int i = 0; i < repeat; i++) {
		struct measure measure = run_once(row, program, arena);
		if (i == 0 || measure.time < best.time)
			best = measure;
	}
	printf("%-45s %-8s %9" PRIu64 " events %8.3f s %8.2f M events/s", row->name,
		sim_mode_names[row->mode], best.events, best.time,
		(double)best.events / best.time * 1e-6);
	if (row->mode == SIM_DATA)
		printf(" %8.1f M operations/s", (double)best.operations / best.time * 1e-6);
	printf("\n");
	arena_close(arena);
}

int main(void)
{
	const char *text = getenv("REPEAT");
	int repeat = text ? atoi(text) : 5;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		run_row(&rows[i], repeat < 1 ? 1 : repeat);
	return 0;
}

#include "search/solver.h"

#include "base/array.h"
#include "base/random.h"
#include "base/text.h"
#include "search/cells.h"

#include <stdarg.h>
#include <stdio.h>

const char *const stage_names[] = {"divide", "place", "map", "joint", 0};

struct run {
	struct arena *arena;
	uint64_t budget; /* 0: none */
	struct random random;
	struct answer answer;
	struct array(struct candidate) candidates;
	struct array(double) values;
	struct array(struct complaint) complaints;
	struct array(struct cell) cells;
};

const struct solver *solver_find(enum stage stage, const char *name)
{
	for (const struct solver *const *at = solvers; *at; at++)
		if ((*at)->stage == stage && text_equal((*at)->name, name))
			return *at;
	return NULL;
}

struct arena *run_arena(struct run *run)
{
	return run->arena;
}

bool run_spend(struct run *run, uint64_t ticks)
{
	if (run->budget && ticks > run->budget - run->answer.ticks) {
		run->answer.ticks = run->budget;
		run->answer.cut = true;
		return false;
	}
	run->answer.ticks += ticks;
	return true;
}

uint64_t run_random(struct run *run, uint64_t bound)
{
	return random_below(&run->random, bound);
}

void run_evaluated(struct run *run, uint64_t count)
{
	run->answer.evaluated += count;
}

void run_prove(struct run *run, enum proof_status status, double bound)
{
	run->answer.status = status;
	run->answer.bound = bound;
}

void run_cell(struct run *run, struct cell cell)
{
	*array_add(run->arena, &run->cells) = cell;
}

void run_offer(struct run *run, const struct candidate *candidate, double value)
{
	*array_add(run->arena, &run->candidates) = *candidate;
	*array_add(run->arena, &run->values) = value;
}

void run_complain(struct run *run, bool error, int op, const char *format, ...)
{
	va_list list, again;
	va_start(list, format);
	va_copy(again, list);
	size_t size = (size_t)vsnprintf(NULL, 0, format, list) + 1;
	va_end(list);
	char *text = arena_alloc(run->arena, size);
	vsnprintf(text, size, format, again);
	va_end(again);
	*array_add(run->arena, &run->complaints) = (struct complaint){error, op, text};
}

struct answer solve(const struct solver *solver, const struct problem *problem, uint64_t ticks,
	uint64_t seed, struct arena *arena)
{
	struct run run = {.arena = arena, .budget = ticks, .random = random_open(seed, 0)};
	solver->run(&run, problem);
	run.answer.candidate_count = run.candidates.count;
	run.answer.candidates = run.candidates.at;
	run.answer.values = run.values.at;
	run.answer.complaint_count = run.complaints.count;
	run.answer.complaints = run.complaints.at;
	run.answer.cell_count = run.cells.count;
	run.answer.cells = run.cells.at;
	return run.answer;
}

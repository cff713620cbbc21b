#include "search/drive/solver.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/fatal.h"
#include "base/random.h"
#include "base/text.h"
#include "search/engine/parallel.h"

const char *const stage_names[] = {
	"divide", "place", "map", "joint", "project", "broadcast", "scatter", "menu", 0};

/* Ticks between two calls of the stopper. */
enum { STOP_TICKS = 64 };

struct run {
	const struct asker *asker;
	struct arena *arena;
	uint64_t budget;       /* 0: none */
	struct stop_poll poll; /* of all ticks, those that no budget counts included */
	bool spent;            /* perhaps before it began */
	uint64_t seed, stream;
	struct random random;
	struct answer answer;
	struct array(struct candidate) candidates;
	struct array(double) values;
	struct array(struct complaint) complaints;
};

const struct solver *solver_find(enum stage stage, const char *name)
{
	for (const struct solver *const *at = solvers; *at; at++)
		if ((*at)->stage == stage && text_equal((*at)->name, name))
			return *at;
	return NULL;
}

const struct solver *solver_for(enum stage stage, enum purpose purpose)
{
	for (const struct solver *const *at = solvers; *at; at++)
		if ((*at)->stage == stage && ((*at)->purposes & purpose))
			return *at;
	BUG("stage %s has no solver for purpose %#x", stage_names[stage], (unsigned)purpose);
}

const struct solver *solver_sharing(enum stage stage, enum sharing sharing)
{
	for (const struct solver *const *at = solvers; *at; at++)
		if ((*at)->stage == stage && (*at)->sharing == sharing)
			return *at;
	BUG("stage %s has no solver of sharing %d", stage_names[stage], (int)sharing);
}

const char *solver_label(struct arena *arena, const struct solver *solver)
{
	return arena_format(arena, "%s/%s", stage_names[solver->stage], solver->name);
}

struct portfolio portfolio_for(enum stage stage, unsigned purposes)
{
	struct portfolio portfolio = {0};
	for (const struct solver *const *at = solvers; *at; at++)
		if ((*at)->stage == stage && ((*at)->purposes & purposes))
			portfolio_add(&portfolio, *at);
	return portfolio;
}

void portfolio_add(struct portfolio *portfolio, const struct solver *solver)
{
	for (size_t i = 0; i < portfolio->count; i++)
		if (portfolio->at[i] == solver)
			return;
	if (portfolio->count == PORTFOLIO_MOST)
		BUG("more than %d solvers of a stage", PORTFOLIO_MOST);
	portfolio->at[portfolio->count++] = solver;
}

struct arena *run_arena(struct run *run)
{
	return run->arena;
}

bool run_go_on(struct run *run, uint64_t ticks)
{
	if (!stop_poll_ends(&run->poll, ticks))
		return true;
	run->answer.stopped = run->answer.cut = true;
	return false;
}

bool run_count(struct run *run, uint64_t ticks)
{
	uint64_t left = run->budget ? run->budget - run->answer.ticks : UINT64_MAX;
	run->answer.ticks += ticks < left ? ticks : left;
	return run_go_on(run, ticks);
}

bool run_spend(struct run *run, uint64_t ticks)
{
	if (!run_go_on(run, ticks))
		return false;
	if (run->spent) {
		run->answer.cut = true;
		return false;
	}
	if (run->budget && ticks > run->budget - run->answer.ticks) {
		run->answer.ticks = run->budget;
		run->answer.cut = run->spent = true;
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

void run_prove_within(struct run *run, double factor)
{
	run->answer.within = factor;
}

void run_prove_each(struct run *run, const double *bounds, size_t count)
{
	run->answer.bounds = arena_copy(run->arena, bounds, count * sizeof *bounds);
}

void run_core(struct run *run, size_t count, const int *buffers)
{
	run->answer.core_count = count;
	run->answer.core = arena_copy(run->arena, buffers, count * sizeof *buffers);
}

void run_offer(struct run *run, const struct candidate *candidate, double value)
{
	*array_add(run->arena, &run->candidates) = *candidate;
	*array_add(run->arena, &run->values) = value;
}

void run_complain(struct run *run, bool error, int op, const char *format, ...)
{
	va_list list;
	va_start(list, format);
	const char *text = arena_format_list(run->arena, format, list);
	va_end(list);
	*array_add(run->arena, &run->complaints) = (struct complaint){error, op, text};
}

static struct run asker_open_run(const struct asker *asker, struct arena *arena, uint64_t ticks,
	uint64_t seed, uint64_t stream)
{
	return (struct run){.asker = asker,
		.arena = arena,
		.budget = ticks,
		.poll = {.stopper = &asker->stopper, .every = STOP_TICKS},
		.seed = seed,
		.stream = stream,
		.random = random_open(seed, stream)};
}

struct parts {
	struct run *runs;
	void (*part)(struct run *run, void *context, size_t i);
	void *context;
};

static void run_one(void *context, size_t i, int thread)
{
	struct parts *parts = context;
	(void)thread;
	parts->runs[i].arena = arena_open();
	parts->part(&parts->runs[i], parts->context, i);
}

static void one_done(void *context, size_t i)
{
	(void)context;
	(void)i;
}

static void take_over(struct run *run, struct run *part)
{
	const struct answer *answer = &part->answer;
	run->answer.ticks += answer->ticks;
	run->answer.evaluated += answer->evaluated;
	run->answer.cut |= answer->cut;
	run->answer.stopped |= answer->stopped;
	run->poll.stopped |= answer->stopped;
	run_looked(run, &answer->effort);
	for (size_t i = 0; i < part->candidates.count; i++)
		run_offer(run, &part->candidates.at[i], part->values.at[i]);
	for (size_t i = 0; i < part->complaints.count; i++)
		*array_add(run->arena, &run->complaints) = part->complaints.at[i];
	arena_adopt(run->arena, part->arena);
}

bool run_parts(struct run *run, size_t count,
	void (*part)(struct run *run, void *context, size_t i), void *context)
{
	struct arena *arena = arena_open();
	struct parts parts = {arena_array(arena, struct run, count), part, context};
	uint64_t left = run->budget - run->answer.ticks;
	for (size_t i = 0; i < count; i++) {
		uint64_t share = left / count + (i < left % count);
		parts.runs[i] = asker_open_run(
			run->asker, NULL, run->budget ? share : 0, run->seed, ++run->stream);
		parts.runs[i].poll.stopped = run->poll.stopped;
		parts.runs[i].spent = run->budget && !share;
	}
	struct parallel work = {&parts, run_one, one_done};
	parallel_each(&work, count, run->asker->jobs > 1 ? run->asker->jobs : 1);
	for (size_t i = 0; i < count; i++)
		take_over(run, &parts.runs[i]);
	arena_close(arena);
	return !run->answer.cut;
}

void run_looked(struct run *run, const struct effort *effort)
{
	effort_add(&run->answer.effort, effort);
}

void run_report(struct run *run, double value, double bound)
{
	struct progress progress = {.count = run->answer.evaluated, .best = value, .bound = bound};
	if (run->asker->progress)
		run->asker->progress(run->asker->stopper.listener, &progress);
}

struct answer solve_for(const struct asker *asker, const struct solver *solver,
	const struct problem *problem, uint64_t ticks, uint64_t seed, struct arena *arena)
{
	struct run run = asker_open_run(asker, arena, ticks, seed, 0);
	solver->run(&run, problem);
	run.answer.candidate_count = run.candidates.count;
	run.answer.candidates = run.candidates.at;
	run.answer.values = run.values.at;
	run.answer.complaint_count = run.complaints.count;
	run.answer.complaints = run.complaints.at;
	return run.answer;
}

struct answer run_ask(struct run *run, const struct solver *solver, const struct problem *problem,
	uint64_t ticks, uint64_t seed, struct arena *arena)
{
	struct asker asker = {.jobs = 1, .stopper = run->asker->stopper};
	return solve_for(&asker, solver, problem, ticks, seed, arena);
}

struct answer solve(const struct solver *solver, const struct problem *problem, uint64_t ticks,
	uint64_t seed, struct arena *arena)
{
	static const struct asker alone = {.jobs = 1};
	return solve_for(&alone, solver, problem, ticks, seed, arena);
}

#include "base/arena.h"
#include "base/text.h"
#include "model/packing/buffer.h"
#include "model/packing/packing_file.h"
#include "search/drive/solver.h"
#include "solvers/place/packing.h"
#include "tests/support/place_instances.h"

#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

/*
 * Time to find packings, and the quality of those of the other solvers; CPU seconds of one thread,
 * without the reading of files.  PLACEMENT= a folder with A.1048576.csv and the others (default
 * ../shared/cases/placement): without it, packings that are drawn.  MINIMALLOC= its program: both
 * in one run, flags as its authors give them.  PERFECT=50 places 50 perfect packings, 10 s each.
 */
enum { CAPACITY = 1048576, SEEDS = 20, SEEDS_OF_MEDIAN = 5, SECONDS = 10 };

extern char **environ;

struct limit {
	double end;
};

static double seconds(void)
{
	return (double)clock() / CLOCKS_PER_SEC;
}

static bool is_late(void *listener)
{
	const struct limit *limit = listener;
	return seconds() > limit->end;
}

struct timed {
	struct answer answer;
	double seconds;
};

static struct timed ask(struct arena *arena, const struct packing *packing, const char *solver,
	enum packing_goal goal, uint64_t seed, double most)
{
	struct packing *question = arena_copy(arena, packing, sizeof *packing);
	question->goal = goal;
	struct problem problem = {.stage = STAGE_PLACE, .packing = question};
	double start = seconds();
	struct limit limit = {start + most};
	struct asker asker = {.jobs = 1, .stopper = {&limit, is_late}};
	struct timed timed = {
		solve_for(&asker, solver_find(STAGE_PLACE, solver), &problem, 0, seed, arena), 0};
	timed.seconds = seconds() - start;
	return timed;
}

static const struct placement *last(const struct answer *answer)
{
	return answer->candidate_count ? answer->candidates[answer->candidate_count - 1].placement
				       : NULL;
}

static const char *folder(void)
{
	const char *given = getenv("PLACEMENT");
	return given ? given : "../shared/cases/placement";
}

static bool read_file(
	struct arena *arena, const char *name, int64_t capacity, struct packing *packing)
{
	struct source *source = arena_new(arena, struct source);
	struct packing_file file;
	source->name = arena_format(arena, "%s/%s.csv", folder(), name);
	source->bytes = text_of_file(arena, source->name);
	if (!source->bytes)
		return false;
	source->length = strlen(source->bytes);
	if (!packing_read(arena, source, 1, false, diag_open(arena), &file))
		return false;
	*packing = file.packing;
	packing->capacity = capacity;
	packing->alignment = 1;
	return true;
}

static int compare_doubles(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;
	return (a > b) - (a < b);
}

/* CPU seconds of the median of three runs; NAN: it did not find one. */
static double minimalloc(struct arena *arena, const char *program, const char *path)
{
	double times[3];
	for (int run = 0; run < 3; run++) {
		struct rusage before, after;
		char *arguments[] = {arena_text(arena, program),
			arena_format(arena, "--input=%s", path),
			arena_format(arena, "--capacity=%d", CAPACITY),
			arena_text(arena, "--output=/dev/null"), NULL};
		pid_t child;
		int status;
		getrusage(RUSAGE_CHILDREN, &before);
		if (posix_spawn(&child, program, NULL, NULL, arguments, environ) ||
			waitpid(child, &status, 0) < 0 || status)
			return NAN;
		getrusage(RUSAGE_CHILDREN, &after);
		times[run] = (double)(after.ru_utime.tv_sec - before.ru_utime.tv_sec +
				      after.ru_stime.tv_sec - before.ru_stime.tv_sec) +
			     (double)(after.ru_utime.tv_usec - before.ru_utime.tv_usec +
				      after.ru_stime.tv_usec - before.ru_stime.tv_usec) *
				     1e-6;
	}
	qsort(times, 3, sizeof *times, compare_doubles);
	return times[1];
}

/* Every seed's seconds; INFINITY: not placed. */
static void time_seeds(const struct packing *packing, double *times)
{
	for (int seed = 0; seed < SEEDS; seed++) {
		struct arena *arena = arena_open();
		struct timed timed =
			ask(arena, packing, "exact", PACKING_FIT, (uint64_t)seed + 1, SECONDS);
		bool placed =
			last(&timed.answer) && packing_check(packing, last(&timed.answer)).a < 0;
		times[seed] = placed ? timed.seconds : INFINITY;
		arena_close(arena);
	}
}

static void bench_challenging(void)
{
	const char *program = getenv("MINIMALLOC");
	double sum = 0, other_sum = 0, worst = 0;
	printf("\nfits into %d bytes: exact, CPU seconds, median of %d seeds and most of %d%s\n",
		CAPACITY, SEEDS_OF_MEDIAN, SEEDS, program ? "; minimalloc, median of 3" : "");
	for (char letter = 'A'; letter <= 'K'; letter++) {
		struct arena *arena = arena_open();
		struct packing packing;
		const char *name = arena_format(arena, "%c.%d", letter, CAPACITY);
		double times[SEEDS], most = 0;
		if (!read_file(arena, name, CAPACITY, &packing)) {
			printf("  %s is not in %s\n", name, folder());
			arena_close(arena);
			return;
		}
		time_seeds(&packing, times);
		for (int seed = 0; seed < SEEDS; seed++)
			most = fmax(most, times[seed]);
		qsort(times, SEEDS_OF_MEDIAN, sizeof *times, compare_doubles);
		double median = times[SEEDS_OF_MEDIAN / 2];
		printf("  %c %4zu buffers  %.4f  %.4f", letter, packing.count, median, most);
		if (program) {
			double other = minimalloc(
				arena, program, arena_format(arena, "%s/%s.csv", folder(), name));
			printf("  %8.3f  %6.0f times", other, other / median);
			other_sum += other;
		}
		printf("\n");
		sum += median;
		worst = fmax(worst, most);
		arena_close(arena);
	}
	printf("  sum of the medians %.4f, the slowest seed %.4f", sum, worst);
	if (program)
		printf("; minimalloc %.3f, %.0f times", other_sum, other_sum / sum);
	printf("\n");
}

static void print_peak(const struct packing *packing, const char *solver, double most)
{
	struct arena *arena = arena_open();
	struct timed timed = ask(arena, packing, solver, PACKING_PEAK, 1, most);
	const struct placement *placement = last(&timed.answer);
	double load = (double)packing_load(packing, arena);
	if (!placement)
		printf("    %-9s %.60s, %.2f s\n", solver,
			timed.answer.complaint_count ? timed.answer.complaints[0].text
						     : "nothing found",
			timed.seconds);
	else
		printf("    %-9s %.0f, %.5f of the load, bound %.0f%s, %.2f s\n", solver,
			(double)placement_peak(packing, placement),
			(double)placement_peak(packing, placement) / load,
			fmax(timed.answer.bound, load),
			timed.answer.status == PROOF_OPTIMAL ? " (proven)" : "", timed.seconds);
	arena_close(arena);
}

static void bench_peaks(void)
{
	static const char *const names[] = {"C.1048576", "D.1048576", "J.1048576", "G_1",
		"resnet50", "pangu_2.6B", "S_1", "Y_1"};
	printf("\nleast peaks within %d s\n", SECONDS);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		struct arena *arena = arena_open();
		struct packing packing;
		if (read_file(arena, names[i], PACKING_BYTES_MOST / 2, &packing)) {
			printf("  %s, %zu buffers, load %.0f\n", names[i], packing.count,
				(double)packing_load(&packing, arena));
			print_peak(&packing, "exact", SECONDS);
			print_peak(&packing, "boxes", SECONDS);
		}
		arena_close(arena);
	}
}

static void bench_perfect(void)
{
	const char *text = getenv("PERFECT");
	long count = text ? strtol(text, NULL, 10) : 3, placed = 0;
	printf("\nperfect packings at their height, exact, %d s each (PERFECT=50 for more)\n",
		SECONDS);
	for (long i = 0; i < count; i++) {
		struct arena *arena = arena_open();
		struct perfect perfect = perfect_numbered(arena, 1, (uint64_t)i);
		struct timed timed = ask(arena, &perfect.packing, "exact", PACKING_FIT, 1, SECONDS);
		const struct placement *placement = last(&timed.answer);
		bool good = placement && packing_check(&perfect.packing, placement).a < 0;
		placed += good;
		printf("  %2ld: %3zu buffers, %s %.2f s\n", i, perfect.packing.count,
			good ? "placed" : "not", timed.seconds);
		arena_close(arena);
	}
	printf("  %ld of %ld placed\n", placed, count);
}

/* Uniform lives of at most a sixth of all, sizes of 1 to 64 KiB. */
static struct packing draw_uniform(struct arena *arena, size_t count)
{
	struct random random = random_open(7, count);
	struct buffer *buffers = arena_array(arena, struct buffer, count);
	int64_t steps = (int64_t)count / 2;
	for (size_t i = 0; i < count; i++) {
		int64_t start = (int64_t)random_below(&random, (uint64_t)steps);
		int64_t end = start + 1 + (int64_t)random_below(&random, (uint64_t)steps / 3);
		buffers[i] = (struct buffer){.name = "b",
			.size = 1024 * (1 + (int64_t)random_below(&random, 64)),
			.start = start,
			.end = end < steps ? end : steps};
	}
	return (struct packing){.capacity = PACKING_BYTES_MOST / 2,
		.alignment = 1,
		.count = count,
		.buffers = buffers};
}

static void bench_quality(void)
{
	static const size_t counts[] = {30, 200, 1000, 100000, 1000000};
	static const char *const names[] = {
		"ilp", "greedy", "firstfit", "bestfit", "boxes", "exact"};
	printf("\npeaks of drawn packings (uniform lives of up to a sixth), %d s each\n", SECONDS);
	for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
		struct arena *arena = arena_open();
		struct packing packing = draw_uniform(arena, counts[c]);
		printf("  %zu buffers, load %.0f\n", counts[c],
			(double)packing_load(&packing, arena));
		for (size_t s = 0; s < sizeof names / sizeof *names; s++)
			if (counts[c] <= 1000 || s == 4)
				print_peak(&packing, names[s], SECONDS);
		arena_close(arena);
	}
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	bench_challenging();
	bench_peaks();
	bench_perfect();
	bench_quality();
	return 0;
}

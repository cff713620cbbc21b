/*
 * Explores a spec from files, settings from the command line, and prints the frontier.
 *
 *	cc explore.c $(pkg-config --cflags --libs lxplore) -o explore
 *	./explore specs/arch/spyre32.yaml specs/workloads/softmax_dim0.yaml objective=latency,energy
 */
#include <lxplore.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void tell(void *context, const struct lxplore_progress *progress)
{
	(void)context;
	fprintf(stderr, "%.1f s: %" PRIu64 " candidates, best %g\n", progress->seconds,
		progress->count, progress->best);
}

/* A word is NAME=VALUE or the path of a spec. */
static void take(struct lxplore *run, char *word)
{
	char *equals = strchr(word, '=');
	if (!equals) {
		lxplore_add(run, word);
		return;
	}
	*equals = '\0';
	lxplore_set(run, word, equals + 1);
}

static void print_complaints(const struct lxplore *run)
{
	for (size_t i = 0; i < lxplore_complaints(run); i++) {
		const struct lxplore_complaint *at = lxplore_complaint(run, i);
		if (at->severity == LXPLORE_ERROR)
			fprintf(stderr, "%s, line %d, column %d: %s\n",
				at->file ? at->file : "specs", at->line, at->column, at->text);
	}
}

static void print_points(const struct lxplore *run)
{
	for (size_t i = 0; i < lxplore_points(run); i++)
		printf("point %zu: %s cycles, %g pJ, %s\n", i + 1,
			lxplore_cell(run, i, "latency_cycles"), lxplore_number(run, i, "energy_pj"),
			lxplore_cell(run, i, "solver"));
}

int main(int argc, char **argv)
{
	struct lxplore *run = lxplore_open();
	if (!run)
		return EXIT_FAILURE;
	for (int i = 1; i < argc; i++)
		take(run, argv[i]);
	lxplore_on_progress(run, tell, NULL);
	enum lxplore_status status = lxplore_explore(run);
	if (status == LXPLORE_WRONG)
		print_complaints(run);
	else
		fputs(lxplore_message(run), stderr);
	print_points(run);
	lxplore_close(run);
	return status;
}

#include "base/arena.h"
#include "cost/nest/nest.h"
#include "sim/nest/nest.h"
#include "tests/support/family.h"
#include "tests/support/nest_compare.h"
#include "tests/support/nest_files.h"
#include "tests/support/nest_interpreter.h"

#include <stdio.h>

/*
 * Family loop-nest, counted exactly: the closed form is what the executions count, the simulator
 * with numbers and the interpreter element by element, wherever they take no longer than seconds.
 */
enum { SIMULATED_MOST = 1000000, INTERPRETED_MOST = 100000 };

static long simulated, interpreted;

static void compare(const struct nest_files *files, const char *model_name,
	const struct nest_counts *model, const char *name, const struct nest_counts *counts,
	bool right, const char *wrong)
{
	struct nest_case nest = {
		.shape = *files->shape, .hierarchy = *files->hierarchy, .mapping = files->mapping};
	if (!right)
		family_note(files->family, name, wrong ? wrong : "its result is not the einsum's");
	const char *why = nest_counts_differ(files->arena, &nest, model_name, model, name, counts);
	if (why)
		family_note(files->family, "counts", why);
}

static void check(struct family *family, const char *root, const char *name, const char *machine)
{
	family_case(family, "%s/%s", name, machine);
	struct nest_files files;
	if (!nest_files_read(family, root, name, machine, &files))
		return;
	const struct nest_model *model =
		nest_model_make(family->arena, files.hierarchy, files.shape, COUNTING_EXACT);
	struct nest_counts counts = {0}, executed;
	struct nest_score score;
	enum nest_verdict verdict = nest_evaluate(model, &files.mapping, &counts, &score);
	family->compared++;
	if (verdict == NEST_FACTORS || verdict == NEST_FANOUT)
		return; /* no mapping at all */
	if (!nest_verdict_counts(verdict)) {
		family_note(family, "refused",
			nest_verdict_text(family->arena, files.hierarchy, files.shape, &score));
		return;
	}
	if (counts.computes <= SIMULATED_MOST) {
		struct nest_sim_options options = {.data = true, .seed = 1};
		struct nest_sim sim = nest_simulate(
			files.hierarchy, files.shape, &files.mapping, &options, family->arena);
		compare(&files, "model", &counts, "simulator", &sim.counts,
			sim.finished && sim.right, sim.wrong);
		simulated++;
	}
	if (counts.computes <= INTERPRETED_MOST) {
		bool apart, right = nest_interpret_without(RULE_NONE, files.hierarchy, files.shape,
				    &files.mapping, &executed, &apart);
		if (apart != (verdict == NEST_SUMS_APART))
			family_note(family, "interpreter", "sums end in parts");
		compare(&files, "model", &counts, "interpreter", &executed, right, NULL);
		interpreted++;
	}
}

int main(int argc, char **argv)
{
	const char *root = argc > 1 ? argv[1] : "../shared/cases";
	struct family family;
	if (!family_open(&family, "loop-nest/exact", root, "loop-nest"))
		return 0;
	nest_files_each(&family, root, check);
	printf("%ld simulated, %ld interpreted\n", simulated, interpreted);
	return family_close(&family);
}

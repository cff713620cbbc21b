#include "base/arena.h"
#include "tests/support/adversary_case.h"
#include "tests/support/case_json.h"
#include "tests/support/csv.h"
#include "tests/support/family.h"
#include "tests/support/shell.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Family joint: a machine, a workload and a plan that was better than one called proven.  `explore`
 * runs with the objective of the case. The case holds if it finds a plan at least as good as the
 * counter plan, or proves nothing of its plan, or claims only a space without a decision of the
 * counter plan.
 */
enum { FILE_MOST = 1 << 16 };

static const double near = 1 + 1e-9; /* energies are sums of floating point */

static const char *file_text(struct arena *arena, const char *path)
{
	char *text = arena_array(arena, char, FILE_MOST);
	FILE *in = fopen(path, "r");
	if (!in)
		return NULL;
	text[fread(text, 1, FILE_MOST - 1, in)] = 0;
	fclose(in);
	return text;
}

/* The objective of a plan from the counts that `score` prints; NAN when it prints none. */
static double value_of(
	struct arena *arena, const char *folder, const char *plan, const char *objective)
{
	struct ended ended =
		shell(arena, "$LXPLORE score '%s/arch.yaml' '%s/workload.yaml' '%s' --format json",
			folder, folder, plan);
	json_t *score = ended.status ? NULL : json_loads(ended.out, 0, NULL);
	double cycles = json_number_value(json_object_get(score, "estimate_cycles"));
	double energy = json_number_value(json_object_get(score, "energy_pj"));
	double bytes = json_number_value(json_object_get(score, "hbm_bytes"));
	bool read = json_is_true(json_object_get(score, "feasible"));
	json_decref(score);
	if (!read)
		return NAN;
	return strcmp(objective, "latency") == 0  ? cycles
	       : strcmp(objective, "energy") == 0 ? energy
	       : strcmp(objective, "edp") == 0    ? cycles * energy
						  : bytes;
}

/* True if the counter plan makes a kind of decision that the claims of an exploration call fixed: each
 * of the spaces that run.json names leaves it out. */
static bool is_left_out(struct arena *arena, const char *folder, const char *out)
{
	const struct workload *given;
	const struct plan *counter = adversary_read(folder, "counter.yaml", &given, arena);
	const char *text = file_text(arena, arena_format(arena, "%s/run.json", out));
	json_t *run = text ? json_loads(text, 0, NULL) : NULL, *space;
	json_t *spaces = json_object_get(run, "proof_spaces");
	bool left_out = counter && json_array_size(spaces) > 0;
	size_t i;
	json_array_foreach(spaces, i, space)
		left_out &=
			adversary_left_out(counter, given, json_string_value(space), arena) != 0;
	json_decref(run);
	return left_out;
}

/* Returns the lower bound of all plans in the first row of a frontier; 0 if nothing is proven. */
static double bound_of(struct arena *arena, const char *frontier, double value)
{
	const char *proof = csv_cell(arena, frontier, 1, "proof");
	if (!proof || strcmp(proof, "none") == 0)
		return 0;
	return value - strtod(csv_cell(arena, frontier, 1, "gap"), NULL);
}

static void judge(struct family *family, const char *folder, const char *out, const char *objective,
	const char *counter)
{
	struct arena *arena = family->arena;
	const char *found = arena_format(arena, "%s/plans/point-001.yaml", out);
	const char *frontier = file_text(arena, arena_format(arena, "%s/pareto.csv", out));
	double least = value_of(arena, folder, counter, objective);
	double ours = value_of(arena, folder, found, objective);
	if (!frontier || isnan(least) || isnan(ours)) {
		family_note(family, "score", "a plan has no value");
		return;
	}
	double bound = bound_of(arena, frontier, ours);
	if (bound > least * near && !is_left_out(arena, folder, out))
		family_note(family, "proof",
			arena_format(arena,
				"%s of %.0f is called proven, and none below %.0f; the counter plan "
				"has %.0f",
				objective, ours, bound, least));
}

static void check(struct family *family, const char *root, const char *name, const char *file)
{
	(void)file;
	family_case(family, "%s", name);
	struct arena *arena = family->arena;
	const char *folder = arena_format(arena, "%s/joint/%s", root, name);
	const char *counter = arena_format(arena, "%s/counter.yaml", folder);
	json_t *record = json_load_file(arena_format(arena, "%s/case.json", folder), 0, NULL);
	const char *objective = record ? case_text(record, "objective") : "latency";
	const char *out = shell_folder(arena);
	const char *thin = getenv("THIN"); /* a search that is cut proves less, and no more */
	family->compared++;
	struct ended ended = shell(arena, "$LXPLORE check '%s/arch.yaml' '%s/workload.yaml' '%s'",
		folder, folder, counter);
	if (ended.status)
		family_note(family, "the counter plan is refused", ended.err);
	ended = shell(arena,
		"$LXPLORE explore '%s/arch.yaml' '%s/workload.yaml' --objective %s "
		"--simulate none -q -j 1 -o '%s' %s",
		folder, folder, objective, out, thin && atoi(thin) > 1 ? "--time-limit 8" : "");
	if (ended.status)
		family_note(family, "explore", ended.err);
	else
		judge(family, folder, out, objective, counter);
	shell_remove(out);
	json_decref(record);
}

int main(int argc, char **argv)
{
	struct family family;
	const char *root = argc > 1 ? argv[1] : "../shared/cases";
	if (!family_open(&family, "joint", root, "joint"))
		return 0;
	family_each(&family, root, "joint", NULL, check);
	return family_close(&family);
}

#include "base/arena.h"
#include "cost/nest/nest.h"
#include "tests/support/case_json.h"
#include "tests/support/family.h"
#include "tests/support/nest_files.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * Family loop-nest: what a mapping costs, by Timeloop's counting, against what
 * Timeloop printed: counts per instance and cycles as integers, energies to
 * 1e-6 and half a unit of the last printed digit.  Where Timeloop's own counts are wrong
 * (imperfect factors) the multiply-adds are compared with what they must be.
 */
static void expect(const struct nest_files *files, const char *level, const char *key,
	const json_t *record, json_t *got)
{
	family_expect(files->family, arena_format(files->arena, "%s %s", level, key),
		json_object_get(record, key), got);
}

/* Energies are printed with two decimals. */
static void expect_pj(const struct nest_files *files, const char *what, const json_t *expected,
	double pj, int terms)
{
	if (!expected)
		return;
	double printed = json_number_value(expected);
	files->family->compared++;
	if (fabs(pj - printed) > 1e-6 * fabs(printed) + 0.005 * terms)
		family_note(files->family, what,
			arena_format(files->arena, "expected %.2f pJ, came %.6f", printed, pj));
}

static void compare_space(const struct nest_files *files, const struct nest_counts *counts,
	const struct nest_score *score, int i, int t, const json_t *record)
{
	const struct nest_count *count = &counts->at[i][t];
	int64_t instances = counts->utilized[i];
	const char *what = arena_format(files->arena, "%s %s", files->hierarchy->levels[i].name,
		files->shape->spaces[t].name);
	expect(files, what, "reads", record, json_integer(count->reads / instances));
	expect(files, what, "fills", record, json_integer(count->fills / instances));
	expect(files, what, "updates", record, json_integer(count->updates / instances));
	expect(files, what, "utilized_capacity", record, json_integer(count->capacity));
	expect(files, what, "utilized_instances", record, json_integer(instances));
	expect_pj(
		files, what, json_object_get(record, "energy_total_pJ"), score->space_pj[i][t], 1);
}

/* The levels of the record that store, innermost first, are those of the machine. */
static void compare_levels(const struct nest_files *files, const struct nest_counts *counts,
	const struct nest_score *score, const json_t *levels)
{
	int i = 0;
	for (size_t k = 1; k < json_array_size(levels); k++, i++) {
		const json_t *record = json_array_get(levels, k);
		const char *name = case_text(record, "name");
		while (i < files->hierarchy->level_count && !files->hierarchy->levels[i].storage)
			i++;
		if (i == files->hierarchy->level_count ||
			strcmp(name, files->hierarchy->levels[i].name) != 0) {
			family_note(files->family, name, "is not where it should be");
			return;
		}
		expect(files, name, "cycles", record, json_integer(score->level_cycles[i]));
		expect_pj(files, arena_format(files->arena, "%s leakage", name),
			json_object_get(json_object_get(record, "spec"), "leakage_energy_total_pJ"),
			score->leak_pj[i], 1);
		const json_t *spaces = json_object_get(record, "dataspaces");
		for (int t = 0; t < files->shape->space_count; t++) {
			const json_t *space = json_object_get(spaces, files->shape->spaces[t].name);
			if (space)
				compare_space(files, counts, score, i, t, space);
		}
	}
}

static int printed_terms(const json_t *levels)
{
	int terms = 1;
	for (size_t k = 1; k < json_array_size(levels); k++)
		terms += 1 + (int)json_object_size(
				     json_object_get(json_array_get(levels, k), "dataspaces"));
	return terms;
}

static void compare(const struct nest_files *files, const struct nest_counts *counts,
	const struct nest_score *score, const json_t *expected)
{
	const json_t *levels = json_object_get(expected, "levels");
	const json_t *multipliers = json_array_get(levels, 0);
	expect(files, "all", "cycles", expected, json_integer(score->cycles));
	expect(files, "all", "macs", expected, json_integer(counts->computes));
	expect(files, "multipliers", "utilized_instances", multipliers,
		json_integer(counts->utilized_computes));
	expect(files, "multipliers", "cycles", multipliers, json_integer(counts->compute_cycles));
	expect_pj(files, "multipliers", json_object_get(multipliers, "energy_total_pJ"),
		score->compute_pj, 1);
	expect_pj(files, "all", json_object_get(expected, "energy_pJ"), score->energy_pj,
		printed_terms(levels));
	compare_levels(files, counts, score, levels);
	double utilization = json_number_value(json_object_get(expected, "utilization"));
	if (fabs(score->utilization - utilization) > 0.005)
		family_note(files->family, "utilization",
			arena_format(files->arena, "expected %g, came %g", utilization,
				score->utilization));
}

/* Multipliers that a mapping asks for. */
static int64_t mapped_multipliers(const struct nest_files *files)
{
	int64_t all = 1;
	for (int i = 0; i < files->hierarchy->level_count; i++) {
		int row = files->hierarchy->levels[i].block_row;
		for (int d = 0; d < files->shape->dimension_count; d++)
			all *= files->mapping.rows[row].spatial[d];
	}
	return all;
}

/* Timeloop's words for a refusal, and the two numbers in them.  Of a fan-out it counts the
 * multipliers of the whole machine. */
static void compare_refusal(
	const struct nest_files *files, const struct nest_score *score, const json_t *expected)
{
	const struct {
		const char *words;
		enum nest_verdict verdict;
	} reasons[] = {
		{"exceeds buffer capacity", NEST_CAPACITY},
		{"exceeds hardware", NEST_FANOUT},
		{"is not equal to the dimension size", NEST_FACTORS},
		{"is less than", NEST_UTILIZATION},
	};
	const char *message =
		json_string_value(json_array_get(json_object_get(expected, "messages"), 0));
	files->family->compared++;
	if (!message) {
		family_note(files->family, "failure", "the record gives no message");
		return;
	}
	for (size_t r = 0; r < sizeof reasons / sizeof *reasons; r++) {
		if (!strstr(message, reasons[r].words))
			continue;
		int64_t numbers[2] = {0};
		int found = 0;
		for (const char *at = message; *at && found < 2; at++)
			if (strchr("0123456789", *at) && (at == message || at[-1] == ' ')) {
				char *end;
				numbers[found++] = strtoll(at, &end, 10);
				at = end - 1;
			}
		const struct hierarchy *machine = files->hierarchy;
		int64_t multipliers = machine->compute_mesh_x * machine->compute_mesh_y;
		bool alike = score->asked == numbers[0] && score->given == numbers[1];
		if (score->verdict == NEST_FANOUT)
			alike |= mapped_multipliers(files) == numbers[0] &&
				 multipliers == numbers[1];
		if (score->verdict != reasons[r].verdict || !alike)
			family_note(files->family, "refused",
				nest_verdict_text(
					files->arena, files->hierarchy, files->shape, score));
		return;
	}
	family_note(files->family, "an unknown reason", message);
}

/* Timeloop cuts averages to integers here; its tiles are right, and there are as many multiply-adds
 * as points. */
static void compare_imperfect(const struct nest_files *files, const struct nest_counts *counts,
	const struct nest_score *score, const json_t *expected)
{
	int64_t computes = 1;
	for (int d = 0; d < files->shape->dimension_count; d++)
		computes *= files->shape->dimensions[d].extent;
	if (score->verdict != NEST_FITS) {
		family_note(files->family, "refused",
			nest_verdict_text(files->arena, files->hierarchy, files->shape, score));
		return;
	}
	if (counts->computes != computes)
		family_note(files->family, "multiply-adds",
			arena_format(files->arena, "%lld, not %lld", (long long)counts->computes,
				(long long)computes));
	const json_t *levels = json_object_get(expected, "levels");
	for (int i = 0; i < files->hierarchy->level_count; i++) {
		const json_t *record = json_array_get(levels, (size_t)i + 1);
		const json_t *spaces = json_object_get(record, "dataspaces");
		for (int t = 0; t < files->shape->space_count; t++)
			expect(files, case_text(record, "name"), "utilized_capacity",
				json_object_get(spaces, files->shape->spaces[t].name),
				json_integer(counts->at[i][t].capacity));
	}
}

static void check(struct family *family, const char *root, const char *name, const char *machine)
{
	family_case(family, "%s/%s", name, machine);
	struct nest_files files;
	if (!nest_files_read(family, root, name, machine, &files))
		return;
	json_t *expected = json_load_file(
		arena_format(family->arena, "%s/expected.json", files.folder), 0, NULL);
	const struct nest_model *model =
		nest_model_make(family->arena, files.hierarchy, files.shape, COUNTING_TIMELOOP);
	struct nest_counts counts;
	struct nest_score score;
	enum nest_verdict verdict = nest_evaluate(model, &files.mapping, &counts, &score);
	if (json_is_true(json_object_get(expected, "failure")))
		compare_refusal(&files, &score, expected);
	else if (strstr(name, "imperfect"))
		compare_imperfect(&files, &counts, &score, expected);
	else if (verdict != NEST_FITS)
		family_note(family, "refused",
			nest_verdict_text(family->arena, files.hierarchy, files.shape, &score));
	else
		compare(&files, &counts, &score, expected);
	json_decref(expected);
}

int main(int argc, char **argv)
{
	const char *root = argc > 1 ? argv[1] : "../shared/cases";
	struct family family;
	if (!family_open(&family, "loop-nest/counts", root, "loop-nest"))
		return 0;
	nest_files_each(&family, root, check);
	return family_close(&family);
}

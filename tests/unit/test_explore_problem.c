#include "base/arena.h"
#include "tests/support/draws.h"
#include "tests/support/folder.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/test.h"

#define SMALL                                                                                      \
	"specs/arch/three_level.yaml specs/problems/gemm_16.yaml "                                 \
	"specs/constraints/keep_all.yaml"

static struct ended explore(const char *words)
{
	return shell(arena, "$LXPLORE explore %s -q -o %s", words, folder);
}

static int64_t counter(const char *name)
{
	json_t *root = json_loads(folder_text("run.json"), 0, NULL);
	json_t *value = json_object_get(json_object_get(root, "counters"), name);
	assert_true(json_is_integer(value));
	int64_t answer = json_integer_value(value);
	json_decref(root);
	return answer;
}

FOLDER_TEST(a_small_space_is_searched_to_the_end)
{
	assert_int_equal(explore(SMALL).status, 0);
	const char *csv = folder_text("pareto.csv");
	assert_non_null(strstr(csv, ",true,"));
	assert_non_null(strstr(csv, ",data,optimal,0,map/linear,"));
	assert_null(strstr(csv, ",false,"));
	assert_int_equal(counter("disagreed"), 0);
	assert_int_equal(counter("refused"), 0);
	assert_true(counter("simulated") > 0);
	assert_non_null(strstr(folder_text("run.json"), "\"complete\": true"));
}

/* score and simulate give the file of a point the figures that explore gives the point. */
FOLDER_TEST(a_point_scores_as_its_row)
{
	assert_int_equal(explore(SMALL).status, 0);
	char *row = strchr(arena_text(arena, folder_text("pareto.csv")), '\n') + 1;
	strtok(row, ",");
	long long cycles = atoll(strtok(NULL, ","));
	strtok(NULL, ",");
	double energy = atof(strtok(NULL, ","));
	struct ended scored = shell(arena,
		"$LXPLORE score specs/arch/three_level.yaml specs/problems/gemm_16.yaml "
		"%s/plans/point-001.yaml",
		folder);
	assert_int_equal(scored.status, 0);
	json_t *root = json_loads(scored.out, 0, NULL);
	assert_true(json_is_true(json_object_get(root, "feasible")));
	assert_int_equal(json_integer_value(json_object_get(root, "cycles")), cycles);
	assert_true(json_real_value(json_object_get(root, "energy_pj")) == energy);
	json_decref(root);
}

FOLDER_TEST(threads_change_nothing)
{
	static const char *const spaces[] = {SMALL,
		"specs/arch/three_level.yaml specs/problems/mttkrp.yaml --budget 30000",
		("specs/arch/eyeriss.yaml specs/problems/resnet50_3x3.yaml --budget 30000 "
		 "--counting timeloop"),
		SMALL " --solver map=exact --objective latency,energy",
		("specs/arch/eyeriss.yaml specs/problems/resnet50_3x3.yaml --budget 3000 "
		 "--solver map=exact --objective edp --simulate none")};
	for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i += (size_t)draws_apart(1)) {
		const char *first = NULL, *plan = NULL;
		for (int jobs = 1; jobs <= 7; jobs += 3) {
			assert_int_equal(
				explore(arena_format(arena, "%s -j %d", spaces[i], jobs)).status,
				0);
			if (first) {
				assert_string_equal(first, folder_text("pareto.csv"));
				assert_string_equal(plan, folder_text("plans/point-001.yaml"));
			}
			first = folder_text("pareto.csv");
			plan = folder_text("plans/point-001.yaml");
		}
	}
}

FOLDER_TEST(a_seed_draws_other_mappings)
{
	static const char words[] =
		"specs/arch/three_level.yaml specs/problems/gemm_512.yaml --solver map=random "
		"--budget 5000";
	assert_int_equal(explore(words).status, 0);
	const char *first = folder_text("pareto.csv");
	assert_int_equal(explore(arena_format(arena, "%s --seed 2", words)).status, 0);
	assert_string_not_equal(first, folder_text("pareto.csv"));
	assert_int_equal(counter("evaluated"), 5000);
}

/* Enumerating as far as the budget goes proves nothing, and says so. */
FOLDER_TEST(a_budget_ends_the_enumeration)
{
	assert_int_equal(explore(SMALL " --solver map=linear --budget 2000").status, 0);
	assert_int_equal(counter("evaluated"), 2000);
	assert_non_null(strstr(folder_text("pareto.csv"), ",none,,map/linear,"));
}

/* The exact search ends with a proof, or with how far below the best found a mapping can be. */
FOLDER_TEST(a_proof_or_a_gap)
{
	static const char words[] = SMALL " --objective edp --simulate none --solver map=exact";
	assert_int_equal(explore(words).status, 0);
	assert_non_null(strstr(folder_text("pareto.csv"), ",optimal,0,map/exact,"));
	assert_int_equal(explore(arena_format(arena, "%s --budget 3", words)).status, 0);
	const char *bound = strstr(folder_text("pareto.csv"), ",bound,");
	assert_non_null(bound);
	assert_true(atof(bound + 7) > 0);
}

/* The excess over the bound stays within epsilon and is reported. */
FOLDER_TEST(nearly_the_best_is_enough)
{
	static const char words[] = SMALL " --objective edp --simulate none --solver map=exact";
	assert_int_equal(explore(arena_format(arena, "%s --epsilon 0.2", words)).status, 0);
	const char *bound = strstr(folder_text("pareto.csv"), ",bound,");
	const char *optimal = strstr(folder_text("pareto.csv"), ",optimal,0,");
	assert_true((bound && atof(bound + 7) > 0) != (optimal != NULL));
	assert_int_equal(explore(arena_format(arena, "%s --epsilon 0", words)).status, 0);
	assert_non_null(strstr(folder_text("pareto.csv"), ",optimal,0,map/exact,"));
	struct ended ended = explore(arena_format(arena, "%s --epsilon -1", words));
	assert_int_equal(ended.status, 2);
	assert_non_null(strstr(ended.err, "epsilon is a number of 0 or more"));
	/* of a frontier it stands in the certificate */
	ended = explore(SMALL " --objective latency,energy --simulate none --solver map=exact "
			      "--epsilon 0.5");
	assert_int_equal(ended.status, 0);
	if (!strstr(folder_text("pareto.csv"), ",optimal,0,"))
		assert_non_null(strstr(folder_text("certificate.yaml"), "epsilon: 0.5"));
	ended = shell(arena, "$LXPLORE check " SMALL " --certificate %s/certificate.yaml", folder);
	assert_string_equal(ended.err, "");
	assert_int_equal(ended.status, 0);
}

FOLDER_TEST(both_countings_agree_on_a_matrix_product)
{
	assert_int_equal(explore(SMALL " --counting timeloop --simulate frontier").status, 0);
	assert_non_null(strstr(folder_text("run.json"), "\"counting\": \"timeloop\""));
	assert_non_null(strstr(folder_text("pareto.csv"), ",true,"));
}

FOLDER_TEST(what_a_problem_has_not_is_refused)
{
	struct ended ended = explore(SMALL " --objective cores");
	assert_int_equal(ended.status, 2);
	assert_string_equal(ended.err,
		"lxplore: error: objective 'cores' is for workload graphs; a problem has latency, "
		"energy, edp, hbm_bytes and accesses:LEVEL\n");
	ended = explore(SMALL " --solver map=linaer");
	assert_int_equal(ended.status, 2);
	assert_non_null(strstr(
		ended.err, "error: stage 'map' has no solver 'linaer'; did you mean 'linear'?\n"));
	ended = explore(SMALL " --imperfect M,K,M");
	assert_int_equal(ended.status, 2);
	assert_non_null(strstr(ended.err, "error: dimension 'M' is given twice"));
	ended = explore(SMALL " --seed 9223372036854775808");
	assert_int_equal(ended.status, 2);
	assert_non_null(strstr(ended.err, "from 0 to 9223372036854775807"));
	ended = shell(arena,
		"printf 'search: {sequences: 65537}\n' > %s/many.yaml; $LXPLORE explore " SMALL
		" %s/many.yaml -q -o %s",
		folder, folder, folder);
	assert_int_equal(ended.status, 2);
	assert_non_null(strstr(ended.err, "it can be 0 to 65536"));
}

FOLDER_TEST(what_cannot_fit_is_said_before_the_search)
{
	struct ended ended = shell(arena,
		"printf 'constraints:\\n  targets:\\n  - {target: RF, type: temporal, constraints: "
		"{factors: [M=16, N=16]}}\\n' > %s/tight.yaml; $LXPLORE explore %s "
		"%s/tight.yaml -q -o %s/out",
		folder, SMALL, folder, folder);
	assert_int_equal(ended.status, 1);
	assert_non_null(strstr(ended.err, "no mapping fits the machine and the constraints"));
	assert_non_null(strstr(ended.err, "cannot be met"));
	assert_non_null(strstr(ended.err, "tight.yaml:3:"));
}

/* One draw hits nothing that fits; the mapping that proves the space not empty is offered. */
FOLDER_TEST(what_is_known_to_fit_is_offered)
{
	assert_int_equal(explore("specs/arch/eyeriss.yaml specs/problems/resnet50_3x3.yaml "
				 "--solver map=random --budget 1")
				 .status,
		0);
	assert_int_equal(counter("evaluated"), 1);
	assert_true(counter("offered") >= 1);
	assert_int_equal(counter("refused"), 0);
}

/* Written tiles that overlap have no exact counts: then nothing is known of the best mapping,
 * and in Timeloop's counting there is nothing to compare an execution with. */
FOLDER_TEST(what_is_not_counted_is_not_proven)
{
	static const char *const solvers[] = {"linear", "exact"};
	const char *words = arena_format(arena,
		"specs/arch/three_level.yaml %s/overlap.yaml "
		"--budget 1000000 --solver map=",
		folder);
	FILE *file = fopen(arena_format(arena, "%s/overlap.yaml", folder), "wb");
	assert_non_null(file);
	fputs("problem:\n"
	      "  shape:\n"
	      "    name: scatter\n"
	      "    dimensions: [P, R]\n"
	      "    data_spaces:\n"
	      "    - {name: A, projection: [[[P]]]}\n"
	      "    - {name: B, projection: [[[R]]]}\n"
	      "    - {name: Z, projection: [[[P], [R]]], read_write: true}\n"
	      "  instance: {P: 4, R: 2}\n",
		file);
	assert_int_equal(fclose(file), 0);
	for (int s = 0; s < 2; s++) {
		struct ended ended = explore(arena_format(arena, "%s%s", words, solvers[s]));
		assert_int_equal(ended.status, 3);
		assert_null(strstr(ended.err, "there is none"));
		assert_non_null(strstr(ended.err, "exact counting does not cover 'Z'"));
		ended = explore(arena_format(arena, "%s%s --counting timeloop", words, solvers[s]));
		assert_int_equal(ended.status, 0);
		assert_string_equal(ended.err, "");
		assert_int_equal(counter("disagreed"), 0);
		assert_int_equal(counter("simulated"), 0);
		assert_non_null(strstr(folder_text("pareto.csv"), ",optimal,0,"));
	}
}

/* Neither sharing the work nor the list of its shares grows with the budget. */
FOLDER_TEST(a_time_limit_holds_for_any_budget)
{
	static const char *const solvers[] = {"linear", "random"};
	for (int s = 0; s < 2; s++) {
		struct ended ended = shell(arena,
			"timeout 30 $LXPLORE explore specs/arch/gemmini.yaml "
			"specs/problems/resnet50_3x3.yaml --solver map=%s --simulate none "
			"--budget 9000000000000000000 --time-limit 1 -q -o %s",
			solvers[s], folder);
		assert_string_equal(ended.err, "");
		assert_int_equal(ended.status, 0);
		assert_non_null(strstr(folder_text("run.json"), "\"limit\": \"time limit\""));
	}
}

/* If factors need not divide, the budget ends the proof, and the output names the budget. */
FOLDER_TEST(a_proof_that_a_budget_ends_says_so)
{
	struct ended ended = shell(arena,
		"$LXPLORE explore specs/arch/eyeriss.yaml specs/problems/resnet50_3x3.yaml "
		"--imperfect all --objective energy --budget 5000 --simulate none -o %s",
		folder);
	assert_int_equal(ended.status, 0);
	assert_non_null(strstr(ended.err, "cut short by: budget of 5000 (--budget)"));
	assert_non_null(strstr(ended.err, "1 on the frontier, 0 proven"));
	assert_non_null(strstr(folder_text("run.json"), "budget of 5000 (--budget)"));
}

/* About half a minute: at full size only. */
FOLDER_TEST(a_proof_that_memory_ends_says_so)
{
	if (draws(1) < 2) {
		print_message("skipped: TIMES=10 (make check) runs it\n");
		skip();
	}
	struct ended ended = shell(arena,
		"$LXPLORE explore specs/arch/eyeriss.yaml specs/problems/resnet50_3x3.yaml "
		"--imperfect all --simulate none --budget 1000000000000 -o %s",
		folder);
	assert_int_equal(ended.status, 0);
	assert_non_null(strstr(ended.err, "the proof ends early: its open nodes take 512 MiB"));
	assert_non_null(strstr(ended.err, "--imperfect M,N"));
}

/* All is free: these proofs take far longer than anybody waits. */
FOLDER_TEST(an_interrupt_writes_what_is_known)
{
	static const char *const specs[] = {
		"specs/problems/resnet50_3x3.yaml --imperfect all --budget 1000000000000",
		"specs/workloads/llama3_8b_prefill2048.yaml",
	};
	for (int s = 0; s < 2; s++) {
		struct ended ended = shell(arena,
			"timeout --preserve-status -k 30 -s INT 1 $LXPLORE explore "
			"specs/arch/eyeriss.yaml %s --solver map=exact --objective edp "
			"--simulate none -q -o %s",
			specs[s], folder);
		assert_int_equal(ended.status, 130);
		assert_non_null(strstr(folder_text("run.json"), "\"limit\": \"interrupted\""));
		assert_non_null(strstr(folder_text("pareto.csv"), s ? ",none," : ",bound,"));
		assert_true(strlen(folder_text("plans/point-001.yaml")) > 0);
		if (s) /* layers that did not begin have a bound, too */
			assert_null(strstr(folder_text("layers.csv"), ",none,"));
	}
}

/* 2^30 residencies are too many to list: nothing is proven then. */
FOLDER_TEST(many_levels_are_searched_without_being_proven)
{
	FILE *file = fopen(arena_format(arena, "%s/levels.yaml", folder), "wb");
	assert_non_null(file);
	fputs("architecture:\n"
	      "  version: 0.4\n"
	      "  nodes:\n"
	      "  - !Component {name: DRAM, class: DRAM}\n",
		file);
	for (int i = 0; i < 10; i++)
		fprintf(file, "  - !Component {name: L%d, class: SRAM, attributes: {depth: %d}}\n",
			i, 4096 >> i);
	fputs("  - !Component {name: MAC, class: intmac}\n", file);
	assert_int_equal(fclose(file), 0);
	struct ended ended = shell(arena,
		"timeout 30 $LXPLORE explore %s/levels.yaml specs/problems/gemm_16.yaml "
		"--solver map=exact --objective edp --simulate none --budget 20 -q -o %s",
		folder, folder);
	assert_string_equal(ended.err, "");
	assert_int_equal(ended.status, 0);
	assert_non_null(strstr(folder_text("pareto.csv"), ",gap,"));
}

FIXTURE(folder_set_up, folder_tear_down);

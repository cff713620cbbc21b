#include "base/arena.h"
#include "base/text.h"
#include "tests/support/draws.h"
#include "tests/support/folder.h"
#include "tests/support/mutated_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tests/test.h"

/*
 * Certificates that explore writes hold, and changed ones are answered; commands/claims.txt has what check prints.
 */
#define MACHINE "specs/arch/three_level.yaml"
#define SMALL MACHINE " specs/problems/gemm_16.yaml specs/constraints/keep_all.yaml"

static struct ended explore(const char *words)
{
	return shell(arena, "$LXPLORE explore %s --simulate none -q -o %s", words, folder);
}

static struct ended check(const char *words, const char *name)
{
	return shell(arena, "$LXPLORE check %s --certificate %s/%s", words, folder, name);
}

static void expect_proof(const char *specs, const char *how)
{
	struct ended explored = explore(arena_format(arena, "%s %s", specs, how));
	if (explored.status != 0)
		fail_msg("%s %s: %s", specs, how, explored.err);
	assert_non_null(strstr(folder_text("run.json"), "\"certificate\": \"certificate.yaml\""));
	struct ended ended = check(specs, "certificate.yaml");
	if (ended.status != 0 || !strstr(ended.out, "certificate  holds"))
		fail_msg("%s %s: %s%s", specs, how, ended.out, ended.err);
}

FOLDER_TEST(what_exact_proves_is_verified)
{
	static const char *const problems[] = {
		"  shape: {name: gemv, dimensions: [M, K], data_spaces: [\n"
		"    {name: A, projection: [[[M]], [[K]]]}, {name: B, projection: [[[K]]]},\n"
		"    {name: Z, projection: [[[M]]], read_write: true}]}\n"
		"  instance: {M: 24, K: 36}\n",
		"  shape: {name: window, dimensions: [C, K, P, R], data_spaces: [\n"
		"    {name: W, projection: [[[C]], [[K]], [[R]]]},\n"
		"    {name: I, projection: [[[C]], [[P], [R]]]},\n"
		"    {name: O, projection: [[[K]], [[P]]], read_write: true}]}\n"
		"  instance: {C: 2, K: 4, P: 8, R: 3}\n",
		"  shape: {name: strided, dimensions: [K, P, R], coefficients: [{name: two, default: 2}],\n"
		"    data_spaces: [{name: W, projection: [[[K]], [[R]]]},\n"
		"    {name: I, projection: [[[P, two], [R]]]},\n"
		"    {name: O, projection: [[[K]], [[P]]], read_write: true}]}\n"
		"  instance: {K: 4, P: 8, R: 3}\n",
	};
	static const char *const ways[] = {
		"--objective edp",
		"--objective energy --counting timeloop",
		"--objective latency",
		"--objective latency,energy",
		"--objective latency,energy --counting timeloop",
		"--objective accesses:GLB",
	};
	enum { PROBLEMS = sizeof problems / sizeof *problems, WAYS = sizeof ways / sizeof *ways };
	for (long i = 0; i < PROBLEMS * WAYS; i += draws_apart(1)) {
		folder_put("problem.yaml",
			arena_format(arena, "problem:\n%s", problems[i % PROBLEMS]));
		const char *specs =
			arena_format(arena, MACHINE " %s", run_folder_path("problem.yaml"));
		expect_proof(
			specs, arena_format(arena, "--solver map=exact %s", ways[i / PROBLEMS]));
	}
}

/* The first `from` of a text replaced. */
static const char *replaced(const char *text, const char *from, const char *to)
{
	const char *at = strstr(text, from);
	if (!at)
		fail_msg("no '%s' in\n%s", from, text);
	return arena_format(arena, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
}

/* Energies whose sums the search rounds otherwise than the model: a bound that the best mapping meets
 * is no more above it than the certificate allows. */
FOLDER_TEST(a_bound_that_is_met_is_verified)
{
	static const char problem[] =
		"problem:\n"
		"  shape: {name: product, dimensions: [C, M, P], data_spaces: [\n"
		"    {name: Weights, projection: [C, M]}, {name: Inputs, projection: [C, P]},\n"
		"    {name: Outputs, projection: [M, P], read_write: true}]}\n"
		"  instance: {C: 16, M: 16, P: 4}\n";
	const char *machine = text_of_file(arena, "specs/arch/gemmini.yaml");
	const char *specs = arena_format(arena, "%s %s specs/constraints/weight_stationary.yaml",
		run_folder_path("machine.yaml"), folder_put("problem.yaml", problem));
	for (int size = 300; size < 304; size++) {
		const char *words = arena_format(arena, "sizeKB: %d", size);
		folder_put("machine.yaml", replaced(machine, "sizeKB: 256", words));
		struct ended ended = explore(arena_format(
			arena, "%s --solver map=exact --objective energy --budget 1", specs));
		assert_int_equal(ended.status, 0);
		assert_non_null(strstr(folder_text("certificate.yaml"), "claim: bound"));
		ended = check(specs, "certificate.yaml");
		if (ended.status)
			fail_msg("%d KB: %s%s", size, ended.out, ended.err);
	}
}

/* Checks that a reported better mapping is complete and has the reported energy. */
static void expect_witness(const char *told)
{
	char line[512], energy[64];
	const char *at = strstr(told, "better: ");
	assert_non_null(at);
	assert_int_equal(sscanf(at, "better: %511[^,], ", line), 1);
	at = strstr(told, "has energy ");
	assert_int_equal(sscanf(at, "has energy %63[^,]", energy), 1);
	*(strrchr(line, '"') + 1) = '\0';
	folder_put("witness.yaml", arena_format(arena, "mapping: %s\n", line));
	struct ended scored = shell(arena, "$LXPLORE score " SMALL " %s/witness.yaml", folder);
	if (scored.status || !strstr(scored.out, arena_format(arena, "\"energy_pj\": %s", energy)))
		fail_msg("%s: %s%s%s", line, energy, scored.out, scored.err);
}

/* Puts a certificate of a mapping that is legal but not the best, with its right values: only a
 * search refutes it. Expects that the correct certificate exists. */
static struct ended check_false_claim(const char *specs, const char *draws)
{
	struct ended drawn = explore(arena_format(
		arena, "%s --solver map=random --budget %s --objective energy", specs, draws));
	if (drawn.status)
		fail_msg("%s: %s", specs, drawn.err);
	char *row = strchr(arena_text(arena, folder_text("pareto.csv")), '\n') + 1;
	enum { MAPPING = 18 }; /* the first column that may have commas, in quotes then */
	const char *columns[MAPPING + 1] = {0};
	int count = 0;
	for (char *at = row; at && count <= MAPPING; count++) {
		bool quoted = *at == '"';
		columns[count] = at += quoted;
		at = strchr(at, quoted ? '"' : ',');
		if (at)
			*at++ = '\0';
	}
	assert_int_equal(
		explore(arena_format(arena, "%s --solver map=exact --objective energy", specs))
			.status,
		0);
	const char *text = folder_text("certificate.yaml");
	const char *points = strstr(text, "  points:");
	folder_put("wrong.yaml",
		arena_format(arena,
			"%.*s  points:\n  - {cycles: %s, energy_pj: %s, values: [%s], mapping: "
			"\"%s\"}\n",
			(int)(points - text), text, columns[1], columns[3], columns[3],
			columns[MAPPING]));
	return check(specs, "wrong.yaml");
}

FOLDER_TEST(a_solver_that_is_wrong_is_caught)
{
	struct ended ended = check_false_claim(SMALL, "40");
	assert_int_equal(ended.status, 1);
	if (!strstr(ended.err, "rejected: a mapping is better: \""))
		fail_msg("%s", ended.err);
	assert_non_null(strstr(ended.out, "certificate  rejected"));
	expect_witness(ended.out);
}

/* The bounds know what flags do: the space of 42,272 cells needs hardly more of them; and what is false is refused. */
FOLDER_TEST(certificates_under_flags_are_checked_fast)
{
	static const char *const flags[] = {"core, type: spatial, no_reuse",
		"core, type: spatial, no_link_transfer", "LocalBuffer, type: temporal, no_reuse",
		"LocalBuffer, type: temporal, rmw_first_update",
		"LocalBuffer, type: dataspace, no_coalesce"};
	const char *product = folder_put("product.yaml",
		"problem:\n  shape:\n    name: product\n    dimensions: [M, N, K]\n    data_spaces:\n"
		"    - {name: Weights, projection: [[[K]], [[N]]]}\n"
		"    - {name: Inputs, projection: [[[M]], [[K]]]}\n"
		"    - {name: Outputs, projection: [[[M]], [[N]]], read_write: true}\n"
		"  instance: {M: 64, N: 64, K: 64}\n");
	for (size_t f = 0; f < sizeof flags / sizeof *flags; f++) {
		const char *flag = folder_put("flag.yaml",
			arena_format(arena,
				"constraints:\n  targets:\n  - {target: %s: [Weights, Inputs, "
				"Outputs]}\n",
				flags[f]));
		const char *specs =
			arena_format(arena, "specs/arch/tpu_v4i.yaml %s %s", product, flag);
		assert_int_equal(
			explore(arena_format(arena, "%s --solver map=exact --objective edp", specs))
				.status,
			0);
		struct ended ended =
			check(arena_format(arena, "%s --budget 50000", specs), "certificate.yaml");
		if (ended.status || !strstr(ended.out, "certificate  holds"))
			fail_msg("%s: %s%s", flags[f], ended.out, ended.err);
		ended = check_false_claim(specs, "20000");
		if (ended.status != 1 || !strstr(ended.err, "rejected: a mapping is better: \""))
			fail_msg("%s: %s", flags[f], ended.err);
	}
}

/* Whatever is done to a certificate, it is answered, and never accepted with another optimum. */
FOLDER_TEST(changed_certificates_are_answered)
{
	uint64_t seed = draws_seed(85);
	long count = draws(60), held = 0;
	assert_int_equal(explore(SMALL " --solver map=exact --objective energy").status, 0);
	const char *right = folder_text("certificate.yaml");
	const char *optimum = "no mapping has less energy than 181318.17487437185, ";
	for (long i = 0; i < count; i++) {
		struct random random = random_open(seed, (uint64_t)i);
		const char *text = mutated_text(arena, &random, right);
		if (i % 4 == 0)
			text = arena_format(
				arena, "%.*s", (int)random_below(&random, strlen(right)), right);
		folder_put("changed.yaml", text);
		struct ended ended = check(SMALL " --budget 100000", "changed.yaml");
		if (ended.status > 3 || (ended.status && !*ended.err && ended.status != 3))
			fail_msg("draw %ld: status %d of\n%s", i, ended.status, text);
		held += ended.status == 0;
		if (ended.status == 0 && !strstr(ended.out, optimum))
			fail_msg("draw %ld is accepted:\n%s%s", i, text, ended.out);
	}
	printf("%ld of %ld changed certificates still hold\n", held, count);
}

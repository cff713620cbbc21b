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
 * Certificates as a user meets them: explore writes one, check verifies it, and reports every
 * change of it, or of the specs, with its reason and place.
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

FOLDER_TEST(what_was_enumerated_is_verified)
{
	expect_proof(SMALL, "--solver map=linear");
}

/* A search that its budget ends leaves a bound, which is verified. */
FOLDER_TEST(a_bound_is_verified)
{
	for (int budget = 5; budget < 500; budget *= 2) {
		struct ended ended = explore(arena_format(
			arena, SMALL " --solver map=exact --objective energy --budget %d", budget));
		if (ended.status || !folder_has("certificate.yaml") ||
			!strstr(folder_text("certificate.yaml"), "claim: bound"))
			continue;
		ended = check(SMALL, "certificate.yaml");
		if (ended.status)
			fail_msg("budget %d: %s", budget, ended.err);
		assert_non_null(strstr(ended.out, "; no mapping has less than "));
		return;
	}
	fail_msg("no budget left a bound");
}

FOLDER_TEST(nothing_proven_is_no_certificate)
{
	assert_int_equal(explore(SMALL " --solver map=exact").status, 0);
	assert_true(folder_has("certificate.yaml"));
	assert_int_equal(explore(SMALL " --solver map=random --budget 50").status, 0);
	assert_false(folder_has("certificate.yaml"));
	assert_non_null(strstr(folder_text("run.json"), "\"certificate\": null"));
}

FOLDER_TEST(the_budget_ends_it_undecided)
{
	assert_int_equal(explore(SMALL " --solver map=exact").status, 0);
	struct ended ended = check(SMALL " --budget 10", "certificate.yaml");
	assert_int_equal(ended.status, 3);
	assert_non_null(strstr(ended.out, "certificate  undecided"));
	ended = check(SMALL " --format json", "certificate.yaml");
	assert_int_equal(ended.status, 0);
	assert_non_null(strstr(ended.out, "\"certificate\": \"holds\""));
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

struct change {
	const char *from, *to;
	int status;
	const char *why;
};

static void expect_refused(const char *specs, const struct change *change)
{
	folder_put("changed.yaml",
		replaced(folder_text("certificate.yaml"), change->from, change->to));
	struct ended ended = check(specs, "changed.yaml");
	const char *place = arena_format(arena, "%s:", run_folder_path("changed.yaml"));
	if (ended.status != change->status || !strstr(ended.err, change->why) ||
		!strstr(ended.err, place))
		fail_msg("'%s' -> '%s' should give '%s', status %d; it gives %d, %s%s",
			change->from, change->to, change->why, change->status, ended.status,
			ended.out, ended.err);
}

FOLDER_TEST(every_change_is_told)
{
	static const struct change changes[] = {
		{"cycles: 1024", "cycles: 1023", 1, "takes 1024 cycles, not 1023"},
		{"energy_pj: 18", "energy_pj: 17", 1, "pJ, not 17"},
		{"values: [18", "values: [17", 1, "has energy 18"},
		{"PE: K4", "PE: K2", 1, "the factors of dimension"},
		{"mapping: \"GLB", "mapping: \"DRAM: M2 | GLB", 1, "the factors of dimension"},
		{"epsilon: 1e-12", "epsilon: -1", 2, "is a number of 0 or more"},
		{"epsilon: 1e-12", "epsilon: nan", 2, "is a number of 0 or more"},
		{"epsilon: 1e-12", "epsilon: 1e300", 1,
			"epsilon is 1e+300; it can be at most 1e+06"},
		{"claim: optimal", "claim: perfect", 2, "claim"},
		{"counting: exact", "counting: timeloop", 1, "pJ, not"},
		{"fnv1a: \"", "fnv1a: \"x", 2, "a hash of 16 hexadecimal digits"},
		{"objectives: [energy]", "objectives: [latency]", 1, "has latency 1024"},
		{"objectives: [energy]", "objectives: [cores]", 2, "no objective 'cores'"},
		{"objectives: [energy]", "objectives: []", 2, "the list of objectives is empty"},
		{"version: 3", "version: 4", 2, "it can be"},
		{"version: 3", "version: 1", 2, "a certificate of version 1 leaves out the reads"},
		{"  points:", "  pionts:", 2, "did you mean 'points' here?"},
	};
	assert_int_equal(explore(SMALL " --solver map=exact --objective energy").status, 0);
	for (size_t i = 0; i < sizeof changes / sizeof *changes; i++)
		expect_refused(SMALL, &changes[i]);
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

/* The fields of the search that only version 2 has. */
FOLDER_TEST(the_version_before_is_read)
{
	assert_int_equal(explore(SMALL " --solver map=exact --objective energy").status, 0);
	const char *text = replaced(folder_text("certificate.yaml"), "version: 3", "version: 2");
	folder_put("before.yaml",
		arena_format(arena,
			"%s  problem: \"0123456789abcdef\"\n  choices: {all: 4, opened: 1, rest: 3}\n  residency: []\n"
			"  cells:\n  - {spatial: \"PE: K2\", keep: 0, least: 1}\n",
			text));
	assert_int_equal(check(SMALL, "before.yaml").status, 0);
	folder_put("mixed.yaml",
		arena_format(arena, "%s  cells: []\n", folder_text("certificate.yaml")));
	assert_int_equal(check(SMALL, "mixed.yaml").status, 2);
}

FOLDER_TEST(other_specs_are_told)
{
	folder_put("keep.yaml", text_of_file(arena, "specs/constraints/keep_all.yaml"));
	folder_put("machine.yaml", text_of_file(arena, MACHINE));
	const char *specs = arena_format(arena, "%s specs/problems/gemm_16.yaml %s",
		run_folder_path("machine.yaml"), run_folder_path("keep.yaml"));
	assert_int_equal(explore(arena_format(arena, "%s --solver map=exact", specs)).status, 0);
	assert_int_equal(check(specs, "certificate.yaml").status, 0);
	assert_int_equal(check(SMALL, "certificate.yaml").status, 0); /* the same bytes */
	folder_put("keep.yaml", arena_format(arena, "%s# changed\n", folder_text("keep.yaml")));
	struct ended ended = check(specs, "certificate.yaml");
	assert_int_equal(ended.status, 1);
	assert_non_null(strstr(ended.err, "keep.yaml that was explored"));
	ended = check(MACHINE " specs/problems/gemm_16.yaml", "certificate.yaml");
	assert_int_equal(ended.status, 1);
	ended = check(arena_format(arena, "%s --counting timeloop", specs), "certificate.yaml");
	assert_int_equal(ended.status, 1);
	assert_non_null(strstr(ended.err, "in exact counting"));
	ended = check(
		"specs/arch/spyre32.yaml specs/workloads/softmax_dim0.yaml", "certificate.yaml");
	assert_int_equal(ended.status, 2);
	assert_non_null(strstr(ended.err, "certificates are of problems"));
}

/* The proof among factors that need not divide makes no certificate, and one of those that divide
 * does not stand for it. */
FOLDER_TEST(uneven_factors_have_none)
{
	assert_int_equal(
		explore(SMALL " --solver map=exact --objective energy --imperfect M").status, 0);
	assert_non_null(strstr(folder_text("pareto.csv"), "optimal"));
	assert_false(folder_has("certificate.yaml"));
	struct ended ended = check(SMALL " --imperfect M", "certificate.yaml");
	assert_int_equal(ended.status, 2);
	assert_non_null(strstr(ended.err, "no such file"));
	assert_non_null(
		strstr(ended.err, "with '--imperfect' there is a proof, but no certificate"));
	assert_int_equal(explore(SMALL " --solver map=exact --objective energy").status, 0);
	ended = check(SMALL " --imperfect M", "certificate.yaml");
	assert_int_equal(ended.status, 1);
	assert_non_null(strstr(ended.err, "mappings that no certificate covers"));
}

/* Each distinct layer of a network has its own. */
FOLDER_TEST(layers_of_networks_are_verified)
{
	folder_put("network.yaml",
		"network:\n"
		"  name: pair\n"
		"  shapes:\n"
		"    gemm: {dimensions: [M, N, K], data_spaces: [\n"
		"      {name: A, projection: [[[M]], [[K]]]}, {name: B, projection: [[[K]], [[N]]]},\n"
		"      {name: Z, projection: [[[M]], [[N]]], read_write: true}]}\n"
		"  layers:\n"
		"  - {name: wide, shape: gemm, instance: {M: 8, N: 4, K: 6}}\n"
		"  - {name: tall, shape: gemm, instance: {M: 4, N: 4, K: 12}}\n"
		"  - {name: again, shape: gemm, instance: {M: 8, N: 4, K: 6}}\n");
	const char *specs = arena_format(arena, MACHINE " %s", run_folder_path("network.yaml"));
	struct ended ended = explore(arena_format(arena, "%s --solver map=exact", specs));
	if (ended.status)
		fail_msg("%s", ended.err);
	static const char *const names[] = {"wide", "tall"};
	for (int i = 0; i < 2; i++) {
		const char *name = arena_format(arena, "layers/%s.certificate.yaml", names[i]);
		ended = check(specs, name);
		if (ended.status)
			fail_msg("%s: %s", names[i], ended.err);
	}
	assert_false(folder_has("layers/again.certificate.yaml"));
	const char *text = folder_text("layers/wide.certificate.yaml");
	folder_put("changed.yaml", replaced(text, "layer: wide", "layer: tall"));
	ended = check(specs, "changed.yaml");
	assert_int_equal(ended.status, 1);
	assert_non_null(strstr(ended.err, "the factors of dimension"));
	folder_put("changed.yaml", replaced(text, "layer: wide", "layer: deep"));
	ended = check(specs, "changed.yaml");
	assert_int_equal(ended.status, 2);
	assert_non_null(strstr(ended.err, "no layer 'deep' that is solved"));
	folder_put("changed.yaml", replaced(text, "  layer: wide\n", ""));
	ended = check(specs, "changed.yaml");
	assert_int_equal(ended.status, 2);
	assert_non_null(strstr(ended.err, "of a problem and not of a network"));
}

FOLDER_TEST(hostile_files_are_refused)
{
	static const char *const texts[] = {
		"",
		"[]",
		"certificate:",
		"certificate: []",
		"certificate: &a {points: *a}",
		"certificate: &a [*a]",
		"certificate: {version: [1]}",
		"certificate: {version: 3, program: {}, specs: 3, counting: 7}",
		"certificate: {version: 3, program: x, specs: [{path: a, fnv1a: 1}]}",
		"certificate: {version: 3",
		"\xff\xfe",
	};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		folder_put("hostile.yaml", texts[i]);
		struct ended ended = check(SMALL, "hostile.yaml");
		if (ended.status != 2 || !strstr(ended.err, "error: "))
			fail_msg("%s: %d, %s", texts[i], ended.status, ended.err);
	}
	assert_int_equal(check(SMALL, "missing.yaml").status, 2);
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

#include "base/arena.h"
#include "base/text.h"
#include "tests/support/draws.h"
#include "tests/support/shell.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/test.h"

#define SPECS "specs/arch/a2a3.yaml specs/broadcasts/weights_16MiB.yaml"

static void expect(const struct ended *ended, int status, const char *out)
{
	if (ended->status != status || !strstr(ended->out, out))
		fail_msg("status %d, not %d; no '%s' in\n%s%s", ended->status, status, out,
			ended->out, ended->err);
}

/* Error of a command for a broadcast that it refuses. */
struct refused {
	const char *command, *broadcast;
	int status;
	const char *complaint;
};

static void expect_refused(struct arena *arena, const struct refused *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct ended ended = shell(arena, "$LXPLORE %s <<'E'\nbroadcast: {%s}\nE",
			rows[i].command, rows[i].broadcast);
		if (ended.status != rows[i].status || !strstr(ended.err, rows[i].complaint))
			fail_msg("status %d, not %d; no '%s' in\n%s", ended.status, rows[i].status,
				rows[i].complaint, ended.err);
	}
}

TEST(score_and_simulate_agree)
{
	struct ended score = shell(arena, "$LXPLORE score " SPECS);
	expect(&score, 0, "\"chunks\": 172,");
	expect(&score, 0, "\"path\": \"chunked\"");
	const char *cycles = strstr(score.out, "\"cycles\"");
	struct ended small = shell(arena, "$LXPLORE simulate specs/arch/a2a3.yaml - <<'E'\n"
					  "broadcast: {dtype: fp32, shape: [100, 100], ranks: 4,\n"
					  "  tile: {rows: 32, cols: 32}, staging: 3}\nE");
	assert_non_null(cycles);
	expect(&small, 0, "\"executed\": \"data\"");
	expect(&small, 0, "\"agrees\": true");
}

/* The smaller of the shipped ones with their bytes, and as they are written back. */
TEST(every_operation_is_executed)
{
	static const char *const names[] = {
		"put_block", "get_block", "gather_activations", "scatter_rows", "reduce_gradients"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i += (size_t)draws_apart(1)) {
		struct ended ended = shell(arena,
			"$LXPLORE simulate specs/arch/a2a3.yaml specs/broadcasts/%s.yaml",
			names[i]);
		expect(&ended, 0, "\"executed\": \"data\"");
		expect(&ended, 0, "\"agrees\": true");
	}
	struct ended away = shell(arena,
		"$LXPLORE check - <<'E'\n"
		"broadcast: {operation: gather, dtype: fp32, shape: [4, 8], ranks: 3,\n"
		"  tile: {rows: 4, cols: 8}, links: {topology: root_only}}\nE");
	assert_int_equal(away.status, 1);
	assert_non_null(strstr(away.err, "no way leads from rank 1 to rank 0"));
}

/* Queues and links of a published operation, and of an algorithm. */
TEST(a_trace_shows_queues_and_links)
{
	const char *folder = shell_folder(arena);
	struct ended ended = shell(arena,
		"$LXPLORE simulate specs/arch/a2a3.yaml specs/broadcasts/reduce_gradients.yaml "
		"--trace %s/a.json >/dev/null && grep -c '\"ph\":\"X\"' %s/a.json && "
		"grep -o '\"name\":\"vector\"\\|\"name\":\"7 > 0\"' %s/a.json",
		folder, folder, folder);
	/* 32 chunks: 8 loads, 7 of them over links, 7 sums and a store */
	expect(&ended, 0, "736\n\"name\":\"7 > 0\"\n\"name\":\"vector\"\n");
	ended = shell(arena,
		"$LXPLORE simulate - --trace %s/b.json >/dev/null <<'E' && "
		"grep -c '\"ph\":\"X\"' %s/b.json && tail -n 1 %s/b.json\n"
		"broadcast: {operation: gather, algorithm: binomial, dtype: fp32, shape: [4],\n"
		"  ranks: 4, tile: {rows: 1, cols: 8}}\nE",
		folder, folder, folder);
	expect(&ended, 0, "9\n]");
	shell_remove(folder);
}

/* Algorithms of the other operations: their stage, and how few rounds there can be. */
TEST(siblings_have_algorithms)
{
	struct ended ended = shell(arena,
		"$LXPLORE simulate - <<'E'\n"
		"broadcast: {operation: reduce, algorithm: round_optimal, segments: 8, dtype: fp32,\n"
		"  shape: [4, 8], ranks: 6, tile: {rows: 4, cols: 8}}\nE");
	expect(&ended, 0, "\"rounds\": 10,");
	expect(&ended, 0, "\"bound_rounds\": 10,");
	expect(&ended, 0, "\"agrees\": true");
	static const struct refused rows[] = {
		{"simulate -",
			"operation: scatter, algorithm: binomail, dtype: fp32, shape: [4], ranks: 4,\n"
			"  tile: {rows: 1, cols: 8}",
			2, "stage 'scatter' has no solver 'binomail'; did you mean 'binomial'?"},
		{"score -",
			"operation: put, algorithm: chain, dtype: fp32, shape: [4], ranks: 4, peer: 1,\n"
			"  tile: {rows: 1, cols: 8}",
			2, "a put has no algorithms"},
		{"explore - -q --solver broadcast=binomial",
			"operation: gather, dtype: fp32, shape: [4], ranks: 4, tile: {rows: 1, cols: 8}",
			2, "a gather has the one stage 'scatter'"},
	};
	expect_refused(arena, rows, sizeof rows / sizeof *rows);
}

TEST(what_breaks_a_rule_is_no_broadcast)
{
	static const struct refused rows[] = {
		{"check specs/arch/kirin.yaml -",
			"dtype: fp32, shape: [100, 100], ranks: 4, tile: {rows: 512, cols: 128}", 1,
			"error: E_UB_SIZE: [SA-0352]"},
		{"score -",
			"dtype: fp32, shape: [64], ranks: 4, algorithm: chian, tile: {rows: 1, cols: 64}",
			2, "did you mean 'chain'?"},
		{"score -",
			"dtype: fp32, shape: [64], ranks: 4, algorithm: binomial,\n"
			"  links: {topology: ring}, tile: {rows: 1, cols: 64}",
			1, "'binomial' does not go over these links"},
	};
	expect_refused(arena, rows, sizeof rows / sizeof *rows);
	struct ended ended = shell(arena, "$LXPLORE score " SPECS " --counting timeloop");
	assert_int_equal(ended.status, 2);
}

/* Every point ran as the model says, and its plan says the same again. */
TEST(points_can_be_scored_again)
{
	const char *folder = shell_folder(arena);
	struct ended ended = shell(arena,
		"$LXPLORE explore specs/arch/a2a3.yaml - -q --format csv -o %s <<'E'\n"
		"broadcast: {name: small, dtype: fp16, shape: [3, 50, 200], ranks: 6,\n"
		"  links: {topology: mesh, dims: [2, 3], ports: all}, tile: {rows: 16, cols: 64},\n"
		"  mode: ping-pong}\nE",
		folder);
	int rows = 0;
	if (ended.status || *ended.err || strstr(ended.out, ",false,"))
		fail_msg("status %d\n%s%s", ended.status, ended.err, ended.out);
	for (const char *line = strchr(ended.out, '\n') + 1; *line; line = strchr(line, '\n') + 1) {
		int64_t cycles = strtoll(strchr(line, ',') + 1, NULL, 10);
		struct ended again = shell(arena,
			"$LXPLORE simulate specs/arch/a2a3.yaml %s/plans/point-%03d.yaml", folder,
			++rows);
		expect(&again, 0, arena_format(arena, "\"cycles\": %lld,", (long long)cycles));
		expect(&again, 0, "\"agrees\": true");
	}
	assert_true(rows > 3);
	shell_remove(folder);
}

/* Others can, and there is nothing to compare them with. */
TEST(what_cannot_be_is_explored_nevertheless)
{
	const char *folder = shell_folder(arena);
	struct ended ended = shell(arena,
		"$LXPLORE explore - -q -o %s --format json <<'E'\n"
		"broadcast: {dtype: fp32, shape: [64], ranks: 4, algorithm: binomial,\n"
		"  links: {topology: ring}, tile: {rows: 1, cols: 64}}\nE",
		folder);
	expect(&ended, 0, "\"evaluated\"");
	assert_null(strstr(ended.out, "\"given\""));
	shell_remove(folder);
}

/* A limit that ends a search ends its executions too: no point is run again with bytes. */
TEST(a_search_that_is_ended_ends)
{
	const char *folder = shell_folder(arena);
	struct ended ended = shell(arena,
		"$LXPLORE explore - specs/arch/a2a3.yaml -q --time-limit 1 -o %s --format csv <<'E'\n"
		"broadcast: {operation: reduce, dtype: fp32, shape: [256, 1024], ranks: 200,\n"
		"  tile: {rows: 16, cols: 1024}}\nE",
		folder);
	expect(&ended, 0, ",count,");
	assert_null(strstr(ended.out, ",data,"));
	shell_remove(folder);
}

/*
 * Campaigns: a point is what `explore` says of it; what is exported is
 * the same after any end of any process, on any number of threads, and as shards in any order.
 */
#include "base/arena.h"
#include "base/random.h"
#include "base/text.h"
#include "report/run/pareto.h"
#include "tests/support/draws.h"
#include "tests/support/folder.h"
#include "tests/support/sanitized.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/test.h"

#define SPECS                                                                                      \
	"specs/arch/three_level.yaml specs/problems/gemm_16.yaml "                                 \
	"specs/constraints/keep_all.yaml"

/* 45 points of 30 trees: n is 8 for two of its values. */
static const char sweep[] = "sweep:\n"
			    "  name: small\n"
			    "  vary:\n"
			    "    problem.instance.M: [4, 8, 16]\n"
			    "    n: {from: 4, to: 16, factor: 2}\n"
			    "    search.seed: {from: 1, to: 5}\n"
			    "  set:\n"
			    "    problem.instance.N: min(n, 8)\n"
			    "search: {budget: 500}\n";

static struct ended campaign(const char *words)
{
	return shell(arena, "$LXPLORE campaign %s", words);
}

static const char *run_words(const char *name)
{
	return arena_format(arena, "run " SPECS " %s --simulate none -q -o %s/%s",
		run_folder_path("sweep.yaml"), folder, name);
}

static const char *exported(const char *name)
{
	struct ended csv = campaign(arena_format(arena, "export %s/%s", folder, name));
	struct ended json =
		campaign(arena_format(arena, "export --format json -o %s/%s", folder, name));
	assert_int_equal(csv.status, 0);
	assert_int_equal(json.status, 0);
	return arena_format(arena, "%s%s", csv.out, json.out);
}

/* The export of an undisturbed run. */
static const char *whole(void)
{
	folder_put("sweep.yaml", sweep);
	assert_int_equal(campaign(run_words("whole")).status, 0);
	const char *text = exported("whole");
	assert_null(strstr(text, ",open,"));
	return text;
}

/* The rows without their empty cells. */
static char *without_empty(const char *rows)
{
	char *out = arena_text(arena, rows), *end = out;
	for (const char *at = rows; *at; at++)
		if (*at != ',' || (at[1] != ',' && at[1] != '\n' && at[1]))
			*end++ = *at;
	*end = '\0';
	return out;
}

/* Every column of an export has a value in some row; only names of points may be empty. */
static void expect_no_empty_column(const char *text)
{
	const char *line = text;
	struct csv_cells head = csv_cells(arena, &line);
	bool *used = arena_array(arena, bool, head.count);
	memset(used, 0, head.count * sizeof *used);
	/* the JSON follows */
	while (*line && *line != '[' && *line != '{') {
		struct csv_cells row = csv_cells(arena, &line);
		assert_int_equal(row.count, head.count);
		for (size_t c = 0; c < row.count; c++)
			used[c] |= *row.at[c] != '\0';
	}
	for (size_t c = 0; c < head.count; c++)
		if (!used[c] && !text_equal(head.at[c], "name"))
			fail_msg("no row has a value of '%s'", head.at[c]);
}

FOLDER_TEST(a_point_is_what_explore_says)
{
	folder_put("sweep.yaml", sweep);
	assert_int_equal(campaign(run_words("out")).status, 0);
	folder_put("same.yaml", "search: {budget: 500, seed: 3}\n");
	struct ended explored = shell(arena,
		"sed 's/N: 16/N: 8/' specs/problems/gemm_16.yaml > %s/problem.yaml && $LXPLORE explore "
		"specs/arch/three_level.yaml specs/constraints/keep_all.yaml %s/problem.yaml "
		"%s/same.yaml --simulate none -q --format csv -o %s/explored",
		folder, folder, folder, folder);
	assert_int_equal(explored.status, 0);
	expect_no_empty_column(exported("out"));
	const char *text = without_empty(exported("out"));
	char *lines = without_empty(strchr(explored.out, '\n') + 1);
	size_t rows = 0;
	for (char *line = strtok(lines, "\n"); line; line = strtok(NULL, "\n"), rows++)
		assert_non_null(strstr(text, arena_format(arena, "\n43,16,16,3,8,found,%s,%s\n",
						     LXPLORE_VERSION, line)));
	assert_true(rows > 0);
}

FOLDER_TEST(threads_change_nothing)
{
	const char *text = whole();
	for (int jobs = 1; jobs <= 7; jobs += 3) {
		assert_int_equal(
			campaign(arena_format(arena, "%s%d -j %d", run_words("jobs"), jobs, jobs))
				.status,
			0);
		assert_string_equal(exported(arena_format(arena, "jobs%d", jobs)), text);
	}
}

/* Starts `campaign run` beside the test. */
static pid_t start(const char *name)
{
	const char *words = arena_format(arena, "exec \"$LXPLORE\" campaign %s", run_words(name));
	const char *program = getenv("LXPLORE");
	setenv("LXPLORE", program ? program : "build/release/lxplore", 1);
	pid_t child = fork();
	if (child == 0) {
		execl("/bin/sh", "sh", "-c", words, (char *)NULL);
		_exit(127);
	}
	assert_true(child > 0);
	return child;
}

FOLDER_TEST(a_killed_run_goes_on)
{
	struct random random = random_open(draws_seed(25), 0);
	const char *text = whole();
	int kills = 0;
	for (int i = 0; i < 10; i++) {
		int status;
		pid_t child = start("killed");
		usleep((useconds_t)random_below(&random, 60000));
		kill(child, SIGKILL);
		waitpid(child, &status, 0);
		kills += WIFSIGNALED(status);
	}
	assert_true(kills > 0);
	assert_int_equal(campaign(run_words("killed")).status, 0);
	assert_string_equal(exported("killed"), text);
}

FOLDER_TEST(shards_merge_in_any_order)
{
	enum { SHARDS = 5 };
	struct random random = random_open(draws_seed(25), 0);
	const char *text = whole();
	const char *parts[SHARDS];
	for (int i = 0; i < SHARDS; i++) {
		parts[i] = arena_format(arena, "part%d", i + 1);
		struct ended ended = campaign(arena_format(
			arena, "%s --shard %d/%d", run_words(parts[i]), i + 1, SHARDS));
		assert_int_equal(ended.status, 0);
		assert_non_null(strstr(exported(parts[i]), ",open,"));
	}
	for (int i = SHARDS; i-- > 1;) {
		size_t other = (size_t)random_below(&random, (uint64_t)i + 1);
		const char *part = parts[i];
		parts[i] = parts[other];
		parts[other] = part;
	}
	for (int i = 0; i < 2 * SHARDS; i++) /* the second time nothing changes */
		assert_int_equal(campaign(arena_format(arena, "merge %s/merged %s/%s", folder,
						  folder, parts[i % SHARDS]))
					 .status,
			0);
	assert_string_equal(exported("merged"), text);
	assert_int_equal(
		campaign(arena_format(arena, "diff %s/merged %s/whole", folder, folder)).status, 0);
}

/* Tasks that one process did, of its closing line. */
static long done_now(const char *err)
{
	const char *at = strstr(err, " done, ");
	assert_non_null(at);
	return atol(at + strlen(" done, "));
}

FOLDER_TEST(two_processes_share_a_campaign)
{
	const char *text = whole();
	struct ended both = shell(arena,
		"$LXPLORE campaign run " SPECS
		" %s/sweep.yaml --simulate none -o %s/shared 2>%s/a & "
		"$LXPLORE campaign run " SPECS
		" %s/sweep.yaml --simulate none -o %s/shared 2>%s/b; "
		"wait",
		folder, folder, folder, folder, folder, folder);
	assert_int_equal(both.status, 0);
	assert_string_equal(exported("shared"), text);
	assert_int_equal(done_now(folder_text("a")) + done_now(folder_text("b")), 30);
}

FOLDER_TEST(an_interrupted_run_goes_on)
{
	const char *text = whole();
	int status;
	pid_t child = start("interrupted");
	usleep(30000);
	kill(child, SIGINT);
	waitpid(child, &status, 0);
	/* before it began, at work, or at its end */
	assert_true(WIFSIGNALED(status) || WEXITSTATUS(status) == 130 || WEXITSTATUS(status) == 0);
	assert_int_equal(campaign(run_words("interrupted")).status, 0);
	assert_string_equal(exported("interrupted"), text);
}

/* No file may grow beyond some KiB; then it may again. */
FOLDER_TEST(a_full_disk_keeps_what_was_done)
{
	const char *text = whole();
	if (is_skipped(LLVM_OPENMP, LLVM_OPENMP_TEXT))
		return;
	struct ended full = shell(arena, "ulimit -f 48; $LXPLORE campaign %s", run_words("full"));
	assert_int_equal(full.status, 4);
	assert_non_null(strstr(full.err, "campaign.sqlite': the disk is full"));
	assert_int_equal(campaign(run_words("full")).status, 0);
	assert_string_equal(exported("full"), text);
}

/* Root may write anywhere: the test runs as another user then. */
FOLDER_TEST(a_folder_that_may_not_be_written_is_told)
{
	const char *text = whole();
	struct ended ended = shell(arena,
		"chmod 755 %s && chmod 555 %s/whole && chmod 444 %s/whole/* && "
		"cp \"$LXPLORE\" %s/program && run='' && "
		"if [ $(id -u) = 0 ]; then run='setpriv --reuid 65534 --clear-groups'; fi && "
		"$run %s/program campaign export %s/whole > %s/csv && "
		"$run %s/program campaign %s",
		folder, folder, folder, folder, folder, folder, folder, folder, run_words("whole"));
	assert_int_equal(ended.status, 4);
	if (!strstr(ended.err, "may not be written"))
		fail_msg("said: %s", ended.err);
	assert_non_null(strstr(text, folder_text("csv")));
	shell(arena, "chmod -R u+w %s", folder);
	assert_string_equal(exported("whole"), text);
}

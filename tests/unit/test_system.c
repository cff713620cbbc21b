#include "base/arena.h"
#include "base/text.h"
#include "tests/support/folder.h"
#include "tests/support/sanitized.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/test.h"

/*
 * The program where the system refuses something: threads, stack, memory, room in files.  It ends
 * with status 4 and a message, or does its work.  What it reads may be a pipe, and is read once.
 */
#define SPECS "specs/arch/spyre32.yaml specs/workloads/softmax_dim0.yaml"
#define STARTER "specs/starter"
#define PLACE_TABLE "id,lower,upper,size\na,0,3,256\nb,1,5,256\n"

static void expect_no_threads(const struct ended *ended)
{
	if (ended->status != 4 || !strstr(ended->err, "lxplore: cannot start ") ||
		!strstr(ended->err, "'--jobs' asks for fewer") || ended->out[0])
		fail_msg("status %d\n%s%s", ended->status, ended->out, ended->err);
}

/* There are some dozens of tasks; the stacks of that many threads are more than all of the memory. */
FOLDER_TEST(threads_without_memory_end_with_status_4)
{
	if (is_skipped(SANITIZED, "limits of memory: built with a sanitizer") ||
		is_skipped(LLVM_OPENMP, LLVM_OPENMP_TEXT))
		return;
	struct ended ended = shell(arena,
		"ulimit -v 250000; $LXPLORE explore " STARTER " -q --jobs 1024 -o %s", folder);
	expect_no_threads(&ended);
	assert_false(folder_has("pareto.csv"));
	ended = shell(arena,
		"ulimit -v 250000; $LXPLORE explore " STARTER " -q -c 2 --jobs 2 -o %s", folder);
	assert_int_equal(ended.status, 0);
}

/* Root has no such limit, so the test runs as another user. */
FOLDER_TEST(threads_beyond_the_limit_end_with_status_4)
{
	static const char as_nobody[] =
		"setpriv --reuid=65534 --clear-groups --inh-caps=-all --bounding-set=-all";
	if (is_skipped(SANITIZED, "limits of threads: built with a sanitizer") ||
		is_skipped(LLVM_OPENMP, LLVM_OPENMP_TEXT))
		return;
	struct ended ended =
		shell(arena, "chmod 777 %s; test $(id -u) = 0 && %s test -x $LXPLORE -a -w %s",
			folder, as_nobody, folder);
	if (is_skipped(ended.status != 0, "limits of threads: needs root, and setpriv"))
		return;
	ended = shell(arena,
		"%s bash -c 'ulimit -u 3; exec $LXPLORE explore " STARTER " -q --jobs 8 -o %s'",
		as_nobody, folder);
	expect_no_threads(&ended);
}

/* Stack of the main thread, and of the others. */
FOLDER_TEST(stacks_do_not_depend_on_limits)
{
	if (is_skipped(SANITIZED, "limits of stacks: built with a sanitizer") ||
		is_skipped(LLVM_OPENMP, LLVM_OPENMP_TEXT))
		return;
	static const char *const limits[] = {"ulimit -s 64", "ulimit -Ss 64", "ulimit -s unlimited",
		"export OMP_STACKSIZE=64k", "export OMP_THREAD_LIMIT=1"};
	const char *explore = "$LXPLORE explore " STARTER " -q -c 2 --jobs 8 -o";
	struct ended right = shell(arena, "%s %s/right", explore, folder);
	assert_int_equal(right.status, 0);
	for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
		struct ended ended = shell(arena, "%s; %s %s/%zu", limits[i], explore, folder, i);
		if (ended.status || strcmp(ended.out, right.out) != 0)
			fail_msg("%s: status %d\n%s", limits[i], ended.status, ended.err);
	}
}

/* 512 or 1024 bytes, by the shell: too few for run.json, and for the table on standard output. */
FOLDER_TEST(files_that_are_full_end_with_status_4)
{
	if (is_skipped(LLVM_OPENMP, LLVM_OPENMP_TEXT))
		return;
	struct ended ended = shell(
		arena, "ulimit -f 1; $LXPLORE explore " STARTER " -q -c 2 -o %s/full", folder);
	assert_int_equal(ended.status, 4);
	if (!strstr(ended.err, "lxplore: cannot write '") || !strstr(ended.err, "File too large"))
		fail_msg("%s", ended.err);
	assert_int_equal(shell(arena, "find %s/full -name '*.tmp' | grep .", folder).status, 1);
	ended = shell(arena, "ulimit -f 1; $LXPLORE score " SPECS);
	assert_int_equal(ended.status, 4);
	assert_non_null(strstr(ended.err, "cannot write to stdout: File too large"));
}

/* The hashes of the specs that run.json has. */
static const char *hashes(const char *run)
{
	struct text text = text_open(arena);
	for (const char *at = folder_text(run); (at = strstr(at, "\"fnv1a\": ")); at++)
		text_add(&text, "%.27s\n", at);
	return text_read(&text);
}

FOLDER_TEST(specs_may_be_pipes)
{
	static const char explore[] =
		"timeout 60 $LXPLORE explore -q --simulate none --labels 0 --budget 1 -o";
	struct ended ended = shell(arena, "%s %s/files " SPECS, explore, folder);
	assert_int_equal(ended.status, 0);
	ended = shell(arena,
		"mkfifo %s/arch; cat specs/arch/spyre32.yaml > %s/arch & "
		"cat specs/workloads/softmax_dim0.yaml | %s %s/pipes %s/arch -",
		folder, folder, explore, folder, folder);
	if (ended.status)
		fail_msg("status %d\n%s", ended.status, ended.err);
	const char *right = hashes("files/run.json");
	assert_int_equal(strlen(right), 2 * strlen("\"fnv1a\": \"0123456789abcdef\"\n"));
	assert_string_equal(hashes("pipes/run.json"), right);
	ended = shell(arena,
		"rm %s/arch; mkfifo %s/arch; cat specs/arch/spyre32.yaml > %s/arch & "
		"timeout 60 $LXPLORE diff %s/arch specs/workloads/softmax_dim0.yaml "
		"%s/files/plans/point-001.yaml - < %s/files/plans/point-001.yaml",
		folder, folder, folder, folder, folder, folder);
	if (ended.status)
		fail_msg("diff: status %d\n%s", ended.status, ended.err);
	folder_put("table", PLACE_TABLE);
	ended = folder_run("mkfifo pipe && { cat table > pipe & } && "
			   "timeout 60 \"$program\" place pipe --capacity 512 -q");
	assert_int_equal(ended.status, 0);
	assert_string_equal(ended.out, "id,lower,upper,size,offset\na,0,3,256,0\nb,1,5,256,256\n");
}

/* Inputs without an end, and files above the largest size. */
FOLDER_TEST(inputs_without_an_end_are_refused)
{
	static const struct {
		const char *command, *why;
	} rows[] = {
		{"check /dev/zero", "/dev/zero: error: is longer than 1048576 bytes (1 MiB), the "
				    "most of a spec\n"},
		{"place /dev/zero --capacity 5",
			"/dev/zero: error: is longer than 67108864 bytes (64 MiB), the most of a "
			"table\n"},
		{"place large.csv --capacity 5",
			"large.csv: error: has 5000000000 bytes; a table has at most 67108864 (64 "
			"MiB)\n"},
		{"check large.csv",
			"large.csv: error: has 5000000000 bytes; a spec has at most 1048576 (1 "
			"MiB)\n"},
		{"report endless", "endless/pareto.csv: error: is longer than 67108864 bytes"},
		{"report missing", "missing/pareto.csv: error: no such file\n"},
	};
	assert_int_equal(folder_run("truncate -s 5000000000 large.csv && mkdir endless && "
				    "ln -s /dev/zero endless/pareto.csv")
				 .status,
		0);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct ended ended = folder_run(
			arena_format(arena, "timeout 100 \"$program\" %s", rows[i].command));
		if (ended.status != 2 || !strstr(ended.err, rows[i].why))
			fail_msg("%s: status %d\n%s", rows[i].command, ended.status, ended.err);
	}
}

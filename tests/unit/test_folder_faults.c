#include "base/arena.h"
#include "base/text.h"
#include "report/run/folder.h"
#include "tests/support/draws.h"
#include "tests/support/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/test.h"

/*
 * A results folder is written while the system fails.  The calls with which report/run/folder.c
 * changes the disk are counted (the Makefile wraps them); the n-th is where the process ends, where
 * that one call fails, or from where on the disk is full.  Whatever n is, the folder then has the
 * run before or the new one byte for byte, and the files of the user as they were.
 */
enum fate { GOES_WELL, ENDS, FAILS, IS_FULL };

/* Ways to exchange folders: at once, by two renames, or not at all. */
enum system { EXCHANGES, RENAMES, MOVES_FILES, SYSTEMS };

static struct {
	enum fate fate;
	enum system system;
	int left; /* calls until then; 0: never */
} fault;

/* Ends of a run: without meeting the fault, with a reported failure, successful in spite of it,
 * killed. */
enum end { UNTOUCHED, REFUSED, DONE, KILLED };

enum { CALLS_LEAST = 60, CALLS_MOST = 2000, PLANS = 8 };

/* True if this call fails, with errno set. */
static bool strikes(bool needs_room)
{
	bool now = fault.left > 0 && --fault.left == 0;
	if (now && fault.fate == ENDS)
		_exit(KILLED);
	if (now && fault.fate == IS_FULL)
		fault.left = 1;
	if (now && (fault.fate == FAILS || needs_room)) {
		errno = fault.fate == FAILS ? EIO : ENOSPC;
		return true;
	}
	return false;
}

#define WRAP(room, type, name, parameters, arguments)                                              \
	type __real_##name parameters;                                                             \
	type __wrap_##name parameters;                                                             \
	type __wrap_##name parameters                                                              \
	{                                                                                          \
		return strikes(room) ? -1 : __real_##name arguments;                               \
	}

WRAP(true, int, mkdir, (const char *path, mode_t mode), (path, mode))
WRAP(true, int, linkat, (int a, const char *from, int b, const char *to, int flags),
	(a, from, b, to, flags))
/* No test waits for the disk. */
int __wrap_fsync(int file);
int __wrap_fsync(int file)
{
	return strikes(true) ? -1 : 0;
}

WRAP(false, int, close, (int file), (file))
WRAP(false, int, chmod, (const char *path, mode_t mode), (path, mode))
WRAP(false, int, rename, (const char *from, const char *to), (from, to))
WRAP(false, int, unlink, (const char *path), (path))
WRAP(false, int, rmdir, (const char *path), (path))
WRAP(false, int, lstat, (const char *path, struct stat *out), (path, out))
WRAP(false, int, flock, (int file, int how), (file, how))

int __real_open(const char *path, int flags, mode_t mode);
int __wrap_open(const char *path, int flags, mode_t mode);
int __wrap_open(const char *path, int flags, mode_t mode)
{
	return strikes(flags & O_CREAT) ? -1 : __real_open(path, flags, mode);
}

/* A disk that is full, and a process that ends, leave the first half. */
ssize_t __real_write(int file, const void *bytes, size_t count);
ssize_t __wrap_write(int file, const void *bytes, size_t count);
ssize_t __wrap_write(int file, const void *bytes, size_t count)
{
	if (fault.left == 1 && fault.fate != GOES_WELL)
		(void)!__real_write(file, bytes, count / 2);
	return strikes(true) ? -1 : __real_write(file, bytes, count);
}

int __real_renameat2(int a, const char *from, int b, const char *to, unsigned flags);
int __wrap_renameat2(int a, const char *from, int b, const char *to, unsigned flags);
int __wrap_renameat2(int a, const char *from, int b, const char *to, unsigned flags)
{
	if (strikes(false))
		return -1;
	if (fault.system == EXCHANGES)
		return __real_renameat2(a, from, b, to, flags);
	errno = fault.system == RENAMES ? EINVAL : EBUSY;
	return -1;
}

/* --- two runs */

static const char *const users_files[] = {
	"notes.txt", "mine/deep/notes.txt", "plans/best.yaml", "layers/README", "empty-001.yaml"};

/* A run of a network, and one of a graph, which has no layers. */
static const char *write_run(struct arena *of, const char *path, int run)
{
	struct folder *results = NULL;
	const char *why = folder_open(of, path, &results);
	if (why)
		return why;
	for (int i = 1; i <= PLANS - run; i++)
		folder_add(results, arena_format(of, "plans/point-%03d.yaml", i),
			arena_format(of, "plan %d of run %d\n", i, run));
	if (run == 1) {
		folder_add(results, "layers.csv", "layers of run 1\n");
		folder_add(results, "layers/one-001.yaml", "layer of run 1\n");
		folder_add(results, "layers/one.certificate.yaml", "proof of run 1\n");
	}
	folder_add(results, "run.json", arena_format(of, "run %d\n", run));
	folder_add(results, "pareto.csv", arena_format(of, "table of run %d\n", run));
	return folder_close(results);
}

/* The folder of results, one for each try, so that nothing need be removed. */
static const char *place;

static void put(const char *name, const char *text)
{
	const char *path = arena_format(arena, "%s/%s", place, name);
	assert_null(folder_parents(arena, path));
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

static void lay_out_first_run(void)
{
	static int tries;
	fault.left = 0;
	place = arena_format(arena, "%s/%d/out", folder, ++tries);
	assert_null(write_run(arena, place, 1));
	for (size_t i = 0; i < sizeof users_files / sizeof *users_files; i++)
		put(users_files[i], "of the user\n");
}

static int is_entry(const struct dirent *entry)
{
	return !text_equal(entry->d_name, ".") && !text_equal(entry->d_name, "..");
}

/* All files below a folder with their texts, by name; or what a run leaves behind by mistake. */
static void describe(struct text *text, bool strays, const char *path)
{
	struct dirent **entries = NULL;
	int count = scandir(path, &entries, is_entry, alphasort);
	for (int i = 0; i < count; i++) {
		const char *name = arena_format(arena, "%s/%s", path, entries[i]->d_name);
		bool stray = strstr(entries[i]->d_name, ".lxplore-");
		if (stray && strays)
			text_add(text, "%s\n", name);
		else if (entries[i]->d_type == DT_DIR && !stray)
			describe(text, strays, name);
		else if (!stray && !strays)
			text_add(text, ".%s: %s", name + strlen(place), text_of_file(arena, name));
		free(entries[i]);
	}
	free(entries);
}

static const char *contents(void)
{
	struct text text = text_open(arena);
	describe(&text, false, place);
	return text_read(&text);
}

static const char *strays(void)
{
	struct text text = text_open(arena);
	describe(&text, true, arena_format(arena, "%.*s", (int)(strlen(place) - 4), place));
	return text_read(&text);
}

/* The second run in a process of its own, with the fault at the n-th call. */
static enum end write_second_run(enum fate fate, int n)
{
	fault.fate = fate;
	fault.left = n;
	pid_t child = fork();
	assert_true(child >= 0);
	if (!child) {
		const char *refused = write_run(arena_open(), place, 2);
		if (refused && fate == GOES_WELL)
			fprintf(stderr, "%s\n", refused);
		bool met = fate == IS_FULL ? fault.left == 1 : fault.left == 0;
		_exit(refused ? REFUSED : n && met ? DONE : UNTOUCHED);
	}
	int status = 0;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	fault.left = 0;
	return WEXITSTATUS(status);
}

static void expect_users_files(const char *where)
{
	for (size_t i = 0; i < sizeof users_files / sizeof *users_files; i++)
		if (!strstr(where, arena_format(arena, "./%s: of the user\n", users_files[i])))
			fail_msg("lost %s:\n%s", users_files[i], where);
}

/* Checks the contents of the folder after the n-th call. */
static void expect_one_run(const char *old, const char *new, enum end end, int n)
{
	const char *found = contents();
	bool is_old = text_equal(found, old), is_new = text_equal(found, new);
	bool between = end == KILLED && !*found && fault.system == RENAMES;
	if ((end == UNTOUCHED || end == DONE) && !is_new)
		fail_msg("call %d: written, but\n%s", n, found);
	if (fault.system == MOVES_FILES && end == KILLED) {
		expect_users_files(found);
		if (!is_old && !is_new && strstr(found, "./pareto.csv:"))
			fail_msg("call %d: a table beside parts of runs:\n%s", n, found);
	} else if (!is_old && !is_new && !between) {
		fail_msg("call %d, end %d: neither run:\n%s", n, end, found);
	}
}

/* A process that opens the folder, and no more, finds one run. */
static void expect_mended(const char *old, const char *new, int n)
{
	pid_t child = fork();
	assert_true(child >= 0);
	if (!child) {
		struct folder *results = NULL;
		_exit(folder_open(arena_open(), place, &results) != NULL);
	}
	int status = 0;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	if (!text_equal(contents(), old) && !text_equal(contents(), new))
		fail_msg("call %d: opened again, the folder has\n%s", n, contents());
}

/* Each call in turn, or some of them, until a run comes to its end without meeting the fault; how many. */
static int strike_each_call(enum system system, enum fate fate)
{
	fault.system = system;
	lay_out_first_run();
	const char *old = contents();
	assert_int_equal(write_second_run(GOES_WELL, 0), UNTOUCHED);
	const char *new = contents();
	expect_users_files(old);
	expect_users_files(new);
	assert_null(strstr(new, "run 1"));
	assert_non_null(strstr(new, "./pareto.csv: table of run 2\n"));
	int apart = (int)draws_apart(3);
	for (int n = 1 + (int)(system + fate) % apart; n < CALLS_MOST; n += apart) {
		struct arena_mark mark = arena_mark(arena);
		lay_out_first_run();
		enum end end = write_second_run(fate, n);
		expect_one_run(old, new, end, n);
		assert_true(fate == ENDS || end != KILLED);
		if (end == UNTOUCHED) {
			assert_string_equal(strays(), "");
			return n;
		}
		if (end == KILLED)
			expect_mended(old, new, n);
		/* the next run finds its way, past what was left */
		assert_int_equal(write_second_run(GOES_WELL, 0), UNTOUCHED);
		if (!text_equal(contents(), new) || *strays())
			fail_msg("call %d: the run after has\n%s%s", n, contents(), strays());
		arena_release(arena, mark);
	}
	return CALLS_MOST;
}

static void expect_calls(int calls)
{
	assert_in_range(calls, CALLS_LEAST, CALLS_MOST - 1);
}

static void a_process_that_ends_leaves_one_run(void **state)
{
	for (enum system system = EXCHANGES; system < SYSTEMS; system++)
		expect_calls(strike_each_call(system, ENDS));
}

static void a_call_that_fails_leaves_one_run(void **state)
{
	for (enum system system = EXCHANGES; system < SYSTEMS; system++)
		expect_calls(strike_each_call(system, FAILS));
}

static void a_disk_that_is_full_leaves_one_run(void **state)
{
	for (enum system system = EXCHANGES; system < SYSTEMS; system++)
		strike_each_call(system, IS_FULL);
}

/* A file keeps its old text if a call fails, and nothing is left beside it. */
static void a_call_that_fails_leaves_one_file(void **state)
{
	const char *path = run_folder_path("single");
	bool met = true;
	for (int n = 1; met; n++) {
		struct dirent **entries = NULL;
		assert_null(file_write(arena, path, "old\n", 4));
		fault.fate = FAILS;
		fault.left = n;
		const char *why = file_write(arena, path, "new\n", 4);
		met = fault.left == 0;
		fault.left = 0;
		assert_int_equal(why != NULL, met);
		assert_string_equal(text_of_file(arena, path), why ? "old\n" : "new\n");
		int count = scandir(folder, &entries, is_entry, alphasort);
		for (int i = 0; i < count; i++)
			free(entries[i]);
		free(entries);
		assert_int_equal(count, 1);
		assert_true(n < CALLS_LEAST);
	}
}

/* --- two at once */

static void a_folder_is_written_by_one_process_at_a_time(void **state)
{
	struct folder *first = NULL, *second = NULL;
	const char *path = run_folder_path("out");
	assert_null(folder_open(arena, path, &first));
	assert_string_equal(folder_open(arena, run_folder_path("out/"), &second),
		arena_format(arena,
			"another run of lxplore is writing to '%s'; give this one a folder of its "
			"own, or wait",
			path));
	assert_null(folder_open(arena, run_folder_path("other"), &second));
}

/* A folder that is a process's working directory is not replaced. */
static void the_folder_where_one_works_stays(void **state)
{
	struct stat before, after;
	fault.system = EXCHANGES;
	lay_out_first_run();
	int here = open(".", O_RDONLY);
	assert_int_equal(chdir(place), 0);
	assert_int_equal(stat(".", &before), 0);
	const char *why = write_run(arena, ".", 2);
	assert_int_equal(stat(place, &after), 0);
	assert_int_equal(fchdir(here), 0);
	close(here);
	assert_null(why);
	assert_true(before.st_ino == after.st_ino);
	expect_users_files(contents());
	assert_null(strstr(contents(), "run 1"));
	assert_non_null(strstr(contents(), "table of run 2"));
}

#define FIXED(name) cmocka_unit_test_setup_teardown(name, folder_set_up, folder_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXED(a_process_that_ends_leaves_one_run),
		FIXED(a_call_that_fails_leaves_one_run),
		FIXED(a_disk_that_is_full_leaves_one_run),
		FIXED(a_call_that_fails_leaves_one_file),
		FIXED(the_folder_where_one_works_stays),
		FIXED(a_folder_is_written_by_one_process_at_a_time),
	};
	/* some 100,000 files: in memory, where there is such a folder */
	if (access("/dev/shm", W_OK) == 0)
		setenv("TMPDIR", "/dev/shm", 0);
	return cmocka_run_group_tests_name("results under faults", tests, NULL, NULL);
}

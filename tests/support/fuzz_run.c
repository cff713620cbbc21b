#include "tests/support/fuzz_run.h"

#include "base/arena.h"
#include "tests/support/draws.h"
#include "tests/support/mutated_text.h"
#include "tests/support/shell.h"

#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

/* A child takes this many inputs, so that leaks are seen and memory is given back; an input may take
 * this many seconds of processors. */
enum { BATCH = 500, SECONDS_MOST = 60, FINDINGS_MOST = 20, TOLD_EACH = 10000 };

/* Processors' time of the children and their parent. */
struct shared {
	long next, past; /* input under way, or the next; inputs that were read */
	bool under_way;
};

struct run {
	struct arena *arena;
	const char *name, *base, *folder; /* folders of all, and of the input under way */
	uint64_t seed;
	long first, end, findings, told;
	fuzz_one *one;
	struct shared *shared;
};

enum { OUT, ERR };
static int said_files[2]; /* what stdout and stderr of a child are */

static void on_time(int signal_number)
{
	(void)signal_number;
	static const char why[] = "too long\n";
	if (write(STDERR_FILENO, why, sizeof why - 1) < 0)
		_exit(1);
	abort();
}

static void watch(int seconds)
{
	struct itimerval limit = {.it_value = {.tv_sec = seconds}};
	setitimer(ITIMER_PROF, &limit, NULL);
}

static const char *read_back(struct arena *arena, int file)
{
	off_t length = lseek(file, 0, SEEK_END);
	char *text = arena_alloc(arena, (size_t)length + 1);
	ssize_t got = pread(file, text, (size_t)length, 0);
	text[got > 0 ? got : 0] = '\0';
	if (ftruncate(file, 0) != 0)
		abort();
	return text;
}

struct fuzz_said fuzz_said(struct arena *arena)
{
	fflush(stdout);
	fflush(stderr);
	struct fuzz_said said = {
		read_back(arena, said_files[OUT]), read_back(arena, said_files[ERR])};
	return said;
}

void fuzz_wrong(const char *format, ...)
{
	va_list list;
	va_start(list, format);
	vfprintf(stderr, format, list);
	va_end(list);
	fputc('\n', stderr);
	fflush(NULL);
	_exit(77);
}

static int remove_one(const char *path, const struct stat *facts, int kind, struct FTW *at)
{
	(void)facts;
	(void)kind;
	return at->level ? remove(path) : 0;
}

static void empty_folder(const char *folder)
{
	if (mkdir(folder, 0777) != 0 && nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS) != 0)
		abort();
}

static void one_input(const struct run *run, long number)
{
	struct arena *arena = arena_open();
	struct random random = random_open(run->seed, (uint64_t)number);
	struct fuzz_input input = {arena, &random, run->folder, number};
	empty_folder(run->folder);
	watch(SECONDS_MOST);
	run->shared->past += run->one(&input);
	watch(0);
	if (getenv("KEEP"))
		fuzz_wrong("kept");
	fuzz_said(arena);
	arena_close(arena);
}

_Noreturn static void child(const struct run *run)
{
	signal(SIGPROF, on_time);
	dup2(said_files[OUT], STDOUT_FILENO);
	dup2(said_files[ERR], STDERR_FILENO);
	for (int i = 0; i < BATCH && run->shared->next < run->end; i++) {
		run->shared->under_way = true;
		one_input(run, run->shared->next);
		run->shared->under_way = false;
		run->shared->next++;
	}
	exit(0);
}

static int open_said(void)
{
	int file = memfd_create("said", 0);
	if (file < 0 || fcntl(file, F_SETFL, O_APPEND) != 0)
		abort();
	return file;
}

/* Tells of it, and keeps its files. */
static void tell_finding(struct run *run, int status)
{
	struct arena *arena = arena_open();
	const char *kept = arena_format(arena, "%s/%ld", run->base, run->shared->next);
	const char *out = read_back(arena, said_files[OUT]),
		   *err = read_back(arena, said_files[ERR]);
	bool moved = rename(run->folder, kept) == 0;
	printf("%s: input %ld of seed %" PRIu64 ", %s %d, files in %s:\n%.8000s\n%.2000s\n",
		run->name, run->shared->next, run->seed, WIFSIGNALED(status) ? "signal" : "status",
		WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status),
		moved ? kept : run->base, err, out);
	fflush(stdout);
	run->findings++;
	run->shared->next += run->shared->under_way; /* else a leak of any input before it */
	run->shared->under_way = false;
	arena_close(arena);
}

/* Progress of long runs, now and then. */
static void tell_progress(struct run *run)
{
	long done = run->shared->next - run->first;
	if (done < run->told + TOLD_EACH)
		return;
	run->told = done;
	printf("so far: %ld inputs, %ld past reading\n", done, run->shared->past);
	fflush(stdout);
}

static void run_all(struct run *run)
{
	while (run->shared->next < run->end && run->findings < FINDINGS_MOST) {
		int status;
		fflush(NULL);
		pid_t pid = fork();
		if (pid < 0)
			abort();
		if (pid == 0)
			child(run);
		if (waitpid(pid, &status, 0) != pid)
			abort();
		if (status != 0)
			tell_finding(run, status);
		tell_progress(run);
	}
}

long fuzz_run(const char *name, long by_default, fuzz_one *one)
{
	struct arena *arena = arena_open();
	const char *first = getenv("FIRST"), *base = shell_folder(arena);
	struct run run = {.arena = arena,
		.name = name,
		.base = base,
		.folder = arena_format(arena, "%s/input", base),
		.seed = draws_seed(1),
		.first = first ? strtol(first, NULL, 10) : 0,
		.one = one,
		.shared = mmap(NULL, sizeof *run.shared, PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0)};
	if (run.shared == MAP_FAILED)
		abort();
	run.shared->next = run.first;
	run.end = run.first + draws(by_default);
	said_files[OUT] = open_said();
	said_files[ERR] = open_said();
	run_all(&run);
	mutated_tell(run.shared->next - run.first, run.shared->past);
	close(said_files[OUT]);
	close(said_files[ERR]);
	munmap(run.shared, sizeof *run.shared);
	if (!run.findings)
		shell_remove(base);
	arena_close(arena);
	return run.findings;
}

#include "campaign/crash.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/text.h"
#include "campaign/store_database.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};
enum { SIGNALS = sizeof signals / sizeof *signals, STACK = 1 << 16, SPEC_MOST = 64 };

static char *path;  /* of the record */
static char **line; /* of arguments; NULL: not known, the program ends */

static _Thread_local char exploring[SPEC_MOST];
static _Thread_local void
	*spare; /* a stack for handlers: the thread's own may be what has run out */

/* "SPEC SIGNAL\n"; only what is allowed in a handler. */
static bool record(int number)
{
	char text[SPEC_MOST + 8];
	size_t length = strlen(exploring);
	memcpy(text, exploring, length);
	text[length++] = ' ';
	text[length++] = (char)('0' + number / 10);
	text[length++] = (char)('0' + number % 10);
	text[length++] = '\n';
	int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	bool good = file >= 0 && write(file, text, length) == (ssize_t)length && fsync(file) == 0;
	if (file >= 0)
		close(file);
	return good;
}

/* The signal stays caught meanwhile, for other threads may crash, too: each records its own point. */
static void on_crash(int number)
{
	static _Thread_local volatile sig_atomic_t crashing;
	sigset_t all;
	sigfillset(&all);
	if (!crashing) {
		crashing = 1;
		if (*exploring && record(number) && line) {
			sigprocmask(SIG_UNBLOCK, &all, NULL);
			execv("/proc/self/exe", line);
		}
	}
	signal(number, SIG_DFL);
	raise(number);
}

/* The arguments of the program without one of them. */
static char **read_line(const char *without)
{
	static struct arena *arena;
	struct array(char *) words = {0};
	char *text = NULL;
	size_t room = 0;
	FILE *file = fopen("/proc/self/cmdline", "re");
	arena = arena ? arena : arena_open();
	while (file && getdelim(&text, &room, '\0', file) > 0)
		if (strcmp(text, without) != 0)
			*array_add(arena, &words) = arena_text(arena, text);
	free(text);
	if (file)
		fclose(file);
	*array_add(arena, &words) = NULL;
	return words.count > 1 ? words.at : NULL;
}

void crash_guard(const char *folder, const char *without)
{
	struct sigaction action = {.sa_handler = on_crash, .sa_flags = SA_ONSTACK | SA_NODEFER};
	free(path);
	if (asprintf(&path, "%s/campaign.crashed", folder) < 0)
		path = NULL;
	line = read_line(without);
	sigemptyset(&action.sa_mask);
	for (int i = 0; i < SIGNALS && path; i++)
		sigaction(signals[i], &action, NULL);
}

void crash_begin(const char *spec)
{
	if (!spare && (spare = malloc(STACK)))
		sigaltstack(&(stack_t){.ss_sp = spare, .ss_size = STACK}, NULL);
	strncpy(exploring, spec, sizeof exploring - 1);
}

void crash_end(void)
{
	exploring[0] = 0;
}

/* The tasks of a record that this store has. */
static void keep(struct store *store, const char *version, const char *text, size_t *count)
{
	char spec[SPEC_MOST];
	int number, length;
	for (; sscanf(text, "%63s %2d\n%n", spec, &number, &length) == 2; text += length) {
		size_t differ = 0;
		struct task_result result = {.spec = spec,
			.status = TASK_CRASHED,
			.version = version,
			.message = arena_format(store->arena,
				"lxplore: the program ended by signal %d (%s)\n", number,
				strsignal(number)),
			.pareto = "",
			.plans = "[]",
			.objective = ""};
		store_add_result(store, &result, &differ);
		++*count;
	}
}

const char *crash_collect(struct store *store, const char *version, size_t *count)
{
	const char *from = arena_format(store->arena, "%s/campaign.crashed", store->folder);
	const char *taken = arena_format(store->arena, "%s.%d", from, (int)getpid());
	*count = 0;
	if (access(from, F_OK) != 0 || rename(from, taken) != 0)
		return NULL;
	const char *text = text_of_file(store->arena, taken);
	store_begin(store);
	keep(store, version, text ? text : "", count);
	const char *why = store_commit(store);
	if (why)
		rename(taken, from);
	else
		unlink(taken);
	return why;
}

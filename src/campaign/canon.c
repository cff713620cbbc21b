#include "campaign/canon.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/text.h"
#include "campaign/store_database.h"
#include "spec/step.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Known digests by node; open addressing. */
struct known_digest {
	const struct node *node;
	digest value;
};

struct canon {
	struct arena *arena;
	struct known_digest *slots;
	size_t count, capacity;
};

static const digest offset =
	(digest)UINT64_C(0x6c62272e07bb0142) << 64 | UINT64_C(0x62b821756295c58d);

static digest add_bytes(digest value, const void *bytes, size_t count)
{
	const digest prime = (digest)1 << 88 | 0x13b;
	for (const unsigned char *at = bytes; count--; at++)
		value = (value ^ *at) * prime;
	return value;
}

digest digest_text(digest seed, const char *text)
{
	return add_bytes(seed ? seed : offset, text, strlen(text) + 1);
}

void digest_print(digest value, char out[DIGEST_TEXT])
{
	snprintf(out, DIGEST_TEXT, "%016" PRIx64 "%016" PRIx64, (uint64_t)(value >> 64),
		(uint64_t)value);
}

struct canon *canon_open(struct arena *arena)
{
	struct canon *canon = arena_new(arena, struct canon);
	canon->arena = arena;
	return canon;
}

static struct known_digest *find(const struct canon *canon, const struct node *node)
{
	size_t i = (size_t)((uintptr_t)node / sizeof *node * UINT64_C(0x9e3779b97f4a7c15) >> 20);
	while (canon->slots[i &= canon->capacity - 1].node && canon->slots[i].node != node)
		i++;
	return &canon->slots[i];
}

static void keep(struct canon *canon, const struct node *node, digest value)
{
	if (2 * canon->count >= canon->capacity) {
		struct canon old = *canon;
		canon->capacity = old.capacity ? 2 * old.capacity : 1024;
		canon->slots = arena_array(canon->arena, struct known_digest, canon->capacity);
		for (size_t i = 0; i < old.capacity; i++)
			if (old.slots[i].node)
				*find(canon, old.slots[i].node) = old.slots[i];
	}
	*find(canon, node) = (struct known_digest){node, value};
	canon->count++;
}

digest canon_digest(struct canon *canon, const struct node *node)
{
	bool stays = node->weight > 1;
	if (stays && canon->capacity && find(canon, node)->node)
		return find(canon, node)->value;
	const char head[] = {(char)('0' + node->kind), node->quoted ? 'q' : 'p'};
	digest value = add_bytes(offset, head, sizeof head);
	value = digest_text(value, node->tag ? node->tag : "");
	if (node->kind == NODE_SCALAR)
		value = digest_text(value, node->text);
	for (size_t i = 0; node->kind != NODE_SCALAR && i < node->count; i++) {
		bool map = node->kind == NODE_MAP;
		digest part = canon_digest(canon, map ? node->entries[i].value : node->items[i]);
		if (map)
			value = digest_text(value, node->entries[i].key);
		value = add_bytes(value, &part, sizeof part);
	}
	if (stays)
		keep(canon, node, value);
	return value;
}

digest canon_digest_files(struct canon *canon, const struct node *const *files, size_t count)
{
	digest all = 0;
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; files[i]->kind == NODE_MAP && k < files[i]->count; k++) {
			const struct node_entry *entry = &files[i]->entries[k];
			if (text_equal(entry->key, "sweep"))
				continue;
			digest part = canon_digest(canon, entry->value);
			/* equal keys, as constraints that add up, count in their order */
			digest before = 0;
			for (size_t j = 0; j < i; j++)
				before += node_index(files[j], entry->key) >= 0;
			part = add_bytes(digest_text(before + 1, entry->key), &part, sizeof part);
			all += part;
		}
	return all;
}

static void add_text(struct text *text, const struct node *node)
{
	if (node->tag)
		text_add(text, "%s ", node->tag);
	if (node->kind == NODE_SCALAR) {
		if (node->quoted)
			quote_yaml(text, node->text);
		else
			text_add(text, "%s", node->text);
		return;
	}
	bool map = node->kind == NODE_MAP;
	text_add(text, "%s", map ? "{" : "[");
	for (size_t i = 0; i < node->count; i++) {
		text_add(text, "%s", i ? ", " : "");
		if (map) {
			quote_yaml(text, node->entries[i].key);
			text_add(text, ": ");
		}
		add_text(text, map ? node->entries[i].value : node->items[i]);
	}
	text_add(text, "%s", map ? "}" : "]");
}

const char *canon_text(struct arena *arena, const struct node *node)
{
	struct text text = text_open(arena);
	if (node->kind == NODE_SCALAR && !node->tag)
		return node->text;
	add_text(&text, node);
	return text_read(&text);
}

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
static void keep_crash(struct store *store, const char *version, const char *text, size_t *count)
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
	keep_crash(store, version, text ? text : "", count);
	const char *why = store_commit(store);
	if (why)
		rename(taken, from);
	else
		unlink(taken);
	return why;
}

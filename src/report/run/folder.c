#include "report/run/folder.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/text.h"
#include "report/run/folder_files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

struct folder_file {
	const char *name, *text;
};

struct folder {
	struct arena *arena;
	const char *path;   /* as given */
	const char *place;  /* the same from the root on, without links */
	const char *fresh;  /* what names of new folders beside it begin with */
	const char *old;    /* and of that of the run before, where two renames are needed */
	const char *inside; /* and of new folders inside it */
	const char *leaving,
		*left;     /* and of the run before inside it: while it moves out, and then */
	struct stat facts; /* its owner and mode */
	int lock;          /* the folder as it was opened; -1: not locked */
	struct array(struct folder_file) files;
};

/* --- opening */

static void name_places(struct folder *folder)
{
	const char *base = strrchr(folder->place, '/') + 1;
	int length = (int)(base - folder->place);
	folder->fresh =
		arena_format(folder->arena, "%.*s.%s.lxplore-new", length, folder->place, base);
	folder->old =
		arena_format(folder->arena, "%.*s.%s.lxplore-old", length, folder->place, base);
	folder->inside = arena_format(folder->arena, "%s/.lxplore-new", folder->place);
	folder->leaving = arena_format(folder->arena, "%s/.lxplore-old", folder->place);
	folder->left = arena_format(folder->arena, "%s/.lxplore-was", folder->place);
}

/* The path from the root on; NULL if there is no parent. */
static const char *find_place(struct arena *arena, const char *path)
{
	char whole[PATH_MAX];
	const char *slash = strrchr(path, '/');
	if (realpath(path, whole))
		return arena_text(arena, whole);
	if (!realpath(slash ? arena_format(arena, "%.*s", (int)(slash - path) + 1, path) : ".",
		    whole))
		return NULL;
	return arena_format(
		arena, "%s/%s", text_equal(whole, "/") ? "" : whole, slash ? slash + 1 : path);
}

/* Where a program ended between two renames, the folder has its name of before again. */
static void restore(const struct folder *folder)
{
	struct stat facts;
	const char *old =
		lstat(folder->place, &facts) == 0 ? NULL : folder_find(folder->arena, folder->old);
	if (old && rename(old, folder->place) != 0)
		errno = 0; /* the new one is made without it */
}

/* The path of a folder that was made as `from-..`, as `to-..`. */
static const char *renamed(
	const struct folder *folder, const char *path, const char *from, const char *to)
{
	return arena_format(folder->arena, "%s%s", to, path + strlen(from));
}

/* The run before is in its place again: parts of another run that are there go first, if all of it has
 * left.  Safe wherever it ends: what is moved back is not taken for a part. */
static void move_back(const struct folder *folder, const char *old, bool whole)
{
	if (whole) {
		const char *leaving = renamed(folder, old, folder->left, folder->leaving);
		if (!folder_clear(folder->arena, folder->place, NULL) || rename(old, leaving) != 0)
			return;
		old = leaving;
	}
	if (folder_move(folder->arena, old, folder->place, false))
		rmdir(old);
}

/* Where a program ended while files moved, there is no table. */
static void restore_inside(const struct folder *folder)
{
	struct stat facts;
	if (folder->lock < 0 ||
		lstat(arena_format(folder->arena, "%s/pareto.csv", folder->place), &facts) == 0)
		return;
	const char *left = folder_find(folder->arena, folder->left);
	const char *leaving = left ? left : folder_find(folder->arena, folder->leaving);
	if (leaving)
		move_back(folder, leaving, left != NULL);
}

/* Answers why not; a system that knows no locks of folders goes without. */
static const char *lock(struct folder *folder)
{
	for (;;) {
		struct stat opened;
		int at = open(folder->place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (at < 0)
			return NULL;
		if (flock(at, LOCK_EX | LOCK_NB) != 0) {
			bool taken = errno == EWOULDBLOCK;
			close(at);
			return !taken ? NULL
				      : arena_format(folder->arena,
						"another run of lxplore is writing to '%s'; give "
						"this one a folder of its own, or wait",
						folder->path);
		}
		folder->lock = at;
		/* a run that ended just now may have put another folder in its place */
		if (fstat(at, &opened) != 0 || stat(folder->place, &folder->facts) != 0 ||
			(opened.st_dev == folder->facts.st_dev &&
				opened.st_ino == folder->facts.st_ino))
			return NULL;
		close(at);
	}
}

const char *folder_open(struct arena *arena, const char *path, struct folder **out)
{
	struct folder *folder = arena_new(arena, struct folder);
	size_t length = strlen(path);
	if (!length)
		return "the results folder has an empty name";
	while (length > 1 && path[length - 1] == '/')
		length--;
	path = arena_format(arena, "%.*s", (int)length, path);
	const char *why = folder_parents(arena, path);
	*folder = (struct folder){.arena = arena, .path = path, .lock = -1};
	folder->place = why ? NULL : find_place(arena, path);
	if (folder->place) {
		name_places(folder);
		restore(folder);
		why = folder_parents(arena, arena_format(arena, "%s/", path));
	}
	if (!why && (!folder->place || stat(folder->place, &folder->facts) != 0))
		why = arena_format(arena, "cannot open folder '%s': %s", path, strerror(errno));
	*out = folder;
	if (!why)
		why = lock(folder);
	if (!why)
		restore_inside(folder);
	return why;
}

struct folder *folder_gather(struct arena *arena)
{
	struct folder *folder = arena_new(arena, struct folder);
	folder->arena = arena;
	folder->lock = -1;
	return folder;
}

size_t folder_count(const struct folder *folder)
{
	return folder->files.count;
}

const char *folder_file(const struct folder *folder, size_t i, const char **text)
{
	*text = folder->files.at[i].text;
	return folder->files.at[i].name;
}

const char *folder_name(const struct folder *folder)
{
	return folder->path;
}

void folder_add(struct folder *folder, const char *name, const char *text)
{
	*array_add(folder->arena, &folder->files) = (struct folder_file){name, text};
}

/* --- closing */

/* All files into a new folder; NULL, or why not.  Nobody waits for the disk for one of many. */
static const char *write_files(struct folder *folder, const char *into)
{
	for (size_t i = 0; i < folder->files.count; i++) {
		const struct folder_file *file = &folder->files.at[i];
		const char *path = arena_format(folder->arena, "%s/%s", into, file->name);
		bool many = strchr(file->name, '/') != NULL;
		const char *why = many ? folder_parents(folder->arena, path) : NULL;
		if (why)
			return why;
		if (!file_create(path, file->text, strlen(file->text), !many))
			return arena_format(folder->arena, "cannot write '%s/%s': %s", folder->path,
				file->name, strerror(errno));
	}
	return NULL;
}

/* Whether the folder is where this process is, or above: whoever started it is there, too. */
static bool is_below_us(const struct folder *folder)
{
	char here[PATH_MAX];
	size_t length = strlen(folder->place);
	return !getcwd(here, sizeof here) || (strncmp(here, folder->place, length) == 0 &&
						     (!here[length] || here[length] == '/'));
}

/* Puts the new folder in the place of the old one; answers where the old one is, NULL if the
 * system does not allow it. */
static const char *exchange(const struct folder *folder, const char *fresh)
{
	if (renameat2(AT_FDCWD, fresh, AT_FDCWD, folder->place, RENAME_EXCHANGE) == 0)
		return fresh;
	if (errno != ENOSYS && errno != EINVAL)
		return NULL;
	const char *old = folder_create(folder->arena, folder->old, &folder->facts);
	if (!old)
		return NULL;
	if (rename(folder->place, old) != 0) {
		rmdir(old);
		return NULL;
	}
	if (rename(fresh, folder->place) == 0)
		return old;
	restore(folder);
	return NULL;
}

static void sweep(struct folder *folder)
{
	if (folder->lock < 0)
		return;
	folder_sweep(folder->arena, folder->fresh, folder->place);
	folder_sweep(folder->arena, folder->old, folder->place);
	folder_sweep(folder->arena, folder->inside, folder->place);
	folder_sweep(folder->arena, folder->leaving, folder->leaving);
	folder_sweep(folder->arena, folder->left, folder->left);
}

/* False where the whole folder cannot be exchanged; `why` is of what cannot be written. */
static bool put_beside(struct folder *folder, const char **why)
{
	if (is_below_us(folder))
		return false;
	const char *fresh = folder_create(folder->arena, folder->fresh, &folder->facts);
	if (!fresh)
		return false;
	*why = write_files(folder, fresh);
	const char *old = *why || !folder_link(folder->arena, folder->place, fresh)
				  ? NULL
				  : exchange(folder, fresh);
	folder_clear(folder->arena, old ? old : fresh, folder->place);
	rmdir(old ? old : fresh);
	return old || *why;
}

/* File by file; the table names all others, and is there last. */
static const char *move_files(struct folder *folder, const char *fresh)
{
	for (int last = 0; last < 2; last++)
		for (size_t i = 0; i < folder->files.count; i++) {
			const char *name = folder->files.at[i].name;
			const char *to = arena_format(folder->arena, "%s/%s", folder->place, name);
			const char *why = NULL;
			if (text_equal(name, "pareto.csv") != (last == 1))
				continue;
			if (strchr(name, '/'))
				why = folder_parents(folder->arena, to);
			if (!why && rename(arena_format(folder->arena, "%s/%s", fresh, name), to))
				why = arena_format(folder->arena, "cannot write '%s/%s': %s",
					folder->path, name, strerror(errno));
			if (why)
				return why;
		}
	return NULL;
}

/* The run before leaves, the new one arrives; NULL, or why not, and the run before is back. */
static const char *exchange_inside(struct folder *folder, const char *fresh)
{
	const char *old = folder_create(folder->arena, folder->leaving, &folder->facts);
	const char *left = old ? renamed(folder, old, folder->leaving, folder->left) : NULL;
	const char *why = NULL;
	if (!old || !folder_move(folder->arena, folder->place, old, true) || rename(old, left)) {
		why = arena_format(folder->arena, "cannot move the run before out of '%s': %s",
			folder->path, strerror(errno));
		if (old)
			move_back(folder, old, false);
		return why;
	}
	why = move_files(folder, fresh);
	if (why)
		move_back(folder, left, true);
	return why;
}

static const char *put_inside(struct folder *folder)
{
	const char *fresh = folder_create(folder->arena, folder->inside, &folder->facts);
	if (!fresh)
		return arena_format(folder->arena, "cannot write to folder '%s': %s", folder->path,
			strerror(errno));
	const char *why = write_files(folder, fresh);
	if (!why)
		why = exchange_inside(folder, fresh);
	folder_clear(folder->arena, fresh, fresh);
	rmdir(fresh);
	return why;
}

const char *folder_close(struct folder *folder)
{
	const char *why = NULL;
	sweep(folder);
	if (!put_beside(folder, &why))
		why = put_inside(folder);
	sweep(folder);
	if (folder->lock >= 0)
		close(folder->lock);
	return why;
}

#include "report/run/folder.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/text.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <jansson.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* Names that are tried, and files of the user that follow, at most. */
enum { TRIES_MOST = 1000, LINKS_MOST = 10000 };

/* --- single files */

static bool write_all(int file, const char *bytes, size_t length)
{
	while (length) {
		ssize_t written = write(file, bytes, length);
		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return false;
		bytes += written;
		length -= (size_t)written;
	}
	return true;
}

static bool write_and_close(int file, const char *bytes, size_t length, bool to_disk)
{
	bool good = write_all(file, bytes, length) && (!to_disk || fsync(file) == 0);
	int error = errno;
	if (close(file) != 0 && good)
		return false;
	errno = error;
	return good;
}

bool file_create(const char *path, const char *bytes, size_t length, bool to_disk)
{
	int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	return file >= 0 && write_and_close(file, bytes, length, to_disk);
}

/* A device or a pipe is written to; a file is replaced. */
static bool is_no_file(const char *path)
{
	struct stat facts;
	return stat(path, &facts) == 0 && !S_ISREG(facts.st_mode);
}

static bool write_into(const char *path, const char *bytes, size_t length)
{
	int file = open(path, O_WRONLY | O_CLOEXEC);
	return file >= 0 && write_and_close(file, bytes, length, false);
}

static bool write_beside(struct arena *arena, const char *path, const char *bytes, size_t length)
{
	const char *beside = NULL;
	bool good = false;
	for (int i = 1; i <= TRIES_MOST; i++) {
		beside = arena_format(arena, "%s.%d-%d.tmp", path, (int)getpid(), i);
		good = file_create(beside, bytes, length, true);
		if (good || errno != EEXIST)
			break;
	}
	good = good && rename(beside, path) == 0;
	int error = errno;
	if (!good)
		unlink(beside);
	errno = error;
	return good;
}

const char *file_write(struct arena *arena, const char *path, const char *bytes, size_t length)
{
	if (is_no_file(path) ? write_into(path, bytes, length)
			     : write_beside(arena, path, bytes, length))
		return NULL;
	return arena_format(arena, "cannot write '%s': %s", path, strerror(errno));
}

/* --- folders */

const char *folder_create(struct arena *arena, const char *start, const struct stat *like)
{
	for (int i = 1; i <= TRIES_MOST; i++) {
		const char *path = arena_format(arena, "%s-%d-%d", start, (int)getpid(), i);
		struct stat made;
		if (mkdir(path, 0777) != 0) {
			if (errno == EEXIST)
				continue;
			return NULL;
		}
		if (stat(path, &made) == 0 &&
			((made.st_uid == like->st_uid && made.st_gid == like->st_gid) ||
				chown(path, like->st_uid, like->st_gid) == 0) &&
			chmod(path, like->st_mode & 07777) == 0)
			return path;
		rmdir(path);
		return NULL;
	}
	return NULL;
}

static const char *make_folder(struct arena *arena, const char *path)
{
	if (mkdir(path, 0777) == 0 || errno == EEXIST) {
		struct stat facts;
		if (stat(path, &facts) == 0 && S_ISDIR(facts.st_mode))
			return NULL;
		return arena_format(arena, "'%s' is not a folder", path);
	}
	return arena_format(arena, "cannot make folder '%s': %s", path, strerror(errno));
}

const char *folder_parents(struct arena *arena, const char *path)
{
	const char *last = strrchr(path, '/');
	struct stat facts;
	if (!last ||
		(stat(arena_format(arena, "%.*s", (int)(last - path) + 1, path), &facts) == 0 &&
			S_ISDIR(facts.st_mode)))
		return NULL;
	for (const char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		const char *why =
			make_folder(arena, arena_format(arena, "%.*s", (int)(slash - path), path));
		if (why)
			return why;
	}
	return NULL;
}

/* --- whose files they are */

static bool is_run_folder(const char *name)
{
	return text_equal(name, "plans") || text_equal(name, "layers") || text_equal(name, "specs");
}

/* "NAME-001.yaml", three digits or more. */
static bool is_numbered(const char *name)
{
	const char *at = strrchr(name, '-'), *digits = at + 1;
	if (!at)
		return false;
	for (at = digits; isdigit((unsigned char)*at);)
		at++;
	return at - digits >= 3 && text_equal(at, ".yaml");
}

/* True for files that a run of any kind writes, apart from its copies of specs: see is_of_run. */
static bool is_run_file(const char *name)
{
	static const char *const names[] = {
		"pareto.csv", "run.json", "layers.csv", "certificate.yaml"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (text_equal(name, names[i]))
			return true;
	if (fnmatch("plans/point-*", name, FNM_PATHNAME) == 0 ||
		fnmatch("layers/*", name, FNM_PATHNAME) == 0)
		return is_numbered(name) ||
		       fnmatch("layers/*.certificate.yaml", name, FNM_PATHNAME) == 0;
	return false;
}

/* --- whole folders */

/* A folder that is gone through: `at` is where, inside `path`; "" at its top. */
struct walk {
	struct arena *arena;
	const char *path;
	const char *other; /* the second folder: where links go, or what has the files, too */
	bool made;         /* folder_create made it: the copies of specs in it are a run's */
	json_t *listed;    /* else those that its run.json has a hash of are; NULL: none */
	int links;
};

/* True if a name goes on as folder_create has it: "-PROCESS-NUMBER". */
static bool is_created(const char *end)
{
	int process = 0, number = 0, length = 0;
	return sscanf(end, "-%d-%d%n", &process, &number, &length) == 2 && !end[length];
}

/* A person may have files of such names, too: specs/001-arch.yaml beside a run in the current folder. */
static struct walk walk_open(struct arena *arena, const char *path, const char *other)
{
	struct walk walk = {.arena = arena, .path = path, .other = other};
	for (const char *at = strchr(path, '-'); at && !walk.made; at = strchr(at + 1, '-'))
		walk.made = is_created(at);
	json_t *run = json_load_file(arena_format(arena, "%s/run.json", path), 0, NULL);
	walk.listed = json_incref(json_object_get(run, "files"));
	json_decref(run);
	return walk;
}

static bool is_of_run(const struct walk *walk, const char *name)
{
	if (fnmatch("specs/[0-9][0-9][0-9]-*", name, FNM_PATHNAME) != 0)
		return is_run_file(name);
	return walk->made || json_object_get(walk->listed, name);
}

static DIR *open_at(const struct walk *walk, const char *at)
{
	return opendir(arena_format(walk->arena, "%s/%s", walk->path, at));
}

/* The next entry's name inside the folder, and what it is, all 0 if that is not known; NULL at the
 * end, where errno is 0 if there really are no more. */
static const char *folder_walk_next(
	const struct walk *walk, DIR *folder, const char *at, struct stat *facts)
{
	const struct dirent *entry;
	const char *name;
	do {
		errno = 0;
		entry = readdir(folder);
		if (!entry)
			return NULL;
		name = entry->d_name;
	} while (text_equal(name, ".") || text_equal(name, ".."));
	name = arena_format(walk->arena, "%s%s%s", at, *at ? "/" : "", name);
	if (lstat(arena_format(walk->arena, "%s/%s", walk->path, name), facts) != 0)
		*facts = (struct stat){0};
	return name;
}

/* Folders of runs are made only for what follows into them. */
static bool link_file(struct walk *walk, const char *at, const char *name)
{
	const char *from = arena_format(walk->arena, "%s/%s", walk->path, name);
	const char *to = arena_format(walk->arena, "%s/%s", walk->other, name);
	if (is_run_folder(at) && folder_parents(walk->arena, to))
		return false;
	return ++walk->links <= LINKS_MOST && linkat(AT_FDCWD, from, AT_FDCWD, to, 0) == 0;
}

static bool link_all(struct walk *walk, const char *at)
{
	DIR *folder = open_at(walk, at);
	struct stat facts;
	bool good = folder != NULL;
	for (const char *name; good && (name = folder_walk_next(walk, folder, at, &facts));) {
		const char *to = arena_format(walk->arena, "%s/%s", walk->other, name);
		if (!S_ISDIR(facts.st_mode))
			good = is_of_run(walk, name) || link_file(walk, at, name);
		else
			good = (is_run_folder(name) ||
				       (mkdir(to, 0777) == 0 &&
					       chmod(to, facts.st_mode & 07777) == 0)) &&
			       link_all(walk, name);
	}
	good &= errno == 0;
	if (folder)
		closedir(folder);
	return good;
}

bool folder_link(struct arena *arena, const char *from, const char *to)
{
	struct walk walk = walk_open(arena, from, to);
	bool good = link_all(&walk, "");
	json_decref(walk.listed);
	return good;
}

static bool other_has(const struct walk *walk, const char *name, const struct stat *facts)
{
	struct stat there;
	return walk->other &&
	       lstat(arena_format(walk->arena, "%s/%s", walk->other, name), &there) == 0 &&
	       there.st_dev == facts->st_dev && there.st_ino == facts->st_ino;
}

static bool clear_all(const struct walk *walk, const char *at)
{
	DIR *folder = open_at(walk, at);
	struct stat facts;
	bool good = folder != NULL;
	for (const char *name; folder && (name = folder_walk_next(walk, folder, at, &facts));) {
		const char *path = arena_format(walk->arena, "%s/%s", walk->path, name);
		good &= facts.st_mode != 0;
		if (S_ISDIR(facts.st_mode)) {
			good &= clear_all(walk, name);
			if (walk->other || is_run_folder(name))
				rmdir(path);
		} else if (is_of_run(walk, name) || other_has(walk, name, &facts)) {
			good &= unlink(path) == 0;
		}
	}
	good &= errno == 0;
	if (folder)
		closedir(folder);
	return good;
}

bool folder_clear(struct arena *arena, const char *path, const char *kept)
{
	struct walk walk = walk_open(arena, path, kept);
	bool good = clear_all(&walk, "");
	json_decref(walk.listed);
	return good;
}

static bool move_file(const struct walk *walk, const char *name)
{
	const char *to = arena_format(walk->arena, "%s/%s", walk->other, name);
	return !folder_parents(walk->arena, to) &&
	       rename(arena_format(walk->arena, "%s/%s", walk->path, name), to) == 0;
}

static bool move_all(const struct walk *walk, const char *at)
{
	DIR *folder = open_at(walk, at);
	struct stat facts;
	bool good = folder != NULL;
	for (const char *name; folder && (name = folder_walk_next(walk, folder, at, &facts));) {
		good &= facts.st_mode != 0;
		if (S_ISDIR(facts.st_mode) && is_run_folder(name)) {
			good &= move_all(walk, name);
			rmdir(arena_format(walk->arena, "%s/%s", walk->path, name));
		} else if (is_of_run(walk, name) && !text_equal(name, "pareto.csv")) {
			good &= move_file(walk, name);
		}
	}
	good &= errno == 0;
	if (folder)
		closedir(folder);
	return good;
}

bool folder_move(struct arena *arena, const char *from, const char *to, bool table_first)
{
	struct walk walk = walk_open(arena, from, to);
	const char *table = "pareto.csv";
	bool good = !table_first || move_file(&walk, table) || errno == ENOENT;
	good = good && move_all(&walk, "") &&
	       (table_first || move_file(&walk, table) || errno == ENOENT);
	json_decref(walk.listed);
	return good;
}

const char *folder_find(struct arena *arena, const char *start)
{
	const char *base = strrchr(start, '/') + 1;
	DIR *folder = opendir(arena_format(arena, "%.*s", (int)(base - start), start));
	const char *found = NULL;
	for (const struct dirent *entry; folder && !found && (entry = readdir(folder));)
		if (strncmp(entry->d_name, base, strlen(base)) == 0 &&
			is_created(entry->d_name + strlen(base)))
			found = arena_format(arena, "%s%s", start, entry->d_name + strlen(base));
	if (folder)
		closedir(folder);
	return found;
}

void folder_sweep(struct arena *arena, const char *start, const char *kept)
{
	for (int i = 0; i < TRIES_MOST; i++) {
		const char *path = folder_find(arena, start);
		if (!path)
			return;
		folder_clear(arena, path, kept);
		if (rmdir(path) != 0)
			return;
	}
}

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

/* Returns the path from the root; NULL if the parent is missing. */
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

/* Gives a folder its former name again if a program ended between two renames. */
static void folder_restore(const struct folder *folder)
{
	struct stat facts;
	const char *old =
		lstat(folder->place, &facts) == 0 ? NULL : folder_find(folder->arena, folder->old);
	if (old && rename(old, folder->place) != 0)
		errno = 0; /* the new one is made without it */
}

/* The path of a folder that was made as `from-..`, as `to-..`. */
static const char *folder_renamed(
	const struct folder *folder, const char *path, const char *from, const char *to)
{
	return arena_format(folder->arena, "%s%s", to, path + strlen(from));
}

/* The run before is in its place again: parts of another run that are there go first, if all of it has
 * left.  Safe wherever it ends: what is moved back is not taken for a part. */
static void move_back(const struct folder *folder, const char *old, bool whole)
{
	if (whole) {
		const char *leaving = folder_renamed(folder, old, folder->left, folder->leaving);
		if (!folder_clear(folder->arena, folder->place, NULL) || rename(old, leaving) != 0)
			return;
		old = leaving;
	}
	if (folder_move(folder->arena, old, folder->place, false))
		rmdir(old);
}

/* Moves files back if a program ended while they moved: the table is then missing. */
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
static const char *folder_lock(struct folder *folder)
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
		folder_restore(folder);
		why = folder_parents(arena, arena_format(arena, "%s/", path));
	}
	if (!why && (!folder->place || stat(folder->place, &folder->facts) != 0))
		why = arena_format(arena, "cannot open folder '%s': %s", path, strerror(errno));
	*out = folder;
	if (!why)
		why = folder_lock(folder);
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

/* All files into a new folder; NULL, or why not.  Does not wait for the disk after each of them. */
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

/* True if the folder is the current one of this process or above it: that of the caller, too. */
static bool is_below_us(const struct folder *folder)
{
	char here[PATH_MAX];
	size_t length = strlen(folder->place);
	return !getcwd(here, sizeof here) || (strncmp(here, folder->place, length) == 0 &&
						     (!here[length] || here[length] == '/'));
}

/* Puts the new folder in the place of the old one; answers where the old one is, NULL if the
 * system does not allow it. */
static const char *folder_exchange(const struct folder *folder, const char *fresh)
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
	folder_restore(folder);
	return NULL;
}

static void folder_sweep_old(struct folder *folder)
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
				  : folder_exchange(folder, fresh);
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
	const char *left = old ? folder_renamed(folder, old, folder->leaving, folder->left) : NULL;
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
	folder_sweep_old(folder);
	if (!put_beside(folder, &why))
		why = put_inside(folder);
	folder_sweep_old(folder);
	if (folder->lock >= 0)
		close(folder->lock);
	return why;
}

#include "report/run/folder_files.h"

#include "base/arena.h"
#include "base/text.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
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
		return arena_format(arena, "'%s' is no folder", path);
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

/* What a run of any kind writes, but for its copies of specs: see is_of_run. */
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

/* Whether a name goes on as folder_create has it: "-PROCESS-NUMBER". */
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
static const char *next(const struct walk *walk, DIR *folder, const char *at, struct stat *facts)
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
	for (const char *name; good && (name = next(walk, folder, at, &facts));) {
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
	for (const char *name; folder && (name = next(walk, folder, at, &facts));) {
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
	for (const char *name; folder && (name = next(walk, folder, at, &facts));) {
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

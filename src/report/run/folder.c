#include "report/run/folder.h"

#include "base/arena.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *make_folder(struct arena *arena, const char *path)
{
	if (mkdir(path, 0777) == 0 || errno == EEXIST) {
		struct stat stat_;
		if (stat(path, &stat_) == 0 && S_ISDIR(stat_.st_mode))
			return NULL;
		return arena_format(arena, "'%s' is no folder", path);
	}
	return arena_format(arena, "cannot make folder '%s': %s", path, strerror(errno));
}

/* Every folder on the way to the last '/' of the path. */
static const char *make_parents(struct arena *arena, const char *path)
{
	for (const char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		const char *why =
			make_folder(arena, arena_format(arena, "%.*s", (int)(slash - path), path));
		if (why)
			return why;
	}
	return NULL;
}

const char *folder_open(struct arena *arena, const char *path)
{
	if (!path[0])
		return "the results folder has an empty name";
	const char *why = make_parents(arena, path);
	return why ? why : make_folder(arena, path);
}

/* A device or a pipe is written to; a file is replaced. */
static bool is_no_file(const char *path)
{
	struct stat facts;
	return stat(path, &facts) == 0 && !S_ISREG(facts.st_mode);
}

static const char *write_into(
	struct arena *arena, const char *path, const char *bytes, size_t length)
{
	FILE *file = fopen(path, "wb");
	bool good = file && fwrite(bytes, 1, length, file) == length && fflush(file) == 0;
	int error = errno;
	if (file)
		good &= fclose(file) == 0;
	return good ? NULL : arena_format(arena, "cannot write '%s': %s", path, strerror(error));
}

static const char *write_beside(
	struct arena *arena, const char *path, const char *bytes, size_t length, bool to_disk)
{
	if (is_no_file(path))
		return write_into(arena, path, bytes, length);
	const char *beside = arena_format(arena, "%s.tmp", path);
	FILE *file = fopen(beside, "wb");
	if (!file)
		return arena_format(arena, "cannot write '%s': %s", beside, strerror(errno));
	bool good = fwrite(bytes, 1, length, file) == length && fflush(file) == 0 &&
		    (!to_disk || fsync(fileno(file)) == 0);
	int error = errno;
	good &= fclose(file) == 0;
	if (good && rename(beside, path) == 0)
		return NULL;
	if (good)
		error = errno;
	unlink(beside);
	return arena_format(arena, "cannot write '%s': %s", path, strerror(error));
}

const char *file_write(struct arena *arena, const char *path, const char *bytes, size_t length)
{
	return write_beside(arena, path, bytes, length, true);
}

const char *folder_write(
	struct arena *arena, const char *path, const char *name, const char *bytes, size_t length)
{
	const char *whole = arena_format(arena, "%s/%s", path, name);
	const char *why = make_parents(arena, whole);
	if (why)
		return why;
	return write_beside(arena, whole, bytes, length, !strchr(name, '/'));
}

bool folder_remove(struct arena *arena, const char *path, const char *name)
{
	return unlink(arena_format(arena, "%s/%s", path, name)) == 0;
}

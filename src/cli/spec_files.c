#include "cli/spec_files.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/text.h"

#include <dirent.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct meant {
	struct arena *arena;
	struct array(const char *) files;
	struct array(struct span) spans;
};

static void add(struct meant *meant, const char *path, struct span span)
{
	*array_add(meant->arena, &meant->files) = path;
	*array_add(meant->arena, &meant->spans) = span;
}

static int is_spec(const struct dirent *entry)
{
	const char *end = strrchr(entry->d_name, '.');
	return entry->d_name[0] != '.' && end && text_equal(end, ".yaml");
}

static size_t add_folder(struct meant *meant, const char *path, struct span span)
{
	struct dirent **entries = NULL;
	int count = scandir(path, &entries, is_spec, alphasort);
	size_t length = strlen(path);
	while (length > 1 && path[length - 1] == '/')
		length--;
	for (int i = 0; i < count; i++) {
		add(meant,
			arena_format(
				meant->arena, "%.*s/%s", (int)length, path, entries[i]->d_name),
			span);
		free(entries[i]);
	}
	free(entries);
	return count > 0 ? (size_t)count : 0;
}

static size_t add_pattern(struct meant *meant, const char *pattern, struct span span)
{
	glob_t found = {0};
	size_t count = glob(pattern, 0, NULL, &found) == 0 ? found.gl_pathc : 0;
	for (size_t i = 0; i < count; i++)
		add(meant, arena_text(meant->arena, found.gl_pathv[i]), span);
	globfree(&found);
	return count;
}

void spec_files(struct arena *arena, struct arguments *arguments, struct diag *diag)
{
	struct meant meant = {.arena = arena};
	for (size_t i = 0; i < arguments->count; i++) {
		const char *path = arguments->at[i];
		struct span span = arguments->spans[i];
		struct stat facts;
		bool exists = stat(path, &facts) == 0;
		if (exists && S_ISDIR(facts.st_mode)) {
			if (!add_folder(&meant, path, span))
				diag_error(diag, span, "folder '%s' has no *.yaml file", path);
		} else if (!exists && strpbrk(path, "*?[")) {
			if (!add_pattern(&meant, path, span))
				diag_error(diag, span, "no file matches '%s'", path);
		} else {
			add(&meant, path, span);
		}
	}
	arguments->at = meant.files.at;
	arguments->spans = meant.spans.at;
	arguments->count = meant.files.count;
}

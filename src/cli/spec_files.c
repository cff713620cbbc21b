#include "cli/spec_files.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/text.h"
#include "spec/node.h"

#include <dirent.h>
#include <dlfcn.h>
#include <glob.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct meant {
	struct arena *arena;
	struct array(const char *) files;
	struct array(struct span) spans;
};

static void meant_add(struct meant *meant, const char *path, struct span span)
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
		meant_add(meant,
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
		meant_add(meant, arena_text(meant->arena, found.gl_pathv[i]), span);
	globfree(&found);
	return count;
}

/* --- specs by name */

/* The folder with the specs that belong to this file, a program or a library: that of the installation
 * or of the checkout that it was built in.  NULL: there is none. */
static const char *share_of(struct arena *arena, const char *file)
{
	static const char *const ways[] = {"../share/lxplore", "../../share/lxplore", "../.."};
	char whole[PATH_MAX];
	struct stat facts;
	if (!file || !realpath(file, whole))
		return NULL;
	*strrchr(whole, '/') = '\0';
	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
		const char *share = arena_format(arena, "%s/%s", whole, ways[i]);
		if (stat(arena_format(arena, "%s/specs/starter", share), &facts) == 0)
			return share;
	}
	return NULL;
}

/* Returns the installed path of "specs/.."; NULL for other paths and without installed specs. */
static const char *installed_path(struct arena *arena, const char *path)
{
	static const char start[] = "specs";
	size_t length = strlen(start);
	Dl_info library = {0};
	if (strncmp(path, start, length) != 0 || (path[length] && path[length] != '/'))
		return NULL;
	dladdr(start, &library);
	const char *share = share_of(arena, library.dli_fname);
	if (!share)
		share = share_of(arena, "/proc/self/exe");
	return share ? arena_format(arena, "%s/%s", share, path) : NULL;
}

/* The one file specs/FOLDER/NAME.yaml, here or in the installation; NULL: none, or several. */
static const char *named_spec(struct arena *arena, const char *name)
{
	const char *found = NULL, *folders[] = {"specs", installed_path(arena, "specs")};
	for (size_t i = 0; i < 2 && !found && folders[i]; i++) {
		glob_t files = {0};
		const char *pattern = arena_format(arena, "%s/*/%s.yaml", folders[i], name);
		if (glob(pattern, 0, NULL, &files) == 0 && files.gl_pathc == 1)
			found = arena_text(arena, files.gl_pathv[0]);
		globfree(&files);
	}
	return found;
}

/* Returns the installed place of a path or of a name alone; NULL if it has none. */
static const char *known_path(struct arena *arena, const char *path)
{
	bool is_name = *path && !strpbrk(path, "/.*?[\\");
	if (is_name && !text_equal(path, "specs"))
		return named_spec(arena, path);
	return installed_path(arena, path);
}

const char *spec_path(struct arena *arena, const char *path)
{
	struct stat facts;
	const char *known = stat(path, &facts) == 0 ? NULL : known_path(arena, path);
	return known && stat(known, &facts) == 0 ? known : path;
}

/* --- all of them */

/* True if the path means something; an empty folder is complained of. */
static bool add_path(struct meant *meant, const char *path, struct span span, struct diag *diag)
{
	struct stat facts;
	if (stat(path, &facts) != 0)
		return strpbrk(path, "*?[") && add_pattern(meant, path, span);
	if (!S_ISDIR(facts.st_mode))
		meant_add(meant, path, span);
	else if (!add_folder(meant, path, span))
		diag_error(diag, span, "folder '%s' has no *.yaml file", path);
	return true;
}

void spec_files(struct arena *arena, struct arguments *arguments, struct diag *diag)
{
	struct meant meant = {.arena = arena};
	for (size_t i = 0; i < arguments->count; i++) {
		const char *path = arguments->at[i];
		struct span span = arguments->spans[i];
		if (add_path(&meant, path, span, diag))
			continue;
		const char *known = known_path(arena, path);
		if (known && add_path(&meant, known, span, diag))
			continue;
		if (strpbrk(path, "*?["))
			diag_error(diag, span, "no file matches '%s'", path);
		else
			meant_add(&meant, path, span);
	}
	arguments->at = meant.files.at;
	arguments->spans = meant.spans.at;
	arguments->count = meant.files.count;
}

/* "batch=1,sequence=512" */
static bool read_dims(struct arena *arena, const struct option_value *value, struct diag *diag,
	struct dim_settings *out)
{
	for (const char *at = value->text; *at;) {
		size_t length = strcspn(at, ",");
		const char *part = arena_format(arena, "%.*s", (int)length, at);
		const char *equals = strrchr(part, '=');
		char *end = NULL;
		long long extent = equals ? strtoll(equals + 1, &end, 10) : 0;
		if (!equals || equals == part || *end || end == equals + 1 || extent < 0 ||
			extent >> DIM_MOST_LOG2) {
			diag_error(diag, value->span,
				"'%s' is not a 'name=extent' with an extent from 0 to 2^31 - 1",
				part);
			return false;
		}
		*array_add(arena, out) = (struct dim_setting){
			arena_format(arena, "%.*s", (int)(equals - part), part), extent,
			value->span, false};
		at += length + (at[length] == ',');
	}
	return true;
}

bool model_wishes(struct arena *arena, const struct arguments *arguments, struct diag *diag,
	struct import_wishes *out)
{
	const struct option_value *as = option_find(arguments, "as");
	*out = (struct import_wishes){.strict = option_find(arguments, "strict") != NULL,
		.network = as && text_equal(as->text, "network")};
	for (size_t i = 0; i < arguments->option_count; i++)
		if (text_equal(arguments->options[i].option->name, "dim") &&
			!read_dims(arena, &arguments->options[i], diag, &out->dims))
			return false;
	return true;
}

const struct node *model_or_spec(struct arena *arena, const struct arguments *arguments,
	const char *path, const char *const *folders, struct diag *diag)
{
	struct import_wishes wishes;
	struct import_summary summary;
	if (!import_is_model(path))
		return node_read_file_within(arena, path, folders, diag);
	if (!model_wishes(arena, arguments, diag, &wishes))
		return NULL;
	const char *text = import_file(arena, path, &wishes, diag, &summary);
	return text ? node_read_text(arena, path, text, strlen(text), diag) : NULL;
}

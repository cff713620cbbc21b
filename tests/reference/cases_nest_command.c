#include "base/arena.h"
#include "tests/support/case_json.h"
#include "tests/support/draws.h"
#include "tests/support/family.h"
#include "tests/support/shell.h"

#include <glob.h>
#include <stdlib.h>
#include <string.h>

/*
 * Family loop-nest on the command line.  The same problem in every form that
 * there is of it is scored alike: as Timeloop reads it, as its users write it
 * (v4.*), as its front end dumps it.  Whatever is small enough is executed, and the
 * simulator counts what the exact model does.
 */
enum { EXECUTED_MOST = 20000000 }; /* multiply-adds */

struct nest_case {
	struct family *family;
	struct arena *arena;
	const char *folder, *name;
	const json_t *expected;
};

/* The first file of the case that a pattern finds; NULL if none does. */
static const char *find(const struct nest_case *of, const char *pattern)
{
	glob_t files;
	const char *path = NULL;
	if (glob(arena_format(of->arena, "%s/%s", of->folder, pattern), 0, NULL, &files) == 0)
		path = arena_text(of->arena, files.gl_pathv[0]);
	globfree(&files);
	return path;
}

static void compare_space(
	const struct nest_case *of, const char *what, const json_t *expected, const json_t *got)
{
	static const char *const keys[] = {"utilized_capacity", "reads", "fills", "updates"};
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		family_expect(of->family, arena_format(of->arena, "%s %s", what, keys[i]),
			json_object_get(expected, keys[i]),
			json_incref(json_object_get(got, keys[i])));
}

static void compare_levels(
	const struct nest_case *of, const char *form, const json_t *expected, const json_t *got)
{
	size_t i;
	json_t *level;
	if (json_array_size(expected) != json_array_size(got))
		family_note(of->family, form, "another number of levels");
	json_array_foreach(expected, i, level) {
		const json_t *mine = json_array_get(got, i);
		const char *name = case_text(level, "name"), *space;
		json_t *record;
		family_expect(of->family, arena_format(of->arena, "%s: level", form),
			json_object_get(level, "name"), json_incref(json_object_get(mine, "name")));
		json_object_foreach(json_object_get(level, "dataspaces"), space, record)
			compare_space(of, arena_format(of->arena, "%s: %s %s", form, name, space),
				record,
				json_object_get(json_object_get(mine, "dataspaces"), space));
	}
}

static json_t *run(const struct nest_case *of, const char *form, const char *words, int status)
{
	struct ended ended = shell(of->arena, "\"$LXPLORE\" %s", words);
	if (ended.status != status) {
		family_note(of->family, form,
			arena_format(of->arena, "exit status %d: %s", ended.status, ended.err));
		return NULL;
	}
	return json_loads(ended.out, 0, NULL);
}

/* Timeloop's front end moves loops of factor 1 inwards and splits what comes out: here its
 * mapping breaks the split that its user asked for. */
static bool is_resplit(const struct nest_case *of, const char *form)
{
	return strcmp(form, "nodes") == 0 &&
	       strcmp(of->name, "ref-ex-simple_weight_stationary") == 0;
}

static void expect_resplit(const struct nest_case *of, const json_t *got)
{
	const char *why = case_text(got, "why");
	if (!strstr(why, "'PE' (spatial) runs C along Y"))
		family_note(of->family, "nodes: why", why);
}

static void score(const struct nest_case *of, const char *form, const char *files)
{
	bool failure = json_is_true(json_object_get(of->expected, "failure"));
	bool resplit = is_resplit(of, form);
	json_t *got = run(of, form, arena_format(of->arena, "score --counting timeloop %s", files),
		failure || resplit);
	if (!got)
		return;
	family_expect(of->family, arena_format(of->arena, "%s: feasible", form),
		failure || resplit ? json_false() : json_true(),
		json_incref(json_object_get(got, "feasible")));
	if (resplit)
		expect_resplit(of, got);
	if (!failure && !strstr(of->name, "imperfect")) {
		family_expect(of->family, arena_format(of->arena, "%s: cycles", form),
			json_object_get(of->expected, "cycles"),
			json_incref(json_object_get(got, "cycles")));
		compare_levels(of, form, json_object_get(of->expected, "levels"),
			json_object_get(got, "levels"));
	}
	json_decref(got);
}

/* Templates are not YAML, and these sources are of other machines than the record. */
static bool is_of_the_record(const struct nest_case *of)
{
	return !strstr(of->name, "ref-ta-") && !strstr(of->name, "ref-04-");
}

static void score_all(const struct nest_case *of)
{
	const char *arch = find(of, "v4.*arch.yaml"), *problem = find(of, "v4.*prob.yaml");
	const char *mapping = find(of, "v4.*map.yaml"), *dump = find(of, "input.timeloop.yaml");
	const char *folder = of->folder;
	if (!arch)
		arch = find(of, "v4.eyeriss_like.yaml");
	score(of, "tree",
		arena_format(of->arena, "%s/arch.yaml %s/problem.yaml %s/mapping.yaml %s/ERT.yaml",
			folder, folder, folder, folder));
	if (arch && is_of_the_record(of))
		score(of, "nodes",
			arena_format(of->arena, "%s %s %s %s/ERT.yaml", arch,
				problem ? problem
					: arena_format(of->arena, "%s/problem.yaml", folder),
				mapping ? mapping
					: arena_format(of->arena, "%s/mapping.yaml", folder),
				folder));
	if (!dump)
		return;
	bool mapped = !strstr(text_of_file(of->arena, dump), "\nmapping: []");
	score(of, "dump",
		arena_format(of->arena, "%s %s/ERT.yaml %s", dump, folder,
			mapped ? "" : arena_format(of->arena, "%s/mapping.yaml", folder)));
}

static void execute(const struct nest_case *of)
{
	if (json_is_true(json_object_get(of->expected, "failure")) ||
		case_integer(of->expected, "macs") > EXECUTED_MOST / draws_apart(1))
		return;
	json_t *got = run(of, "executed",
		arena_format(of->arena,
			"simulate %s/arch.yaml %s/problem.yaml %s/mapping.yaml %s/ERT.yaml",
			of->folder, of->folder, of->folder, of->folder),
		0);
	static const char *const keys[] = {"finished", "agrees", "computed", "right"};
	for (size_t i = 0; got && i < sizeof keys / sizeof *keys; i++)
		family_expect(of->family, keys[i], json_true(),
			json_incref(json_object_get(got, keys[i])));
	json_decref(got);
}

static void check(struct family *family, const char *root, const char *name, const char *file)
{
	family_case(family, "%s", name);
	struct nest_case of = {.family = family,
		.arena = family->arena,
		.folder = arena_format(family->arena, "%s/loop-nest/%s", root, name),
		.name = name};
	json_t *expected =
		json_load_file(arena_format(of.arena, "%s/expected.json", of.folder), 0, NULL);
	of.expected = expected;
	score_all(&of);
	execute(&of);
	json_decref(expected);
}

int main(int argc, char **argv)
{
	const char *root = argc > 1 ? argv[1] : "../shared/cases";
	struct family family;
	if (!family_open(&family, "loop-nest/command", root, "loop-nest"))
		return 0;
	family_each(&family, root, "loop-nest", NULL, check);
	return family_close(&family);
}

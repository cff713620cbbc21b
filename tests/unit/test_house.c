/*
 * The house keeps its rules: scripts/layers passes, and a copy of the tree with a forbidden include, a
 * missing page or a second file that starts threads does not; each folder of src says in a short
 * page what it contains and what it may include.
 */
#include "base/arena.h"
#include "base/text.h"
#include "tests/support/draws.h"
#include "tests/support/shell.h"

#include <string.h>

#include "tests/test.h"

/* Returns what scripts/layers prints after a change of a copy of all pages and some files of src and solvers. */
static struct ended layers_after(struct arena *arena, const char *change)
{
	const char *folder = shell_folder(arena);
	struct ended ended = shell(arena,
		"cp --parents $(find src solvers -name README.md) src/campaign/store_runner.c src/cli/main.c "
		"src/cost/nest/nest.c src/model/graph/plan.h src/model/nest/shape.h src/report/run/folder.c "
		"src/search/claim/*.h src/search/drive/*.[ch] src/search/language/*.h src/sim/graph/sim.c "
		"solvers/divide/two_pass.c solvers/map/ilp.c '%s' && "
		"(cd '%s' && { %s; }) && scripts/layers '%s'",
		folder, folder, change, folder);
	shell_remove(folder);
	return ended;
}

TEST(the_tree_keeps_the_rules)
{
	struct ended ended = shell(arena, "scripts/layers");
	assert_string_equal(ended.err, "");
	assert_int_equal(ended.status, 0);
}

TEST(a_part_of_the_tree_keeps_the_rules)
{
	struct ended ended = layers_after(arena, "true");
	assert_string_equal(ended.err, "");
	assert_int_equal(ended.status, 0);
}

BARE_TEST(violations_are_found)
{
	static const struct {
		const char *change, *says;
	} rows[] = {
		{"echo '#include <sqlite3.h>' >>src/campaign/store_runner.c",
			"<sqlite3.h> belongs into src/campaign/store_database\\.h alone: src/campaign/store_runner.c"},
		{"echo '#include \"campaign/store.h\"' >>src/search/drive/drive.c",
			"search may not include campaign/store.h"},
		{"echo '#include \"cost/graph/cost.h\"' >>src/sim/graph/sim.c",
			"sim may not include cost/graph/cost.h"},
		{"echo '#include \"search/drive/drive.h\"' >>src/model/graph/plan.h",
			"model may not include search/drive/drive.h"},
		{"echo '#include \"model/graph/plan.h\"' >>src/model/nest/shape.h",
			"the family nest may not include model/graph/plan.h"},
		{"echo '#include \"model/graph/plan.h\"' >>src/search/drive/frontier.h",
			"the family drive may not include model/graph/plan.h"},
		{"mkdir -p solvers/joint/inner && echo >solvers/joint/inner/own.h && "
		 "echo '#include \"solvers/joint/inner/own.h\"' >>solvers/divide/two_pass.c",
			"solvers/joint/inner/own.h is private to solvers/joint"},
		{"echo '#pragma omp parallel' >>src/cost/nest/nest.c", "starting threads"},
		{"echo '#include <glpk.h>' >>solvers/map/ilp.c", "<glpk.h>"},
		{"echo 'void f(void) { printf(\"\"); }' >>src/report/run/folder.c",
			"printing to stdout"},
		{"echo 'struct plan {' >>src/cli/main.c",
			"tags stand for several things: plan: src/cli/main.c src/model/graph/plan.h"},
		{"rm src/search/README.md", "src/search/README.md"},
		{"touch src/helper.c", "these stand outside of folders: src/helper.c"},
		{"seq -f 'src/cli/part%g.c' 500 | xargs touch",
			"join those that are only used together"},
		{"yes '' | head -1000 >>src/cli/main.c", "src/cli/main.c has more than 1000 lines"},
		{"(printf 'void f(void)\\n{\\n'; yes ';' | head -61; echo '}') >src/cli/long.c",
			"src/cli/long.c:2: a function of more than 60 lines"},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i += (size_t)draws_apart(1)) {
		struct arena *arena = arena_open();
		struct ended ended = layers_after(arena, rows[i].change);
		if (!ended.status || !strstr(ended.err, rows[i].says))
			fail_msg("after %s:\n%s", rows[i].change, ended.err);
		arena_close(arena);
	}
}

TEST(each_folder_has_a_short_page)
{
	struct ended folders = shell(arena, "find src -mindepth 1 -type d | LC_ALL=C sort");
	char *list = arena_text(arena, folders.out), *rest = NULL;
	for (char *folder = strtok_r(list, "\n", &rest); folder;
		folder = strtok_r(NULL, "\n", &rest)) {
		struct ended page = shell(arena, "cat %s/README.md", folder);
		struct ended links = shell(arena,
			"cd %s && grep -o ']([^)]*)' README.md | tr -d '])(' | sed 's/#.*//' | xargs -r ls",
			folder);
		if (page.status || strncmp(page.out, "# ", 2) || !strstr(page.out, "\nIncludes: "))
			fail_msg("%s has no page that says what it may include", folder);
		if (links.status)
			fail_msg("%s/README.md: %s", folder, links.err);
		assert_in_range(strlen(page.out), 80, 2000);
	}
}

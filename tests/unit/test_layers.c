#include "base/arena.h"
#include "base/text.h"
#include "model/nest/shape.h"
#include "tests/support/draws.h"
#include "tests/support/nest_text.h"
#include "tests/support/shell.h"

#include <glob.h>
#include <stdlib.h>
#include <string.h>

#include "tests/test.h"

/* The multiply-adds of a row, its last column. */
static const char *find_size(struct arena *arena, const char *table, const char *name)
{
	const char *row = strstr(table, arena_format(arena, "\n%s,", name));
	row = arena_format(arena, "%.*s", (int)strcspn(row + 1, "\n"), row + 1);
	return strrchr(row, ',') + 1;
}

/* Rows of specs/layers become problems, and those have the multiply-adds of the row. */
static int check_table(struct arena *arena, const char *path, const char *form)
{
	struct ended all = shell(arena, "scripts/layer %s", path);
	char *names = arena_text(arena, all.out), *rest = NULL;
	const char *table = text_of_file(arena, path);
	int rows = 0;
	assert_int_equal(all.status, 0);
	for (char *name = strtok_r(names, "\n", &rest); name; name = strtok_r(NULL, "\n", &rest)) {
		if (rows++ % draws_apart(3))
			continue;
		struct ended one = shell(arena, "scripts/layer %s '%s' %s", path, name, form);
		const char *complaints;
		const struct shape *shape = problem_of_text(arena, one.out, &complaints);
		int64_t computes = 0;
		assert_int_equal(one.status, 0);
		assert_string_equal(complaints, "");
		assert_true(shape_computes(shape, &computes));
		assert_string_equal(find_size(arena, table, name),
			arena_format(arena, "%lld", (long long)computes));
	}
	return rows;
}

static int check_tables(const char *form)
{
	glob_t files;
	int rows = 0;
	assert_int_equal(glob("specs/layers/*.csv", 0, NULL, &files), 0);
	for (size_t i = 0; i < files.gl_pathc; i++) {
		struct arena *arena = arena_open();
		rows += check_table(arena, files.gl_pathv[i], form);
		arena_close(arena);
	}
	globfree(&files);
	return rows;
}

TEST(every_row_is_a_problem_of_its_size)
{
	assert_true(check_tables("") > 250);
}

TEST(every_row_is_a_convolution_of_its_size)
{
	assert_true(check_tables("conv") > 250);
}

/* Networks among the workloads are what the script makes of their tables. */
TEST(shipped_networks_are_their_tables)
{
	struct ended list = shell(arena, "grep -l '^network:' specs/workloads/*.yaml");
	char *rest = NULL;
	int networks = 0;
	for (char *path = strtok_r(arena_text(arena, list.out), "\n", &rest); path;
		path = strtok_r(NULL, "\n", &rest)) {
		const char *name = strrchr(path, '/') + 1;
		struct ended made = shell(arena, "scripts/layer --network specs/layers/%.*s.csv",
			(int)strcspn(name, "."), name);
		assert_int_equal(made.status, 0);
		assert_string_equal(made.out, text_of_file(arena, path));
		networks++;
	}
	assert_true(networks > 10);
}

TEST(a_network_has_the_layers_of_its_table)
{
	glob_t files;
	size_t rows = 0;
	assert_int_equal(glob("specs/layers/*.csv", 0, NULL, &files), 0);
	for (size_t i = 0; i < files.gl_pathc; i++) {
		const char *path = files.gl_pathv[i], *complaints;
		const char *table = text_of_file(arena, path);
		struct ended made = shell(arena, "scripts/layer --network %s", path);
		const struct network *network = network_of_text(arena, made.out, &complaints);
		assert_string_equal(complaints, "");
		for (size_t k = 0; k < network->layer_count; k++) {
			const struct layer *layer = &network->layers[k];
			int64_t computes = 0;
			assert_true(shape_computes(layer->shape, &computes));
			assert_string_equal(find_size(arena, table, layer->name),
				arena_format(arena, "%lld", (long long)computes));
		}
		rows += network->layer_count;
	}
	assert_true(rows > 250);
	globfree(&files);
}

TEST(a_layer_that_is_not_there_is_refused)
{
	struct ended ended = shell(arena, "scripts/layer specs/layers/vgg16.csv conv9_9");
	assert_int_equal(ended.status, 1);
	assert_string_equal(ended.err, "specs/layers/vgg16.csv has no layer conv9_9\n");
}

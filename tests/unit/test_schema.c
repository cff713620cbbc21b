/*
 * The JSON schema of specs comes from the tables that the readers use: scripts/schema-check holds shipped specs and
 * misspelt keys against it.
 */
#include "tests/support/sanitized.h"
#include "tests/support/shell.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "tests/test.h"

#define FIND_PYTHON                                                                                \
	"for python in python3 /usr/bin/python3; do "                                              \
	"$python -c 'import jsonschema, yaml' 2>/dev/null && break; done; "

TEST(the_schema_is_in_step_with_the_tables)
{
	struct ended ended = shell(arena, "\"$LXPLORE\" list --schema");
	json_t *root = json_loads(ended.out, 0, NULL);
	assert_non_null(root);
	json_t *search = json_object_get(
		json_object_get(json_object_get(root, "definitions"), "search"), "properties");
	assert_non_null(json_object_get(json_object_get(search, "victory"), "description"));
	json_t *solvers = json_object_get(
		json_object_get(json_object_get(search, "solver"), "properties"), "map");
	assert_true(json_array_size(json_object_get(solvers, "enum")) > 3);
	json_decref(root);
	assert_int_equal(shell(arena, "\"$LXPLORE\" list --schema kinds").status, 2);
}

TEST(specs_are_held_against_it)
{
	if (SANITIZED || shell(arena, FIND_PYTHON "$python -c 'import jsonschema, yaml'").status) {
		printf("skip: %s\n",
			SANITIZED ? "built with a sanitizer" : "no python3-jsonschema");
	} else {
		struct ended ended =
			shell(arena, FIND_PYTHON "$python scripts/schema-check \"$LXPLORE\"");
		if (ended.status || !strstr(ended.out, " misspelt keys are refused"))
			fail_msg("%s%s", ended.out, ended.err);
	}
}

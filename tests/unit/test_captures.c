#include "base/arena.h"
#include "base/text.h"
#include "tests/support/folder.h"

#include <jansson.h>
#include <string.h>

#include "tests/test.h"

/* `lxplore place` of a compiler's captures, as a user runs it. */
#define ONE "{\"output_splits\": {}, \"reduction_splits\": {}}"
#define TWO "{\"output_splits\": {\"1\": 2}, \"reduction_splits\": {}}"

/* A chain of two ops; b may take over the bytes of a, and no op reads b from LX. */
static const char chain[] =
	"{\"g\": [{\"inputs\": [\n"
	"{\"name\": \"a\", \"size\": 64, \"uses\": [0, 1], \"core_divisions\": [" ONE "," TWO
	"]},\n"
	"{\"name\": \"b\", \"size\": 64, \"uses\": [1, 2], \"parents\": [\"a\"], \"in_place_parents\": "
	"[\"a\"], \"cd_parent_matches\": {\"a\": [[0, 0], [1, 1]]}, \"core_divisions\": [" ONE
	"," TWO
	"]}\n],\n\"solved\": [{\"name\": \"a\", \"chosen_division\": 1, \"address\": 0}, {\"name\": "
	"\"b\", \"chosen_division\": 1, \"address\": 0}]}]}\n";

static struct ended place(const char *text, const char *options)
{
	folder_put("c.json", text);
	return folder_run(arena_format(arena, "$program place c.json %s", options));
}

static const char *edited(const char *from, const char *to)
{
	const char *at = strstr(chain, from);
	assert_non_null(at);
	return arena_format(arena, "%.*s%s%s", (int)(at - chain), chain, to, at + strlen(from));
}

FOLDER_TEST(a_child_takes_the_place_of_its_parent)
{
	struct ended ended = place(chain, "--capacity 32");
	assert_int_equal(ended.status, 0);
	assert_string_equal(ended.out,
		"case  capacity  in LX  spilled  cores  squares  proof   in the file\n"
		"g           32    2/2        0      4        8  proven  0/4/8\n");
	ended = place(chain, "--capacity 31");
	assert_non_null(strstr(
		ended.out, "g           31    0/2      128      4        8  proven  illegal"));
	assert_non_null(strstr(ended.out,
		"g: the file's answer is illegal: 'a' ends at 32, beyond the capacity of 31 bytes"));
}

FOLDER_TEST(answers_have_the_format_of_the_compiler)
{
	struct ended ended = place(chain, "--capacity 50% --format json");
	json_t *root = json_loads(ended.out, 0, NULL);
	json_t *item = json_array_get(json_object_get(root, "g"), 0), *claim, *b;
	assert_non_null(item);
	claim = json_object_get(item, "lxplore");
	b = json_array_get(json_object_get(item, "solved"), 1);
	assert_string_equal(json_string_value(json_object_get(claim, "proof")), "optimal");
	assert_int_equal(json_integer_value(json_object_get(claim, "capacity")), 64);
	assert_int_equal(json_integer_value(json_object_get(b, "chosen_division")), 1);
	assert_int_equal(json_integer_value(json_object_get(b, "address")), 0);
	assert_true(json_is_true(json_object_get(b, "resident")));
	assert_int_equal(json_array_size(json_object_get(item, "inputs")), 2);
	json_decref(root);
}

FOLDER_TEST(wrong_answers_of_a_file_are_told)
{
	struct ended ended = place(chain, "--capacity 64 --check");
	assert_int_equal(ended.status, 0);
	ended = place(edited("\"b\", \"chosen_division\": 1", "\"b\", \"chosen_division\": 0"),
		"--capacity 64 --check");
	assert_int_equal(ended.status, 1);
	assert_non_null(
		strstr(ended.out, "'b' in division 0 does not find 'a' in division 1 in LX"));
}

FOLDER_TEST(options_of_tables_are_refused)
{
	struct ended ended = place(chain, "--capacity 64 --minimize --case h");
	assert_int_equal(ended.status, 2);
	assert_non_null(strstr(ended.err, "'--minimize' is for tables of buffers"));
	assert_non_null(strstr(place(chain, "--capacity 64 --case h").err, "unknown case 'h'"));
	assert_non_null(strstr(place(chain, "-q").err, "place needs '--capacity N'"));
	assert_non_null(strstr(place(chain, "--capacity 101%").err, "is from 1% to 100%"));
}

/* A budget leaves an answer with its bound, and says so. */
FOLDER_TEST(a_budget_leaves_a_bound)
{
	struct ended ended = place(chain, "--capacity 64 --budget 1");
	assert_int_equal(ended.status, 0);
	assert_non_null(strstr(ended.out, "g           64    0/2      128      4        8  >= 0"));
	assert_non_null(strstr(ended.out, "g: not proven: budget"));
}

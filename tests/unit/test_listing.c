#include "base/arena.h"
#include "base/text.h"
#include "report/nest/check_report.h"
#include "report/run/listing.h"

#include <jansson.h>
#include <string.h>

#include "tests/test.h"

/* Trees as lines and tables: units by keys, missing values, choices, lists, parts. */
static const char *rows_text(struct arena *arena, const char *tree, const struct result_row *rows)
{
	struct text text = text_open(arena);
	json_t *value = json_loads(tree, 0, NULL);
	assert_non_null(value);
	result_rows(&text, value, rows);
	json_decref(value);
	return text_read(&text);
}

TEST(rows_take_units_of_keys_and_leave_missing_values_out)
{
	static const struct result_row rows[] = {
		{"latency", "{latency_ns} ({cycles} cycles)", NULL},
		{"size", "{hbm_bytes}, {hbm_bytes#} bytes", NULL},
		{"use", "{use%} of {at.names.1}", NULL},
		{"ratio", "{use}", NULL},
		{"gone", "{cycles} of {nothing}", NULL},
		{"null", "{null}", NULL},
		{"list", "({at.names})", NULL},
		{NULL, NULL, NULL},
	};
	assert_string_equal(
		rows_text(arena,
			"{\"latency_ns\": 15030.0, \"cycles\": 1234567, \"hbm_bytes\": 131277, "
			"\"use\": 0.123456789, \"null\": null, \"at\": {\"names\": [\"a\", \"b\"]}}",
			rows),
		"latency  15.03 us (1234567 cycles)\n"
		"size     128.2 KiB, 131277 bytes\n"
		"use      12.3 % of b\n"
		"ratio    0.12346\n"
		"list     (a, b)\n");
}

TEST(rows_choose_between_patterns)
{
	static const struct result_row rows[] = {
		{"", "{a?{b?both|a alone}|{b?b alone}}", NULL},
		{"", "{list?some|none}{zero?, zero counts}", NULL},
		{"", "{.} {}", "each"},
		{NULL, NULL, NULL},
	};
	assert_string_equal(
		rows_text(arena, "{\"a\": true, \"b\": 1, \"list\": [], \"zero\": 0}", rows),
		"both\nnone, zero counts\n");
	assert_string_equal(rows_text(arena, "{\"a\": \"x\", \"b\": false, \"list\": [1]}", rows),
		"a alone\nsome\n");
	assert_string_equal(
		rows_text(
			arena, "{\"a\": null, \"b\": 1, \"each\": {\"x\": 1, \"y\": \"z\"}}", rows),
		"b alone\nnone\nx 1\ny z\n");
	assert_string_equal(rows_text(arena, "{\"each\": [7]}", rows), "none\n0 7\n");
}

TEST(tables_have_parts_and_one_prefix_in_a_column)
{
	static const struct result_column columns[] = {
		{"<name", "{name}", "  {.}"},
		{"words", "", "{words}"},
		{"empty", "{nothing}", NULL},
		{"energy", "{energy_pj}", "{energy_pj}"},
		{NULL, NULL, NULL},
	};
	struct text text = text_open(arena);
	json_t *list = json_loads("[{\"name\": \"x\", \"energy_pj\": 1500.0, \"of\": {\"A\": "
				  "{\"words\": \"7/2\", \"energy_pj\": 20.0}}},"
				  " {\"name\": \"y\", \"energy_pj\": 0.0}]",
		0, NULL);
	assert_non_null(list);
	result_table(&text, list, columns, "of");
	assert_string_equal(text_read(&text), "name  words   energy\n"
					      "x             1.5 nJ\n"
					      "  A     7/2  0.02 nJ\n"
					      "y               0 nJ\n");
	json_decref(list);
}

/* The text of a check of a mapspace is made from its tree alone; the sizes of the mapspace end it. */
TEST(checks_say_what_was_not_decided)
{
	static const struct {
		const char *tree, *text;
	} cases[] = {
		{"{\"feasible\": null, \"reasons\": [], \"undecided_steps\": 500}",
			"whether any mapping fits was not decided in 500 steps\n"},
		{"{\"feasible\": false, \"reasons\": [], \"contradictory\": true}",
			"infeasible: constraints contradict each other\n"},
		{"{\"feasible\": false, \"reasons\": []}",
			"infeasible: no mapping fits\n"
			"  no change of a single limit would do\n"},
		{"{\"feasible\": false, \"reasons\": [{\"text\": \"few words\"}], "
		 "\"reasons_open\": true}",
			"infeasible: no mapping fits\n  few words\n"
			"  (a question about the limits was too hard; one may be missing)\n"},
		{"{\"feasible\": false, \"reasons\": [], \"reasons_open\": true, \"conflict\": "
		 "{\"minimal\": false, \"constraints\": [{\"text\": \"m = 3\"}]}}",
			"infeasible: no mapping fits\n"
			"  (a question about the limits was too hard; one may be missing)\n"
			"these cannot be met together (perhaps fewer would do):\n  m = 3\n"},
		{"{\"feasible\": false, \"reasons\": [{\"text\": \"few words\"}], \"conflict\": "
		 "{\"minimal\": true, \"constraints\": []}}",
			"infeasible: no mapping fits\n  few words\n"
			"no constraint takes part in this\n"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		json_t *tree = json_loads(cases[i].tree, 0, NULL);
		const char *text = mapspace_check_text(arena, tree);
		assert_string_equal(arena_format(arena, "%.*s", (int)strlen(cases[i].text), text),
			cases[i].text);
		json_decref(tree);
	}
}

#include "base/arena.h"
#include "base/text.h"
#include "tests/support/folder.h"

#include <jansson.h>
#include <string.h>

#include "tests/test.h"

/* Pages in a browser are tested by scripts/page-check; here, that all data is in them and nothing in it is markup. */
static const char machine[] =
	"architecture:\n"
	"  version: 0.4\n"
	"  nodes:\n"
	"  - !Container {name: chip, attributes: {datawidth: 16, global_cycle_seconds: 5e-9}}\n"
	"  - !Component {name: '<script>alert(1)</script>', class: DRAM, attributes: {width: 16}}\n"
	"  - !Component {name: RF, class: regfile, attributes: {depth: 64}}\n"
	"  - !Component {name: MAC, class: intmac}\n";
static const char problem[] = "problem:\n"
			      "  name: small\n"
			      "  shape:\n"
			      "    dimensions: [M, N, K]\n"
			      "    data_spaces:\n"
			      "    - {name: A, projection: [M, K]}\n"
			      "    - {name: B, projection: [K, N]}\n"
			      "    - {name: Z, projection: [M, N], read_write: true}\n"
			      "  instance: {M: 4, N: 4, K: 3}\n";

static int set_up(void **state)
{
	folder_set_up(state);
	folder_put("machine.yaml", machine);
	folder_put("problem.yaml", problem);
	struct ended ended = folder_run("$program explore -q machine.yaml problem.yaml -o out");
	return ended.status;
}

static json_t *data_of(const char *page)
{
	static const char begin[] = "<script type=\"application/json\" id=\"data\">";
	const char *data = strstr(page, begin);
	assert_non_null(data);
	data += strlen(begin);
	assert_ptr_equal(strchr(data, '<'), strstr(data, "</script>"));
	json_t *root = json_loadb(data, strcspn(data, "<"), 0, NULL);
	assert_non_null(root);
	return root;
}

static void a_page_has_all_points_with_details(void **state)
{
	struct ended ended = folder_run("$program report --html out");
	assert_int_equal(ended.status, 0);
	json_t *data = data_of(folder_text("out/report.html"));
	json_t *point = json_object_get(json_object_get(data, "points"), "1");
	assert_string_equal(json_string_value(json_object_get(point, "plan")),
		folder_text("out/plans/point-001.yaml"));
	assert_non_null(json_object_get(json_object_get(point, "details"), "score"));
	assert_string_equal(
		json_string_value(json_object_get(data, "csv")), folder_text("out/pareto.csv"));
	assert_int_equal(json_array_size(json_object_get(data, "notes")), 0);
	json_decref(data);
}

static void specs_that_changed_are_noted(void **state)
{
	folder_put("problem.yaml", arena_format(arena, "# changed\n%s", problem));
	struct ended ended = folder_run("$program report --html out -o page.html");
	assert_int_equal(ended.status, 0);
	json_t *data = data_of(folder_text("page.html"));
	json_t *notes = json_object_get(data, "notes");
	assert_int_equal(json_array_size(notes), 1);
	assert_non_null(strstr(json_string_value(json_array_get(notes, 0)), "has changed since"));
	json_decref(data);
}

static void a_folder_without_results_has_no_page(void **state)
{
	struct ended ended = folder_run("mkdir -p empty && $program report --html empty");
	assert_int_equal(ended.status, 2);
	assert_non_null(strstr(ended.err, "run.json"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_page_has_all_points_with_details),
		cmocka_unit_test(specs_that_changed_are_noted),
		cmocka_unit_test(a_folder_without_results_has_no_page),
	};
	return cmocka_run_group_tests(tests, set_up, folder_tear_down);
}

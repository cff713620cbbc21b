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

FOLDER_TEST(a_page_has_all_points_with_details)
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

/* The notes of the page that is written where the folder is not. */
static json_t *notes_elsewhere(void)
{
	struct ended ended =
		folder_run("mkdir -p elsewhere && cd elsewhere && $program report --html ../out");
	assert_int_equal(ended.status, 0);
	json_t *data = data_of(folder_text("out/report.html"));
	json_t *notes = json_incref(json_object_get(data, "notes"));
	json_decref(data);
	return notes;
}

/* The folder has copies of the specs; only if one of these has changed are the specs themselves read. */
FOLDER_TEST(copies_of_specs_are_read)
{
	folder_put("problem.yaml", arena_format(arena, "# changed\n%s", problem));
	json_t *notes = notes_elsewhere();
	assert_int_equal(json_array_size(notes), 0);
	json_decref(notes);
	assert_int_equal(
		folder_run("for f in out/specs/*; do echo '# changed' >> $f; done").status, 0);
	notes = notes_elsewhere();
	assert_int_equal(json_array_size(notes), 1);
	assert_non_null(strstr(json_string_value(json_array_get(notes, 0)), "has changed since"));
	json_decref(notes);
}

/* The program of a page, run without a browser: what it shows of all columns and points is what pareto.csv says. */
static void read_back(const char *run)
{
	struct ended ended = folder_run(arena_format(arena,
		"$program report --html %s && node $OLDPWD/tests/page/read_back.mjs "
		"%s/report.html %s/pareto.csv",
		run, run, run));
	if (ended.status)
		fail_msg("%s: %s%s", run, ended.out, ended.err);
}

static bool has_node(void)
{
	bool has = !folder_run("command -v node").status;
	if (!has)
		print_message("skip: figures of pages (no node)\n");
	return has;
}

FOLDER_TEST(figures_of_a_page_are_those_of_pareto_csv)
{
	static const char *const runs[] = {
		"arch/eyeriss.yaml problems/resnet50_3x3.yaml --budget 200",
		"arch/spyre32.yaml workloads/softmax_dim1.yaml --budget 5 --labels 2000",
		"arch/eyeriss.yaml constraints/row_stationary.yaml workloads/alexnet.yaml --budget 100",
		"space_time/matmul.yaml --budget 200",
		"arch/a2a3.yaml broadcasts/put_block.yaml --budget 200",
	};
	if (!has_node())
		return;
	folder_run("rm -rf specs && ln -s $OLDPWD/specs specs");
	for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
		struct ended ended = folder_run(arena_format(arena,
			"top=$PWD && cd specs/ && $program explore -q %s -o \"$top/run%zu\"",
			runs[i], i));
		if (ended.status)
			fail_msg("%s: %s", runs[i], ended.err);
		read_back(arena_format(arena, "run%zu", i));
	}
}

/* The results under version control. */
FOLDER_TEST(figures_of_shipped_results_are_on_their_pages)
{
	static const char shipped[] =
		"for csv in $OLDPWD/results/reference/*.csv; do name=$(basename $csv .csv); "
		"mkdir -p shipped/$name && cp $csv shipped/$name/pareto.csv && "
		"cp out/run.json shipped/$name; done; ls shipped";
	if (!has_node())
		return;
	struct ended ended = folder_run(shipped);
	char *rest = arena_format(arena, "%s", ended.out), *name;
	int count = 0;
	for (; (name = strtok_r(rest, "\n", &rest)); count++)
		read_back(arena_format(arena, "shipped/%s", name));
	assert_true(count >= 3);
}

/* Energies whose last digits are zeros, an exponent, a tie and a value below one. */
FOLDER_TEST(powers_of_ten_stay_on_the_page)
{
	if (!has_node())
		return;
	folder_run("mkdir tens && cp out/run.json tens");
	folder_put("tens/pareto.csv", "point,latency_cycles,latency_ns,energy_pj,edp\n"
				      "1,12740,1000000,12740000000,1.0753e+20\n"
				      "2,100,12344.5,500,0.00001\n");
	read_back("tens");
}

/* csv_field puts an apostrophe before what a spreadsheet would compute; a page shows the text without it. */
FOLDER_TEST(texts_of_a_csv_are_read_as_written)
{
	static const char program[] =
		"cat >read.mjs <<'END'\n"
		"import { readFileSync } from 'node:fs';\n"
		"const page = readFileSync(process.argv[2], 'utf8');\n"
		"const from = page.indexOf('function read_csv'), to = page.indexOf('const value_of');\n"
		"const read_csv = new Function(page.slice(from, to) + 'return read_csv')();\n"
		"console.log(JSON.stringify(read_csv(process.argv[3])));\nEND\n"
		"node read.mjs $OLDPWD/src/report/page/page.js \"\\\"'=1\\\"\\\"+2\\\",'a',\\\"'b\\\",-2\"";
	if (!has_node())
		return;
	struct ended ended = folder_run(program);
	assert_string_equal(ended.err, "");
	assert_string_equal(ended.out, "[[\"=1\\\"+2\",\"'a'\",\"'b\",\"-2\"]]\n");
}

/* Two workloads on 1 to 4 cores: what is kept, and means over workloads, by the page's own program. */
FOLDER_TEST(campaigns_are_filtered_and_averaged)
{
	folder_put("sweep.yaml",
		"sweep:\n"
		"  name: small\n"
		"  specs: [specs/arch/spyre32.yaml]\n"
		"  vary:\n"
		"    specs: [specs/workloads/softmax_dim0.yaml, specs/workloads/layernorm.yaml]\n"
		"    search.cores: {from: 1, to: 4, factor: 2}\n"
		"search: {budget: 5, labels: 0}\n");
	if (!has_node())
		return;
	struct ended ended = folder_run(
		"rm -rf specs && ln -s $OLDPWD/specs specs && $program campaign run -q sweep.yaml "
		"--simulate none -o swept && $program report --html swept && node $OLDPWD/tests/page/kept.mjs "
		"swept/report.html search.cores specs estimate_ns");
	if (ended.status)
		fail_msg("%s%s", ended.out, ended.err);
}

FIXTURE(set_up, folder_tear_down);

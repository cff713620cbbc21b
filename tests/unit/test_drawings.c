#include "base/arena.h"
#include "base/text.h"
#include "report/page/page.h"
#include "report/run/pareto.h"
#include "tests/support/folder.h"
#include "tests/support/xml_check.h"

#include <stdlib.h>
#include <string.h>

#include "tests/test.h"

/* Drawings for papers: what is in them, that they are XML whatever names say, and the same bytes each time. */

static int count_of(const char *text, const char *word)
{
	int count = 0;
	for (const char *at = text; (at = strstr(at, word)); at += strlen(word))
		count++;
	return count;
}

FOLDER_TEST(cells_of_tables_are_numbers_words_or_nothing)
{
	json_t *rows = csv_rows(arena, "a,b,c,d\n1,\"x, \"\"y\"\"\",,1e3\n2.5,-,true,\n");
	char *text = json_dumps(rows, JSON_COMPACT);
	assert_string_equal(text, "[{\"a\":1,\"b\":\"x, \\\"y\\\"\",\"c\":null,\"d\":1000.0},"
				  "{\"a\":2.5,\"b\":\"-\",\"c\":\"true\",\"d\":null}]");
	free(text);
	json_decref(rows);
}

/* The second point is beaten by the first, the fourth equals the third. */
FOLDER_TEST(frontiers_show_what_is_beaten)
{
	json_t *rows = csv_rows(arena, "latency_ns,energy_pj,cores\n1000,9e6,1\n2000,9e6,2\n"
				       "3000,5e6,3\n3000,5e6,4\n,1e6,5\n");
	const char *svg = frontier_svg(arena, "a < b & \"c\"\001", rows, NULL, NULL, NULL);
	assert_null(xml_check(arena, svg));
	assert_int_equal(count_of(svg, "<circle"), 4);
	assert_int_equal(count_of(svg, "fill-opacity=\"0.3\""), 1);
	assert_non_null(strstr(svg, ">2: latency (us) 2, energy (uJ) 9<"));
	assert_non_null(strstr(svg, "a &lt; b &amp; &quot;c&quot;?"));
	svg = frontier_svg(arena, "t", rows, "cores", "latency_ns", NULL);
	assert_non_null(strstr(svg, ">1: cores 1, latency (us) 1<"));
	assert_null(frontier_svg(arena, "t", rows, "cores", "hbm_bytes", NULL));
	json_decref(rows);
}

/* Words have colours of their own, numbers go from dark to bright; what a row does not have is grey. */
FOLDER_TEST(colours_have_a_legend)
{
	json_t *rows = csv_rows(arena, "latency_ns,energy_pj,cores,layer\n1,3,16,<b>\n2,2,4,a\n"
				       "3,1,16,<b>\n4,0.5,,a\n");
	const char *svg = frontier_svg(arena, "t", rows, NULL, NULL, "cores");
	assert_null(xml_check(arena, svg));
	assert_int_equal(count_of(svg, "fill=\"#440154\""), 2);
	assert_int_equal(count_of(svg, "fill=\"#fdbb25\""), 3);
	assert_int_equal(count_of(svg, "fill=\"#999999\""), 1);
	assert_non_null(strstr(svg, ">16</text>"));
	svg = frontier_svg(arena, "t", rows, NULL, NULL, "layer");
	assert_null(xml_check(arena, svg));
	assert_non_null(strstr(svg, ">&lt;b&gt;</text>"));
	assert_int_equal(count_of(svg, "fill=\"#0072b2\""), 3);
	json_decref(rows);
}

/* b takes the place of a: their bytes are counted once, and a's name is in what is seen of it, if it fits. */
FOLDER_TEST(maps_of_lx_reach_the_capacity)
{
	static const char details[] =
		"{\"machine\": {\"lx_bytes\": 1048576}, \"score\": {\"ops\": [{\"op\": \"load\"}, "
		"{\"op\": \"exp\"}, {\"op\": \"store\"}], \"tensors\": {"
		"\"a\": {\"place\": \"LX\", \"from\": 0, \"to\": 2, \"address\": 0, "
		"\"bytes_per_core\": 65536}, \"b\": {\"place\": \"LX\", \"from\": 1, \"to\": 3, "
		"\"address\": 0, \"bytes_per_core\": 65536, \"in_place_of\": \"a\"}}}}";
	json_t *root = json_loads(details, 0, NULL);
	const char *svg = lx_svg(arena, "t", root);
	assert_null(xml_check(arena, svg));
	assert_non_null(strstr(svg, "capacity 1048576"));
	assert_non_null(strstr(svg, ">1024 KiB</text>"));
	assert_non_null(strstr(svg, "in place of a"));
	/* the middles of steps, which have names and no numbers */
	assert_non_null(
		strstr(svg, "<text x=\"286.67\" y=\"690.00\" text-anchor=\"middle\">load</text>"));
	assert_int_equal(count_of(svg, "text-anchor=\"middle\">exp</text>"), 2);
	/* of the load: 64 KiB at most, not 128 */
	assert_non_null(strstr(svg, ">64 KiB</text>"));
	assert_null(strstr(svg, ">96 KiB</text>"));
	/* the middle of step 0 of 3, between 100 and 1220 */
	assert_non_null(strstr(svg, "<text class=\"n k3n\" x=\"286.67\""));
	json_decref(root);
}

FOLDER_TEST(rooflines_have_names_and_axes)
{
	static const char details[] =
		"{\"machine\": {\"hbm_bytes_per_ns\": 10, \"computes_per_ns\": 1000}, "
		"\"score\": {\"cycles\": 10, \"latency_ns\": 10, \"ops\": ["
		"{\"op\": \"a&b\", \"computes\": 500, \"phase\": {\"cycles\": 5}, \"operands\": "
		"[{\"bytes\": {\"hbm_read\": 20, \"hbm_write\": 30}}]}, "
		"{\"op\": \"twin\", \"computes\": 500, \"phase\": {\"cycles\": 5}, \"operands\": "
		"[{\"bytes\": {\"hbm_read\": 50}}]}, "
		"{\"op\": \"inside\", \"computes\": 100, \"phase\": {\"cycles\": 5}}]}}";
	json_t *root = json_loads(details, 0, NULL);
	const char *svg = roofline_svg(arena, "t", root);
	assert_null(xml_check(arena, svg));
	assert_int_equal(count_of(svg, "<circle"), 3);
	assert_non_null(strstr(svg, "a&amp;b: 100 operations/ns, 10 operations/byte"));
	assert_non_null(strstr(svg, ">a&amp;b</text>"));
	assert_null(strstr(svg, ">twin</text>"));
	assert_non_null(strstr(svg, "inside: 20 operations/ns, no byte of HBM"));
	assert_non_null(strstr(svg, ">operations per byte of HBM</text>"));
	json_decref(root);
}

FOLDER_TEST(axes_whose_ends_are_far_apart_are_logarithmic)
{
	json_t *rows = csv_rows(arena, "latency_cycles,cores\n10,1\n100000,2\n");
	const char *svg = frontier_svg(arena, "t", rows, NULL, NULL, NULL);
	assert_non_null(strstr(svg, ">1000<"));
	assert_null(strstr(svg, ">50000<"));
	json_decref(rows);
}

FOLDER_TEST(points_of_graphs_have_maps_and_nests)
{
	struct ended ended =
		folder_run("ln -s $OLDPWD/specs && $program explore -q --budget 5 "
			   "specs/arch/spyre32.yaml specs/workloads/softmax_dim1.yaml "
			   "--labels 0 -o run && $program report run --svg drawn/here");
	assert_int_equal(ended.status, 0);
	const char *lx = folder_text("drawn/here/point-001-lx.svg");
	const char *nest = folder_text("drawn/here/point-001-nest.svg");
	assert_null(xml_check(arena, lx));
	assert_null(xml_check(arena, nest));
	assert_null(xml_check(arena, folder_text("drawn/here/frontier.svg")));
	const char *plan = folder_text("run/plans/point-001.yaml");
	assert_true(count_of(plan, "where: LX") > 0);
	assert_int_equal(count_of(lx, " bytes at "), count_of(plan, "where: LX"));
	assert_int_equal(count_of(nest, ">core</tspan>"), count_of(plan, "mapping: \"core:"));
	assert_int_equal(folder_run("$program report run --svg again").status, 0);
	assert_int_equal(folder_run("diff -r drawn/here again").status, 0);
}

FOLDER_TEST(axes_without_numbers_are_refused)
{
	static const char *const axes[] = {"latency_ns", "solver,energy_pj", "energy_pj,rounds"};
	struct ended ended =
		folder_run("ln -s $OLDPWD/specs && $program explore -q specs/arch/three_level.yaml "
			   "specs/problems/gemm_16.yaml specs/constraints/keep_all.yaml -o run");
	assert_int_equal(ended.status, 0);
	for (size_t i = 0; i < sizeof axes / sizeof *axes; i++) {
		ended = folder_run(
			arena_format(arena, "$program report run --svg d --axes %s", axes[i]));
		assert_int_equal(ended.status, 2);
		assert_non_null(strstr(ended.err, "'--axes' needs two columns"));
		assert_non_null(strstr(ended.err, "latency_cycles, latency_ns, energy_pj"));
	}
	ended = folder_run("$program report run --svg d --axes energy_pj,latency_cycles");
	assert_int_equal(ended.status, 0);
	assert_int_equal(count_of(folder_text("d/frontier.svg"), "<circle"), 1);
	assert_non_null(strstr(folder_text("d/point-001-nest.svg"), ">GLB</tspan>: "));
	assert_false(folder_has("d/point-001-lx.svg"));
}

FOLDER_TEST(campaigns_are_drawn_with_all_points)
{
	folder_put("sweep.yaml",
		"sweep:\n"
		"  name: small\n"
		"  specs: [specs/arch/three_level.yaml, specs/problems/gemm_16.yaml]\n"
		"  vary: {problem.instance.M: [4, 8, 16]}\n"
		"search: {budget: 200, objectives: [edp]}\n");
	struct ended ended =
		folder_run("ln -s $OLDPWD/specs && $program campaign run -q sweep.yaml -o out && "
			   "$program report out --svg d --axes latency_cycles,energy_pj");
	assert_int_equal(ended.status, 0);
	const char *svg = folder_text("d/frontier.svg");
	assert_null(xml_check(arena, svg));
	assert_int_equal(count_of(svg, "<circle"), 3);
	assert_int_equal(count_of(svg, "fill-opacity=\"0.3\""), 0);
	assert_null(strstr(svg, "<path"));
	/* swept values are columns, too */
	ended = folder_run("$program report out --svg d --axes problem.instance.M,energy_pj "
			   "--colour problem.instance.M");
	assert_int_equal(ended.status, 0);
	svg = folder_text("d/frontier.svg");
	assert_non_null(strstr(svg, ">3: problem.instance.M 16, "));
	assert_int_equal(count_of(svg, "fill=\"#440154\""), 2);
	ended = folder_run("$program report out --svg d --axes a,b");
	assert_int_equal(ended.status, 2);
	assert_non_null(strstr(ended.err, ", problem.instance.M\n"));
	ended = folder_run("$program report out --svg d --colour a");
	assert_int_equal(ended.status, 2);
	assert_non_null(strstr(ended.err, "no point has a column 'a'; there are "));
}

/* Layouts of `place`: in-place, spilled and reserved bytes. */
FOLDER_TEST(layouts_are_xml)
{
	folder_put("b.csv",
		"id,lower,upper,size,in_place_parents\n"
		"<a&b>,0,3,256,\n\"x\"\"y\"\"\",2,5,100,<a&b>\nspilled,0,5,900,\n]]>,0,5,500,\n");
	folder_run(
		"\"$program\" place b.csv --capacity 1KiB --reserve 0-64 --spill --solver bestfit --svg out.svg");
	const char *svg = folder_text("out.svg");
	assert_non_null(svg);
	const char *why = xml_check(arena, svg);
	if (why)
		fail_msg("%s\n%s", why, svg);
	assert_non_null(strstr(svg, "&lt;a&amp;b&gt;: 256 bytes at "));
	assert_non_null(strstr(svg, "spilled: 900 bytes spilled, steps [0, 5)"));
	assert_non_null(strstr(svg, "in place of &lt;a&amp;b&gt;"));
	assert_non_null(strstr(svg, "<title>reserved: [0, 64)</title>"));
	assert_non_null(strstr(svg, "<title>capacity 1024</title>"));
}

FOLDER_TEST(layouts_of_nothing_and_of_much_are_xml)
{
	struct text text = text_open(arena);
	text_add(&text, "id,lower,upper,size\n");
	for (int i = 0; i < 30000; i++)
		text_add(&text, "b%d,%d,%d,%d\n", i, i / 3, i / 3 + 1 + i % 7, 1 + i % 1000);
	folder_put("many.csv", text_read(&text));
	folder_put("none.csv", "id,lower,upper,size\n");
	folder_run(
		"\"$program\" place many.csv --capacity 1MiB --solver greedy --svg many.svg -o many_out.csv");
	folder_run("\"$program\" place none.csv --capacity 0 --svg none.svg");
	folder_put("over.csv", "id,lower,upper,size\na,0,3,256\n");
	folder_run("\"$program\" place over.csv --capacity 9 --svg over.svg");
	const char *const names[] = {"many.svg", "none.svg", "over.svg"};
	for (int i = 0; i < 3; i++) {
		const char *svg = folder_text(names[i]);
		assert_non_null(svg);
		const char *why = xml_check(arena, svg);
		if (why)
			fail_msg("%s: %s", names[i], why);
	}
	const char *many = folder_text("many.svg");
	assert_true(strlen(many) < 5000000);
	assert_non_null(strstr(many, "10000 smaller boxes are left out"));
}

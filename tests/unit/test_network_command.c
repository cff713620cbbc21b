#include "base/arena.h"
#include "base/text.h"
#include "tests/support/csv.h"
#include "tests/support/folder.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/test.h"

/* If four multipliers share nothing, more of them are faster and dearer. */
static const char machine[] =
	"architecture:\n"
	"  version: 0.4\n"
	"  nodes:\n"
	"  - !Container {name: chip, attributes: {datawidth: 16, global_cycle_seconds: 5e-9}}\n"
	"  - !Component {name: DRAM, class: DRAM, attributes: {width: 16, shared_bandwidth: 1}}\n"
	"  - !Component {name: GLB, class: SRAM, attributes: {depth: 64, width: 16,\n"
	"      shared_bandwidth: 1}}\n"
	"  - !Container {name: PE, spatial: {meshX: 4}}\n"
	"  - !Component {name: RF, class: regfile, attributes: {depth: 16}}\n"
	"  - !Component {name: MAC, class: intmac}\n"
	"constraints:\n"
	"  targets:\n"
	"  - {target: PE, type: spatial, no_reuse: [A, B, Z]}\n";
static const char network[] =
	"network:\n"
	"  name: small\n"
	"  shapes:\n"
	"    product:\n"
	"      dimensions: [M, N, K]\n"
	"      data_spaces:\n"
	"      - {name: A, projection: [M, K]}\n"
	"      - {name: B, projection: [K, N]}\n"
	"      - {name: Z, projection: [M, N], read_write: true}\n"
	"  layers:\n"
	"  - {name: one, shape: product, instance: {M: 4, N: 4, K: 3}}\n"
	"  - {name: two, count: 3, shape: product, instance: {M: 6, N: 2, K: 2}}\n"
	"  - {name: again, count: 2, shape: product, instance: {M: 4, N: 4, K: 3}}\n";

static int set_up(void **state)
{
	folder_set_up(state);
	folder_put("machine.yaml", machine);
	folder_put("network.yaml", network);
	struct ended ended = folder_run("$program explore -q machine.yaml network.yaml -o out");
	return ended.status || *ended.err;
}

struct cost {
	double cycles, pj;
};

static struct cost cost_of(const char *table, int row)
{
	return (struct cost){atof(csv_cell(arena, table, row, "latency_cycles")),
		atof(csv_cell(arena, table, row, "energy_pj"))};
}

enum { POINTS_MOST = 16, CHOICES_MOST = 4096 };

struct layer_points {
	const char *name;
	int count, points;
	struct cost at[POINTS_MOST];
};

static int read_layers(struct layer_points *layers)
{
	const char *table = folder_text("out/layers.csv");
	int count = 0;
	for (int row = 1; csv_cell(arena, table, row, "layer"); row++) {
		const char *name = csv_cell(arena, table, row, "layer");
		if (!count || strcmp(layers[count - 1].name, name) != 0)
			layers[count++] = (struct layer_points){
				.name = name, .count = atoi(csv_cell(arena, table, row, "count"))};
		struct layer_points *layer = &layers[count - 1];
		layer->at[layer->points++] = cost_of(table, row);
		assert_int_equal(atoi(csv_cell(arena, table, row, "point")), layer->points);
		assert_string_equal(csv_cell(arena, table, row, "proof"), "optimal");
		assert_int_equal(strncmp(csv_cell(arena, table, row, "solver"), "map/", 4), 0);
	}
	return count;
}

/* Every occurrence takes each point in turn. */
static void list_choices(const struct layer_points *layers, int left, int occurrences, int first,
	struct cost so_far, struct cost *choices, int *count)
{
	if (!left) {
		assert_true(*count < CHOICES_MOST);
		choices[(*count)++] = so_far;
		return;
	}
	if (!occurrences) {
		list_choices(layers + 1, left - 1, left > 1 ? layers[1].count : 0, 0, so_far,
			choices, count);
		return;
	}
	for (int p = first; p < layers->points; p++)
		list_choices(layers, left, occurrences - 1, p,
			(struct cost){
				so_far.cycles + layers->at[p].cycles, so_far.pj + layers->at[p].pj},
			choices, count);
}

static int all_choices(struct cost *choices)
{
	struct layer_points layers[8];
	int count = 0, layer_count = read_layers(layers);
	assert_int_equal(layer_count, 3);
	list_choices(layers, layer_count, layers[0].count, 0, (struct cost){0, 0}, choices, &count);
	return count;
}

/* The same to as many digits as sums in another order have. */
static bool is_less(double a, double b)
{
	return a < b - 1e-9 * fabs(b);
}

FOLDER_TEST(the_frontier_is_that_of_all_choices)
{
	static struct cost choices[CHOICES_MOST];
	const char *table = folder_text("out/pareto.csv");
	int count = all_choices(choices), rows = 0;
	for (int row = 1; csv_cell(arena, table, row, "point"); row++, rows++) {
		struct cost point = cost_of(table, row);
		bool met = false;
		for (int i = 0; i < count; i++) {
			met |= choices[i].cycles == point.cycles &&
			       !is_less(choices[i].pj, point.pj) &&
			       !is_less(point.pj, choices[i].pj);
			assert_false(choices[i].cycles <= point.cycles &&
				     is_less(choices[i].pj, point.pj));
		}
		assert_true(met);
		assert_string_equal(csv_cell(arena, table, row, "proof"), "optimal");
		assert_string_equal(csv_cell(arena, table, row, "sim_agrees"), "true");
	}
	assert_true(rows > 3);
	for (int i = 0; i < count; i++) {
		bool met = false;
		for (int row = 1; row <= rows; row++) {
			struct cost point = cost_of(table, row);
			met |= point.cycles <= choices[i].cycles &&
			       !is_less(choices[i].pj, point.pj);
		}
		assert_true(met);
	}
}

FOLDER_TEST(a_row_is_the_sum_of_what_it_takes)
{
	const char *table = folder_text("out/pareto.csv");
	struct layer_points layers[8];
	read_layers(layers);
	for (int row = 1; csv_cell(arena, table, row, "point"); row++) {
		char *choice = arena_text(arena, csv_cell(arena, table, row, "mapping"));
		struct cost sum = {0, 0}, point = cost_of(table, row);
		int l = 0;
		for (char *word = strtok(choice, " "); word; word = strtok(NULL, " "), l++) {
			char *at = strchr(word, ':');
			int taken = 0;
			assert_non_null(at);
			assert_true(strncmp(word, layers[l].name, (size_t)(at - word)) == 0);
			while (*at) {
				int p = (int)strtol(at + 1, &at, 10);
				int times =
					*at == '*' ? (int)strtol(at + 1, &at, 10) : layers[l].count;
				assert_in_range(p, 1, layers[l].points);
				sum.cycles += times * layers[l].at[p - 1].cycles;
				sum.pj += times * layers[l].at[p - 1].pj;
				taken += times;
			}
			assert_int_equal(taken, layers[l].count);
		}
		assert_int_equal(l, 3);
		assert_true(sum.cycles == point.cycles);
		assert_false(is_less(sum.pj, point.pj) || is_less(point.pj, sum.pj));
		assert_float_equal(
			atof(csv_cell(arena, table, row, "latency_ns")), 5 * point.cycles, 1e-6);
	}
}

FOLDER_TEST(files_of_layers_are_scored_and_simulated)
{
	const char *table = folder_text("out/layers.csv");
	for (int row = 1; csv_cell(arena, table, row, "layer"); row++) {
		struct ended ended =
			folder_run(arena_format(arena, "$program simulate machine.yaml out/%s",
				csv_cell(arena, table, row, "plan")));
		assert_string_equal(ended.err, "");
		assert_int_equal(ended.status, 0);
		json_t *root = json_loads(ended.out, 0, NULL);
		assert_true(json_is_true(json_object_get(root, "agrees")));
		assert_int_equal(json_integer_value(json_object_get(root, "cycles")),
			atoi(csv_cell(arena, table, row, "latency_cycles")));
		assert_true(json_real_value(json_object_get(root, "energy_pj")) ==
			    atof(csv_cell(arena, table, row, "energy_pj")));
		json_decref(root);
	}
}

#define EXPLORE "$program explore -q --simulate none machine.yaml network.yaml -o limited "

/* Within a limit the best of all choices is taken; exactly at a point, and just below. */
FOLDER_TEST(limits_are_kept_by_the_best_choice)
{
	static struct cost choices[CHOICES_MOST];
	const char *table = folder_text("out/pareto.csv");
	int count = all_choices(choices);
	struct cost second = cost_of(table, 2);
	for (int less = 0; less < 2; less++) {
		struct ended ended = folder_run(arena_format(arena,
			EXPLORE "--latency-budget %.0f --format json", second.cycles - less));
		assert_int_equal(ended.status, 0);
		json_t *root = json_loads(ended.out, 0, NULL);
		int chosen = (int)json_integer_value(json_object_get(root, "chosen"));
		struct cost taken = cost_of(table, chosen);
		assert_int_equal(chosen, 2 - less);
		for (int i = 0; i < count; i++)
			assert_true(choices[i].cycles > second.cycles - less ||
				    !is_less(choices[i].pj, taken.pj));
		json_decref(root);
	}
}

FOLDER_TEST(each_layer_has_its_least_edp)
{
	struct layer_points layers[8];
	int layer_count = read_layers(layers);
	double cycles = 0, pj = 0;
	for (int l = 0; l < layer_count; l++) {
		struct cost least = layers[l].at[0];
		for (int p = 1; p < layers[l].points; p++)
			if (layers[l].at[p].cycles * layers[l].at[p].pj < least.cycles * least.pj)
				least = layers[l].at[p];
		cycles += layers[l].count * least.cycles;
		pj += layers[l].count * least.pj;
	}
	struct ended ended = folder_run(EXPLORE "--objective edp --format csv");
	assert_int_equal(ended.status, 0);
	struct cost sum = cost_of(ended.out, 1);
	assert_null(csv_cell(arena, ended.out, 2, "point"));
	assert_true(sum.cycles == cycles);
	assert_float_equal(sum.pj, pj, 1e-6);
}

/* Of every point of a layer, the levels add up to its energy. */
FOLDER_TEST(pages_have_the_energy_of_each_level)
{
	assert_int_equal(folder_run("$program report --html out").status, 0);
	const char *page = folder_text("out/report.html");
	const char *data = strstr(page, "id=\"data\">");
	assert_non_null(data);
	data += strlen("id=\"data\">");
	json_t *root = json_loadb(data, strcspn(data, "<"), 0, NULL), *levels;
	assert_non_null(root);
	assert_int_equal(json_array_size(json_object_get(root, "notes")), 0);
	const json_t *energies = json_object_get(root, "layer_energies");
	const char *table = folder_text("out/layers.csv"), *file;
	int row = 1;
	for (; (file = csv_cell(arena, table, row, "plan")); row++) {
		double sum = 0, pj = cost_of(table, row).pj;
		size_t i;
		json_t *level;
		levels = json_object_get(energies, file);
		assert_true(json_array_size(levels) > 1);
		json_array_foreach(levels, i, level)
			sum += json_number_value(json_array_get(level, 1));
		assert_true(fabs(sum - pj) <= 1e-9 * pj);
	}
	assert_true(row > 2);
	json_decref(root);
}

/* Layers that do not begin keep the mapping that is known to fit. */
FOLDER_TEST(an_interrupted_run_writes_what_is_known)
{
	struct text text = text_open(arena);
	text_add(&text, "%s", network);
	for (int i = 0; i < 200; i++)
		text_add(&text,
			"  - {name: l%d, shape: product, instance: {M: %d, N: 64, K: 64}}\n", i,
			64 + i);
	folder_put("long.yaml", text_read(&text));
	/* the folder is made when the program listens, nearly */
	struct ended ended = folder_run(
		"{ $program explore -q -j 2 --simulate none machine.yaml long.yaml -o long "
		"--budget 100000 >/dev/null &\n"
		"for i in $(seq 200); do [ -d long ] || sleep 0.05; done; sleep 0.3\n"
		"kill -INT $!; wait $!; }");
	assert_string_equal(ended.err, "");
	assert_int_equal(ended.status, 130);
	const char *table = folder_text("long/pareto.csv");
	json_t *root = json_loads(folder_text("long/run.json"), 0, NULL);
	assert_non_null(csv_cell(arena, table, 1, "point"));
	const char *limit = json_string_value(json_object_get(root, "limit"));
	assert_string_equal(limit ? limit : "", "interrupted");
	json_decref(root);
}

FIXTURE(set_up, folder_tear_down);

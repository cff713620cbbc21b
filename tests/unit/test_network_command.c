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

/* Ends with this status and says this, both exactly. */
static void expect(const char *command, int status, const char *err)
{
	struct ended ended = folder_run(command);
	assert_string_equal(ended.err, err);
	assert_int_equal(ended.status, status);
}

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
	const char *plan = folder_text("out/plans/point-001.yaml");
	assert_non_null(strstr(plan, "plan:\n  version: 1\n  network: small\n  architecture: chip\n"
				     "  layers:\n  - {layer: one, count: 1, point: 1, file: "
				     "layers/one-001.yaml, mapping: \""));
}

static json_int_t number(json_t *root, const char *group, const char *key)
{
	json_t *value = json_object_get(json_object_get(root, group), key);
	assert_true(json_is_integer(value));
	return json_integer_value(value);
}

FOLDER_TEST(equal_layers_are_solved_once)
{
	json_t *root = json_loads(folder_text("out/run.json"), 0, NULL), *layer;
	json_int_t evaluated = 0;
	size_t i;
	assert_int_equal(number(root, "network", "layers"), 3);
	assert_int_equal(number(root, "network", "occurrences"), 6);
	assert_int_equal(number(root, "network", "solved"), 2);
	assert_int_equal(number(root, "network", "cache_hits"), 1);
	json_array_foreach(json_object_get(root, "layers"), i, layer) {
		bool same = json_object_get(layer, "same_as");
		assert_int_equal(same, i == 2);
		assert_int_equal(same, !json_object_get(layer, "counters"));
		if (!same)
			evaluated += number(layer, "counters", "evaluated");
	}
	assert_int_equal(number(root, "counters", "evaluated"), evaluated);
	json_decref(root);
}

FOLDER_TEST(results_do_not_depend_on_threads)
{
	expect("for jobs in 1 2 7; do\n"
	       "  mkdir jobs$jobs && $program explore -q machine.yaml network.yaml -o jobs$jobs "
	       "-j $jobs >jobs$jobs/stdout || exit 1\n"
	       "  sed -i '/\"seconds\":/d' jobs$jobs/run.json\n"
	       "  diff -r jobs1 jobs$jobs >&2\n"
	       "done",
		0, "");
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
	struct ended ended =
		folder_run(arena_format(arena, EXPLORE "--energy-budget %.17gpJ", second.pj));
	assert_int_equal(ended.status, 0);
	assert_non_null(strstr(ended.out, "chosen\n"));
	assert_non_null(strstr(ended.out, " pJ: point 2: "));
	assert_non_null(strstr(ended.out, "\none                           1       "));
	/* 5 ns are a cycle */
	ended = folder_run(
		arena_format(arena, EXPLORE "--latency-budget %.0fns", 5 * second.cycles));
	assert_non_null(strstr(
		ended.out, arena_format(arena, "within %.0f cycles: point 2: ", second.cycles)));
}

FOLDER_TEST(what_no_choice_keeps_to_is_told_with_the_nearest)
{
	const char *table = folder_text("out/pareto.csv");
	struct cost first = cost_of(table, 1);
	folder_put("search.yaml", "search: {latency_budget: 10ns * 10, energy_budget: 1uJ}\n");
	expect("$program explore -q machine.yaml network.yaml search.yaml -o limited >/dev/null", 1,
		arena_format(arena,
			"lxplore: no choice of mappings keeps the network within 20 cycles and "
			"1000000 pJ; the nearest is point 1: %.0f cycles, %.12g pJ\n",
			first.cycles, first.pj));
	/* not proven: something better may be there */
	expect(EXPLORE "--latency-budget 20 --solver map=random --budget 1 >/dev/null 2>err; "
		       "s=$?; sed 's/; the nearest.*//' err >&2; exit $s",
		3,
		"lxplore: none of the mappings that were found keep the network within 20 "
		"cycles\n");
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
	/* of the network's edp nothing is proven by that */
	assert_string_equal(csv_cell(arena, ended.out, 1, "proof"), "none");
}

/* The layers of a point are printed as commands, which a shell runs unchanged, from any folder. */
FOLDER_TEST(commands_of_layers_work)
{
	struct ended ended = folder_run("cp -r out \"it's out\" && mkdir -p far && cd far && "
					"$program report \"../it's out\" --explain --point 1");
	assert_int_equal(ended.status, 0);
	folder_put("commands", ended.out);
	assert_non_null(strstr(ended.out, "# layer 'two', "));
	ended = folder_run("cd far && sed \"s|^lxplore|$program|\" ../commands | sh -e");
	assert_string_equal(ended.err, "");
	assert_int_equal(ended.status, 0);
	int count = 0;
	for (const char *at = ended.out; (at = strstr(at, "\ncycles: ")); at++)
		count++;
	const char *plan = folder_text("out/plans/point-001.yaml");
	int layers = 0;
	for (const char *at = plan; (at = strstr(at, "- {layer: ")); at++)
		layers++;
	assert_int_equal(count, layers);
	assert_int_equal(
		folder_run("$program report out --format timeloop | "
			   "sed \"s|^lxplore|$program|\" | sh -e | grep -c 'Summary Stats'")
			.status,
		0);
	assert_int_equal(folder_run("$program report out --explain --point 99").status, 2);
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

/* A window that leaves the result (one more in front), groups of one rank, and one dimension for two ranks. */
static const char chain[] =
	"network:\n"
	"  name: chain\n"
	"  shapes:\n"
	"    conv:\n"
	"      dimensions: [C, M, R, P]\n"
	"      data_spaces:\n"
	"      - {name: Weights, projection: [C, M, R]}\n"
	"      - {name: Inputs, projection: [C, [R, P]]}\n"
	"      - {name: Outputs, projection: [M, P], read_write: true}\n"
	"    grouped:\n"
	"      dimensions: [G, C, M, R, P]\n"
	"      data_spaces:\n"
	"      - {name: Weights, projection: [G, C, M, R]}\n"
	"      - {name: Inputs, projection: [G, C, 'R + 2*P']}\n"
	"      - {name: Outputs, projection: [G, M, P], read_write: true}\n"
	"    product:\n"
	"      dimensions: [K, N, P]\n"
	"      data_spaces:\n"
	"      - {name: Weights, projection: [K, N]}\n"
	"      - {name: Inputs, projection: [K, P]}\n"
	"      - {name: Outputs, projection: [N, P], read_write: true}\n"
	"  layers:\n"
	"  - {name: a, shape: conv, instance: {C: 2, M: 4, R: 3, P: 6}}\n"
	"  - {name: b, shape: grouped, instance: {G: 2, C: 2, M: 3, R: 3, P: 3}}\n"
	"  - {name: c.1, shape: product, instance: {K: 6, N: 4, P: 3}}\n";

static int small(int i)
{
	return (i * 7 + i / 3) % 5 - 2;
}

static void put_values(struct text *text, const char *name, int count)
{
	text_add(text, "%s:", name);
	for (int i = 0; i < count; i++)
		text_add(text, " %d", small(i));
	text_add(text, "\n");
}

/* Element (n, p) of the result, from the layers as problems. */
static int chain_value(int n, int p)
{
	int sum = 0;
	for (int k = 0; k < 6; k++) {
		int b = 0;
		for (int c = 0; c < 2; c++)
			for (int r = 0; r < 3; r++) {
				int a = 0, m = k / 3 * 2 + c, at = 2 * p + r - 1;
				for (int i = 0; i < 6 && at >= 0 && at < 6; i++)
					a += small(i / 3 * 8 + at + i % 3) *
					     small(i / 3 * 12 + m * 3 + i % 3);
				b += a * small(((k / 3 * 2 + c) * 3 + k % 3) * 3 + r);
			}
		sum += b * small(k * 4 + n);
	}
	return sum;
}

FOLDER_TEST(the_graph_of_layers_computes_what_they_do)
{
	struct text inputs = text_open(arena), outputs = text_open(arena);
	put_values(&inputs, "a_Inputs", 2 * 8);
	put_values(&inputs, "a_Weights", 2 * 4 * 3);
	put_values(&inputs, "b_Weights", 2 * 2 * 3 * 3);
	put_values(&inputs, "c_1_Weights", 6 * 4);
	folder_put("values", text_read(&inputs));
	folder_put("chain.yaml", chain);
	text_add(&outputs, "c_1:");
	for (int i = 0; i < 12; i++)
		text_add(&outputs, " %d", chain_value(i / 3, i % 3));
	text_add(&outputs, "\n");
	struct ended ended = folder_run(
		"sed '/^constraints/,$d' machine.yaml >free.yaml && $program simulate free.yaml "
		"chain.yaml --as graph --inputs values --outputs computed && "
		"$program import chain.yaml");
	if (ended.status)
		fail_msg("%s%s", ended.out, ended.err);
	assert_non_null(strstr(ended.out, "\n    # a: from memory, because it is the first\n"));
	assert_non_null(strstr(ended.out, " pad a[C_2 + 2 * G_2, R_3 + 2 * P_3 - 1] * "));
	assert_non_null(strstr(ended.out, " b[K_6_2a, K_6_3b, P_3] * "));
	assert_string_equal(folder_text("computed"), text_read(&outputs));
}

/* Occurrences: `from` of a later layer is the occurrence before; what does not agree reads memory. */
FOLDER_TEST(layers_name_what_they_read)
{
	static const char flows[] =
		"  - {name: d, count: 2, from: {Inputs: e}, shape: product,\n"
		"      instance: {K: 4, N: 6, P: 3}}\n"
		"  - {name: e, count: 2, shape: product, instance: {K: 6, N: 4, P: 3}}\n"
		"  - {name: f, from: {}, shape: product, instance: {K: 4, N: 4, P: 3}}\n"
		"  - {name: g, from: e, shape: product, instance: {K: 4, N: 4, P: 3}}\n"
		"  - {name: h, shape: product, instance: {K: 5, N: 4, P: 3}}\n"
		"  - {name: i, count: 2, shape: product, instance: {K: 4, N: 4, P: 3}}\n";
	folder_put("flows.yaml", arena_format(arena, "%s%s", chain, flows));
	struct ended ended = folder_run(
		"sed '/^constraints/,$d' machine.yaml >free.yaml; "
		"$program import flows.yaml && $program check -v free.yaml flows.yaml >/dev/null");
	assert_int_equal(ended.status, 0);
	static const char *const ops[] = {" d_Inputs[K_4, P_3] * d_Weights",
		" d[K_6, P_3] * e_Weights", " e[K_4, P_3] * d_2_Weights",
		" d_2[K_6, P_3] * e_2_Weights", " f_Inputs[K_4, P_3] * f_Weights",
		" e_2[K_4, P_3] * g_Weights"};
	const char *at = ended.out;
	for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
		at = strstr(at, ops[i]);
		assert_non_null(at);
	}
	assert_non_null(strstr(ended.err,
		"a graph of 12 ops: 5 of 9 layers read another one, 4 read memory; 'a': it is the "
		"first; 'f': its 'from' says so; 'h': its 'Inputs' is 5 x 3, and the result of 'g' "
		"is 4 x 3; 'i': it occurs 2 times and 'h' once"));
	/* `from` makes it a graph, unless --as says otherwise */
	ended = folder_run("$program check free.yaml flows.yaml --as network");
	assert_non_null(strstr(ended.out, "chain: 9 layers, "));
	ended = folder_run("$program score free.yaml flows.yaml");
	assert_int_equal(ended.status, 0);
	assert_non_null(strstr(ended.out, "e_2"));
}

/* A layer is scored without its network, and so not where that is in one file with the machine. */
/* Its weights have the rows of the result, so that by the rows alone they would be Inputs. */
FOLDER_TEST(weights_of_a_product_are_those_of_its_layer)
{
	folder_put("product.yaml",
		"network:\n"
		"  name: n\n"
		"  shapes:\n"
		"    product:\n"
		"      dimensions: [K, N, P]\n"
		"      data_spaces:\n"
		"      - {name: Weights, projection: [K, N]}\n"
		"      - {name: Inputs, projection: [K, P]}\n"
		"      - {name: Outputs, projection: [N, P], read_write: true}\n"
		"  layers:\n"
		"  - {name: fc, shape: product, instance: {K: 64, N: 48, P: 16}}\n");
	struct ended ended = folder_run(
		"arch=$OLDPWD/specs/arch/tpu_v4i.yaml && for form in network graph; do $program explore "
		"$arch product.yaml --as $form --objective energy --simulate none -q -o $form >$form.out "
		"|| exit; grep -o '[0-9.]* nJ' $form.out | head -1; done");
	assert_int_equal(ended.status, 0);
	const char *second = strchr(ended.out, '\n');
	assert_non_null(second);
	size_t length = (size_t)(second - ended.out);
	assert_true(length > 3);
	assert_memory_equal(ended.out, second + 1, length);
}

FOLDER_TEST(a_network_beside_its_machine_is_told)
{
	struct ended ended = folder_run("cat machine.yaml network.yaml > both.yaml && $program "
					"explore -q both.yaml -o both && "
					"$program report both --explain");
	assert_int_equal(ended.status, 2);
	assert_non_null(strstr(ended.err, "has a network and its machine in one file"));
}

FOLDER_TEST(what_networks_cannot_have_is_refused)
{
	expect(EXPLORE "--objective latency,edp", 2,
		"lxplore: error: the edp of a network is not a sum over its layers; ask for edp "
		"alone, or for latency,energy, whose frontier has the least edp\n");
	expect(EXPLORE "--objective latency,energy,hbm_bytes", 2,
		"lxplore: error: the frontier of a network is over at most two objectives, not "
		"3\n");
	expect(EXPLORE "--objective edp --latency-budget 5", 2,
		"lxplore: error: a budget of latency or energy needs the objectives "
		"latency,energy, which are the default\n");
	expect("$program score machine.yaml network.yaml", 2,
		"lxplore: error: a network is explored or checked; score and simulate read the "
		"files in layers/ of its results, or with '--as graph' the network\n");
	expect("$program explore machine.yaml network.yaml out/layers/one-001.yaml 2>&1 "
	       "| grep error >&2; exit 2",
		2,
		"out/layers/one-001.yaml:34:3: error: a 'problem' stands beside a 'network'; a "
		"run is about one of them\n"
		"out/layers/one-001.yaml:4:1: error: a 'mapping' stands beside a 'network'; a "
		"run is about one of them\n");
	expect("$program import network.yaml --as network 2>&1 | grep error >&2; exit 2", 2,
		"argument 3:1:1: error: a network is imported as a graph; leave '--as' out\n");
	expect("$program import machine.yaml", 2,
		"lxplore: error: 'machine.yaml' has no 'network', and the name of a model ends in "
		".onnx or .mlir\n");
	struct ended ended = folder_run(EXPLORE "--latency-budget 5pJ --energy-budget -1");
	assert_int_equal(ended.status, 2);
	assert_non_null(strstr(ended.err,
		"error: '--latency-budget' is an energy; it can be a number of cycles or a time"));
	assert_non_null(strstr(ended.err, "error: '--energy-budget' is below 0"));
	ended = folder_run("$program explore machine.yaml out/layers/one-001.yaml "
			   "--latency-budget 5");
	assert_int_equal(ended.status, 2);
	assert_non_null(
		strstr(ended.err, "error: '--latency-budget' is for networks; this is a problem"));
}

FOLDER_TEST(constraints_that_a_layer_cannot_meet_name_it)
{
	folder_put("more.yaml", "mapspace_constraints:\n"
				"  targets:\n"
				"  - {target: RF, type: temporal, factors: [K=2]}\n"
				"  - {target: RF, type: temporal, factors: [L=2]}\n");
	struct ended ended = folder_run("$program check machine.yaml network.yaml more.yaml");
	assert_int_equal(ended.status, 2);
	assert_non_null(strstr(ended.err, "more.yaml:4:44: error: unknown dimension 'L'"));
	assert_non_null(strstr(ended.err, "network.yaml:11:5: note: for layer 'one'"));
	folder_put("more.yaml", "mapspace_constraints:\n"
				"  targets:\n"
				"  - {target: RF, type: temporal, factors: [K=2]}\n");
	ended = folder_run("$program explore -q machine.yaml network.yaml more.yaml -o limited");
	assert_int_equal(ended.status, 1);
	assert_non_null(strstr(ended.err, "K=2 at 'RF' (temporal) does not divide"));
	assert_non_null(strstr(ended.err, "note: for layer 'one'"));
	assert_null(strstr(ended.err, "note: for layer 'two'"));
	ended = folder_run("$program check machine.yaml network.yaml more.yaml");
	assert_int_equal(ended.status, 1);
	assert_non_null(strstr(ended.out, "one: infeasible: constraints contradict each other\n"
					  "two: fits, "));
	assert_non_null(strstr(ended.out, "\nagain: as one\n"));
}

/* 7 is prime: of all perfect factors only K2 runs at once; with rounds that end early M4,3 does. */
FOLDER_TEST(factors_need_not_divide_where_that_is_allowed)
{
	expect("sed 's/, shared_bandwidth: 1//; s/shared_bandwidth: 1//' machine.yaml >fast.yaml",
		0, "");
	folder_put("primes.yaml",
		"network:\n"
		"  layers:\n"
		"  - name: first\n"
		"    shape: {dimensions: [K, M], data_spaces: [{name: A, projection: [M, K]},\n"
		"      {name: B, projection: [K]}, {name: Z, projection: [M], read_write: true}]}\n"
		"    instance: {K: 2, M: 7}\n"
		"  - name: second\n"
		"    shape: {dimensions: [M, L], data_spaces: [{name: A, projection: [M, L]},\n"
		"      {name: B, projection: [L]}, {name: Z, projection: [M], read_write: true}]}\n"
		"    instance: {M: 7, L: 1}\n");
	static const char *const rows[][2] = {{"", "\n    1      14 "},
		{"--imperfect M", "\n    1       6 "}, {"--imperfect L", "\n    1      14 "}};
	for (int i = 0; i < 3; i++) {
		struct ended ended = folder_run(arena_format(arena,
			"$program explore -q fast.yaml primes.yaml -o primes "
			"--objective latency --simulate none %s",
			rows[i][0]));
		assert_string_equal(ended.err, "");
		if (!strstr(ended.out, rows[i][1]))
			fail_msg("%s: %s", rows[i][0], ended.out);
	}
	struct ended ended = folder_run("$program explore machine.yaml primes.yaml --imperfect N");
	assert_int_equal(ended.status, 2);
	assert_non_null(strstr(ended.err, "unknown dimension 'N' (there are all, K, M, L)"));
}

/* A layer whose proof does not end within the budget is not left without a reason. */
FOLDER_TEST(a_budget_that_ends_a_proof_is_told)
{
	struct ended ended = shell(arena,
		"$LXPLORE explore specs/arch/eyeriss.yaml specs/workloads/alexnet.yaml --budget 5000 "
		"--simulate none -o %s/told",
		folder);
	assert_int_equal(ended.status, 0);
	assert_non_null(strstr(ended.err, "cut short by: budget of 5000 for a layer (--budget)\n"));
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

/* Graphs of one op, explored to the end, and ops whose array is described. */
#include "base/arena.h"
#include "tests/support/csv.h"
#include "tests/support/draws.h"
#include "tests/support/folder.h"

#include <stdlib.h>
#include <string.h>

#include "tests/test.h"

static const char product[] = "workload:\n"
			      "  name: mm\n"
			      "  dimensions: {m: 64, n: 128, k: 128}\n"
			      "  ops: ['c[m,n] = sum(k) a[m,k] * b[k,n]']\n";

static const char *explore(const char *machine, const char *options)
{
	struct ended ended =
		shell(arena, "$LXPLORE explore specs/arch/%s.yaml %s %s --simulate none -q -o %s",
			machine, folder_put("mm.yaml", product), options, folder);
	assert_int_equal(ended.status, 0);
	return folder_text("pareto.csv");
}

/* With clones a plan of one op is a whole plan, which the joint search proves. */
FOLDER_TEST(clones_of_one_op_are_looked_at)
{
	const char *large = "workload:\n"
			    "  name: mm\n"
			    "  dimensions: {m: 1536, n: 1536, k: 900}\n"
			    "  ops: ['c[m,n] = sum(k) a[m,k] * b[k,n]']\n";
	struct ended ended = shell(arena,
		"$LXPLORE explore specs/arch/spyre32.yaml %s --objective latency --simulate none -q -o %s",
		folder_put("mm.yaml", large), folder);
	assert_int_equal(ended.status, 0);
	const char *csv = folder_text("pareto.csv");
	double cloned = strtod(csv_cell(arena, csv, 1, "estimate_cycles"), NULL);
	assert_string_equal(csv_cell(arena, csv, 1, "proof"), "optimal");
	ended = shell(arena,
		"$LXPLORE explore specs/arch/spyre32.yaml %s --objective latency --simulate none -q -o %s "
		"--without clone --solver joint=cut_dp",
		folder_put("mm.yaml", large), folder);
	assert_int_equal(ended.status, 0);
	csv = folder_text("pareto.csv");
	assert_true(cloned < strtod(csv_cell(arena, csv, 1, "estimate_cycles"), NULL));
}

/* Boxes of the next tile need not wait for the result of one that stays in LX until an evict. */
FOLDER_TEST(a_result_that_no_op_reads_waits_for_an_evict)
{
	double least[2];
	for (int without = 0; without < 2; without++) {
		struct ended ended = shell(arena,
			"$LXPLORE explore specs/arch/spyre32.yaml %s --objective latency "
			"--solver joint=cut_dp -q -o %s %s",
			folder_put("mm.yaml", "workload:\n"
					      "  name: mm\n"
					      "  dimensions: {m: 640, n: 640, k: 900}\n"
					      "  ops: ['c[m,n] = sum(k) a[m,k] * b[k,n]']\n"),
			folder, without ? "--without both_places" : "");
		assert_int_equal(ended.status, 0);
		const char *csv = folder_text("pareto.csv");
		assert_string_equal(csv_cell(arena, csv, 1, "proof"), "optimal");
		least[without] = strtod(csv_cell(arena, csv, 1, "estimate_cycles"), NULL);
		assert_true(strtod(csv_cell(arena, csv, 1, "sim_cycles"), NULL) <
			    1.01 * least[without]);
	}
	assert_true(least[0] < 0.9 * least[1]);
}

/* The least of an objective that the joint search proves of a graph, if a bundle uses two tensors. */
static double proven(const char *column, const char *objective, const char *graph, const char *with)
{
	struct ended ended = shell(arena,
		"sed \"s/bundle_tensors: 6/bundle_tensors: 2/; s#[.][.]/energy#$PWD/specs/energy#\" "
		"specs/arch/spyre32_published.yaml > %s/narrow.yaml && $LXPLORE explore %s/narrow.yaml %s "
		"--solver joint=cut_dp --objective %s --simulate none -q -o %s %s",
		folder, folder, folder_put("graph.yaml", graph), objective, folder, with);
	assert_int_equal(ended.status, 0);
	const char *csv = folder_text("pareto.csv");
	assert_string_equal(csv_cell(arena, csv, 1, "proof"), "optimal");
	return strtod(csv_cell(arena, csv, 1, column), NULL);
}

FOLDER_TEST(two_tensors_that_fit_one_by_one_share_a_loop)
{
	const char *graph =
		"workload: {name: run, dimensions: {m: 20480, n: 1024}, ops: ['a[m,n] = exp(x[m,n])', "
		"'b[m,n] = tanh(a[m,n])', 'y[m,n] = a[m,n] * b[m,n]']}\n";
	double bytes = proven("hbm_bytes", "hbm_bytes", graph, "");
	assert_true(bytes == 2.0 * 20480 * 1024 * 2);
	assert_true(bytes < proven("hbm_bytes", "hbm_bytes", graph, "--without relay,fusion"));
}

/* An output that is read later stays in LX, and an evict writes it to HBM: it is not read again from there. */
FOLDER_TEST(an_output_stays_for_its_readers)
{
	const char *graph =
		"workload: {name: both, dimensions: {m: 512, n: 1024}, outputs: [y, z], "
		"ops: ['y[m,n] = relu(x[m,n])', 'z[m,n] = exp(y[m,n])']}\n";
	double mib = 1024 * 1024;
	assert_true(proven("hbm_bytes", "hbm_bytes", graph, "--without relay") == 3 * mib);
	const char *plan = folder_text("plans/point-001.yaml");
	assert_non_null(strstr(plan, "fixed: relay unlike_runs other_moves\""));
	assert_non_null(strstr(plan, "{move: evict, tensor: y"));
	struct ended ended = shell(arena,
		"$LXPLORE simulate %s/narrow.yaml %s/graph.yaml %s/plans/point-001.yaml", folder,
		folder, folder);
	assert_int_equal(ended.status, 0);
	assert_true(
		proven("hbm_bytes", "hbm_bytes", graph, "--without relay,both_places") == 4 * mib);
}

static const char small_machine[] =
	"architecture:\n  version: 0.4\n  name: small\n  nodes:\n"
	"  - !Container\n    name: system\n    attributes: {clock: 1.5GHz, bundle_tensors: 3}\n"
	"  - !Component\n    name: HBM\n    class: DRAM\n"
	"    attributes: {shared_bandwidth: 204.8GB/s, alignment: 128, stick: 128B}\n"
	"  - !Container\n    name: core\n    spatial: {meshX: 12}\n"
	"    attributes: {span_limit: 256MiB}\n"
	"  - !Component\n    name: LX\n    class: SRAM\n"
	"    attributes: {size: 256KiB, reserve: 0.2, transfer: box, alignment: 128, "
	"read_bandwidth: 64, write_bandwidth: 64, fill_bandwidth: 64}\n"
	"  - !Component\n    name: array\n    class: fp16_array\n"
	"    attributes: {mac_rate: 1024, vector_rate: 64}\n";

/* Sums over rows and over columns are divided differently: only x whole on every core serves both. */
FOLDER_TEST(one_view_serves_ops_that_are_divided_differently)
{
	const char *machine = folder_put("small.yaml", small_machine);
	const char *graph = folder_put("graph.yaml",
		"workload: {name: both, dimensions: {m: 160, n: 100}, ops: ['a[m] = mean(n) x[m,n]', "
		"'b[n] = sum(m) x[m,n]']}\n");
	double cycles[2];
	for (int without = 0; without < 2; without++) {
		struct ended ended = shell(arena,
			"$LXPLORE explore %s %s --solver joint=cut_dp --objective latency "
			"--simulate none -q -o %s --without relay%s",
			machine, graph, folder, without ? ",shared_views" : "");
		assert_int_equal(ended.status, 0);
		const char *csv = folder_text("pareto.csv");
		assert_string_equal(csv_cell(arena, csv, 1, "proof"), "optimal");
		cycles[without] = strtod(csv_cell(arena, csv, 1, "estimate_cycles"), NULL);
		assert_true(
			!strstr(folder_text("plans/point-001.yaml"), " shared_views") == !without);
	}
	assert_true(cycles[0] < cycles[1]);
}

/* An option with an early move is no worse copy of the one without it: 821 cycles is what `score` says of a plan that
 * clones x1 before t0, and 822 were proven while the two were compared. */
FOLDER_TEST(an_early_move_is_not_dominated_by_its_absence)
{
	folder_put("machine.yaml",
		"architecture:\n"
		"  version: 0.4\n"
		"  name: small\n"
		"  nodes:\n"
		"  - !Container\n"
		"    name: system\n"
		"    attributes: {clock: 1.5GHz, bundle_tensors: 6, bundle_overhead: 82.94ns, "
		"core_overhead: 331.76ns}\n"
		"  - !Component\n"
		"    name: HBM\n"
		"    class: DRAM\n"
		"    attributes: {shared_bandwidth: 204.8GB/s, alignment: 128, stick: 128B}\n"
		"  - !Container\n"
		"    name: core\n"
		"    spatial: {meshX: 4}\n"
		"    attributes: {span_limit: 256MiB}\n"
		"  - !Component\n"
		"    name: LX\n"
		"    class: SRAM\n"
		"    attributes: {size: 256KiB, reserve: 0.2, transfer: box, alignment: 128, "
		"read_bandwidth: 64, write_bandwidth: 64, fill_bandwidth: 64}\n"
		"  - !Component\n"
		"    name: array\n"
		"    class: fp16_array\n"
		"    attributes: {mac_rate: 1024, vector_rate: 64}\n");
	folder_put("graph.yaml",
		"workload: {name: early, dimensions: {m: 32, n: 384}, dtype: int8, ops: "
		"['t0[m,n] = exp(x0[m,n])', 't1[m] = x1[m] - x1[m]']}\n");
	struct ended ended = shell(arena,
		"$LXPLORE explore %s/machine.yaml %s/graph.yaml --solver joint=cut_dp --objective latency "
		"--simulate none -q --force -o %s",
		folder, folder, folder);
	if (ended.status != 0)
		fail_msg("%s", ended.err);
	const char *csv = folder_text("pareto.csv");
	assert_string_equal(csv_cell(arena, csv, 1, "proof"), "optimal");
	assert_in_range(strtol(csv_cell(arena, csv, 1, "estimate_cycles"), NULL, 10), 1, 821);
}

/* Nests of an array are found by heuristics: a proof beside them names the tiles; a vector unit has no nests. */
FOLDER_TEST(a_proof_names_tiles_that_were_not_looked_at)
{
	static const char *const machines[] = {"spyre32", "spyre32_array"};
	folder_put("graph.yaml", "workload: {name: two, dimensions: {m: 64, n: 64, k: 64}, ops: "
				 "['y[m,n] = sum(k) x[m,k] * w[k,n]', 'z[m,n] = relu(y[m,n])']}\n");
	for (int i = 0; i < 2; i++) {
		struct ended ended = shell(arena,
			"$LXPLORE explore specs/arch/%s.yaml %s/graph.yaml --solver joint=cut_dp "
			"--objective latency --simulate none -q --force -o %s",
			machines[i], folder, folder);
		if (ended.status != 0)
			fail_msg("%s", ended.err);
		const char *plan = folder_text("plans/point-001.yaml");
		assert_non_null(strstr(plan, "fixed: "));
		assert_int_equal(strstr(plan, " cut_tiles") != NULL, i);
		ended = shell(arena,
			"$LXPLORE check specs/arch/%s.yaml %s/graph.yaml --certificate "
			"%s/plans/point-001.yaml",
			machines[i], folder, folder);
		if (ended.status != 0)
			fail_msg("%s%s", ended.out, ended.err);
	}
}

FOLDER_TEST(a_move_comes_before_its_reader)
{
	const char *graph =
		"workload: {name: early, dimensions: {m: 12, n: 384}, ops: ['a[m,n] = x[m,n] - z[m,n]', "
		"'b[m,n] = exp(x[m,n])', 'c[m] = sum(n) b[m,n]', 'd[m,n] = a[m,n] - w[m,n]']}\n";
	double early = proven("estimate_cycles", "latency", graph, "--cores 1");
	double late = proven(
		"estimate_cycles", "latency", graph, "--cores 1 --without relay,early_moves");
	assert_true(early < late);
	assert_non_null(strstr(folder_text("plans/point-001.yaml"), " early_moves"));
}

FOLDER_TEST(the_frontier_of_one_op_is_proven)
{
	const char *csv =
		explore("spyre32", folder_put("off.yaml", "search: {clone_split: off}\n"));
	int rows = 0;
	for (int row = 1; csv_cell(arena, csv, row, "plan"); row++, rows++)
		assert_string_equal(csv_cell(arena, csv, row, "proof"), "optimal");
	assert_true(rows > 1);
	csv = explore("spyre32", "");
	assert_string_equal(csv_cell(arena, csv, 1, "proof"), "optimal");
	csv = explore("spyre32", arena_format(arena, "%s --budget 20",
					 folder_put("off.yaml", "search: {clone_split: off}\n")));
	assert_string_equal(csv_cell(arena, csv, 1, "proof"), "none");
}

static const char small_product[] = "workload:\n"
				    "  name: mm\n"
				    "  dimensions: {m: 32, n: 16, k: 16}\n"
				    "  ops: ['c[m,n] = sum(k) a[m,k] * b[k,n]']\n";
static const char small_problem[] =
	"problem:\n"
	"  shape:\n"
	"    name: mm\n"
	"    dimensions: [M, N, K]\n"
	"    data-spaces:\n"
	"    - {name: Inputs, projection: [[[M]], [[K]]]}\n"
	"    - {name: Weights, projection: [[[K]], [[N]]]}\n"
	"    - {name: Outputs, projection: [[[M]], [[N]]], read-write: True}\n"
	"  instance: {M: 32, N: 16, K: 16}\n";

/* Latency, energy, HBM bytes and proof of all points. */
static const char *frontier_of(const char *machine, const char *spec, const char *options)
{
	static const char *const columns[] = {"latency_cycles", "energy_pj", "hbm_bytes", "proof"};
	struct ended ended =
		shell(arena, "$LXPLORE explore specs/arch/%s.yaml %s %s --simulate none -q -o %s",
			machine, folder_put("mm.yaml", spec), options, folder);
	assert_int_equal(ended.status, 0);
	const char *csv = folder_text("pareto.csv"), *out = "";
	for (int row = 1; csv_cell(arena, csv, row, "proof"); row++)
		for (int i = 0; i < 4; i++)
			out = arena_format(
				arena, "%s %s", out, csv_cell(arena, csv, row, columns[i]));
	return out;
}

/* If steps are whole nests, one op has the frontier of its problem, and its proof. */
FOLDER_TEST(one_op_is_explored_as_its_problem)
{
	static const char *const machines[] = {"eyeriss", "gemmini", "simba", "tpu", "tpu_v4i"};
	static const char *const options[] = {"--objective latency", "--objective energy",
		"--objective edp", "--objective energy --solver map=exact",
		"--objective latency,energy,hbm_bytes"};
	if (draws_skip_searches())
		skip();
	for (long i = 0; i < 5; i += draws_apart(1))
		for (int k = 0; k < 5; k++) {
			if (k == 4 && i % draws_apart(3) != 1)
				continue;
			const char *own = frontier_of(machines[i], small_product, options[k]);
			assert_string_equal(
				own, frontier_of(machines[i], small_problem, options[k]));
			if (k < 4)
				assert_non_null(strstr(own, "optimal"));
		}
	assert_null(strstr(
		frontier_of("simba", small_product, "--objective energy --budget 2"), "optimal"));
}

FOLDER_TEST(a_part_of_an_enumeration_proves_nothing)
{
	if (draws_skip_searches())
		skip();
	const char *own = frontier_of("simba", small_product, "--solver map=linear");
	assert_null(strstr(own, "optimal"));
	own = frontier_of("simba", small_problem, "--solver map=linear");
	assert_null(strstr(own, "optimal"));
}

static const char bundles[] =
	"architecture:\n  version: 0.4\n  name: machine\n  nodes:\n"
	"  - !Container\n    name: system\n"
	"    attributes: {datawidth: 16, clock: 1GHz, bundle_overhead: 90ns}\n"
	"  - !Component\n    name: DRAM\n    class: DRAM\n    attributes: {width: 64}\n"
	"  - !Component\n    name: RF\n    class: regfile\n    attributes: {depth: 64, width: 16}\n"
	"  - !Component\n    name: MAC\n    class: intmac\n    attributes: {datawidth: 16}\n";

/* The proof of the one row of an exploration on that machine. */
static const char *proof_of(const char *workload, const char *objective)
{
	const char *spec = arena_format(arena, "%s%s", bundles, workload);
	struct ended ended =
		shell(arena, "$LXPLORE explore %s --objective %s --simulate none -q -o %s",
			folder_put("both.yaml", spec), objective, folder);
	assert_int_equal(ended.status, 0);
	return csv_cell(arena, folder_text("pareto.csv"), 1, "proof");
}

/* The costs that a plan adds to its nest may make another nest the best. */
FOLDER_TEST(a_nest_does_not_prove_more_than_its_own)
{
	static const char narrow[] = "workload:\n"
				     "  name: mm\n"
				     "  dimensions: {m: 8, n: 4, k: 4}\n"
				     "  tensors: {a: {dtype: int8}}\n"
				     "  ops: ['c[m,n] = sum(k) a[m,k] * b[k,n]']\n";
	const char *wide = strstr(narrow, "  tensors"), *rest = strstr(narrow, "  ops");
	wide = arena_format(arena, "%.*s%s", (int)(wide - narrow), narrow, rest);
	assert_string_equal(proof_of(wide, "latency"), "optimal");
	assert_string_equal(proof_of(wide, "hbm_bytes"), "optimal");
	assert_string_equal(proof_of(wide, "edp"), "none");
	assert_string_equal(proof_of(narrow, "energy"), "optimal");
	assert_string_equal(proof_of(narrow, "hbm_bytes"), "none");
}

/* Each objective alone has the least of what the frontier over all of them has. */
FOLDER_TEST(objectives_agree_with_the_frontier)
{
	static const char *const columns[][2] = {{"latency", "estimate_cycles"},
		{"energy", "energy_pj"}, {"hbm_bytes", "hbm_bytes"}, {"edp", "edp"}};
	const char *all = explore("spyre32", "");
	for (int i = 0; i < 4; i++) {
		double least = strtod(csv_cell(arena, all, 1, columns[i][1]), NULL);
		for (int row = 2; csv_cell(arena, all, row, "plan"); row++) {
			double own = strtod(csv_cell(arena, all, row, columns[i][1]), NULL);
			least = own < least ? own : least;
		}
		const char *alone =
			explore("spyre32", arena_format(arena, "--objective %s", columns[i][0]));
		double best = strtod(csv_cell(arena, alone, 1, columns[i][1]), NULL);
		assert_true(best <= least * (1 + 1e-12) && best >= least * (1 - 1e-12));
	}
}

/* Registers of the array are chosen, and what that costs is what the simulator counts. */
FOLDER_TEST(a_described_array_gets_a_nest)
{
	const char *mm = folder_put("mm.yaml", product);
	struct ended ended =
		shell(arena, "$LXPLORE simulate specs/arch/spyre32_array.yaml %s --cores 4", mm);
	assert_int_equal(ended.status, 0);
	assert_non_null(strstr(ended.out, "\"agrees\": true"));
	assert_non_null(strstr(ended.out, "row: "));
}

/* Divisions, tiles and nests together, and what a problem asks inside the scratchpad is looked for. */
FOLDER_TEST(one_op_on_a_described_array_is_proven)
{
	const char *asked = folder_put("asked.yaml",
		"constraints: {targets: [{target: column, type: spatial, factors: [N=2]}]}\n");
	const char *csv = explore("spyre32_array", "--cores 4 --objective energy");
	assert_string_equal(csv_cell(arena, csv, 1, "proof"), "optimal");
	const char *mm = folder_put("mm.yaml", small_problem);
	const char *const with[] = {"", asked};
	double energy[2];
	for (int i = 0; i < 2; i++) {
		struct ended ended = shell(arena,
			"$LXPLORE explore specs/arch/spyre32_array.yaml %s %s --cores 2 "
			"--objective energy --simulate none -q -o %s",
			mm, with[i], folder);
		assert_int_equal(ended.status, 0);
		csv = folder_text("pareto.csv");
		assert_string_equal(csv_cell(arena, csv, 1, "proof"), "optimal");
		energy[i] = strtod(csv_cell(arena, csv, 1, "energy_pj"), NULL);
	}
	assert_true(energy[1] > energy[0]);
	assert_non_null(strstr(folder_text("plans/point-001.yaml"), " N2 | accumulator"));
}

FOLDER_TEST(a_mapper_that_nobody_asks_is_refused)
{
	const char *mm = folder_put("mm.yaml", product);
	struct ended ended =
		shell(arena, "$LXPLORE score specs/arch/spyre32.yaml %s --solver map=anneal", mm);
	assert_int_equal(ended.status, 2);
	assert_non_null(strstr(ended.err, "the array of 'spyre32' is ideal"));
	ended = shell(arena,
		"$LXPLORE score specs/arch/spyre32_array.yaml %s --cores 4 --solver map=anneal",
		mm);
	assert_int_equal(ended.status, 0);
}

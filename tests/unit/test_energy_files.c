#include "base/arena.h"
#include "base/text.h"
#include "tests/support/folder.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

#include "tests/test.h"

/*
 * Energies of a machine as Timeloop's users write it, with the totals that Timeloop 4cf6d4c prints
 * for exactly these files: sums of eight numbers with two decimals.
 */
static const char base[] =
	"architecture:\n"
	"  version: 0.3\n"
	"  subtree:\n"
	"  - name: system\n"
	"    local:\n"
	"    - name: DRAM\n"
	"      class: DRAM\n"
	"      attributes: {width: 64, block-size: 8, word-bits: 8}\n"
	"    subtree:\n"
	"    - name: chip\n"
	"      attributes: {technology: 45nm}\n"
	"      local:\n"
	"      - name: GLB\n"
	"        class: SRAM\n"
	"        attributes: {%sdepth: 1024, width: 64, block-size: 8, word-bits: 8}\n"
	"      subtree:\n"
	"      - name: PE[0..3]\n"
	"        local:\n"
	"        - name: RF\n"
	"          class: regfile\n"
	"          attributes: {depth: 64, width: 8, word-bits: 8, meshX: 4}\n"
	"        - name: MACC\n"
	"          class: intmac\n"
	"          attributes: {datawidth: 8, meshX: 4}\n"
	"mapping:\n"
	"- {target: DRAM, type: temporal, factors: R=1 P=4 K=1, permutation: RPK}\n"
	"- {target: GLB, type: temporal, factors: R=1 P=1 K=2, permutation: RPK}\n"
	"- {target: GLB, type: spatial, factors: R=1 P=1 K=4, permutation: KRP, split: 1}\n"
	"- {target: RF, type: temporal, factors: R=3 P=4 K=1, permutation: RPK}\n"
	"problem:\n"
	"  shape:\n"
	"    name: Conv1D\n"
	"    dimensions: [R, P, K]\n"
	"    data-spaces:\n"
	"    - {name: Weights, projection: [[[R]], [[K]]]}\n"
	"    - {name: Inputs, projection: [[[R], [P]]]}\n"
	"    - {name: Outputs, projection: [[[P]], [[K]]], read-write: True}\n"
	"  instance: {R: 3, P: 16, K: 8}\n";

static json_t *score(const char *attributes, const char *ert, const char *counting)
{
	folder_put("base.yaml", arena_format(arena, base, attributes));
	folder_put("ert.yaml", ert ? ert : "ART: {}\n");
	struct ended ended = folder_run(arena_format(arena,
		"\"$program\" score base.yaml ert.yaml --counting %s --format json", counting));
	if (ended.status)
		fail_msg("%s%s: %s", attributes, ert ? ert : "", ended.err);
	return json_loads(ended.out, 0, NULL);
}

static double energy(const char *attributes, const char *ert, const char *counting)
{
	json_t *root = score(attributes, ert, counting);
	double pj = json_real_value(json_object_get(root, "energy_pj"));
	json_decref(root);
	return pj;
}

#define RF_ACTIONS "actions: [{name: read, energy: 2.0}, {name: write, energy: 3.0}]"

FOLDER_TEST(totals_are_timeloops)
{
	static const struct {
		const char *attributes, *ert;
		double pj;
	} rows[] = {
		{"", NULL, 18670.45},
		{"vector-access-energy: 3.5, ", NULL, 18596.17},
		{"technology: DRAM, ", NULL, 48066.67},
		{"reduction_supported: false, ", NULL, 18670.45},
		{"",
			"ERT: {version: 0.3, tables: [{name: 'system.chip.PE[0..3].RF', " RF_ACTIONS
			"}]}",
			21603.78},
		{"",
			"ERT: {version: 0.4, tables: [{name: 'system.chip.RF[1..4]', " RF_ACTIONS
			"}]}",
			21603.78},
		{"",
			"ERT: {version: 0.2, tables: {'system.chip.PE[0..3].RF': {read: {arguments: "
			"null, energy: 2.0}, write: [{arguments: {d: 0}, energy: 3.0}]}}}",
			21603.78},
		{"",
			"ERT: {version: 0.3, tables: [{name: 'system.chip.PE[0..3].MACC', actions: "
			"[{name: mac_random, energy: 1.5}, {name: idle, energy: 0.0}]}]}",
			19150.45},
		{"",
			"ERT: {version: 0.3, tables: [{name: system.chip.PE.RF, actions: [{name: "
			"access, energy: 2.0}]}]}",
			18670.45},
		{"",
			"ERT: {version: 0.3, tables: [{name: system.chip.PE.RF, actions: [{name: "
			"read, arguments: {d: 0}, energy: 2.0}, {name: read, arguments: {d: 1}, "
			"energy: 4.0}, {name: write, energy: 3.0}]}]}",
			23651.78},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		double pj = energy(rows[i].attributes, rows[i].ert, "timeloop");
		if (fabs(pj - rows[i].pj) > 8 * 0.005001)
			fail_msg("row %zu: %.2f, not %.2f", i, pj, rows[i].pj);
	}
}

static const char *source_of(json_t *root, const char *level)
{
	size_t i;
	json_t *entry;
	json_array_foreach(json_object_get(root, "levels"), i, entry)
		if (text_equal(json_string_value(json_object_get(entry, "name")), level))
			return json_string_value(json_object_get(entry, "energy_source"));
	return "none";
}

FOLDER_TEST(each_level_tells_its_source)
{
	json_t *root = score("vector-access-energy: 3.5, ",
		"ERT: {version: 0.3, tables: [{name: 'system.chip.PE[0..3].RF', " RF_ACTIONS "}]}",
		"timeloop");
	assert_string_equal(source_of(root, "RF"), "ERT");
	assert_string_equal(source_of(root, "GLB"), "the architecture");
	assert_string_equal(source_of(root, "DRAM"), "built-in, as Timeloop's");
	assert_string_equal(source_of(root, "MACC"), "built-in, as Timeloop's");
	assert_string_equal(json_string_value(json_object_get(root, "energy_source")),
		"ERT: RF; the architecture: GLB; built-in, as Timeloop's: DRAM, MACC");
	json_decref(root);
	root = score("", NULL, "exact");
	assert_string_equal(source_of(root, "MACC"), "built-in, of Horowitz 2014");
	json_decref(root);
}

static double energy_of(json_t *root, const char *level)
{
	size_t i;
	json_t *entry;
	json_array_foreach(json_object_get(root, "levels"), i, entry)
		if (text_equal(json_string_value(json_object_get(entry, "name")), level))
			return json_real_value(json_object_get(entry, "energy_pj"));
	return 0;
}

/* 384 products of 8 bits: 0.25 pJ each for Timeloop, 0.21875 for Horowitz 2014. */
FOLDER_TEST(exact_counting_keeps_its_multipliers)
{
	json_t *ours = score("", NULL, "exact"), *timeloops = score("", NULL, "timeloop");
	double less = energy_of(timeloops, "MACC") - energy_of(ours, "MACC");
	assert_true(fabs(less - 384 * (0.25 - (3.1 / 16 + 0.1 / 4))) < 1e-6);
	json_decref(ours);
	json_decref(timeloops);
}

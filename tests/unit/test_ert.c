#include "model/machine/ert.h"

#include "base/arena.h"
#include "base/text.h"
#include "model/machine/arch_read.h"
#include "model/nest/hierarchy.h"
#include "spec/sheet.h"
#include "tests/support/arch_text.h"
#include "tests/support/complaints.h"

#include <math.h>
#include <string.h>

#include "tests/test.h"

/* Energies per action: Accelergy's tables, the levels' own, the built-in ones. */

#define MACHINE                                                                                    \
	"architecture:\n  nodes:\n"                                                                \
	"  - !Component {name: DRAM, class: DRAM}\n"                                               \
	"  - !Component {name: glb, class: SRAM, attributes: {depth: 64}}\n"                       \
	"  - !Container {name: PE, spatial: {meshX: 8}}\n"                                         \
	"  - !Component {name: rf, class: regfile, attributes: {depth: 4, cluster_size: 4}}\n"     \
	"  - !Component {name: own, class: regfile, attributes: {vector_access_energy: 0.3}}\n"    \
	"  - !Component {name: mac, class: intmac}\n"

static const struct arch *read_both(struct arena *arena, const char *yaml, struct diag *diag)
{
	struct sheet *sheet = sheet_open(arena, diag);
	const struct node *root = node_read_text(arena, "a.yaml", yaml, strlen(yaml), diag);
	if (!root)
		return NULL;
	sheet_add(sheet, root);
	struct reading reading = sheet_reading(sheet);
	const struct arch *arch = arch_read(&reading, sheet_find(sheet, "architecture"));
	arch = arch ? ert_read(&reading, sheet_find(sheet, "ERT"), arch) : NULL;
	sheet_note(sheet);
	return arch;
}

static const struct level *find(const struct arch *arch, const char *name)
{
	int r = arch_level(arch, name);
	if (r < 0)
		fail_msg("no level '%s'", name);
	return &arch->levels[r];
}

static const struct storage_energies *energies(const struct arch *arch, const char *name)
{
	return &level_storage(find(arch, name))->energies[COUNTING_EXACT];
}

static const struct storage_energies *timeloop_energies(const struct arch *arch, const char *name)
{
	return &level_storage(find(arch, name))->energies[COUNTING_TIMELOOP];
}

static const struct compute_energy *compute_energy(
	const struct arch *arch, const char *name, enum counting counting)
{
	return &level_compute(find(arch, name))->energies[counting];
}

static void assert_energies(const struct storage_energies *energies, double read, double fill,
	double update, double leak)
{
	const double *pj = energies->pj;
	if (pj[NEST_READ] != read || pj[NEST_FILL] != fill || pj[NEST_UPDATE] != update ||
		energies->leak_pj != leak)
		fail_msg("%g %g %g %g", pj[NEST_READ], pj[NEST_FILL], pj[NEST_UPDATE],
			energies->leak_pj);
}

static const struct arch *read_good(struct arena *arena, const char *yaml, const char *told)
{
	struct diag *diag = diag_open(arena);
	const struct arch *arch = read_both(arena, yaml, diag);
	const char *all = complaints_text(arena, diag), *first = strstr(all, "note: ");
	first = first ? arena_format(arena, "%.*s", (int)strcspn(first, "\n"), first) : all;
	if (!arch || !text_equal(first, told))
		fail_msg("%s", all);
	return arch;
}

/* glb: a row of 16 bits, 64 of them; rf: rows of 64 bits, 4 of them, for 4 instances. */
#define GLB_PJ (5 / 99.5 * (64 * 16 / 8.0 / 1024 - 0.5) + 1)
#define RF_PJ ((5 / 99.5 * (4 * 64 / 8.0 / 1024 - 0.5) + 1) * 4 / 4)

TEST(actions_have_an_order)
{
	const struct arch *arch = read_good(arena,
		MACHINE
		"ERT:\n"
		"  version: '0.4'\n"
		"  tables:\n"
		"  - name: top.DRAM[1..1]\n"
		"    actions:\n"
		"    - {name: update, arguments: {}, energy: 5}\n"
		"    - {name: write, arguments: {}, energy: 4}\n"
		"    - {name: read, arguments: {a: 0}, energy: 2}\n"
		"    - {name: read, arguments: {a: 1}, energy: 3}\n"
		"    - {name: read, arguments: {a: 2}, energy: 2.5pJ}\n"
		"    - {name: leak, arguments: {}, energy: 0.25}\n"
		"  - name: top.glb\n"
		"    actions:\n"
		"    - {name: update, energy: 5}\n"
		"    - {name: write, energy: 4}\n"
		"    - {name: fill, energy: 3}\n"
		"    - {name: random_write, energy: 2}\n"
		"    - {name: random_read, energy: 1}\n"
		"    - {name: read, energy: 7}\n"
		"  - name: top.PE[1..8].rf[1..8]\n"
		"    actions:\n"
		"    - {name: read, energy: 8}\n"
		"    - {name: other, energy: 12}\n"
		"  - {name: own, actions: [{name: read, energy: 8}, {name: leak, energy: 2}]}\n"
		"  - name: mac\n"
		"    actions:\n"
		"    - {name: compute, energy: 0.5}\n"
		"    - {name: mult_random, energy: 0.75}\n"
		"    - {name: idle, energy: 9}\n",
		"");
	assert_energies(energies(arch, "DRAM"), 3, 4, 5, 0.25);
	assert_energies(energies(arch, "glb"), 1, 2, 2, 0);
	assert_energies(energies(arch, "rf"), 8, 3, 3, 0);
	assert_energies(energies(arch, "own"), 0.3, 0.3, 0.3, 2);
	assert_true(compute_energy(arch, "mac", COUNTING_EXACT)->pj == 0.75);
	assert_energies(timeloop_energies(arch, "DRAM"), 3, 4, 5, 0.25);
	assert_energies(timeloop_energies(arch, "glb"), 1, 2, 2, 0);
	assert_energies(timeloop_energies(arch, "rf"), 8, RF_PJ, RF_PJ, 0);
	assert_energies(timeloop_energies(arch, "own"), 0.3, 0.3, 0.3, 0);
	assert_true(compute_energy(arch, "mac", COUNTING_TIMELOOP)->pj == 0.75);
}

TEST(names_are_read_as_timeloop_reads_them)
{
	static const struct {
		const char *path, *level;
	} rows[] = {
		{"glb", "glb"},
		{"system.chip.glb", "glb"},
		{"system.chip.glb[0..3]", "glb"},
		{"system.chip[0..3].glb", "glb"},
		{"a[0..3].b[1..168].glb[1..168]", "glb"},
		{"glb[0..12]", "glb"},
		{"glb[3]", NULL},
		{"glb[10..17]", NULL},
		{"glb.", NULL},
		{"glb.more", NULL},
		{"GLB", NULL},
		{"..", NULL},
		{"a..", NULL},
		{"", NULL},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const char *yaml = arena_format(arena,
			MACHINE
			"ERT: {tables: [{name: '%s', actions: [{name: read, energy: 7}]}]}\n",
			rows[i].path);
		struct diag *diag = diag_open(arena);
		const struct arch *arch = read_both(arena, yaml, diag);
		if (rows[i].level ? !arch || energies(arch, rows[i].level)->pj[NEST_READ] != 7
				  : arch != NULL)
			fail_msg("'%s': %s", rows[i].path, complaints_text(arena, diag));
	}
}

/* The form of 0.2: tables and actions are maps, an action is one map or a list of them. */
TEST(tables_may_be_maps)
{
	const struct arch *arch = read_good(arena,
		MACHINE "ERT:\n"
			"  version: 0.2\n"
			"  tables:\n"
			"    top.DRAM: {read: {arguments: null, energy: 3}, write: {energy: 4}}\n"
			"    top.glb:\n"
			"      idle: {arguments: null, energy: 9}\n"
			"      read:\n"
			"      - {arguments: {d: 0}, energy: 1}\n"
			"      - {arguments: {d: 1}, energy: 2}\n"
			"      write: []\n"
			"    top.PE[0..7].rf: {}\n"
			"    top.PE[0..7].mac: {mac_random: {arguments: null, energy: 0.6}}\n",
		"");
	assert_energies(timeloop_energies(arch, "DRAM"), 3, 4, 4, 0);
	assert_energies(timeloop_energies(arch, "glb"), 2, GLB_PJ, GLB_PJ, 0);
	assert_energies(timeloop_energies(arch, "rf"), RF_PJ, RF_PJ, RF_PJ, 0);
	assert_true(compute_energy(arch, "mac", COUNTING_TIMELOOP)->pj == 0.6);
	assert_energies(energies(arch, "glb"), 2, 9, 9, 0);
}

/* Timeloop 4cf6d4c keeps its built-in energies there; under `exact` the dearest action counts. */
TEST(tables_without_reads_and_writes_price_nothing_there)
{
	const struct arch *arch = read_good(arena,
		MACHINE "ERT: {tables: [{name: glb, actions: [{name: access, energy: 2},"
			"{name: idle, energy: 0.5}]}, {name: DRAM, actions: [{name: leak, energy: "
			"1}]}, {name: rf, actions: []}, {name: mac, actions: [{name: add, energy: "
			"4}]}]}\n",
		"");
	assert_energies(timeloop_energies(arch, "glb"), GLB_PJ, GLB_PJ, GLB_PJ, 0);
	assert_energies(timeloop_energies(arch, "DRAM"), 200, 200, 200, 1);
	assert_true(compute_energy(arch, "mac", COUNTING_TIMELOOP)->pj == 1);
	assert_energies(energies(arch, "glb"), 2, 2, 2, 0);
	assert_true(compute_energy(arch, "mac", COUNTING_EXACT)->pj == 4);
	assert_int_equal(timeloop_energies(arch, "glb")->origin, ENERGY_BUILT_IN);
	assert_int_equal(compute_energy(arch, "mac", COUNTING_TIMELOOP)->origin, ENERGY_BUILT_IN);
	assert_int_equal(energies(arch, "glb")->origin, ENERGY_ERT);
}

/* Two subtrees may have a level of one name, and a name may come twice. */
TEST(later_tables_win_action_by_action)
{
	const struct arch *arch = read_good(arena,
		MACHINE
		"ERT:\n  tables:\n"
		"  - {name: a.glb, actions: [{name: read, energy: 5}, {name: write, energy: 6}]}\n"
		"  - {name: b.glb, actions: [{name: read, energy: 1}, {name: idle, energy: 9}]}\n"
		"  - {name: a.rf, actions: [{name: read, energy: 1}, {name: write, energy: 1}]}\n"
		"  - {name: a.rf, actions: [{name: read, energy: 3}]}\n"
		"  - {name: a.rf, actions: [{name: read, energy: 2}]}\n"
		"  - {name: mac, actions: [{name: mac, energy: 2}]}\n"
		"  - {name: DRAM, actions: []}\n",
		"");
	assert_energies(energies(arch, "glb"), 1, 6, 6, 0);
	assert_energies(timeloop_energies(arch, "glb"), 1, 6, 6, 0);
	assert_energies(energies(arch, "rf"), 3, 1, 1, 0);
	assert_energies(timeloop_energies(arch, "rf"), 3, 1, 1, 0);
}

TEST(one_note_names_tables_and_levels_that_miss_each_other)
{
	static const struct {
		const char *tables, *told;
	} rows[] = {
		{"{name: top.glbb, actions: []}, {name: top.DRAM, actions: []}, {name: rf, "
		 "actions: []}, {name: PE, actions: []}",
			"note: the ERT has no table for 'glb', 'mac': energies there are built in; "
			"tables of no level are skipped: 'top.glbb'; did you mean 'glb'?"},
		{"{name: DRAM, actions: []}, {name: rf, actions: []}, {name: mac, actions: []}",
			"note: the ERT has no table for 'glb': energies there are built in"},
		{"{name: DRAM, actions: []}, {name: rf, actions: []}, {name: mac, actions: []}, "
		 "{name: glb, actions: []}, {name: noc, actions: []}",
			"note: tables of no level are skipped: 'noc'"},
		{"", "note: the ERT has no table for 'DRAM', 'glb', 'rf', 'mac': energies there "
		     "are built in"},
		{"{name: DRAM, actions: []}, {name: glb, actions: []}, {name: rf, actions: []}, "
		 "{name: mac, area: 3, actions: []}",
			"note: not read, as in Timeloop: 'area' in table 'mac'"},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		read_good(arena,
			arena_format(arena, MACHINE "ERT: {tables: [%s]}\n", rows[i].tables),
			rows[i].told);
}

static void assert_near(double a, double b)
{
	if (fabs(a - b) > 1e-9)
		fail_msg("%.12g and %.12g", a, b);
}

/* 16 bits of DRAM; rows of SRAM of 0.5 and 100 KB. */
TEST(memories_have_built_in_energies)
{
	struct diag *diag = diag_open(arena);
	const struct arch *arch = arch_of_text(arena,
		"architecture:\n  nodes:\n"
		"  - !Component {name: d, class: LPDDR_DRAM, attributes: {width: 64}}\n"
		"  - !Component {name: a, class: SRAM, attributes: {sizeKB: 100, width: 64}}\n"
		"  - !Component {name: b, class: regfile, attributes: {entries: 256}}\n"
		"  - !Component {name: c, class: regfile, attributes: {entries: 64, cluster_size: "
		"4}}\n"
		"  - !Component {name: m, class: intmac, attributes: {datawidth: 32}}\n",
		diag);
	assert_non_null(arch);
	assert_near(energies(arch, "d")->pj[NEST_READ], 800);
	assert_near(energies(arch, "a")->pj[NEST_FILL], 24);
	assert_near(energies(arch, "b")->pj[NEST_UPDATE], 1);
	assert_near(energies(arch, "c")->pj[NEST_READ], 4);
	assert_near(compute_energy(arch, "m", COUNTING_EXACT)->pj, 3.2);
}

/* By hand from Timeloop 4cf6d4c (its PAT, buffer.cpp): clusters are divided by, sizes must be
 * there, and DRAM is a class or a technology of that name. */
TEST(timeloop_has_built_in_energies_of_its_own)
{
	struct diag *diag = diag_open(arena);
	const struct arch *arch = arch_of_text(arena,
		"architecture:\n  nodes:\n"
		"  - !Component {name: d, class: LPDDR_DRAM, attributes: {width: 64}}\n"
		"  - !Component {name: e, class: SRAM, attributes: {technology: DRAM, depth: 8, "
		"width: 64, datawidth: 8}}\n"
		"  - !Component {name: f, class: SRAM, attributes: {technology: 32nm, width: 64}}\n"
		"  - !Component {name: a, class: SRAM, attributes: {sizeKB: 100, width: 64}}\n"
		"  - !Component {name: c, class: regfile, attributes: {entries: 64, cluster_size: "
		"4}}\n"
		"  - !Component {name: m, class: intmac, attributes: {datawidth: 8}}\n",
		diag);
	assert_non_null(arch);
	assert_near(timeloop_energies(arch, "d")->pj[NEST_READ], 800);
	assert_near(timeloop_energies(arch, "e")->pj[NEST_UPDATE], 800);
	assert_near(energies(arch, "e")->pj[NEST_UPDATE], 800);
	assert_near(timeloop_energies(arch, "f")->pj[NEST_READ], 0);
	assert_near(timeloop_energies(arch, "a")->pj[NEST_FILL], 24);
	assert_near(timeloop_energies(arch, "c")->pj[NEST_READ], 1);
	assert_near(compute_energy(arch, "m", COUNTING_TIMELOOP)->pj, 0.25);
	assert_near(energy_of_mac_timeloop(16), 1);
}

/* As Timeloop 4cf6d4c prints them for the Simba of CoSA. */
TEST(timeloop_divides_rows_by_their_clusters)
{
	static const struct {
		const char *attributes, *pj;
	} rows[] = {
		{"entries: 1, word-bits: 8, cluster-size: 64", "0.49"},
		{"entries: 64, word-bits: 24, cluster-size: 8", "1.58"},
		{"entries: 16384, word-bits: 8, block-size: 8", "7.12"},
		{"entries: 65536, word-bits: 8, block-size: 8", "16.76"},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct arch *arch = arch_of_text(arena,
			arena_format(arena,
				"architecture:\n  nodes:\n"
				"  - !Component {name: d, class: DRAM}\n"
				"  - !Component {name: b, class: SRAM, attributes: {%s}}\n"
				"  - !Component {name: m, class: intmac}\n",
				rows[i].attributes),
			diag_open(arena));
		assert_non_null(arch);
		assert_string_equal(
			arena_format(arena, "%.2f", timeloop_energies(arch, "b")->pj[NEST_READ]),
			rows[i].pj);
	}
}

/* Under `timeloop`, as of the case "ERT idle only" of Timeloop 4cf6d4c, and under `exact`. */
TEST(each_level_says_where_its_energies_come_from)
{
	static const struct shape shape = {
		.name = "copy", .space_count = 1, .spaces = {{.name = "A", .written = true}}};
	const struct arch *arch = read_good(arena,
		MACHINE "ERT: {tables: [{name: glb, actions: [{name: read, energy: 1}]},"
			"{name: rf, actions: [{name: read, energy: 1}, {name: write, energy: 1}]}]}"
			"\n",
		"note: the ERT has no table for 'DRAM', 'mac': energies there are built in");
	struct hierarchy *hierarchy = hierarchy_make(arena, arch, &shape, diag_open(arena));
	assert_non_null(hierarchy);
	assert_string_equal(hierarchy->energy_source,
		"the architecture: own; ERT: rf, glb; built-in, as Timeloop's: DRAM; "
		"built-in, of Horowitz 2014: mac");
	assert_string_equal(hierarchy->levels[0].energy_source, "the architecture");
	hierarchy_price(hierarchy, arena, arch, COUNTING_TIMELOOP);
	assert_string_equal(hierarchy->energy_source,
		"the architecture: own; ERT: rf; ERT, what it lacks built-in as Timeloop's: glb; "
		"built-in, as Timeloop's: DRAM, mac");
	assert_string_equal(hierarchy->compute_energy_source, "built-in, as Timeloop's");
	assert_true(hierarchy->compute_pj == 1);
	assert_true(hierarchy->levels[0].energies.pj[NEST_READ] == 0.3);
}

/* The energy of an action in the published table. */
static double published(struct arena *arena, const char *action)
{
	struct diag *diag = diag_open(arena);
	struct sheet *sheet = sheet_open(arena, diag);
	sheet_add_file(sheet, "specs/energy/horowitz.yaml");
	struct reading reading = sheet_reading(sheet);
	const struct node *node =
		node_find(node_find(sheet_find(sheet, "energy"), "actions"), action);
	struct reader map;
	double energy = 0;
	if (!node || !reader_open(&map, &reading, node, "action") ||
		!read_picojoules(&map, "energy", REQUIRED, &energy))
		fail_msg("%s: %s", action, complaints_text(arena, diag));
	return energy;
}

TEST(multipliers_are_those_of_the_table)
{
	static const struct {
		const char *device, *mult, *add;
		int64_t bits;
		double within; /* the curve goes through 32 bits and near 8 */
	} rows[] = {
		{"fpmac", "fp16_mult", "fp16_add", 16, 1e-9},
		{"fpmac", "fp32_mult", "fp32_add", 32, 1e-9},
		{"intmac", "int32_mult", "int32_add", 32, 1e-9},
		{"intmac", "int8_mult", "int8_add", 8, 0.02},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		double table = published(arena, rows[i].mult) + published(arena, rows[i].add);
		double ours = energy_of_mac(rows[i].device, rows[i].bits);
		if (fabs(ours - table) > rows[i].within)
			fail_msg("%s: %g instead of %g", rows[i].mult, ours, table);
	}
}

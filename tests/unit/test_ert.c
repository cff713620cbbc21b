#include "model/ert.h"

#include "base/arena.h"
#include "base/text.h"
#include "model/arch_read.h"
#include "model/energy_builtin.h"
#include "spec/sheet.h"
#include "tests/support/arch_text.h"
#include "tests/support/complaints.h"
#include "tests/support/set_up.h"

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
	return arch ? ert_read(&reading, sheet_find(sheet, "ERT"), arch) : NULL;
}

static const struct action_energies *energies(const struct arch *arch, const char *name)
{
	int r = arch_level(arch, name);
	if (r < 0)
		fail_msg("no level '%s'", name);
	return &arch->levels[r].pj;
}

static void assert_energies(
	const struct action_energies *pj, double read, double fill, double update, double leak)
{
	if (pj->read != read || pj->fill != fill || pj->update != update || pj->leak != leak)
		fail_msg("%g %g %g %g", pj->read, pj->fill, pj->update, pj->leak);
}

static void actions_have_an_order(void **state)
{
	struct diag *diag = diag_open(*state);
	const struct arch *arch = read_both(*state,
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
		"  - {name: mac, actions: [{name: compute, energy: 0.5}]}\n",
		diag);
	if (!arch)
		fail_msg("%s", complaints_text(*state, diag));
	assert_energies(energies(arch, "DRAM"), 3, 4, 5, 0.25);
	assert_energies(energies(arch, "glb"), 1, 2, 2, 0);
	assert_energies(energies(arch, "rf"), 8, 3, 3, 0);
	assert_energies(energies(arch, "own"), 0.3, 0.3, 0.3, 2);
	assert_true(energies(arch, "mac")->compute == 0.5);
	assert_string_equal(arch->energy_source, "ERT");
	assert_string_equal(complaints_text(*state, diag), "");
}

static void tables_that_fit_no_level_are_warned_about(void **state)
{
	struct diag *diag = diag_open(*state);
	const struct arch *arch = read_both(*state,
		MACHINE "ERT: {tables: [{name: top.glbb, actions: [{name: read, energy: 1}]},"
			"{name: top.DRAM, actions: []}, {name: rf, actions: []},"
			"{name: mac, actions: []}]}\n",
		diag);
	assert_non_null(arch);
	const char *all = complaints_text(*state, diag);
	if (!strstr(all, "warning: no level is named 'glbb'; did you mean 'glb'?\n") ||
		!strstr(all, "warning: no table names level 'glb': it has built-in energies\n") ||
		strstr(all, "'own'") || strstr(all, "error"))
		fail_msg("%s", all);
}

static void what_is_wrong_is_said(void **state)
{
	static const struct {
		const char *yaml, *error;
	} rows[] = {
		{"ERT: {tables: {}}\n", "error: 'tables' in ERT is a map; a list is expected"},
		{"ERT: {table: []}\n", "error: ERT has no 'tables'"},
		{"ERT: {tables: [{nam: x, actions: []}]}\n", "error: table has no 'name'"},
		{"ERT: {tables: [{name: glb, actions: [{name: read, enrgy: 1}]}]}\n",
			"error: action 'read' has no 'energy'"},
		{"ERT: {tables: [{name: glb, actions: [{name: read, energy: -1}]}]}\n",
			"error: 'energy' in action 'read' is -1 pJ; it must be at least 0"},
		{"ERT: {tables: [{name: glb, actions: [{name: read, energy: 1ns}]}]}\n",
			"error: 'energy' in action 'read' is a time; an energy such as 12pJ is "
			"expected"},
		{"ERT: {tables: [{name: a.glb, actions: []}, {name: 'b.glb[0..3]', actions: "
		 "[]}]}\n",
			"error: the ERT has two tables for level 'glb'"},
		{"ERT: {tables: [{name: glb, actions: [], area: 3}]}\n",
			"error: unknown key 'area' in table 'glb'; the keys here are name and "
			"actions"},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct diag *diag = diag_open(*state);
		if (read_both(*state, arena_format(*state, MACHINE "%s", rows[i].yaml), diag))
			fail_msg("accepted: %s", rows[i].error);
		const char *error = complaints_first(*state, diag);
		if (strncmp(error, rows[i].error, strlen(rows[i].error)) != 0)
			fail_msg("%s\ninstead of %s", error, rows[i].error);
	}
}

static void assert_near(double a, double b)
{
	if (fabs(a - b) > 1e-9)
		fail_msg("%.12g and %.12g", a, b);
}

/* 16 bits of DRAM; rows of SRAM of 0.5 and 100 KB. */
static void memories_have_built_in_energies(void **state)
{
	struct diag *diag = diag_open(*state);
	const struct arch *arch = arch_of_text(*state,
		"architecture:\n  nodes:\n"
		"  - !Component {name: d, class: LPDDR_DRAM, attributes: {width: 64}}\n"
		"  - !Component {name: a, class: SRAM, attributes: {sizeKB: 100, width: 64}}\n"
		"  - !Component {name: b, class: regfile, attributes: {entries: 256}}\n"
		"  - !Component {name: c, class: regfile, attributes: {entries: 64, cluster_size: "
		"4}}\n"
		"  - !Component {name: m, class: intmac, attributes: {datawidth: 32}}\n",
		diag);
	assert_non_null(arch);
	assert_near(energies(arch, "d")->read, 800);
	assert_near(energies(arch, "a")->fill, 24);
	assert_near(energies(arch, "b")->update, 1);
	assert_near(energies(arch, "c")->read, 4);
	assert_near(energies(arch, "m")->compute, 3.2);
	assert_non_null(strstr(arch->energy_source, "built-in"));
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

static void multipliers_are_those_of_the_table(void **state)
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
		double table = published(*state, rows[i].mult) + published(*state, rows[i].add);
		double ours = energy_of_mac(rows[i].device, rows[i].bits);
		if (fabs(ours - table) > rows[i].within)
			fail_msg("%s: %g instead of %g", rows[i].mult, ours, table);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(actions_have_an_order, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			tables_that_fit_no_level_are_warned_about, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_is_wrong_is_said, set_up, tear_down),
		cmocka_unit_test_setup_teardown(memories_have_built_in_energies, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			multipliers_are_those_of_the_table, set_up, tear_down),
	};
	return cmocka_run_group_tests_name("energies per action", tests, NULL, NULL);
}

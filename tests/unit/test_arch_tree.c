#include "base/arena.h"
#include "base/text.h"
#include "model/arch.h"
#include "tests/support/arch_text.h"
#include "tests/support/complaints.h"
#include "tests/support/set_up.h"

#include <string.h>

#include "tests/test.h"

/* Machines in the older form, `subtree:` and `local:`. */

static const struct arch *read_good(struct arena *arena, const char *yaml)
{
	struct diag *diag = diag_open(arena);
	const struct arch *arch = arch_of_text(arena, yaml, diag);
	if (!arch)
		fail_msg("%s", complaints_text(arena, diag));
	return arch;
}

/* Multipliers may be listed before storages; they are innermost all the same. */
static void subtrees_multiply_what_is_inside(void **state)
{
	const struct arch *arch = read_good(*state,
		"architecture:\n"
		"  version: 0.2\n"
		"  subtree:\n"
		"  - name: chip\n"
		"    attributes: {technology: 45nm, global_cycle_seconds: 2e-9}\n"
		"    local:\n"
		"    - {name: DRAM, class: DRAM, attributes: {width: 64, word-bits: 8}}\n"
		"    - {name: glb, class: smartbuffer_SRAM, attributes: {memory_depth: 128, "
		"memory_width: 16, word_width: 8}}\n"
		"    - {name: 'inter_PE[0..13]', class: dummy_storage, attributes: {meshX: 14, "
		"width: 1, depth: 1}}\n"
		"    subtree:\n"
		"    - name: PE[0..167]\n"
		"      local:\n"
		"      - {name: 'mac[1..2]', class: intmac, attributes: {meshX: 14, meshY: 24}}\n"
		"      - {name: rf, class: regfile, attributes: {banks: 3, bank_depth: 4, entries: "
		"banks * bank_depth, meshX: 14}}\n"
		"      - {name: 'regs[1..2]', class: aladdin_register, attributes: {meshY: 24}}\n");
	static const struct {
		const char *name;
		enum level_class kind;
		int64_t x, y, instances, entries, block;
	} rows[] = {
		{"DRAM", LEVEL_STORAGE, 1, 1, 1, 0, 8},
		{"glb", LEVEL_STORAGE, 1, 1, 1, 256, 2},
		{"inter_PE", LEVEL_CONTAINER, 14, 1, 14, 0, 1},
		{"rf", LEVEL_STORAGE, 1, 12, 168, 12, 1},
		{"regs", LEVEL_STORAGE, 1, 2, 336, 0, 1},
		{"mac", LEVEL_COMPUTE, 1, 1, 336, 0, 1},
	};
	assert_true(arch->tree);
	assert_string_equal(arch->name, "chip");
	assert_true(arch->clock_hz.num == 500000000 && arch->clock_hz.den == 1);
	assert_int_equal(arch->level_count, sizeof rows / sizeof *rows);
	for (int r = 0; r < arch->level_count; r++) {
		const struct level *level = &arch->levels[r];
		assert_string_equal(level->name, rows[r].name);
		assert_int_equal(level->kind, rows[r].kind);
		assert_int_equal(level->fanout_x, rows[r].x);
		assert_int_equal(level->fanout_y, rows[r].y);
		assert_int_equal(level->instances, rows[r].instances);
		assert_int_equal(level->entries, rows[r].entries);
		assert_int_equal(level->block_words, rows[r].block);
	}
}

#define TREE(version, levels)                                                                      \
	"architecture:\n  version: " version "\n  subtree:\n  - name: s\n    local:\n" levels
#define DRAM "    - {name: DRAM, class: DRAM}\n"
#define MAC "    - {name: mac, class: intmac}\n"

static void meshes_follow_from_each_other(void **state)
{
	static const struct {
		const char *name, *attributes;
		int64_t x, y;
	} rows[] = {
		{"L[1..12]", "", 12, 1},
		{"L[0..11]", "meshX: 4", 4, 3},
		{"L[5..16]", "meshY: 4", 3, 4},
		{"L[1..12]", "meshX: 2, meshY: 6", 2, 6},
		{"L", "instances: 12, meshX: 6", 6, 2},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct arch *arch = read_good(
			*state, arena_format(*state,
					TREE("0.3", DRAM "    - {name: '%s', class: SRAM, "
							 "attributes: {%s}}\n"),
					rows[i].name, rows[i].attributes));
		const struct level *level = &arch->levels[1];
		assert_string_equal(level->name, "L");
		assert_int_equal(level->fanout_x, rows[i].x);
		assert_int_equal(level->fanout_y, rows[i].y);
		assert_int_equal(level->instances, 12);
	}
}

static void what_is_no_level_is_left_out(void **state)
{
	struct diag *diag = diag_open(*state);
	const struct arch *arch = arch_of_text(*state,
		TREE("0.4", DRAM "    - {name: 'generators[0..3]', class: counter}\n"
				 "    - {name: off, class: SRAM, enabled: false}\n" MAC),
		diag);
	assert_non_null(arch);
	assert_int_equal(arch->level_count, 2);
	if (!strstr(complaints_text(*state, diag),
		    "warning: a 'counter' neither stores nor computes: 'generators[0..3]' is left "
		    "out of the machine\n"))
		fail_msg("%s", complaints_text(*state, diag));
}

static void what_is_wrong_is_said(void **state)
{
	static const struct {
		const char *yaml, *error;
	} rows[] = {
		{TREE("0.1", DRAM),
			"error: architecture version 0.1; this program reads 0.4, and 0.2 and 0.3 "
			"of the 'subtree:' form"},
		{TREE("0.4", "    - {name: 'L[4]', class: SRAM}\n"),
			"error: 'L[4]' is no name with a range; write 'L[1..4]' or 'L[0..3]' for "
			"four of them"},
		{TREE("0.4", "    - {name: 'L[4..1]', class: SRAM}\n"),
			"error: 'L[4..1]' is no name with a range"},
		{TREE("0.4", "    - {name: 'L[1..99999999999999999999]', class: SRAM}\n"),
			"error: 'L[1..99999999999999999999]' is no name with a range"},
		{TREE("0.4", "    - {name: 'L[1..12]', class: SRAM, attributes: {meshX: 5}}\n"),
			"error: level 'L' has 12 instances, no multiple of 'meshX' 5"},
		{TREE("0.4", "    - {name: 'L[1..12]', class: SRAM, attributes: {meshX: 5, meshY: "
			     "3}}\n"),
			"error: level 'L' has 12 instances, its mesh 5 x 3; name it 'L[1..15]'"},
		{TREE("0.4", "    - {name: 'L[1..4]', class: SRAM}\n"
			     "    - {name: 'M[1..6]', class: SRAM}\n"),
			"error: level 'M' has a mesh of 6 x 1, no multiple of the 4 x 1 of 'L' "
			"around it"},
		{TREE("0.4", "    - {name: L, class: SARM}\n"),
			"error: unknown class 'SARM'; did you mean 'SRAM'?"},
		{TREE("0.4", "    - {name: L, class: SRAM, atributes: {}}\n"),
			"error: unknown key 'atributes' in level 'L'; did you mean 'attributes'?"},
		{TREE("0.4", "    - {name: L, class: SRAM, attributes: {entrys: 4}}\n"),
			"error: unknown key 'entrys' in level 'L'; did you mean 'entries'?"},
		{TREE("0.4", DRAM DRAM), "error: level 'DRAM' is named twice"},
		{"architecture: {subtree: [{name: a}, {name: b}]}\n",
			"error: a 'subtree' has one branch, not 2: the levels of an architecture "
			"are one path"},
		{"architecture: {subtree: [{name: a, locl: []}]}\n",
			"error: unknown key 'locl' in subtree 'a'; did you mean 'local'?"},
		{"architecture: {subtree: [{name: a}]}\n",
			"error: an architecture has 1 to 24 levels, not 0"},
		{"architecture: {subtree: [{name: 'a[1..2000000000]', subtree: [{name: "
		 "'b[1..2000000000]'}]}]}\n",
			"error: 'b' has too many instances"},
		{"architecture: {subtree: []}\n",
			"error: a 'subtree' has one branch, not 0: the levels of an architecture "
			"are one path"},
		{"architecture: {subtree: [1]}\n", "error: subtree is a word; a map is expected"},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct diag *diag = diag_open(*state);
		if (arch_of_text(*state, rows[i].yaml, diag))
			fail_msg("accepted: %s", rows[i].error);
		const char *error = complaints_first(*state, diag);
		if (strncmp(error, rows[i].error, strlen(rows[i].error)) != 0)
			fail_msg("%s\ninstead of %s", error, rows[i].error);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			subtrees_multiply_what_is_inside, set_up, tear_down),
		cmocka_unit_test_setup_teardown(meshes_follow_from_each_other, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_is_no_level_is_left_out, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_is_wrong_is_said, set_up, tear_down),
	};
	return cmocka_run_group_tests_name("architectures: trees", tests, NULL, NULL);
}

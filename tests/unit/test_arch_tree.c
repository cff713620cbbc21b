#include "base/arena.h"
#include "base/text.h"
#include "model/machine/arch.h"
#include "tests/support/arch_text.h"
#include "tests/support/complaints.h"

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

/* The first complaint, without its place. */
static const char *first_said(struct arena *arena, const struct diag *diag)
{
	const char *said = complaints_first(arena, diag);
	const char *warning = strstr(said, "warning: "), *note = strstr(said, "note: ");
	return warning ? warning : note ? note : said;
}

/* Multipliers may be listed before storages; they are innermost all the same. */
TEST(subtrees_multiply_what_is_inside)
{
	const struct arch *arch = read_good(arena,
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
		"      - {name: 'regs[1..2]', class: aladdin_register, attributes: {meshY: 8}}\n");
	static const struct {
		const char *name;
		enum level_class kind;
		int64_t x, y, instances, entries, block;
	} rows[] = {
		{"DRAM", LEVEL_STORAGE, 1, 1, 1, 0, 8},
		{"glb", LEVEL_STORAGE, 1, 1, 1, 256, 2},
		{"inter_PE", LEVEL_CONTAINER, 14, 1, 14, 0, 1},
		{"rf", LEVEL_STORAGE, 1, 12, 168, 12, 1},
		{"mac", LEVEL_COMPUTE, 1, 2, 336, 0, 1},
	};
	assert_true(arch->tree);
	assert_string_equal(arch->name, "chip");
	assert_true(arch->clock_hz.num == 500000000 && arch->clock_hz.den == 1);
	assert_int_equal(arch->level_count, sizeof rows / sizeof *rows);
	for (int r = 0; r < arch->level_count; r++) {
		const struct level *level = &arch->levels[r];
		assert_string_equal(level->name, rows[r].name);
		assert_int_equal(level->kind, rows[r].kind);
		assert_int_equal(level->fanout.x, rows[r].x);
		assert_int_equal(level->fanout.y, rows[r].y);
		assert_int_equal(level->instances, rows[r].instances);
		if (level->kind != LEVEL_STORAGE)
			continue;
		assert_int_equal(level->storage.store.entries, rows[r].entries);
		assert_int_equal(level->storage.store.block_words, rows[r].block);
	}
}

#define TREE(version, levels)                                                                      \
	"architecture:\n  version: " version "\n  subtree:\n  - name: s\n    local:\n" levels
#define DRAM "    - {name: DRAM, class: DRAM}\n"
#define MAC "    - {name: mac, class: intmac}\n"

TEST(meshes_follow_from_each_other)
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
		{"L [ 0 .. 11 ]", "meshX: 4", 4, 3},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct arch *arch =
			read_good(arena, arena_format(arena,
						 TREE("0.3", DRAM "    - {name: '%s', class: SRAM, "
								  "attributes: {%s}}\n"),
						 rows[i].name, rows[i].attributes));
		const struct level *level = &arch->levels[1];
		assert_string_equal(level->name, "L");
		assert_int_equal(level->fanout.x, rows[i].x);
		assert_int_equal(level->fanout.y, rows[i].y);
		assert_int_equal(level->instances, 12);
	}
}

TEST(what_is_no_level_is_left_out)
{
	struct diag *diag = diag_open(arena);
	static const char *const warnings[] = {
		"warning: a 'counter' neither stores nor computes: 'generators[0..3]' is left "
		"out of the machine\n",
		"warning: a 'intadder' beside multipliers is not a level, as in Timeloop: 'AG' is left "
		"out of the machine\n",
		"warning: a 'aladdin_multiplier' beside multipliers is not a level, as in Timeloop: 'M' "
		"is left out of the machine\n",
		"warning: a 'SimpleMulticast' is a network, and data moves over Timeloop's default "
		"one: 'N' is left out of the machine\n",
		"warning: a 'memory_controller' neither stores nor computes: 'C' is left out of the "
		"machine\n",
	};
	const struct arch *arch = arch_of_text(arena,
		TREE("0.4", DRAM "    - {name: 'generators[0..3]', class: counter}\n"
				 "    - {name: AG, class: intadder}\n"
				 "    - {name: off, class: SRAM, enabled: false}\n" MAC
				 "    - {name: M, class: aladdin_multiplier}\n"
				 "    - {name: N, class: SimpleMulticast}\n"
				 "    - {name: C, class: memory_controller}\n"),
		diag);
	assert_non_null(arch);
	assert_int_equal(arch->level_count, 2);
	assert_string_equal(arch->levels[1].name, "mac");
	for (size_t i = 0; i < sizeof warnings / sizeof *warnings; i++)
		if (!strstr(complaints_text(arena, diag), warnings[i]))
			fail_msg("%s", complaints_text(arena, diag));
}

/* If no class is that of a multiplier, any compute node is taken as the multiplier. */
TEST(an_adder_alone_computes)
{
	const struct arch *arch =
		read_good(arena, TREE("0.3", DRAM "    - {name: a, class: intadder}\n"));
	assert_int_equal(arch->levels[1].kind, LEVEL_COMPUTE);
}

/* parseElementSize of compound-config.cpp looks for the two dots. */
TEST(a_number_in_brackets_is_one)
{
	struct diag *diag = diag_open(arena);
	const struct arch *arch =
		arch_of_text(arena, TREE("0.3", "    - {name: 'L[4]', class: SRAM}\n" MAC), diag);
	assert_non_null(arch);
	assert_string_equal(arch->levels[0].name, "L");
	assert_int_equal(arch->levels[0].instances, 1);
	assert_string_equal(first_said(arena, diag),
		"warning: 'L[4]' is one 'L', as in Timeloop; 'L[1..4]' are four");
}

/* ParseSpecs of buffer.cpp and arithmetic.cpp. */
TEST(components_without_attributes_are_searched_for_them)
{
	const struct arch *arch = read_good(arena,
		TREE("0.3", "    - {name: 'L[0..3]', class: SRAM, depth: 16, width: 32, "
			    "word-bits: 8, meshX: 2}\n"
			    "    - {name: 'mac[0..7]', class: intmac, datawidth: 8, meshX: 4}\n"));
	assert_int_equal(arch->levels[0].storage.store.entries, 64);
	assert_int_equal(arch->levels[0].storage.store.block_words, 4);
	assert_int_equal(arch->levels[0].fanout.y, 2);
	assert_int_equal(arch->levels[1].compute.word_bits, 8);
	assert_int_equal(arch->levels[1].fanout.x, 2);
}

TEST(a_subtree_needs_no_name)
{
	const struct arch *arch = read_good(arena,
		"architecture:\n  version: 0.3\n  subtree:\n  - name:\n    local:\n" DRAM MAC);
	assert_int_equal(arch->level_count, 2);
}

/* One level with some attributes; *said is what was complained of. */
static const struct level *level_with(
	struct arena *arena, const char *attributes, const char **said)
{
	struct diag *diag = diag_open(arena);
	const struct arch *arch = arch_of_text(arena,
		arena_format(arena,
			TREE("0.3", DRAM "    - {name: L, class: SRAM, attributes: {%s}}\n" MAC),
			attributes),
		diag);
	*said = first_said(arena, diag);
	return arch ? &arch->levels[1] : NULL;
}

/* If several keys give one attribute, the first in Timeloop's order of lookup counts. */
TEST(words_count_in_timeloops_order)
{
	static const struct {
		const char *attributes;
		int64_t word, block, entries;
		const char *said;
	} rows[] = {
		{"data_storage_depth: 64, data_storage_width: 32, datawidth: 8", 8, 4, 256, ""},
		{"depth: 16, data_storage_depth: 64, width: 32", 16, 2, 32,
			"warning: 'data_storage_depth' in level 'L' is another word for 'depth', and "
			"they differ: 'depth' counts, as in Timeloop"},
		{"data_storage_depth: 64, memory_depth: 16, depth: 16", 16, 1, 16,
			"warning: 'memory_depth' in level 'L' is another word for "
			"'data_storage_depth', and they differ: 'memory_depth' counts, as in "
			"Timeloop"},
		{"datawidth: 8, word_width: 4, word-bits: 16, width: 16, depth: 3", 16, 1, 3,
			"warning: 'word_width' in level 'L' is another word for 'datawidth', and "
			"they differ: 'word_width' counts, as in Timeloop"},
		{"word-bits: 16, datawidth: 16, depth: 3", 16, 1, 3, ""},
		{"n_words: 8, block-size: 4, width: 64, depth: 2", 16, 4, 8,
			"warning: 'block-size' in level 'L' is another word for 'n_words', and they "
			"differ: 'block-size' counts, as in Timeloop"},
		{"entries: 7, depth: 4, width: 64", 16, 4, 7,
			"note: level 'L' has 'entries' and 'depth': 'entries' counts, as in Timeloop"},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const char *said;
		const struct level *level = level_with(arena, rows[i].attributes, &said);
		assert_string_equal(said, rows[i].said);
		assert_int_equal(level->storage.store.word_bits, rows[i].word);
		assert_int_equal(level->storage.store.block_words, rows[i].block);
		assert_int_equal(level->storage.store.entries, rows[i].entries);
	}
}

/* No room is not the same as no limit. */
TEST(buffers_may_have_no_room)
{
	static const char *const none[] = {
		"entries: 0", "depth: 0, width: 64, block-size: 4", "sizeKB: 0", "memory_depth: 0"};
	const char *said;
	for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
		const struct level *level = level_with(arena, none[i], &said);
		assert_string_equal(said, "");
		assert_int_equal(level->storage.store.entries, 0);
		assert_true(level->storage.store.no_room);
	}
	assert_false(level_with(arena, "width: 64", &said)->storage.store.no_room);
	assert_false(level_with(arena, "entries: 1", &said)->storage.store.no_room);
}

/* Keys that Timeloop passes by, and values that are not there. */
TEST(what_timeloop_passes_by_is_read)
{
	struct diag *diag = diag_open(arena);
	const struct arch *arch = arch_of_text(arena,
		"architecture:\n"
		"  version: \"0.3\"\n"
		"  bank: 3\n"
		"  subtree:\n"
		"  - name: s\n"
		"    attributes:\n"
		"    required_actions: [read]\n"
		"    local:\n"
		"    - {name: DRAM, class: DRAM, attributes: , comment: x}\n" MAC,
		diag);
	assert_non_null(arch);
	assert_int_equal(arch->levels[0].storage.store.word_bits, 16);
	assert_string_equal(first_said(arena, diag),
		"note: not read, as in Timeloop: 'required_actions' in subtree 's', 'bank' in "
		"architecture, 'comment' in level 'DRAM'");
}

TEST(subtrees_need_no_name)
{
	const struct arch *arch = read_good(arena,
		"architecture: {version: 0.2, subtree: [{local: [{name: D, class: DRAM}, {name: m, "
		"class: intmac}]}]}\n");
	assert_string_equal(arch->name, "D");
	assert_int_equal(arch->level_count, 2);
}

/* Timeloop's own parser reads this form, and it applies no `<<`. */
TEST(merges_are_not_applied_to_attributes)
{
	static const char *const merges[] = {"<<: *m", "<<: [*m]", "<<<: *m"};
	for (size_t i = 0; i < sizeof merges / sizeof *merges; i++) {
		struct diag *diag = diag_open(arena);
		const struct arch *arch = arch_of_text(arena,
			arena_format(arena,
				TREE("0.3",
					"    - {name: DRAM, class: DRAM, attributes: &m {width: 64, "
					"word-bits: 8}}\n"
					"    - {name: L, class: SRAM, attributes: {%s, depth: 4}}\n" MAC),
				merges[i]),
			diag);
		assert_non_null(arch);
		assert_int_equal(arch->levels[1].storage.store.word_bits, 16);
		assert_int_equal(arch->levels[1].storage.store.block_words, 1);
		assert_int_equal(arch->levels[1].storage.store.entries, 4);
		assert_string_equal(first_said(arena, diag),
			"warning: in the 'subtree:' form Timeloop does not apply '<<': 'width', "
			"'word-bits' of level 'L' are not given; write them out");
	}
}

/* The form of Timeloop's first files: storages innermost first, attributes beside the name. */
TEST(flat_levels_count_their_instances)
{
	static const struct {
		const char *name, *device;
		enum level_class kind;
		int64_t x, y, instances, entries, word;
	} rows[] = {
		{"DRAM", "DRAM", LEVEL_STORAGE, 1, 1, 1, 0, 8},
		{"GLB", "SRAM", LEVEL_STORAGE, 1, 1, 1, 65536, 16},
		{"RF", "SRAM", LEVEL_STORAGE, 16, 16, 256, 4, 16},
		{"__ARITH__", "intmac", LEVEL_COMPUTE, 1, 2, 512, 0, 8},
	};
	const struct arch *arch = read_good(arena,
		"arch:\n"
		"  arithmetic: {instances: 512, meshX: 16, word-bits: 8}\n"
		"  storage:\n"
		"  - {name: RF, entries: 4, meshX: 16, meshY: 16}\n"
		"  - {name: GLB, sizeKB: 128, instances: 1}\n"
		"  - {name: DRAM, technology: DRAM, instances: 1, word-bits: 8}\n");
	assert_true(arch->tree);
	assert_int_equal(arch->level_count, sizeof rows / sizeof *rows);
	for (int r = 0; r < arch->level_count; r++) {
		const struct level *level = &arch->levels[r];
		assert_string_equal(level->name, rows[r].name);
		assert_string_equal(level->device, rows[r].device);
		assert_int_equal(level->kind, rows[r].kind);
		assert_int_equal(level->fanout.x, rows[r].x);
		assert_int_equal(level->fanout.y, rows[r].y);
		assert_int_equal(level->instances, rows[r].instances);
		if (level->kind == LEVEL_STORAGE)
			assert_int_equal(level->storage.store.entries, rows[r].entries);
		assert_int_equal(level->kind == LEVEL_STORAGE ? level->storage.store.word_bits
							      : level->compute.word_bits,
			rows[r].word);
	}
}

/* 1.05 GHz, whose cycle has no short fraction. */
TEST(cycle_times_may_have_many_digits)
{
	static const struct {
		const char *seconds;
		int64_t hertz;
	} rows[] = {
		{"9.523809523809523e-10", 1050000000},
		{"3.3333333333333335e-9", 300000000},
		{"1e-9", 1000000000},
		{"1 / 3e8", 300000000},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct arch *arch = read_good(
			arena, arena_format(arena,
				       TREE("0.3", "    - {name: DRAM, class: DRAM, attributes: "
						   "{global_cycle_seconds: %s}}\n" MAC),
				       rows[i].seconds));
		assert_int_equal(arch->clock_hz.num, rows[i].hertz);
		assert_int_equal(arch->clock_hz.den, 1);
	}
}

/* -1 stands for what is still to be set. */
TEST(a_negative_cycle_time_is_none)
{
	struct diag *diag = diag_open(arena);
	const struct arch *arch = arch_of_text(
		arena, "variables: {global_cycle_seconds: -1}\n" TREE("0.3", DRAM MAC), diag);
	assert_non_null(arch);
	assert_int_equal(arch->clock_hz.num, 1000000000);
	assert_string_equal(first_said(arena, diag),
		"warning: 'global_cycle_seconds' in the variables is not a cycle time and is left out");
}

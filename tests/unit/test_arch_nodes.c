#include "base/arena.h"
#include "base/text.h"
#include "model/machine/arch.h"
#include "spec/node.h"
#include "tests/support/arch_text.h"
#include "tests/support/complaints.h"

#include <string.h>

#include "tests/test.h"

/* Machines as Timeloop 0.4's `nodes:` write them, with branches and inherited attributes. */

#define HEAD "architecture:\n  version: 0.4\n  nodes:\n"
#define SYSTEM                                                                                     \
	"  - !Container {name: system, attributes: {technology: 32nm, datawidth: 8, "              \
	"global_cycle_seconds: 2e-9}}\n"
#define DRAM "  - !Component {name: DRAM, class: DRAM, attributes: {width: 64}}\n"
#define PES "  - !Container {name: PE, spatial: {meshX: 4, meshY: 3}}\n"
#define MAC "  - !Component {name: mac, class: intmac}\n"

static const struct arch *read_good(struct arena *arena, const char *yaml)
{
	struct diag *diag = diag_open(arena);
	const struct arch *arch = arch_of_text(arena, yaml, diag);
	if (!arch)
		fail_msg("%s", complaints_text(arena, diag));
	return arch;
}

static const struct level *find(const struct arch *arch, const char *name)
{
	int r = arch_level(arch, name);
	if (r < 0)
		fail_msg("no level '%s'", name);
	return &arch->levels[r];
}

TEST(attributes_come_from_containers_outwards_in)
{
	const struct arch *arch = read_good(arena, HEAD SYSTEM DRAM
		"  - !Container {name: chip, attributes: {datawidth: 16, depth: 32}}\n"
		"  - !Component {name: a, class: SRAM, attributes: {datawidth: 4}}\n" PES
		"  - !Component {name: b, class: regfile, attributes: {depth: 5}}\n" MAC);
	assert_false(arch->tree);
	assert_int_equal(arch->level_count, 7);
	assert_int_equal(find(arch, "DRAM")->storage.store.word_bits, 8);
	assert_int_equal(find(arch, "DRAM")->storage.store.block_words, 8);
	assert_int_equal(find(arch, "DRAM")->storage.store.entries, 0);
	assert_int_equal(find(arch, "a")->storage.store.word_bits, 4);
	assert_int_equal(find(arch, "a")->storage.store.entries, 32);
	assert_int_equal(find(arch, "b")->storage.store.word_bits, 16);
	assert_int_equal(find(arch, "b")->storage.store.entries, 5);
	assert_int_equal(find(arch, "b")->instances, 12);
	assert_int_equal(find(arch, "mac")->compute.word_bits, 16);
	assert_true(arch->clock_hz.num == 500000000 && arch->clock_hz.den == 1);
	assert_string_equal(arch->name, "system");
}

TEST(attributes_may_use_each_other)
{
	struct diag *diag = diag_open(arena);
	const struct arch *arch = arch_of_text(arena,
		"variables: {datawidth: 4, ROWS: 2 * 3}\n" HEAD
		"  - !Container {name: chip, attributes: {datawidth: datawidth, banks: 5}}\n"
		"  - !Component {name: a, class: SRAM, attributes: {depth: width * banks, width: "
		"datawidth * ROWS, n_banks: banks}, spatial: {meshX: datawidth, meshY: n_banks}}\n" MAC,
		diag);
	assert_string_equal(complaints_text(arena, diag), "");
	assert_int_equal(find(arch, "a")->instances, 20);
	assert_int_equal(find(arch, "a")->storage.store.word_bits, 4);
	assert_int_equal(find(arch, "a")->storage.store.block_words, 6);
	assert_int_equal(find(arch, "a")->storage.store.entries, 24 * 5 * 6);
}

TEST(a_clock_is_needed_by_graphs_only)
{
	const struct arch *arch = read_good(arena, HEAD DRAM MAC);
	assert_true(arch->clock_hz.num == 1000000000 && arch->clock_hz.den == 1);
	arch = read_good(
		arena, "variables: {global_cycle_seconds: 4e-9, technology: 45nm}\n" HEAD DRAM MAC);
	assert_true(arch->clock_hz.num == 250000000 && arch->clock_hz.den == 1);
}

TEST(branches_become_levels_one_after_the_other)
{
	const struct arch *arch = read_good(arena, HEAD SYSTEM DRAM PES
		"  - !Parallel\n"
		"    nodes:\n"
		"    - !Component {name: a, class: regfile}\n"
		"    - !Nothing {constraints: {dataspace: {keep: [B]}}}\n"
		"    - !Hierarchical\n"
		"      nodes:\n"
		"      - !Container {name: box, attributes: {datawidth: 24}}\n"
		"      - !Component {name: b, class: regfile}\n"
		"      - !Component {name: c, class: regfile, constraints: "
		"{dataspace: {keep: [C]}}}\n"
		"  - !Parallel {nodes: [!Component {name: d, class: regfile}]}\n"
		"  - !Pipelined {nodes: [!Component {name: e, class: regfile}]}\n" MAC);
	static const struct {
		const char *name;
		int parallel, branch, bits;
	} rows[] = {{"PE", 0, 0, 0}, {"a", 1, 0, 8}, {"box", 1, 2, 0}, {"b", 1, 2, 24},
		{"c", 1, 2, 24}, {"d", 2, 0, 8}, {"e", 0, 0, 8}, {"mac", 0, 0, 8}};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct level *level = &arch->levels[i + 2];
		assert_string_equal(level->name, rows[i].name);
		assert_int_equal(level->parallel, rows[i].parallel);
		assert_int_equal(level->branch, rows[i].branch);
		if (level->kind == LEVEL_STORAGE)
			assert_int_equal(level->storage.store.word_bits, rows[i].bits);
		if (level->kind == LEVEL_COMPUTE)
			assert_int_equal(level->compute.word_bits, rows[i].bits);
		assert_int_equal(level->instances, 12);
	}
	assert_int_equal(arch->level_count, 10);
	assert_non_null(node_find(find(arch, "c")->constraints, "dataspace"));
	assert_int_equal(arch->nothing_count, 1);
	assert_int_equal(arch->nothings[0].parallel, 1);
	assert_int_equal(arch->nothings[0].branch, 1);
	assert_non_null(node_find(arch->nothings[0].constraints, "dataspace"));
}

TEST(a_container_may_hold_its_levels_itself)
{
	const struct arch *arch =
		read_good(arena, "architecture:\n"
				 "  nodes:\n"
				 "  - !Container\n"
				 "    name: system\n"
				 "    attributes: {datawidth: 8}\n"
				 "    nodes:\n" /* indented like the list above */
				 "    - !Component {name: DRAM, class: DRAM}\n"
				 "    - !Container\n"
				 "      name: PE\n"
				 "      spatial: {meshX: 4}\n"
				 "      nodes:\n"
				 "      - !Component {name: gone, class: regfile, enabled: false}\n"
				 "      - !Component {name: RF, class: regfile, enabled: true}\n"
				 "      - !Component {name: mac, class: intmac}\n");
	assert_int_equal(arch->level_count, 5);
	assert_string_equal(arch->levels[3].name, "RF");
	assert_int_equal(arch->levels[3].instances, 4);
	assert_int_equal(arch->levels[3].storage.store.word_bits, 8);
}

TEST(sizes_are_words)
{
	static const struct {
		const char *attributes;
		int64_t entries, block, cluster;
	} rows[] = {
		{"", 0, 1, 1},
		{"entries: 100", 100, 1, 1},
		{"depth: 100, block_size: 4", 400, 4, 1},
		{"depth: 100, width: 64", 400, 4, 1},
		{"depth: 100, width: 64, datawidth: 8", 800, 8, 1},
		{"depth: 100, width: 64, cluster_size: 2", 200, 2, 2},
		{"depth: 100, width: 64, block_size: 2", 200, 2, 2},
		{"depth: 100, width: 64, block_size: 2, cluster_size: 2", 200, 2, 2},
		{"sizeKB: 3, datawidth: 24", 1024, 1, 1},
		{"size: 3KiB, datawidth: 32", 768, 1, 1},
		{"memory_depth: 100, memory_width: 64, word-bits: 32", 200, 2, 1},
		{"depth: 10, n_words: 4, word_bits: 8", 40, 4, 1},
		{"depth: 10, block-size: 4, cluster-size: 8", 40, 4, 8},
		{"depth: 2**20 / 4, word_width: 8", 262144, 1, 1},
		{"depth: 3, block_size: 4, n_words: 4", 12, 4, 1},
		/* Timeloop 4cf6d4c: width / cluster_size / word_bits, rounded down; blocks of 0
		 * are blocks of a word. */
		{"depth: 128, width: 24, cluster_size: 16, word-bits: 24", 128, 1, 16},
		{"depth: 10, width: 56, cluster_size: 2, word-bits: 8", 30, 3, 2},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct arch *arch = read_good(arena,
			arena_format(arena,
				HEAD
				"  - !Component {name: L, class: SRAM, attributes: {%s}}\n" MAC,
				rows[i].attributes));
		const struct level *level = &arch->levels[0];
		if (level->storage.store.entries != rows[i].entries ||
			level->storage.store.block_words != rows[i].block ||
			level->storage.store.cluster_size != rows[i].cluster)
			fail_msg("%s: %lld entries, block %lld, cluster %lld", rows[i].attributes,
				(long long)level->storage.store.entries,
				(long long)level->storage.store.block_words,
				(long long)level->storage.store.cluster_size);
	}
}

TEST(limits_are_words_per_cycle)
{
	const struct arch *arch = read_good(arena,
		HEAD "  - !Container {name: s, attributes: {clock: 1GHz}}\n"
		     "  - !Component {name: a, class: DRAM, attributes: {datawidth: 4, "
		     "shared-bandwidth: 0.3, read_bandwidth: 2, write_bandwidth: 3GB/s}}\n"
		     "  - !Component {name: b, class: SRAM, attributes: {bandwidth: 7, "
		     "multiple-buffering: 1.5, min-utilization: 0.5, network_fill_latency: 3, "
		     "network-drain-latency: 4, energy_per_hop: 0.5pJ, router-energy: 2, "
		     "power_gated_at: a, entries: 9, "
		     "per_dataspace_bandwidth_consumption_scale: {W: 0.5, I: 2}}}\n" MAC);
	const struct level *a = find(arch, "a"), *b = find(arch, "b");
	assert_true(
		a->storage.store.shared_rate.num == 3 && a->storage.store.shared_rate.den == 10);
	assert_true(a->storage.store.read_rate.num == 2 && a->storage.store.read_rate.den == 1);
	assert_true(a->storage.store.write_rate.num == 6 && a->storage.store.write_rate.den == 1);
	assert_true(b->storage.store.read_rate.num == 7 && b->storage.store.read_rate.den == 2);
	assert_true(b->storage.store.write_rate.num == 7 && b->storage.store.write_rate.den == 2);
	assert_int_equal(b->storage.store.shared_rate.num, 0);
	assert_true(b->storage.store.multiple_buffering == 1.5 &&
		    b->storage.store.least_utilization == 0.5);
	assert_int_equal(b->storage.store.fill_cycles, 3);
	assert_int_equal(b->storage.store.drain_cycles, 4);
	assert_true(b->network.hop_pj == 0.5 && b->network.router_pj == 2);
	assert_string_equal(b->gated_at, "a");
	assert_int_equal(b->storage.scales.count, 2);
	assert_string_equal(b->storage.scales.at[0].space, "W");
	assert_true(b->storage.scales.at[0].scale == 0.5 && b->storage.scales.at[1].scale == 2);
}

TEST(gates_stand_where_the_front_end_puts_them)
{
	const struct arch *arch = read_good(arena,
		HEAD DRAM "  - !Container {name: PE, spatial: {meshX: 4}, attributes: "
			  "{has_power_gating: true}}\n"
			  "  - !Component {name: a, class: regfile}\n"
			  "  - !Component {name: b, class: regfile, attributes: "
			  "{has_power_gating: true}}\n"
			  "  - !Component {name: c, class: regfile, spatial: {meshX: 2}}\n" MAC);
	assert_null(find(arch, "DRAM")->gated_at);
	assert_string_equal(find(arch, "a")->gated_at, "a");
	assert_string_equal(find(arch, "b")->gated_at, "a");
	assert_string_equal(find(arch, "c")->gated_at, "inter_c_spatial");
}

/* Keys that only Accelergy understands are noted once; a key similar to one of lxplore is an
 * error. */
TEST(strangers_are_noted_once)
{
	struct diag *diag = diag_open(arena);
	const struct arch *arch = arch_of_text(arena,
		HEAD
		"  - !Container {name: s, attributes: {technology: 32nm, voltage: 0.9, "
		"depth: 4, cluster_size: 1}}\n" DRAM
		"  - !Component {name: a, class: SRAM, subclass: x, required_actions: [read], "
		"area_share: 1, attributes: {n_banks: 2, type: x, reduction_supported: true, "
		"global_cycle_seconds: 1e-9, allow_overbooking: false, update_fifo_depth: 2}}\n" MAC,
		diag);
	assert_non_null(arch);
	const char *all = complaints_text(arena, diag);
	const char *note =
		": note: not read, as in Timeloop: 'voltage' in level 'DRAM', 'n_banks' in level "
		"'a', 'type' in level 'a', 'update_fifo_depth' in level 'a', 'technology' in level "
		"'s'; Accelergy's plug-ins may know them\n";
	const char *found = strstr(all, note);
	if (!found || strstr(found + strlen(note), "note: ") || strstr(all, "error: "))
		fail_msg("%s", all);
}

/* Timeloop charges for these, and nothing here does; what it does not know is left to others. */
TEST(prices_that_are_not_modelled_are_warned_about)
{
	struct diag *diag = diag_open(arena);
	const struct arch *arch = arch_of_text(arena,
		HEAD "  - !Component {name: a, class: SRAM, attributes: {addr-gen-energy: 1, "
		     "reduction_supported: false, technology: 45nm}}\n"
		     "  - !Component {name: b, class: SRAM}\n"
		     "  - !Component {name: c, class: DRAM}\n"
		     "  - !Component {name: d, class: DRAM, attributes: {reduction_supported: "
		     "yes}}\n" MAC,
		diag);
	assert_non_null(arch);
	assert_non_null(strstr(complaints_text(arena, diag),
		"warning: 'addr-gen-energy' in level 'a' is not modelled: energies lack what it "
		"adds\n"));
	assert_true(
		!find(arch, "a")->storage.store.reduces && find(arch, "b")->storage.store.reduces);
	assert_true(
		!find(arch, "c")->storage.store.reduces && find(arch, "d")->storage.store.reduces);
}

/* A network is not a level, but its fan-out counts; what it says of itself is not inherited. */
TEST(networks_are_left_out)
{
	struct diag *diag = diag_open(arena);
	const struct arch *arch = arch_of_text(arena,
		HEAD DRAM
		"  - !Element {name: n, class: SimpleMulticast, attributes: {datawidth: 4}}\n"
		"  - !Component {name: a, class: SRAM}\n" MAC,
		diag);
	assert_non_null(arch);
	assert_int_equal(find(arch, "n")->kind, LEVEL_CONTAINER);
	assert_null(find(arch, "n")->device);
	assert_int_equal(find(arch, "a")->storage.store.word_bits, 16);
	assert_string_equal(strstr(complaints_first(arena, diag), "warning: "),
		"warning: a 'SimpleMulticast' is a network, and data moves over Timeloop's default "
		"one: 'n' is left out of the machine");
}

/* A mesh of one is an array of one row; what has no mesh is not an array. */
TEST(an_array_may_have_one_row)
{
	const struct arch *arch = read_good(arena, HEAD SYSTEM DRAM
		"  - !Container {name: row, spatial: {meshY: 1}, attributes: {systolic: true}}\n"
		"  - !Container {name: column, spatial: {meshX: 8}, attributes: {systolic: true}}\n"
		"  - !Component {name: b, class: regfile, attributes: {depth: 5}}\n" MAC);
	assert_true(find(arch, "row")->fanout.systolic);
	assert_true(find(arch, "column")->fanout.systolic);
	assert_int_equal(find(arch, "b")->instances, 8);
	struct diag *diag = diag_open(arena);
	assert_null(arch_of_text(arena,
		HEAD
		"  - !Component {name: DRAM, class: DRAM, attributes: {systolic: true}}\n" PES MAC,
		diag));
	assert_non_null(strstr(complaints_text(arena, diag), "does not fan out"));
}

#include "model/nest/hierarchy.h"

#include "base/text.h"
#include "tests/support/arch_text.h"
#include "tests/support/complaints.h"

#include <glob.h>
#include <math.h>
#include <string.h>

#include "tests/test.h"

/* Machines as the loop-nest model sees them. */

static const struct shape product = {.name = "gemm",
	.dimension_count = 1,
	.dimensions = {{.name = "K", .extent = 2}},
	.space_count = 3,
	.spaces = {{.name = "Weights"}, {.name = "Inputs"}, {.name = "Outputs", .written = true}}};

static const struct hierarchy *make(struct arena *arena, const char *yaml, struct diag *diag)
{
	const struct arch *arch = arch_of_text(arena, yaml, diag);
	return arch ? hierarchy_make(arena, arch, &product, diag) : NULL;
}

static const struct hierarchy *make_good(struct arena *arena, const char *yaml)
{
	struct diag *diag = diag_open(arena);
	const struct hierarchy *hierarchy = make(arena, yaml, diag);
	if (!hierarchy)
		fail_msg("%s", complaints_text(arena, diag));
	return hierarchy;
}

struct expected {
	const char *name;
	int row, block_row;
	bool storage;
	int64_t mesh_x, mesh_y, fanout_x, fanout_y;
};

static void assert_levels(
	const struct hierarchy *hierarchy, const struct expected *expected, int count)
{
	assert_int_equal(hierarchy->level_count, count);
	for (int i = 0; i < count; i++) {
		const struct nest_level *level = &hierarchy->levels[i];
		assert_string_equal(level->name, expected[i].name);
		assert_int_equal(level->row, expected[i].row);
		assert_int_equal(level->block_row, expected[i].block_row);
		assert_int_equal(level->storage, expected[i].storage);
		assert_int_equal(level->mesh_x, expected[i].mesh_x);
		assert_int_equal(level->mesh_y, expected[i].mesh_y);
		assert_int_equal(level->fanout.x, expected[i].fanout_x);
		assert_int_equal(level->fanout.y, expected[i].fanout_y);
		assert_int_equal(level->gated_at, i);
	}
}

/* Row 1 has no fan-out: it stands for the blocks of levels that have none below them, and the
 * multipliers' row for the loops of a component's own fan-out. */
TEST(fan_outs_of_nodes_are_levels)
{
	const struct hierarchy *hierarchy = make_good(arena,
		"architecture:\n  nodes:\n"
		"  - !Container {name: system}\n"
		"  - !Component {name: DRAM, class: DRAM}\n"
		"  - !Container {name: column, spatial: {meshX: 4}}\n"
		"  - !Component {name: rf, class: regfile, spatial: {meshX: 2, meshY: 3}}\n"
		"  - !Component {name: mac, class: mac, spatial: {meshY: 5}}\n");
	static const struct expected levels[] = {
		{"inter_mac_spatial", 4, 4, false, 8, 3, 1, 5},
		{"rf", 3, 1, true, 8, 3, 1, 1},
		{"inter_rf_spatial", 4, 3, false, 4, 1, 2, 3},
		{"inter_column_spatial", 2, 2, false, 1, 1, 4, 1},
		{"DRAM", 1, 1, true, 1, 1, 1, 1},
	};
	assert_levels(hierarchy, levels, sizeof levels / sizeof *levels);
	assert_string_equal(hierarchy->compute_name, "mac");
	assert_int_equal(hierarchy->compute_row, 4);
	assert_int_equal(hierarchy->compute_mesh_x, 8);
	assert_int_equal(hierarchy->compute_mesh_y, 15);
	assert_int_equal(hierarchy_level(hierarchy, 3), 1);
	assert_int_equal(hierarchy_level(hierarchy, 2), 3);
	assert_int_equal(hierarchy_level(hierarchy, 0), -1);
	assert_int_equal(hierarchy_level(hierarchy, 4), -1);
}

TEST(fan_outs_of_trees_lie_below_the_parent)
{
	const struct hierarchy *hierarchy = make_good(arena,
		"architecture:\n  subtree:\n  - name: s\n    local:\n"
		"    - {name: DRAM, class: DRAM}\n"
		"    - {name: inter_rf_spatial, class: dummy_storage}\n"
		"    - {name: 'rf[1..12]', class: regfile, attributes: {meshX: 4}}\n"
		"    - {name: 'reg[1..24]', class: regfile, attributes: {meshX: 4}}\n"
		"    - {name: 'mac[1..48]', class: mac, attributes: {meshX: 8}}\n");
	static const struct expected levels[] = {
		{"reg", 3, 4, true, 4, 6, 2, 1},
		{"rf", 2, 3, true, 4, 3, 1, 2},
		{"inter_rf_spatial", 1, 2, false, 1, 1, 4, 3},
		{"DRAM", 0, 1, true, 1, 1, 1, 1},
	};
	assert_levels(hierarchy, levels, sizeof levels / sizeof *levels);
	assert_int_equal(hierarchy->compute_mesh_x, 8);
	assert_int_equal(hierarchy->compute_mesh_y, 6);
}

/* A level that keeps nothing may have loops in either form. */
TEST(levels_may_keep_nothing)
{
	const struct hierarchy *hierarchy =
		make_good(arena, "architecture:\n  nodes:\n"
				 "  - !Component {name: DRAM, class: DRAM}\n"
				 "  - !Component {name: none, class: dummy_storage}\n"
				 "  - !Component {name: mac, class: mac}\n");
	static const struct expected levels[] = {
		{"none", 1, 2, false, 1, 1, 1, 1},
		{"DRAM", 0, 2, true, 1, 1, 1, 1},
	};
	assert_levels(hierarchy, levels, sizeof levels / sizeof *levels);
}

TEST(limits_and_energies_are_taken_over)
{
	const struct hierarchy *hierarchy = make_good(arena,
		"architecture:\n  nodes:\n"
		"  - !Container {name: system, attributes: {global_cycle_seconds: 2e-9}}\n"
		"  - !Component {name: DRAM, class: DRAM, attributes: {vector_access_energy: 9}}\n"
		"  - !Component {name: glb, class: SRAM, attributes: {depth: 100, width: 64, "
		"datawidth: 8, cluster_size: 2, multiple_buffering: 1.5, min_utilization: 0.25, "
		"read_bandwidth: 2.5, vector_access_energy: 3, power_gated_at: DRAM, "
		"per_dataspace_bandwidth_consumption_scale: {Outputs: 0.5}}}\n"
		"  - !Component {name: mac, class: mac, attributes: {energy: 0.5}}\n");
	const struct nest_level *glb = &hierarchy->levels[0], *dram = &hierarchy->levels[1];
	assert_int_equal(glb->store.entries, 400);
	assert_int_equal(glb->size, 266);
	assert_int_equal(glb->store.word_bits, 8);
	assert_int_equal(glb->store.block_words, 4);
	assert_int_equal(glb->store.cluster_size, 2);
	assert_true(glb->store.least_utilization == 0.25);
	assert_true(glb->store.read_rate.num == 5 && glb->store.read_rate.den == 2);
	assert_true(glb->store.write_rate.num == 0 && glb->store.write_rate.den == 1);
	assert_true(glb->store.shared_rate.num == 0 && glb->store.shared_rate.den == 1);
	assert_true(glb->rate_scale[0] == 1 && glb->rate_scale[2] == 0.5);
	assert_true(glb->energies.pj[NEST_READ] == 3 && glb->energies.pj[NEST_UPDATE] == 3 &&
		    glb->energies.leak_pj == 0);
	assert_int_equal(glb->gated_at, 1);
	assert_int_equal(glb->no_temporal_reuse | glb->no_spatial_reuse | glb->no_link_transfer, 0);
	assert_int_equal(dram->size, 0);
	assert_true(dram->energies.pj[NEST_FILL] == 9);
	assert_true(hierarchy->compute_pj == 0.5);
	assert_true(fabs(hierarchy->clock_ns - 2) < 1e-12);
	assert_string_equal(hierarchy->energy_source, "the architecture");
}

/* Timeloop's front end gives a mesh a level of its own, with what its container says. */
TEST(meshes_have_the_networks_of_their_containers)
{
	const struct hierarchy *hierarchy = make_good(arena,
		"architecture:\n  nodes:\n"
		"  - !Component {name: DRAM, class: DRAM, attributes: {router_energy: 3}}\n"
		"  - !Container {name: PE, spatial: {meshX: 4}, attributes: {energy_per_hop: 0.5}}\n"
		"  - !Component {name: rf, class: regfile, attributes: {router_energy: 1}}\n"
		"  - !Component {name: mac, class: mac}\n");
	const struct nest_level *levels = hierarchy->levels;
	assert_string_equal(levels[1].name, "inter_PE_spatial");
	assert_true(levels[0].network.hop_pj == 0.5 && levels[0].network.router_pj == 1 &&
		    levels[0].store.reduces);
	assert_true(levels[1].network.hop_pj == 0.5 && levels[1].network.router_pj == 0 &&
		    levels[1].store.reduces);
	assert_true(levels[2].network.hop_pj == 0 && levels[2].network.router_pj == 3 &&
		    !levels[2].store.reduces);
	assert_null(levels[1].energy_source);
}

/* An op of a graph sees the same machine in words. */
TEST(machines_for_graphs_are_hierarchies_too)
{
	struct diag *diag = diag_open(arena);
	const struct arch *arch = arch_of_file(arena, "specs/arch/spyre32_published.yaml", diag);
	assert_non_null(arch);
	const struct hierarchy *hierarchy = hierarchy_make(arena, arch, &product, diag);
	assert_non_null(hierarchy);
	static const struct expected levels[] = {
		{"inside array", 3, 4, true, 32, 1, 1, 1},
		{"LX", 3, 4, true, 32, 1, 1, 1},
		{"inter_core_spatial", 2, 2, false, 1, 1, 32, 1},
		{"HBM", 1, 4, true, 1, 1, 1, 1},
	};
	assert_levels(hierarchy, levels, sizeof levels / sizeof *levels);
	assert_true(hierarchy->levels[0].free && hierarchy->levels[0].store.entries == 0);
	assert_true(hierarchy->levels[0].energies.pj[NEST_READ] == 0);
	assert_true(hierarchy->levels[1].emptied);
	assert_int_equal(hierarchy->levels[1].store.entries, 1 << 20);
	assert_true(hierarchy->levels[1].store.read_rate.num == 64);
	assert_true(hierarchy->levels[1].energies.pj[NEST_READ] == 25);
	assert_true(hierarchy->compute_pj == 1.5 && hierarchy->compute_rate.num == 1024);
	assert_int_equal(hierarchy_cycles(hierarchy, 1025), 2);
	assert_true(hierarchy_cycles_least(hierarchy, 1025) == 2);
}

/* A part begins in one instance of its first storage and leads to one compute. */
TEST(parts_lead_to_one_compute)
{
	struct diag *diag = diag_open(arena);
	const struct arch *arch = arch_of_text(arena,
		"architecture:\n  nodes:\n"
		"  - !Container {name: system}\n"
		"  - !Component {name: DRAM, class: DRAM}\n"
		"  - !Component {name: LX, class: SRAM, spatial: {meshX: 4}, attributes: "
		"{scratchpad: true}}\n"
		"  - !Parallel\n"
		"    nodes:\n"
		"    - !Component {name: unit, class: alu, attributes: {vector_rate: 8, "
		"vector_energy: 3pJ}}\n"
		"    - !Component {name: rf, class: regfile}\n"
		"  - !Component {name: mac, class: mac, spatial: {meshX: 2}, attributes: "
		"{mac_energy: 1pJ}}\n",
		diag);
	if (!arch)
		fail_msg("%s", complaints_text(arena, diag));
	assert_int_equal(arch->compute, 5);
	assert_int_equal(arch->vector, 3);
	assert_int_equal(arch->levels[5].instances, 8);
	struct machine_part to_mac = {.from = 2, .compute = 5};
	struct machine_part to_unit = {.from = 1, .compute = 3, .vector = true};
	const struct hierarchy *mac = hierarchy_make_part(arena, arch, to_mac, &product, diag);
	const struct hierarchy *unit = hierarchy_make_part(arena, arch, to_unit, &product, diag);
	assert_non_null(mac);
	assert_non_null(unit);
	static const struct expected macs[] = {
		{"inter_mac_spatial", 5, 5, false, 1, 1, 2, 1},
		{"rf", 4, 4, true, 1, 1, 1, 1},
		{"LX", 2, 4, true, 1, 1, 1, 1},
	};
	static const struct expected units[] = {
		{"inside unit", 2, 4, true, 4, 1, 1, 1},
		{"LX", 2, 4, true, 4, 1, 1, 1},
		{"inter_LX_spatial", 3, 2, false, 1, 1, 4, 1},
		{"DRAM", 1, 4, true, 1, 1, 1, 1},
	};
	assert_levels(mac, macs, 3);
	assert_levels(unit, units, 4);
	assert_true(mac->compute_pj == 1 && hierarchy_cycles(mac, 7) == 7);
	assert_true(unit->compute_pj == 3 && hierarchy_cycles(unit, 9) == 2);
}

TEST(machines_that_come_along_are_read)
{
	glob_t files;
	assert_int_equal(glob("specs/arch/*.yaml", 0, NULL, &files), 0);
	assert_true(files.gl_pathc >= 5);
	for (size_t i = 0; i < files.gl_pathc; i++) {
		struct diag *diag = diag_open(arena);
		const struct arch *arch = arch_of_file(arena, files.gl_pathv[i], diag);
		if (!arch || !hierarchy_make(arena, arch, &product, diag))
			fail_msg("%s", complaints_text(arena, diag));
		assert_string_equal(complaints_text(arena, diag), "");
	}
	globfree(&files);
}

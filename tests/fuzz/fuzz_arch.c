#include "base/arena.h"
#include "base/text.h"
#include "model/machine/arch_read.h"
#include "model/machine/ert.h"
#include "model/nest/hierarchy.h"
#include "spec/sheet.h"
#include "tests/support/complaints.h"
#include "tests/support/draws.h"
#include "tests/support/mutated_text.h"

#include <string.h>

#include "tests/test.h"

/*
 * Machines with something changed: read or refused with a complaint, and
 * the levels of what is read fit into each other.
 */
static const char *const seeds[] = {
	"architecture:\n  version: 0.4\n  nodes:\n"
	"  - !Container {name: s, attributes: {datawidth: 8, global_cycle_seconds: 1e-9}}\n"
	"  - !Component {name: d, class: DRAM, attributes: {width: 64, shared_bandwidth: 8}}\n"
	"  - !Container {name: PE, spatial: {meshX: 4, meshY: 3}}\n"
	"  - !Parallel\n    nodes:\n"
	"    - !Component {name: a, class: regfile, attributes: {depth: 16, width: 16}}\n"
	"    - !Nothing {constraints: {dataspace: {keep: [A]}}}\n"
	"  - !Component {name: m, class: intmac, attributes: {multiplier_width: 8}}\n"
	"ERT: {tables: [{name: 'x.d[1..1]', actions: [{name: read, energy: 2.5}]}]}\n",
	"architecture:\n  version: 0.3\n  subtree:\n  - name: s\n    local:\n"
	"    - {name: d, class: DRAM, attributes: {word-bits: 8, block-size: 4}}\n"
	"    - {name: 'x[0..3]', class: dummy_storage, attributes: {meshX: 4}}\n"
	"    subtree:\n    - name: PE[0..11]\n      local:\n"
	"      - {name: rf, class: regfile, attributes: {entries: 12, meshX: 4, sizeKB: null}}\n"
	"      - {name: 'm[1..2]', class: mac, attributes: {meshX: 8, width: 16}}\n"
	"ERT: {version: 0.2, tables: {'s.PE[0..11].rf': {read: {energy: 1}, write: "
	"[{arguments: {a: 0}, energy: 2}, {energy: 3}]}, 's.n[0..1]': {}}}\n",
	"architecture:\n  nodes:\n"
	"  - !Container {name: s, attributes: {clock: 1GHz, span_limit: 1MiB}}\n"
	"  - !Component {name: d, class: DRAM, attributes: {read_bandwidth: 4GB/s, stick: 128B}}\n"
	"  - !Component {name: l, class: SRAM, spatial: {meshX: 2}, attributes: {size: 4KiB, "
	"reserve: 0.2, transfer: box, alignment: 128, read_energy_per_byte: 2pJ}}\n"
	"  - !Component {name: m, class: mac, attributes: {mac_rate: 16, vector_rate: 4}}\n",
	"variables: {W: 2 * V, V: 8}\n"
	"architecture:\n  nodes:\n"
	"  - !Component {name: d, class: DRAM, spatial: {meshY: V}}\n"
	"  - !Component {name: a, class: SRAM, enabled: true, attributes: {depth: 2**W, datawidth: "
	"V, cluster_size: 2, width: 8*W, multiple_buffering: 2, bandwidth: 1.5, "
	"per_dataspace_bandwidth_consumption_scale: {A: 0.5}, power_gated_at: d}}\n"
	"  - !Pipelined {nodes: [!Hierarchical {nodes: [!Component {name: m, class: fpmac}]}]}\n",
	"arch:\n  arithmetic: {instances: 8, meshX: 4, word-bits: 8}\n  storage:\n"
	"  - {name: r, entries: 0, instances: 8, meshX: 4}\n"
	"  - {name: g, sizeKB: 4, data_storage_depth: null}\n"
	"  - {name: d, technology: DRAM, instances: 1}\n",
	"# of 2019\narch = { arithmetic = { instances = 8; meshX = 4; };\n"
	"  storage = ( { name = \"r\"; entries = 16; instances = 8; meshX = 4; },\n"
	"    { name = \"d\"; technology = \"DRAM\"; instances = 1; word-bits = 0x8 } );\n};\n",
	"architecture:\n  version: 0.3\n  subtree:\n  - name: s\n    local:\n"
	"    - {name: d, class: DRAM, attributes: &d {width: 64, word-bits: 8, width: 32}}\n"
	"    - {name: a, class: SRAM, attributes: {<<<: [*d, {depth: 1}], data_storage_depth: 4,\n"
	"        datawidth: 16, word-bits: 8}}\n"
	"    - {name: g, class: intadder}\n"
	"    - {name: m, class: intmac, attributes: }\n",
};

static const struct shape shape = {.name = "x", .space_count = 1, .spaces = {{.name = "A"}}};

static void check_arch(const struct arch *arch)
{
	int64_t outside = 1;
	assert_in_range(arch->level_count, 1, ARCH_LEVELS_MOST);
	assert_true(arch->clock_hz.num > 0);
	for (int r = 0; r < arch->level_count; r++) {
		const struct level *level = &arch->levels[r];
		assert_true(level->fanout.x > 0 && level->fanout.y > 0);
		assert_int_equal(level->instances, outside * level->fanout.x * level->fanout.y);
		const struct storage *store = &level->storage.store;
		if (level->kind == LEVEL_STORAGE) {
			assert_true(store->word_bits > 0 && store->block_words > 0);
			assert_true(store->cluster_size > 0 && store->entries >= 0);
		} else if (level->kind == LEVEL_COMPUTE) {
			assert_true(level->compute.word_bits > 0);
		}
		assert_int_equal(arch_level(arch, level->name), r);
		if (level->kind != LEVEL_COMPUTE) /* nothing stands inside one */
			outside = level->instances;
	}
}

static void check_hierarchy(const struct hierarchy *hierarchy)
{
	int64_t mesh_x = hierarchy->compute_mesh_x, mesh_y = hierarchy->compute_mesh_y;
	for (int i = 0; i < hierarchy->level_count; i++) {
		const struct nest_level *level = &hierarchy->levels[i];
		assert_int_equal(level->mesh_x * level->fanout.x, mesh_x);
		assert_int_equal(level->mesh_y * level->fanout.y, mesh_y);
		assert_true(
			level->size <= level->store.entries || level->store.multiple_buffering < 1);
		assert_in_range(level->gated_at, 0, hierarchy->level_count - 1);
		mesh_x = level->mesh_x;
		mesh_y = level->mesh_y;
	}
	assert_int_equal(mesh_x * mesh_y, 1);
}

static bool check_text(struct arena *arena, const char *text, struct diag *diag)
{
	const struct node *root = node_read_text(arena, "a.yaml", text, strlen(text), diag);
	if (!root)
		return false;
	struct sheet *sheet = sheet_open(arena, diag);
	sheet_add(sheet, root);
	struct reading reading = sheet_reading(sheet);
	const struct node *node = sheet_find(sheet, "architecture");
	const struct node *table = sheet_find(sheet, "ERT");
	sheet_done(sheet);
	if (!node && !diag_failed(diag))
		diag_error(diag, root->span, "no architecture");
	const struct arch *arch = node ? arch_read(&reading, node) : NULL;
	if (!arch)
		return false;
	check_arch(arch);
	if (table)
		arch = ert_read(&reading, table, arch);
	const struct hierarchy *hierarchy = arch ? hierarchy_make(arena, arch, &shape, diag) : NULL;
	if (hierarchy)
		check_hierarchy(hierarchy);
	return hierarchy != NULL;
}

BARE_TEST(changed_machines_are_read_or_refused)
{
	enum { SEEDS = sizeof seeds / sizeof *seeds };
	uint64_t seed = draws_seed(11);
	long count = draws(4000), read = 0;
	for (long i = 0; i < count; i++) {
		struct arena *arena = arena_open();
		struct diag *diag = diag_open(arena);
		struct random random = random_open(seed, (uint64_t)i);
		const char *text =
			i < SEEDS ? seeds[i] : mutated_text(arena, &random, seeds[i % SEEDS]);
		bool good = check_text(arena, text, diag);
		if (!good && !diag_failed(diag))
			fail_msg("draw %ld is refused without a reason:\n%s", i, text);
		if (i < SEEDS && !good)
			fail_msg("%s", complaints_text(arena, diag));
		read += good;
		arena_close(arena);
	}
	mutated_tell(count, read);
	assert_true(!draws_are_many(count) || (read > 0 && read < count));
}

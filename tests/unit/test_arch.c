#include "base/text.h"
#include "model/machine/arch.h"
#include "spec/sheet.h"
#include "tests/support/arch_text.h"
#include "tests/support/complaints.h"
#include "tests/support/spyre.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/test.h"

#define SPYRE "specs/arch/spyre32_published.yaml"

static const struct arch *read_spyre(struct arena *arena)
{
	struct diag *diag = diag_open(arena);
	const struct arch *arch = arch_of_file(arena, SPYRE, diag);
	if (!arch || !arch_fits_graphs(arch, diag))
		fail_msg("%s", complaints_text(arena, diag));
	return arch;
}

static void assert_same_ratio(struct ratio a, struct ratio b)
{
	assert_int_equal(a.num, b.num);
	assert_int_equal(a.den, b.den);
}

static void assert_same_storage(const struct storage_level *a, const struct storage_level *b)
{
	assert_int_equal(a->capacity, b->capacity);
	assert_int_equal(a->reserve, b->reserve);
	assert_int_equal(a->scratchpad, b->scratchpad);
	assert_int_equal(a->alignment, b->alignment);
	assert_int_equal(a->store.word_bits, b->store.word_bits);
	assert_int_equal(a->store.block_words, b->store.block_words);
	assert_same_ratio(a->store.read_rate, b->store.read_rate);
	assert_same_ratio(a->store.write_rate, b->store.write_rate);
	assert_same_ratio(a->store.shared_rate, b->store.shared_rate);
	assert_same_ratio(a->fill_rate, b->fill_rate);
	assert_true(a->read_pj == b->read_pj && a->write_pj == b->write_pj);
}

static void assert_same_compute(const struct compute_level *a, const struct compute_level *b)
{
	assert_int_equal(a->word_bits, b->word_bits);
	assert_same_ratio(a->mac_rate, b->mac_rate);
	assert_same_ratio(a->vector_rate, b->vector_rate);
	assert_true(a->mac_pj == b->mac_pj && a->vector_pj == b->vector_pj);
}

static void assert_same_level(const struct level *a, const struct level *b)
{
	assert_string_equal(a->name, b->name);
	assert_int_equal(a->kind, b->kind);
	if (a->device || b->device)
		assert_string_equal(a->device, b->device);
	assert_int_equal(a->fanout.x, b->fanout.x);
	assert_int_equal(a->fanout.y, b->fanout.y);
	assert_int_equal(a->instances, b->instances);
	if (a->kind == LEVEL_STORAGE)
		assert_same_storage(&a->storage, &b->storage);
	if (a->kind == LEVEL_COMPUTE)
		assert_same_compute(&a->compute, &b->compute);
}

static void assert_same_ring(const struct ring *a, const struct ring *b)
{
	assert_int_equal(a->present, b->present);
	assert_same_ratio(a->rate, b->rate);
	assert_true(a->pj == b->pj);
	for (int parts = 1; parts <= RING_PARTS_MOST + 1; parts++)
		assert_same_ratio(ring_run(a, parts), ring_run(b, parts));
	for (int i = 0; primitives[i]; i++)
		assert_int_equal(ring_reduces(a, primitives[i]), ring_reduces(b, primitives[i]));
}

TEST(the_machine_of_the_tests_is_that_of_the_file)
{
	const struct arch *a = read_spyre(arena), *b = spyre_arch(arena, 32);
	assert_string_equal(a->name, b->name);
	assert_same_ratio(a->clock_hz, b->clock_hz);
	assert_int_equal(a->level_count, b->level_count);
	for (int r = 0; r < a->level_count; r++)
		assert_same_level(&a->levels[r], &b->levels[r]);
	assert_int_equal(a->hbm, b->hbm);
	assert_int_equal(a->core, b->core);
	assert_int_equal(a->lx, b->lx);
	assert_int_equal(a->compute, b->compute);
	assert_int_equal(a->span_limit, b->span_limit);
	assert_int_equal(a->bundle_tensors, b->bundle_tensors);
	assert_same_ring(&a->data_ring, &b->data_ring);
	assert_same_ring(&a->reduce_ring, &b->reduce_ring);
	assert_int_equal(a->bundle_cycles, b->bundle_cycles);
	assert_int_equal(a->core_cycles, b->core_cycles);
}

TEST(published_numbers_come_out)
{
	const struct arch *arch = read_spyre(arena);
	const struct level *array = &arch->levels[arch->compute];
	assert_int_equal(arch_cores(arch), 32);
	assert_int_equal(arch_lx_capacity(arch), 1677721);
	assert_int_equal(arch_stream_address(arch), 1677824);
	assert_int_equal(arch_stream_capacity(arch), (2 << 20) - 1677824);
	double peak = ratio_double(array->compute.mac_rate) * 32 * ratio_double(arch->clock_hz) * 2;
	assert_true(peak == 98.304e12);
	assert_true(arch_nanoseconds(arch, 1500) == 1000.0);
	int64_t cycles;
	assert_true(ratio_time(8396800,
		storage_ports(&level_storage(&arch->levels[arch->hbm])->store).read, &cycles));
	assert_int_equal(cycles, 61500); /* 41.0 us */
}

TEST(every_number_has_its_source)
{
	const struct arch *arch = read_spyre(arena);
	assert_int_equal(arch->note_count, 26);
	for (size_t i = 0; i < arch->note_count; i++) {
		const struct source_note *note = &arch->notes[i];
		if (!strcmp(note->source, "no source given"))
			fail_msg("%s %s", note->level, note->key);
	}
}

/* The energies are those of the tables that the sources name. */
static double table_energy(struct arena *arena, const char *path, const char *action)
{
	struct diag *diag = diag_open(arena);
	struct sheet *sheet = sheet_open(arena, diag);
	sheet_add_file(sheet, path);
	struct reading reading = sheet_reading(sheet);
	const struct node *node =
		node_find(node_find(sheet_find(sheet, "energy"), "actions"), action);
	struct reader map;
	double energy = 0;
	int64_t bits = 0;
	assert_true(reader_open(&map, &reading, node, "action"));
	assert_true(read_picojoules(&map, "energy", REQUIRED, &energy));
	assert_true(read_integer(&map, "bits", REQUIRED, 8, 64, &bits));
	return energy * 8 / (double)bits;
}

static void assert_close(double a, double b)
{
	if (fabs(a - b) > 1e-9)
		fail_msg("%.17g and %.17g", a, b);
}

TEST(energies_are_those_of_the_tables)
{
	const char *horowitz = "specs/energy/horowitz.yaml", *eyeriss = "specs/energy/eyeriss.yaml";
	const struct arch *arch = read_spyre(arena);
	const struct level *hbm = &arch->levels[arch->hbm], *lx = &arch->levels[arch->lx];
	const struct level *array = &arch->levels[arch->compute];
	double multiply = 2 * table_energy(arena, horowitz, "fp16_mult");
	double add = 2 * table_energy(arena, horowitz, "fp16_add");
	assert_close(array->compute.mac_pj, multiply + add);
	assert_close(array->compute.vector_pj, multiply);
	assert_close(lx->storage.read_pj, table_energy(arena, horowitz, "sram_1MB_read"));
	assert_close(hbm->storage.read_pj, table_energy(arena, horowitz, "dram_read"));
	double step = table_energy(arena, eyeriss, "neighbour") * array->compute.mac_pj;
	assert_close(arch->data_ring.pj, step);
	assert_close(arch->reduce_ring.pj, step);
}

#define HEAD "architecture:\n  version: 0.4\n  nodes:\n"
#define SYSTEM "  - !Container {name: system, attributes: {clock: 1GHz}}\n"
#define DRAM "  - !Component {name: HBM, class: DRAM}\n"
#define CORES "  - !Container {name: core, spatial: {meshX: 4}}\n"
#define PAD                                                                                        \
	"  - !Component {name: LX, class: SRAM, attributes: {size: 1KiB, reserve: 0, alignment: "  \
	"128}}\n"
#define MAC "  - !Component {name: mac, class: mac, attributes: {mac_rate: 1, vector_rate: 1}}\n"

TEST(roles_are_found_by_what_levels_are)
{
	static const struct {
		const char *yaml;
		int hbm, core, lx, compute;
	} rows[] = {
		{HEAD SYSTEM DRAM CORES PAD MAC, 1, 2, 3, 4},
		{HEAD SYSTEM DRAM
			"  - !Container {name: cluster, spatial: {meshX: 4}}\n"
			"  - !Container {name: core, spatial: {meshX: 2, meshY: 2}}\n" PAD MAC,
			1, 3, 4, 5},
		{HEAD SYSTEM DRAM "  - !Container {name: core}\n" PAD MAC, 1, 2, 3, 4},
		{HEAD SYSTEM DRAM "  - !Container {name: core, spatial: {meshY: 2}}\n"
				  "  - !Container {name: tile}\n" PAD MAC,
			1, 2, 4, 5},
		{HEAD SYSTEM DRAM "  - !Component {name: LX, class: regfile, spatial: {meshX: 4}, "
				  "attributes: {entries: 64, scratchpad: true}}\n" MAC,
			1, 2, 2, 3},
		{HEAD SYSTEM DRAM "  - !Component {name: glb, class: SRAM}\n" MAC, 1, -1, -1, 3},
		{HEAD SYSTEM DRAM CORES PAD "  - !Component {name: L2, class: SRAM, attributes: "
					    "{scratchpad: true}}\n" MAC,
			1, 2, 3, 5},
		{HEAD SYSTEM DRAM "  - !Component {name: v, class: alu, attributes: {vector_rate: "
				  "2}}\n" CORES PAD "  - !Component {name: mac, class: mac}\n",
			1, 3, 4, 5},
		{HEAD SYSTEM "  - !Component {name: mac, class: intmac}\n", -1, -1, -1, 1},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct diag *diag = diag_open(arena);
		const struct arch *arch = arch_of_text(arena, rows[i].yaml, diag);
		if (!arch)
			fail_msg("row %zu: %s", i, complaints_text(arena, diag));
		assert_int_equal(arch->hbm, rows[i].hbm);
		assert_int_equal(arch->core, rows[i].core);
		assert_int_equal(arch->lx, rows[i].lx);
		assert_int_equal(arch->compute, rows[i].compute);
	}
}

TEST(storage_is_read_in_words_rows_or_bytes)
{
	struct diag *diag = diag_open(arena);
	const struct arch *arch = arch_of_text(arena,
		HEAD "  - !Container {name: system, attributes: {global_cycle_seconds: 1e-9}}\n"
		     "  - !Component {name: a, class: DRAM, attributes: {datawidth: 8, "
		     "shared_bandwidth: 4}}\n"
		     "  - !Component {name: b, class: SRAM, attributes: {depth: 1024, width: 64, "
		     "datawidth: 8, read_bandwidth: 16, write_bandwidth: 3GB/s}}\n"
		     "  - !Component {name: c, class: regfile, attributes: {entries: 12}}\n"
		     "  - !Component {name: d, class: smartbuffer_RF, attributes: {depth: 16, "
		     "block_size: 4}}\n",
		diag);
	if (!arch)
		fail_msg("%s", complaints_text(arena, diag));
	assert_true(arch->clock_hz.num == 1000000000 && arch->clock_hz.den == 1);
	assert_int_equal(arch->levels[1].storage.capacity, 0);
	assert_true(storage_ports(&level_storage(&arch->levels[1])->store).shared);
	assert_same_ratio(
		storage_ports(&level_storage(&arch->levels[1])->store).write, (struct ratio){4, 1});
	assert_int_equal(arch->levels[2].storage.capacity, 8192);
	assert_same_ratio(
		storage_ports(&level_storage(&arch->levels[2])->store).read, (struct ratio){16, 1});
	assert_same_ratio(
		storage_ports(&level_storage(&arch->levels[2])->store).write, (struct ratio){3, 1});
	assert_int_equal(arch->levels[3].storage.capacity, 24);
	assert_int_equal(arch->levels[4].storage.capacity, 128);
}

/* The indented block of specs/README.md that begins with "architecture:". */
TEST(the_example_of_the_manual_is_read)
{
	struct diag *diag = diag_open(arena);
	struct text yaml = text_open(arena);
	char line[512];
	bool inside = false;
	FILE *manual = fopen("specs/README.md", "r");
	assert_non_null(manual);
	while (fgets(line, sizeof line, manual)) {
		inside |= !strcmp(line, "    architecture:\n");
		if (inside && strncmp(line, "    ", 4))
			break;
		if (inside)
			text_add(&yaml, "%s", line + 4);
	}
	fclose(manual);
	const struct arch *arch = arch_of_text(arena, text_read(&yaml), diag);
	if (!arch || !arch_fits_graphs(arch, diag))
		fail_msg("%s", complaints_text(arena, diag));
	assert_int_equal(arch_cores(arch), 8);
	assert_int_equal(arch_lx_capacity(arch), 838860);
}

TEST(overheads_round_up_to_cycles)
{
	struct diag *diag = diag_open(arena);
	const struct arch *arch = arch_of_text(arena,
		HEAD "  - !Container {name: system, attributes: {clock: 1.5GHz, "
		     "bundle_overhead: 1ns, core_overhead: 2ns}}\n" DRAM,
		diag);
	assert_non_null(arch);
	assert_int_equal(arch->bundle_cycles, 2);
	assert_int_equal(arch->core_cycles, 3);
}

TEST(another_reserve_moves_the_streaming_tiles)
{
	const struct arch *arch = spyre_arch(arena, 4);
	const struct arch *half = arch_with_reserve(arena, arch, 1 << 20);
	assert_int_equal(arch_lx_capacity(half), 1 << 20);
	assert_int_equal(arch_stream_address(half), 1 << 20);
	assert_int_equal(arch_lx_capacity(arch), 1677721);
	const struct arch *none = arch_with_reserve(arena, arch, 1);
	assert_int_equal(arch_stream_address(none), 2 << 20);
	assert_int_equal(arch_stream_capacity(none), 0);
	assert_int_equal(arch_reserve(2 << 20, (struct ratio){1, 5}), 419431);
	assert_int_equal(arch_reserve(2 << 20, (struct ratio){0, 1}), 0);
	assert_int_equal(arch_reserve(2 << 20, (struct ratio){1, 1}), 2 << 20);
}

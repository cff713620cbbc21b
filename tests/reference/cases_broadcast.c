#include "base/arena.h"
#include "base/text.h"
#include "cost/transfer/broadcast.h"
#include "lower/transfer/broadcast.h"
#include "model/transfer/broadcast.h"
#include "sim/transfer/copy.h"
#include "tests/support/arch_text.h"
#include "tests/support/broadcast_case.h"
#include "tests/support/case_json.h"
#include "tests/support/complaints.h"
#include "tests/support/family.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/*
 * Family broadcast: plans and errors under both switches, times of pipelines.  Every plan is
 * lowered and executed; what it counts is the simulator's count, and must be the model's.
 */
static bool flag(const json_t *object, const char *key)
{
	return json_is_true(json_object_get(object, key));
}

static void add_numbers(struct text *text, const json_t *list)
{
	text_add(text, "[");
	for (size_t i = 0; i < json_array_size(list); i++)
		text_add(text, "%s%" PRId64, i ? ", " : "",
			(int64_t)json_integer_value(json_array_get(list, i)));
	text_add(text, "]\n");
}

static const char *element_of(const json_t *in, const char *key)
{
	const char *name = case_text(in, key);
	return *name ? name : case_text(in, "dtype");
}

/* A case's `in` as a spec.  `machine`: further lines. */
static const char *spec_of(
	struct arena *arena, const json_t *in, const char *compat, const char *machine)
{
	struct text text = text_open(arena);
	const json_t *tile = json_object_get(in, "tile");
	const char *mode = case_text(in, "mode"), *layout = case_text(in, "group_layout");
	text_add(&text, "broadcast:\n  dtype: %s\n  shape: ", case_text(in, "dtype"));
	add_numbers(&text, json_object_get(in, "shape"));
	text_add(&text, "  ranks: %" PRId64 "\n  root: %" PRId64 "\n  compat: %s\n",
		case_integer(in, "nranks"), case_integer(in, "root"), compat);
	text_add(&text, "  destinations: {dtype: %s, layout: %s}\n", element_of(in, "group_dtype"),
		*layout ? layout : "ND");
	text_add(&text,
		"  tile: {rows: %" PRId64 ", cols: %" PRId64 ", valid_rows: %" PRId64
		", valid_cols: %" PRId64 ", static: [%s%s%s], dtype: %s}\n",
		case_integer(tile, "rows"), case_integer(tile, "cols"),
		case_integer(tile, "valid_row"), case_integer(tile, "valid_col"),
		flag(tile, "static_row") ? "rows" : "",
		flag(tile, "static_row") && flag(tile, "static_col") ? ", " : "",
		flag(tile, "static_col") ? "cols" : "", element_of(in, "tile_dtype"));
	text_add(&text, "  mode: %s\n", text_equal(mode, "pingpong") ? "ping-pong" : mode);
	if (json_object_get(in, "ub_offsets")) {
		text_add(&text, "  offsets: ");
		add_numbers(&text, json_object_get(in, "ub_offsets"));
	}
	text_add(&text, "%s", machine);
	return text_read(&text);
}

static const struct broadcast *read_case(
	struct family *family, const json_t *in, const char *compat, const char *machine)
{
	const char *name = case_text(in, "arch"), *why;
	struct arena *arena = family->arena;
	struct diag *diag = diag_open(arena);
	const struct arch *arch = arch_of_file(
		arena, arena_format(arena, "specs/arch/%s.yaml", *name ? name : "a2a3"), diag);
	if (!arch) {
		family_note(family, "architecture", complaints_text(arena, diag));
		return NULL;
	}
	const struct broadcast *broadcast =
		broadcast_of_text(arena, spec_of(arena, in, compat, machine), arch, &why);
	if (!broadcast)
		family_note(family, "refused", why);
	return broadcast;
}

static json_t *chunks_json(const struct copy_program *program)
{
	json_t *list = json_array();
	for (int64_t i = 0; i < program->chunk_count; i++) {
		const struct chunk *chunk = &program->chunks[i];
		json_t *row = json_array();
		for (int d = 0; d < BROADCAST_RANK; d++)
			json_array_append_new(row, json_integer(chunk->at[d]));
		json_array_append_new(row, json_integer(chunk->count[0] * chunk->count[1] *
							chunk->count[2] * chunk->count[3]));
		json_array_append_new(row, json_integer(chunk->count[4]));
		json_array_append_new(list, row);
	}
	return list;
}

static void expect(struct family *family, const json_t *expected, const char *compat,
	const char *key, json_t *got)
{
	family_expect(family, arena_format(family->arena, "%s.%s", compat, key),
		json_object_get(expected, key), got);
}

static void check_error(struct family *family, const struct broadcast_fault *fault,
	const json_t *expected, const char *compat)
{
	expect(family, expected, compat, "error", json_string(broadcast_error_names[fault->error]));
	expect(family, expected, compat, "message",
		json_string(broadcast_error_messages[fault->error]));
	if (!json_object_get(expected, "error"))
		family_note(family, compat, broadcast_error_names[fault->error]);
}

static void check_executed(struct family *family, const struct broadcast *broadcast,
	const struct copy_program *program, const struct broadcast_counts *counts)
{
	struct copy_options options = {.data = counts->bytes_stored < 1 << 22, .seed = 1};
	struct copy_result result = copy_run(program, &options, family->arena);
	struct broadcast_times times;
	if (result.fault_count)
		family_note(family, "fault", result.faults[0].text);
	broadcast_time(broadcast, program->topology, broadcast->staging, &times);
	if (result.loads != counts->loads || result.stores != counts->stores ||
		result.flags != counts->flags || result.bytes_loaded != counts->bytes_loaded ||
		result.bytes_stored != counts->bytes_stored ||
		result.staging_bytes != counts->staging_bytes || result.ticks != times.tiles)
		family_note(family, "simulator", "it does not count what the model counts");
}

static void check_compat(
	struct family *family, const json_t *in, const json_t *expected, const char *compat)
{
	const struct broadcast *broadcast = read_case(family, in, compat, "");
	size_t faults = 0;
	if (!broadcast)
		return;
	const struct broadcast_fault *fault = broadcast_check(broadcast, family->arena, &faults);
	if (faults) {
		check_error(family, fault, expected, compat);
		return;
	}
	const struct copy_program *program =
		broadcast_lower(broadcast, NULL, INT64_MAX, family->arena);
	struct broadcast_counts counts = {0};
	broadcast_count(broadcast, program->topology, &counts);
	if (json_object_get(expected, "error"))
		expect(family, expected, compat, "error", json_string("none"));
	expect(family, expected, compat, "path", json_string(broadcast_path_names[counts.path]));
	expect(family, expected, compat, "nchunks", json_integer(counts.chunks));
	expect(family, expected, compat, "chunks", chunks_json(program));
	expect(family, expected, compat, "loads", json_integer(counts.loads));
	expect(family, expected, compat, "stores", json_integer(counts.stores));
	expect(family, expected, compat, "bytes_loaded", json_integer(counts.bytes_loaded));
	expect(family, expected, compat, "bytes_stored", json_integer(counts.bytes_stored));
	expect(family, expected, compat, "ub_bytes", json_integer(counts.staging_bytes));
	check_executed(family, broadcast, program, &counts);
}

static void check_case(struct family *family, const json_t *record)
{
	static const char *const switches[] = {"doc", "code"};
	const json_t *expected = json_object_get(record, "expect");
	family_case(family, "%s", case_text(record, "id"));
	for (int s = 0; s < 2; s++)
		check_compat(family, json_object_get(record, "in"),
			json_object_get(expected, switches[s]), switches[s]);
}

static const json_t *find_input(const json_t *root, const char *id)
{
	const json_t *cases = json_object_get(root, "cases");
	for (size_t i = 0; i < json_array_size(cases); i++)
		if (text_equal(case_text(json_array_get(cases, i), "id"), id))
			return json_object_get(json_array_get(cases, i), "in");
	return NULL;
}

/* Cycles are ticks over ticks per cycle; the recorded ones are decimal. */
static void check_time(struct family *family, const json_t *record, const char *key, int64_t ticks,
	int64_t per_cycle)
{
	const json_t *expected = json_object_get(record, key);
	double got = (double)ticks / (double)per_cycle, want = json_number_value(expected);
	bool near = expected && fabs(got - want) <= 1e-9 * fabs(want);
	family_expect(family, key, expected, near ? json_deep_copy(expected) : json_real(got));
}

static void check_timing(struct family *family, const json_t *root, const json_t *record)
{
	static const char *const decimals[] = {
		"load_alpha", "load_bw", "store_alpha", "local_bw", "remote_bw", "sync"};
	const json_t *params = json_object_get(record, "params");
	const json_t *in = find_input(root, case_text(record, "case"));
	double p[6];
	family_case(family, "%s %s", case_text(record, "case"), case_text(record, "model"));
	for (int i = 0; i < 6; i++)
		p[i] = json_number_value(json_object_get(params, decimals[i]));
	const char *machine = arena_format(family->arena,
		"  copy_in: {latency: %.10g, bandwidth: %.10g}\n"
		"  copy_out: {latency: %.10g, bandwidth: %.10g}\n"
		"  links: {bandwidth: %.10g, latency: 0}\n  copy_sync: %.10g\n",
		p[0], p[1], p[2], p[3], p[4], p[5]);
	const struct broadcast *broadcast = read_case(family, in, "doc", machine);
	if (!broadcast)
		return;
	const struct topology *topology = topology_make(family->arena, TOPOLOGY_FULL, PORTS_ONE,
		(int)broadcast->ranks, (int)broadcast->root, 0);
	static const char *const keys[] = {"t_single", "t_pingpong", "t_3buf", "t_inf_buf"};
	struct broadcast_counts counts;
	struct broadcast_times times = {0};
	broadcast_count(broadcast, topology, &counts);
	family_expect(
		family, "nchunks", json_object_get(record, "nchunks"), json_integer(counts.chunks));
	int64_t staging[] = {1, 2, 3, number_min(counts.chunks, STAGING_MOST)};
	for (int k = 0; k < 4; k++) {
		struct broadcast *own = arena_copy(family->arena, broadcast, sizeof *broadcast);
		int64_t *offsets = arena_array(family->arena, int64_t, STAGING_MOST);
		for (int t = 0; t < STAGING_MOST; t++)
			offsets[t] = t * broadcast_tile_bytes(own);
		own->offsets = offsets;
		own->staging = staging[k];
		broadcast_time(own, topology, staging[k], &times);
		check_time(family, record, keys[k], times.tiles, times.per_cycle);
		struct copy_options options = {0};
		struct copy_result run =
			copy_run(broadcast_lower(own, NULL, INT64_MAX, family->arena), &options,
				family->arena);
		check_time(family, record, keys[k], run.ticks, times.per_cycle);
	}
	check_time(family, record, "sum_load", times.load, times.per_cycle);
	check_time(family, record, "sum_store", times.store, times.per_cycle);
	check_time(family, record, "t_single", times.single, times.per_cycle);
	check_time(family, record, "t_pingpong", times.ping_pong, times.per_cycle);
	check_time(family, record, "t_pingpong_closed", times.ping_pong, times.per_cycle);
	check_time(family, record, "t_inf_buf", times.unlimited, times.per_cycle);
	check_time(family, record, "lower_bound", times.bound, times.per_cycle);
}

int main(int argc, char **argv)
{
	const char *root = argc > 1 ? argv[1] : "../shared/cases";
	struct family family;
	size_t i;
	json_t *record;
	if (!family_open(&family, "broadcast/plans", root, "broadcast"))
		return 0;
	json_t *all = family_file(&family, root, "broadcast/broadcast.json");
	json_array_foreach(json_object_get(all, "cases"), i, record)
		check_case(&family, record);
	json_array_foreach(json_object_get(all, "timing"), i, record)
		check_timing(&family, all, record);
	json_decref(all);
	return family_close(&family);
}

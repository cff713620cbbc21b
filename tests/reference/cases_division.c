#include "base/arena.h"
#include "base/number.h"
#include "base/text.h"
#include "solvers/divide/two_pass.h"
#include "tests/support/case_graph.h"
#include "tests/support/case_json.h"
#include "tests/support/coordinate_text.h"
#include "tests/support/family.h"
#include "tests/support/lookups.h"
#include "tests/support/spyre.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The reference cases of work division. */

/* As many as there are where the record is silent. */
static int64_t cores_of(const json_t *record)
{
	const json_t *cores = json_object_get(record, "max_cores");
	return json_is_integer(cores) ? number_max(json_integer_value(cores), 1) : 32;
}

static json_t *by_loop(const struct op *op, const int64_t *values, uint32_t which)
{
	json_t *object = json_object();
	for (int l = 0; l < op->loop_count; l++)
		if (which >> l & 1)
			json_object_set_new(object, op->loops[l].name, json_integer(values[l]));
	return object;
}

static json_t *keyed_json(const struct keyed_split *list, int count)
{
	json_t *object = json_object();
	for (int i = 0; i < count; i++) {
		char key[32];
		snprintf(key, sizeof key, "%" PRId64, list[i].coefficient);
		json_object_set_new(object, key, json_integer(list[i].split));
	}
	return object;
}

static json_t *stored_json(const struct op *op, const struct stored_splits *stored)
{
	if (!stored->stored)
		return json_pack("{s:n, s:n}", "coeff_keyed", "per_var");
	const struct keyed_splits *keyed = &stored->keyed;
	return json_pack("{s:[o, o], s:o}", "coeff_keyed",
		keyed_json(keyed->output, keyed->output_count),
		keyed_json(keyed->reduction, keyed->reduction_count), "per_var",
		by_loop(op, stored->splits, UINT32_MAX));
}

/* As `expected` writes them where that is the same function in other words. */
static json_t *coordinates_json(
	struct arena *arena, const struct iteration *iteration, const json_t *expected)
{
	json_t *all = json_array();
	for (int i = 0; i < iteration->operand_count; i++) {
		const struct coordinates *coordinates = &iteration->coordinates[i];
		const json_t *given = json_array_get(expected, (size_t)i);
		json_t *row = json_pack("[s]", iteration_tensor(iteration, i)->name);
		for (int d = 0; d < coordinates->rank; d++) {
			const struct coordinate *dim = &coordinates->dims[d];
			const char *text = json_string_value(json_array_get(given, (size_t)d + 1));
			bool same = text && coordinate_text_tells(text, iteration->op, dim);
			json_array_append_new(row,
				json_string(
					same ? text : coordinate_print(arena, iteration->op, dim)));
		}
		json_array_append_new(all, row);
	}
	return all;
}

static json_t *spans_json(const struct iteration *iteration, const int64_t *splits)
{
	json_t *spans = json_array();
	for (int i = 0; i < iteration->operand_count; i++)
		json_array_append_new(
			spans, json_pack("[s, I]", iteration_tensor(iteration, i)->name,
				       (json_int_t)iteration_span(iteration, i, splits)));
	return spans;
}

/* A log line by its kind. */
static const char *log_kind(const char *line)
{
	if (strstr(line, "Inner dimensions cannot reduce"))
		return "unmet";
	if (strstr(line, "minimum split"))
		return "dropped";
	return strstr(line, "exceeds hardware limit") ? "overlong" : line;
}

static json_t *log_kinds(const json_t *lines)
{
	json_t *kinds = json_array(), *line;
	size_t i;
	json_array_foreach(lines, i, line)
		json_array_append_new(kinds, json_string(log_kind(json_string_value(line))));
	return kinds;
}

static void add_kinds(json_t *kinds, const char *kind, uint32_t bits)
{
	for (; bits; bits &= bits - 1)
		json_array_append_new(kinds, json_string(kind));
}

static void expect_log(struct family *family, const char *what, const json_t *lines, json_t *got)
{
	json_t *kinds = log_kinds(lines);
	family_expect(family, what, kinds, got);
	json_decref(kinds);
}

static bool all_within(const struct iteration *iteration, const int64_t *splits, int64_t limit)
{
	for (int i = 0; i < iteration->operand_count; i++)
		if (iteration_span(iteration, i, splits) > limit)
			return false;
	return true;
}

static int64_t product(const struct op *op, const int64_t *splits)
{
	int64_t cores = 1;
	for (int l = 0; l < op->loop_count; l++)
		cores *= splits[l];
	return cores;
}

static json_t *names_of(const struct op *op, uint32_t loops)
{
	json_t *names = json_array();
	for (int l = 0; l < op->loop_count; l++)
		if (loops >> l & 1)
			json_array_append_new(names, json_string(op->loops[l].name));
	return names;
}

/* The bits of the loops that are listed. */
static uint32_t loops_of(const struct op *op, const json_t *names)
{
	uint32_t loops = 0;
	const json_t *name;
	size_t i;
	json_array_foreach(names, i, name)
		for (int l = 0; l < op->loop_count && json_is_string(name); l++)
			if (text_equal(json_string_value(name), op->loops[l].name))
				loops |= UINT32_C(1) << l;
	return loops;
}

static void expect_space(
	struct family *family, const struct iteration *iteration, const json_t *expect)
{
	int64_t ones[OP_LOOPS_MOST];
	uint32_t sticks = 0;
	for (int l = 0; l < iteration->loop_count; l++) {
		ones[l] = 1;
		sticks |= (uint32_t)(iteration->stick[l] > 0) << l;
	}
	const json_t *coordinates = json_object_get(expect, "device_coords");
	family_expect(family, "device_coords", coordinates,
		coordinates_json(family->arena, iteration, coordinates));
	family_expect(family, "iteration_space_adjusted",
		json_object_get(expect, "iteration_space_adjusted"),
		by_loop(iteration->op, iteration->size, UINT32_MAX));
	family_expect(family, "stick_vars", json_object_get(expect, "stick_vars"),
		by_loop(iteration->op, iteration->stick, sticks));
	family_expect(family, "span_unsplit", json_object_get(expect, "span_unsplit"),
		spans_json(iteration, ones));
}

static void expect_refusal(struct family *family, const json_t *expect, bool refused)
{
	json_t *expected =
		expect ? json_boolean(json_is_string(json_object_get(expect, "error"))) : NULL;
	family_expect(family, "error", expected, json_boolean(refused));
	json_decref(expected);
}

static void expect_search(struct family *family, const struct iteration *iteration,
	const struct two_pass *made, int64_t limit, const json_t *expect)
{
	const struct span_search *search = &made->search;
	family_expect(family, "min_splits", json_object_get(expect, "min_splits"),
		by_loop(iteration->op, search->splits, search->considered));
	expect_refusal(family, expect, made->refused);
	if (made->refused) {
		const json_t *names = json_object_get(expect, "reduction_vars_to_split");
		bool same = names && loops_of(iteration->op, names) == search->reductions;
		family_expect(family, "error_kind", json_object_get(expect, "error_kind"),
			json_string("two_or_more_reduction_vars"));
		if (!same)
			family_expect(family, "reduction_vars_to_split", names,
				names_of(iteration->op, search->reductions));
		return;
	}
	family_expect(family, "span_after_min_splits",
		json_object_get(expect, "span_after_min_splits"),
		spans_json(iteration, search->splits));
	family_expect(family, "limit_met", json_object_get(expect, "limit_met"),
		json_boolean(all_within(iteration, search->splits, limit)));
	family_expect(family, "after_span_reduction",
		json_object_get(expect, "after_span_reduction"),
		stored_json(iteration->op, &made->least));
	json_t *log = json_array();
	add_kinds(log, "unmet", search->unmet);
	expect_log(family, "log_span", json_object_get(expect, "log_span"), log);
}

static void expect_division(struct family *family, const struct iteration *iteration,
	const struct two_pass *made, const json_t *expect)
{
	const struct op *op = iteration->op;
	family_expect(
		family, "k_fast", json_object_get(expect, "k_fast"), json_boolean(made->k_fast));
	family_expect(
		family, "final", json_object_get(expect, "final"), stored_json(op, &made->final));
	family_expect(family, "cores_used", json_object_get(expect, "cores_used"),
		json_integer(product(op, made->final.splits)));
	family_expect(family, "span_final", json_object_get(expect, "span_final"),
		spans_json(iteration, made->final.splits));
	json_t *log = json_array();
	add_kinds(log, "dropped", made->dropped);
	add_kinds(log, "overlong", made->overlong);
	expect_log(family, "log_final", json_object_get(expect, "log_final"), log);
}

static void run_op(struct family *family, const json_t *record, int64_t limit)
{
	struct arena *arena = family->arena;
	json_t *ops = json_pack("[O]", json_object_get(record, "op"));
	const json_t *expect = json_object_get(record, "expect");
	const char *why;
	const struct workload *workload =
		case_graph(arena, json_object_get(record, "buffers"), ops, NULL, &why);
	json_decref(ops);
	if (!workload || !workload->op_count) {
		family_note(family, "reading", workload ? "no op" : why);
		return;
	}
	const struct iteration *iteration = iteration_make(arena, workload, workload->ops, &why);
	if (!iteration) {
		expect_refusal(family, expect, true);
		return;
	}
	struct two_pass made = two_pass_divide(arena, iteration, limit, cores_of(record),
		json_is_true(json_object_get(record, "k_fast_enabled")));
	expect_space(family, iteration, expect);
	expect_search(family, iteration, &made, limit, expect);
	if (!made.refused)
		expect_division(family, iteration, &made, expect);
}

static void run_ops(struct family *family, const char *name, const json_t *file)
{
	const json_t *given = json_object_get(file, "max_span_bytes");
	int64_t limit = given ? json_integer_value(given) : INT64_C(256) << 20;
	size_t i;
	json_t *record;
	json_array_foreach(json_object_get(file, "cases"), i, record) {
		family_case(family, "%s: %s", name, case_text(record, "name"));
		run_op(family, record, limit);
	}
}

struct dims {
	int count;
	const char *names[OP_LOOPS_MOST];
	int64_t values[OP_LOOPS_MOST];
};

static struct dims read_dims(const json_t *object)
{
	struct dims dims = {0};
	const char *name;
	json_t *value;
	json_object_foreach((json_t *)object, name, value) {
		if (dims.count == OP_LOOPS_MOST)
			break;
		dims.names[dims.count] = name;
		dims.values[dims.count++] = json_integer_value(value);
	}
	return dims;
}

static json_t *dims_json(const struct dims *dims, const int64_t *values)
{
	json_t *object = json_object();
	for (int i = 0; i < dims->count; i++)
		json_object_set_new(object, dims->names[i], json_integer(values[i]));
	return object;
}

static json_t *order_json(const struct dims *dims, const int *order, int count)
{
	json_t *names = json_array();
	for (int i = 0; i < count; i++)
		json_array_append_new(names, json_string(dims->names[order[i]]));
	return names;
}

static void run_multi_dim(struct family *family, const json_t *record)
{
	struct dims dims = {0};
	int64_t least[OP_LOOPS_MOST];
	uint32_t outputs = 0;
	const json_t *minimum = json_object_get(record, "min_splits");
	size_t i;
	json_t *dim;
	json_array_foreach(json_object_get(record, "dims"), i, dim) {
		if (i == OP_LOOPS_MOST)
			break;
		dims.names[i] = case_text(dim, "var");
		dims.values[i] = case_integer(dim, "size");
		outputs |= (uint32_t)text_equal(case_text(dim, "kind"), "output") << i;
		json_t *given = json_object_get(minimum, dims.names[i]);
		least[i] = given ? number_max(json_integer_value(given), 1) : 1;
	}
	dims.count = (int)i;
	struct priorities order = priorities_make(dims.count, dims.values, outputs, least);
	struct distribution given =
		distribute(dims.count, dims.values, outputs, least, cores_of(record));
	family_expect(family, "priority_output", json_object_get(record, "priority_output"),
		order_json(&dims, order.output, order.output_count));
	family_expect(family, "priority_reduction", json_object_get(record, "priority_reduction"),
		order_json(&dims, order.reduction, order.reduction_count));
	family_expect(family, "splits", json_object_get(record, "splits"),
		dims_json(&dims, given.splits));
	family_expect(family, "cores_used", json_object_get(record, "cores_used"),
		json_integer(given.cores));
	json_t *log = json_array();
	add_kinds(log, "dropped", given.dropped);
	expect_log(family, "log", json_object_get(record, "log"), log);
}

static void run_core_split(struct family *family, const json_t *file)
{
	size_t i;
	json_t *record;
	json_array_foreach(json_object_get(file, "core_split"), i, record) {
		int64_t size = case_integer(record, "size"), cores = cores_of(record);
		family_case(family, "core_split: %" PRId64 " on %" PRId64 " cores", size, cores);
		family_expect(family, "split", json_object_get(record, "split"),
			json_integer(core_split(size, cores)));
	}
	json_array_foreach(json_object_get(file, "multi_dim"), i, record) {
		family_case(family, "multi_dim: %s", case_text(record, "name"));
		run_multi_dim(family, record);
	}
}

static void read_values(
	const struct dims *dims, const json_t *object, int64_t otherwise, int64_t *out)
{
	for (int i = 0; i < dims->count; i++) {
		const json_t *value = json_object_get(object, dims->names[i]);
		out[i] = value ? json_integer_value(value) : otherwise;
	}
}

static void run_coefficients(struct family *family, const json_t *record)
{
	struct dims dims = read_dims(json_object_get(record, "ranges"));
	int64_t write[OP_LOOPS_MOST], read[OP_LOOPS_MOST], splits[OP_LOOPS_MOST];
	int64_t decoded[OP_LOOPS_MOST];
	read_values(&dims, json_object_get(record, "write_coeffs"), 0, write);
	read_values(&dims, json_object_get(record, "read_coeffs"), 0, read);
	read_values(&dims, json_object_get(record, "splits"), 1, splits);
	struct keyed_splits keyed = keyed_encode(dims.count, write, read, splits);
	keyed_decode(&keyed, dims.count, dims.values, write, read, decoded);
	family_expect(family, "encoded_output", json_object_get(record, "encoded_output"),
		keyed_json(keyed.output, keyed.output_count));
	family_expect(family, "encoded_reduction", json_object_get(record, "encoded_reduction"),
		keyed_json(keyed.reduction, keyed.reduction_count));
	family_expect(
		family, "decoded", json_object_get(record, "decoded"), dims_json(&dims, decoded));
	family_expect(family, "roundtrip_ok", json_object_get(record, "roundtrip_ok"),
		json_boolean(memcmp(splits, decoded, sizeof *splits * (size_t)dims.count) == 0));
}

/* Slots of all cores under a division; a K-fast record reduces over its last loop. */
static void run_core_to_slice(struct family *family, const json_t *record)
{
	const struct arch *arch = spyre_arch(family->arena, 32);
	const json_t *expected = json_object_get(record, "slot_of_core");
	struct planning planning = planning_default(arch);
	planning.k_fast = json_is_true(json_object_get(record, "k_fast"));
	struct op op = {.primitive = planning.k_fast ? &primitive_einsum : primitive_find("neg"),
		.write_count = 1};
	int64_t splits[OP_LOOPS_MOST];
	size_t i;
	json_t *dim;
	json_array_foreach(json_object_get(record, "dims"), i, dim) {
		if (i == OP_LOOPS_MOST)
			break;
		op.loops[i] = (struct loop){.name = case_text(dim, "var"), .extent = 2};
		splits[i] = case_integer(dim, "split");
	}
	op.loop_count = (int)i;
	if (i > 0)
		op.loops[i - 1].reduction = planning.k_fast;
	struct mapping mapping = core_row_mapping(arch, &planning, &op, splits);
	json_t *slots = json_array();
	for (int64_t core = 0; core < (int64_t)json_array_size(expected); core++) {
		int64_t slot[OP_LOOPS_MOST];
		for (int l = 0; l < op.loop_count; l++)
			slot[l] = mapping_slot(arch, &mapping, l, core);
		json_array_append_new(slots, by_loop(&op, slot, UINT32_MAX));
	}
	family_expect(family, "slot_of_core", expected, slots);
}

static void run_encoding(struct family *family, const json_t *file)
{
	size_t i;
	json_t *record;
	json_array_foreach(json_object_get(file, "coeff_splits"), i, record) {
		family_case(family, "coeff_splits: %s", case_text(record, "name"));
		run_coefficients(family, record);
	}
	json_array_foreach(json_object_get(file, "core_to_slice"), i, record) {
		family_case(family, "core_to_slice: %s%s", case_text(record, "name"),
			json_is_true(json_object_get(record, "k_fast")) ? " k_fast" : "");
		run_core_to_slice(family, record);
	}
}

int main(int argc, char **argv)
{
	const char *root = argc > 1 ? argv[1] : "../shared/cases", *folder = "division-and-lx";
	struct family family;
	if (!family_open(&family, "division-and-lx/division", root, folder))
		return 0;
	static const char *const op_files[] = {"span_reduction.json", "work_division_ops.json"};
	for (size_t f = 0; f < sizeof op_files / sizeof *op_files; f++) {
		json_t *file = case_file(root, folder, op_files[f], &family.tally);
		run_ops(&family, op_files[f], file);
		json_decref(file);
	}
	json_t *splits = case_file(root, folder, "core_split.json", &family.tally);
	run_core_split(&family, splits);
	json_decref(splits);
	json_t *encoding = case_file(root, folder, "encoding.json", &family.tally);
	run_encoding(&family, encoding);
	json_decref(encoding);
	return family_close(&family);
}

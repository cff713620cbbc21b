/*
 * Reductions of elements by hand-made values, and programs of two ranks with a signal: what is
 * ordered by it, and what only seems to be.
 */
#include "base/arena.h"
#include "lower/transfer/broadcast.h"
#include "sim/machine/kernel.h"
#include "sim/transfer/copy.h"
#include "tests/support/broadcast_case.h"

#include <string.h>

#include "tests/test.h"

TEST(integers_wrap_around)
{
	static const struct {
		enum element element;
		enum reduction reduction;
		uint32_t a, b, out;
	} rows[] = {
		{ELEMENT_INT8, REDUCTION_SUM, 100, 100, 200},
		{ELEMENT_INT8, REDUCTION_MAX, 0xff, 1, 1},
		{ELEMENT_INT8, REDUCTION_MIN, 0xff, 1, 0xff},
		{ELEMENT_UINT8, REDUCTION_SUM, 200, 100, 44},
		{ELEMENT_UINT8, REDUCTION_MAX, 0xff, 1, 0xff},
		{ELEMENT_INT16, REDUCTION_MIN, 0x8000, 0x7fff, 0x8000},
		{ELEMENT_UINT16, REDUCTION_MIN, 0x8000, 0x7fff, 0x7fff},
		{ELEMENT_INT32, REDUCTION_SUM, 0x7fffffff, 1, 0x80000000},
		{ELEMENT_UINT32, REDUCTION_MAX, 0x80000000, 3, 0x80000000},
		{ELEMENT_INT32, REDUCTION_MAX, 0x80000000, 3, 3},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		uint32_t a = rows[i].a;
		copy_combine(rows[i].element, rows[i].reduction, &a, &rows[i].b, 1);
		if (a != rows[i].out)
			fail_msg("row %zu is %x", i, a);
	}
}

TEST(floats_round_each_step)
{
	static const struct {
		enum element element;
		enum dtype dtype;
		float a, b, sum;
	} rows[] = {
		{ELEMENT_FP32, DTYPE_FP32, 1.5F, 2.25F, 3.75F},
		{ELEMENT_FP16, DTYPE_FP16, 2048, 1, 2048},
		{ELEMENT_FP16, DTYPE_FP16, 2048, 3, 2052},
		{ELEMENT_BF16, DTYPE_BF16, 256, 1, 256},
		{ELEMENT_BF16, DTYPE_BF16, -3, 1, -2},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		for (int reduction = 0; reduction < 3; reduction++) {
			uint8_t a[4], b[4];
			float less = rows[i].a < rows[i].b ? rows[i].a : rows[i].b;
			float more = rows[i].a < rows[i].b ? rows[i].b : rows[i].a;
			float wanted = reduction == REDUCTION_SUM   ? rows[i].sum
				       : reduction == REDUCTION_MAX ? more
								    : less;
			kernel_store(rows[i].dtype, a, rows[i].a);
			kernel_store(rows[i].dtype, b, rows[i].b);
			copy_combine(rows[i].element, (enum reduction)reduction, a, b, 1);
			assert_true(kernel_load(rows[i].dtype, a) == wanted);
		}
}

/* Lowers and runs a program, even an illegal one. */
static struct copy_result run_of(struct arena *arena, const char *keys)
{
	const char *why;
	const struct broadcast *broadcast = broadcast_of_text(arena,
		arena_format(arena,
			"broadcast: {dtype: fp32, shape: [4, 8], ranks: 3, root: 1, "
			"tile: {rows: 3, cols: 8}, copy_in: {latency: 9}, copy_out: {latency: 7}, "
			"links: {topology: bidirectional_ring, latency: 5}, %s}",
			keys),
		NULL, &why);
	if (!broadcast)
		fail_msg("%s", why);
	struct copy_options options = {.data = true, .seed = 1};
	return copy_run(broadcast_lower(broadcast, NULL, 100, arena), &options, arena);
}

static bool has_fault(const struct copy_result *result, enum copy_fault_kind kind)
{
	for (int f = 0; f < result->fault_count; f++)
		if (result->faults[f].kind == kind)
			return true;
	return false;
}

TEST(signals_order_what_they_must)
{
	static const struct {
		const char *keys;
		int kind; /* of the fault; COPY_FAULTS: none */
	} rows[] = {
		{"operation: broadcast", COPY_FAULTS},
		{"operation: broadcast, notify: {}, wait: {}", COPY_FAULTS},
		{"operation: scatter, notify: {}, wait: {}", COPY_FAULTS},
		{"operation: put, peer: 2, notify: {}, wait: {}", COPY_FAULTS},
		{"operation: put, peer: 1, notify: {}, wait: {}", COPY_FAULTS},
		{"operation: get, peer: 0, notify: {}, wait: {}", COPY_FAULTS},
		{"operation: gather, notify: {op: add}, wait: {value: 2}", COPY_FAULTS},
		{"operation: reduce, notify: {op: add}, wait: {value: 2}", COPY_FAULTS},
		/* without a wait, or without a signal */
		{"operation: broadcast, notify: {}", COPY_UNWRITTEN},
		{"operation: broadcast, wait: {}", COPY_DEADLOCK},
		{"operation: get, peer: 0, notify: {}", COPY_UNWRITTEN},
		{"operation: gather, notify: {op: add}, wait: {value: 3}", COPY_DEADLOCK},
		/* the first of two is enough to go on */
		{"operation: gather, notify: {op: add}, wait: {cmp: ge}", COPY_RACE},
		{"operation: reduce, notify: {op: set}, wait: {}", COPY_RACE},
		/* and the second takes the value away again */
		{"operation: gather, notify: {op: add}, wait: {value: 1}", COPY_DEADLOCK},
		{"operation: put, peer: 2, notify: {}, wait: {cmp: le}", COPY_UNWRITTEN},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct copy_result result = run_of(arena, rows[i].keys);
		if (rows[i].kind == COPY_FAULTS
				? result.fault_count || !result.finished || !result.data
				: !has_fault(&result, (enum copy_fault_kind)rows[i].kind))
			fail_msg("%s: %s", rows[i].keys,
				result.fault_count ? result.faults[0].text : "no fault");
	}
}

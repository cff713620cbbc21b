#include "base/arena.h"
#include "sim/graph/reference.h"
#include "sim/machine/kernel.h"
#include "tests/support/workload_text.h"

#include <math.h>
#include <string.h>

#include "tests/test.h"

struct world {
	struct arena *arena;
	const struct workload *workload;
	void **arrays;
};

static struct world open_world(const char *yaml, bool small)
{
	struct world world = {.arena = arena_open()};
	world.workload = workload_given(world.arena, yaml);
	world.arrays = arena_array(world.arena, void *, world.workload->tensor_count);
	reference_inputs(world.workload, 7, small, world.arena, world.arrays);
	return world;
}

static const struct tensor *tensor_of(const struct world *world, const char *name)
{
	return &world->workload->tensors[workload_tensor(world->workload, name)];
}

static void *array_of(const struct world *world, const char *name)
{
	return world->arrays[workload_tensor(world->workload, name)];
}

static double get(const struct world *world, const char *name, int64_t i)
{
	enum dtype dtype = tensor_of(world, name)->layout.dtype;
	return (double)kernel_load(
		dtype, (char *)array_of(world, name) + i * dtype_stored_bytes(dtype));
}

static void set(const struct world *world, const char *name, int64_t i, double value)
{
	enum dtype dtype = tensor_of(world, name)->layout.dtype;
	kernel_store(
		dtype, (char *)array_of(world, name) + i * dtype_stored_bytes(dtype), (float)value);
}

TEST(products_and_sums_are_by_the_book)
{
	struct world world = open_world("workload:\n"
					"  dimensions: {m: 3, n: 5, k: 4}\n"
					"  ops:\n"
					"    - c[m,n] = sum(k) a[m,k] * b[k,n]\n"
					"    - top[n] = max(m) c[m,n]\n"
					"    - low[n] = min(m) c[m,n]\n"
					"    - mid[n] = mean(m) c[m,n]\n",
		true);
	reference_run(world.workload, world.arena, world.arrays);
	for (int n = 0; n < 5; n++) {
		double top = -INFINITY, low = INFINITY, sum = 0;
		for (int m = 0; m < 3; m++) {
			double c = 0;
			for (int k = 0; k < 4; k++)
				c += get(&world, "a", m * 4 + k) * get(&world, "b", k * 5 + n);
			assert_true(get(&world, "c", m * 5 + n) == c);
			top = fmax(top, c);
			low = fmin(low, c);
			sum += c;
		}
		assert_true(get(&world, "top", n) == top);
		assert_true(get(&world, "low", n) == low);
		assert_true(fabs(get(&world, "mid", n) - sum / 3) <= fabs(sum) / 1024);
	}
	arena_close(world.arena);
}

TEST(maps_broadcast_shift_and_transpose)
{
	struct world world =
		open_world("workload:\n"
			   "  dimensions: {m: 3, n: 5, p: 4, r: 2}\n"
			   "  dtype: fp32\n"
			   "  tensors: {s: {layout: [m, sparse]}, z: {layout: [0, sparse]},\n"
			   "            o: {layout: [p, sparse]}, w: {layout: [r, sparse]}}\n"
			   "  ops:\n"
			   "    - y[m,n] = x[m,n] / s[m]\n"
			   "    - t[n,m] = restickify y[m,n]\n"
			   "    - u[m,n] = y[m,n] - 3\n"
			   "    - o[p] = sum(r) z[2*p+r+1] * w[r]\n",
			false);
	reference_run(world.workload, world.arena, world.arrays);
	for (int m = 0; m < 3; m++) {
		for (int n = 0; n < 5; n++) {
			double y = (double)((float)get(&world, "x", m * 5 + n) /
					    (float)get(&world, "s", m));
			assert_true(get(&world, "y", m * 5 + n) == y);
			assert_true(get(&world, "t", n * 3 + m) == y);
			assert_true(get(&world, "u", m * 5 + n) == (double)((float)y - 3));
		}
	}
	for (int p = 0; p < 4; p++) {
		double sum = get(&world, "z", 2 * p + 1) * get(&world, "w", 0) +
			     get(&world, "z", 2 * p + 2) * get(&world, "w", 1);
		assert_true(get(&world, "o", p) == (double)(float)sum);
	}
	arena_close(world.arena);
}

/* The machine's arithmetic and the reference's, one function at a time. */
BARE_TEST(functions_agree_with_the_machine)
{
	for (int f = 0; primitives[f]; f++) {
		if (primitives[f]->kind != OP_MAP)
			continue;
		struct arena *arena = arena_open();
		bool two = primitives[f]->arity == 2;
		const char *name = primitives[f]->name;
		struct world world = open_world(
			arena_format(arena,
				"workload:\n  dimensions: {m: 1000}\n  dtype: fp32\n  ops:\n"
				"    - y[m] = %s(a[m]%s)\n",
				name, two ? ", b[m]" : ""),
			false);
		for (int i = 0; i < 1000; i++) {
			set(&world, "a", i, ldexp(get(&world, "a", i), i % 8));
			if (i % 100 == 0)
				set(&world, "a", i, i % 200 ? NAN : 0);
		}
		reference_run(world.workload, world.arena, world.arrays);
		float *machine = arena_array(arena, float, 1000);
		for (int i = 0; i < 1000; i++)
			machine[i] = primitives[f]->kernel(
				(float)get(&world, "a", i), two ? (float)get(&world, "b", i) : 0);
		struct comparison comparison =
			reference_compare(tensor_of(&world, "y"), array_of(&world, "y"), machine);
		if (comparison.worst_ulps > 1)
			fail_msg("%s: %g ulps", name, comparison.worst_ulps);
		arena_close(world.arena);
		arena_close(arena);
	}
}

TEST(inputs_depend_on_seed_and_tensor_alone)
{
	static const char *const yaml = "workload:\n"
					"  dimensions: {m: 64}\n"
					"  tensors: {i: {dtype: int8}, b: {dtype: bool}}\n"
					"  ops:\n"
					"    - y[m] = a[m] + i[m]\n"
					"    - {opaque: draw, reads: [y], writes: [\"r[m]\"]}\n"
					"    - z[m] = r[m] * b[m]\n";
	struct world world = open_world(yaml, false), again = open_world(yaml, false);
	for (int i = 0; i < 64; i++) {
		assert_true(get(&world, "a", i) == get(&again, "a", i));
		assert_true(fabs(get(&world, "a", i)) <= 0.25);
		assert_true(fabs(get(&world, "i", i)) <= 2);
		assert_true(get(&world, "b", i) == 0 || get(&world, "b", i) == 1);
		assert_true(get(&world, "r", i) == rint(get(&world, "r", i)));
		assert_true(get(&world, "r", i) == get(&again, "r", i));
	}
	assert_memory_not_equal(array_of(&world, "a"), array_of(&world, "r"), 128);
	reference_inputs(again.workload, 8, false, again.arena, again.arrays);
	assert_memory_not_equal(array_of(&world, "a"), array_of(&again, "a"), 128);
	reference_run(world.workload, world.arena, world.arrays);
	assert_non_null(array_of(&world, "z"));
	arena_close(world.arena);
	arena_close(again.arena);
}

TEST(differences_are_measured_in_last_places)
{
	struct world world = open_world(
		"workload:\n  dimensions: {m: 6}\n  ops:\n    - y[m] = exp(x[m])\n", false);
	const struct tensor *tensor = tensor_of(&world, "x");
	static const uint16_t expected[6] = {0x3c00, 0x4000, 0x0000, 0x7e00, 0x0003, 0x5000};
	uint16_t got[6] = {0x3c00, 0x4000, 0x8000, 0xfe01, 0x0003, 0x5000};
	struct comparison same = reference_compare(tensor, expected, got);
	assert_int_equal(same.elements, 6);
	assert_int_equal(same.different, 0);
	assert_true(same.worst_ulps == 0 && same.worst_of_largest == 0);
	got[0] = 0x3c02; /* two places above 1 */
	got[4] = 0x0000; /* three of the least places below 3 * 2^-24 */
	struct comparison some = reference_compare(tensor, expected, got);
	assert_int_equal(some.different, 2);
	assert_true(some.worst_ulps == 3 && some.worst_at == 4);
	/* 2 * 2^-10 at 32, whose last place is 2^-5 */
	assert_true(some.worst_of_largest == ldexp(2, -10 + 5));
	got[1] = 0x7c00;
	assert_true(isinf(reference_compare(tensor, expected, got).worst_ulps));
	arena_close(world.arena);
}

#include "base/arena.h"
#include "base/random.h"
#include "model/graph/op_mapping.h"
#include "tests/support/draws.h"
#include "tests/support/lookups.h"
#include "tests/support/sample.h"
#include "tests/support/spyre.h"

#include "tests/test.h"

/* C[m, n] = sum over k of A[m, k] * B[k, n]; units: m 512, n 32, k 16. */
struct fixture {
	struct arena *arena;
	const struct arch *arch;
	const struct workload *workload;
	const struct op *op;
};

static int set_up(void **state)
{
	struct arena *arena = arena_open();
	struct fixture *fixture = arena_new(arena, struct fixture);
	fixture->arena = arena;
	fixture->arch = spyre_arch(arena, 32);
	fixture->workload = sample_op(
		arena, OP_EINSUM, DTYPE_FP16, "mk,kn->mn", "mnk", (int64_t[]){512, 2048, 1024});
	fixture->op = &fixture->workload->ops[0];
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	arena_close(((struct fixture *)*state)->arena);
	return 0;
}

static struct mapping parse(const struct fixture *fixture, const char *text)
{
	struct mapping mapping;
	const char *why = mapping_parse(fixture->arena, fixture->arch, fixture->op, text, &mapping);
	if (why)
		fail_msg("'%s': %s", text, why);
	return mapping;
}

static void a_fresh_mapping_divides_nothing(void **state)
{
	const struct fixture *f = *state;
	struct mapping mapping = mapping_make(f->arch, f->op);
	assert_int_equal(mapping_cores(f->arch, &mapping), 1);
	assert_string_equal(mapping_print(f->arena, f->arch, f->op, &mapping), "undivided");
	assert_null(mapping_check(f->arena, f->arch, f->workload, f->op, &mapping));
}

static void the_fastest_loop_stands_first(void **state)
{
	const struct fixture *f = *state;
	struct mapping mapping = parse(f, "core: k4 n8");
	assert_int_equal(mapping_cores(f->arch, &mapping), 32);
	assert_int_equal(mapping_split(f->arch, &mapping, 1), 8);
	assert_int_equal(mapping_reduction_split(f->arch, f->op, &mapping), 4);
	for (int core = 0; core < 32; core++) {
		assert_int_equal(mapping_slot(f->arch, &mapping, 0, core), 0);
		assert_int_equal(mapping_slot(f->arch, &mapping, 2, core), core % 4);
		assert_int_equal(mapping_slot(f->arch, &mapping, 1, core), core / 4);
	}
}

static void temporal_loops_are_written_outermost_first(void **state)
{
	const struct fixture *f = *state;
	struct mapping mapping = parse(f, "LX: n2 k16");
	const struct mapping_row *row = &mapping.rows[f->arch->lx];
	assert_int_equal(row->temporal[1], 2);
	assert_int_equal(row->temporal[2], 16);
	assert_int_equal(row->temporal_order[0], 2);
	assert_int_equal(row->temporal_order[1], 1);
}

static void text_comes_back_the_same(void **state)
{
	static const char *const texts[] = {
		"undivided",
		"core: k4 n8",
		"core: n8 k4",
		"core: m2 n4@y",
		"core: k4 n8 | LX: n2 k16",
		"core: m32 | LX: m2 n4 k2 | keep LX: 0; HBM: 1; HBM,core: 2",
		"HBM: m2 | core temporal: n2 | LX spatial: k2 | array: m8",
		"keep nowhere: 0 2",
		"keep LX: 0 1 2",
	};
	const struct fixture *f = *state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		struct mapping mapping = parse(f, texts[i]);
		assert_string_equal(mapping_print(f->arena, f->arch, f->op, &mapping), texts[i]);
	}
}

static void blanks_and_the_order_of_parts_do_not_matter(void **state)
{
	const struct fixture *f = *state;
	struct mapping mapping = parse(f, "  keep LX : 2 0|LX :k2|  core  : n8@y  ");
	assert_string_equal(mapping_print(f->arena, f->arch, f->op, &mapping),
		"core: n8@y | LX: k2 | keep LX: 0 2");
}

static void a_name_that_ends_in_a_digit_keeps_it(void **state)
{
	const struct fixture *f = *state;
	struct op op = *f->op;
	struct mapping mapping = mapping_make(f->arch, &op), again;
	op.loops[0].name = "m1";
	mapping.rows[f->arch->core].spatial[0] = 4;
	const char *text = mapping_print(f->arena, f->arch, &op, &mapping);
	assert_string_equal(text, "core: m1=4");
	assert_null(mapping_parse(f->arena, f->arch, &op, text, &again));
	assert_true(mapping_equal(&mapping, &again));
}

/* If a tile is a nest, the home's row has the loops at LX inside it, and LX's row the tiles. */
static void loops_inside_a_tile_have_a_name(void **state)
{
	static const char text[] = "core: n8 | LX: n2 k16 | LX inside: m4 k2 | array: m8";
	const struct fixture *f = *state;
	struct arch *slow = arena_copy(f->arena, f->arch, sizeof *f->arch);
	struct mapping mapping;
	slow->levels[slow->compute].compute.mac_rate = (struct ratio){1, 1};
	slow->levels[slow->compute].fanout.x = 2;
	assert_null(mapping_parse(f->arena, slow, f->op, text, &mapping));
	assert_int_equal(mapping.rows[slow->hbm].temporal[0], 4);
	assert_int_equal(mapping.rows[slow->lx].temporal[1], 2);
	assert_string_equal(mapping_print(f->arena, slow, f->op, &mapping), text);
	assert_string_equal(mapping_parse(f->arena, slow, f->op, "HBM: m4", &mapping),
		"'HBM' has no loops of its own: its tiles stand at 'LX', the loops inside a tile at "
		"'LX inside'");
	assert_string_equal(mapping_parse(f->arena, f->arch, f->op, "LX inside: m4", &mapping),
		"after 'LX' follow ':' and factors");
}

static void wrong_text_is_explained(void **state)
{
	static const char *const rows[][2] = {
		{"cores: n8", "no level 'cores'; did you mean 'core'?"},
		{"register: n8", "no level 'register'"},
		{"core n8", "after 'core' follow ':' and factors"},
		{"core: q8", "op 'o' has no loop 'q'"},
		{"core: 8", "'8' is not a factor; 'n8' divides loop n by 8"},
		{"core: n", "'n' is not a factor; 'n8' divides loop n by 8"},
		{"core: n0", "'n0' is not a factor; 'n8' divides loop n by 8"},
		{"core: n99999999999", "'n99999999999' is not a factor; 'n8' divides loop n by 8"},
		{"core: n2 n4", "loop 'n' stands twice in the row of 'core'"},
		{"core: n2 | core: m2", "the row of 'core' is given twice"},
		{"LX: n2@y", "loop 'n' of 'LX' is temporal: it has no Y"},
		{"keep LX", "after 'keep LEVEL' follow ':' and numbers of operands"},
		{"keep LX: x", "op 'o' has no operand 'x'"},
		{"keep LX: 0, 1", "after 'keep LEVEL:' follow numbers of operands"},
		{"keep LX: 3", "op 'o' has no operand '3'"},
		{"keep LX: 1; HBM: 1", "op 'o' says twice where operand 1 is kept"},
		{"keep L1: 1", "no level 'L1'; did you mean 'LX'?"},
	};
	const struct fixture *f = *state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct mapping mapping;
		const char *why = mapping_parse(f->arena, f->arch, f->op, rows[i][0], &mapping);
		assert_non_null(why);
		assert_string_equal(why, rows[i][1]);
	}
}

static void impossible_mappings_are_refused(void **state)
{
	static const char *const rows[][2] = {
		{"core: n32 m2", "'core' has 32 x 1 instances, not 64 x 1"},
		{"core: n2@y", "'core' has 32 x 1 instances, not 1 x 2"},
		{"core: n32 | LX: n2", "the factors of 'n' do not divide its 32 units"},
		{"core: n3", "the factors of 'n' do not divide its 32 units"},
		{"LX: k2 n2", "the tiles of the reduction 'k' run around those of 'n'"},
		{"keep nowhere: 1", "operand 1 is kept nowhere"},
	};
	const struct fixture *f = *state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct mapping mapping = parse(f, rows[i][0]);
		const char *why = mapping_check(f->arena, f->arch, f->workload, f->op, &mapping);
		assert_non_null(why);
		assert_string_equal(why, rows[i][1]);
	}
	struct mapping good = parse(f, "core: k4 n8 | LX: n4 m2 k4");
	assert_null(mapping_check(f->arena, f->arch, f->workload, f->op, &good));
}

static void at_most_one_reduction_is_split(void **state)
{
	const struct fixture *f = *state;
	const struct workload *workload =
		sample_op(f->arena, OP_REDUCE, DTYPE_FP16, "abc->c", "cab", (int64_t[]){64, 8, 8});
	const struct op *op = &workload->ops[0];
	struct mapping mapping;
	assert_null(mapping_parse(f->arena, f->arch, op, "core: a2 b2", &mapping));
	assert_string_equal(mapping_check(f->arena, f->arch, workload, op, &mapping),
		"more than one reduction is split over cores");
}

/* Cores are counted through the machine: 2 x 3 of them in each of 4 clusters. */
static void cores_of_a_mesh_are_numbered_through(void **state)
{
	const struct fixture *f = *state;
	struct arch *arch = arena_copy(f->arena, f->arch, sizeof *arch);
	arch->levels[arch->core].fanout.x = 2;
	arch->levels[arch->core].fanout.y = 3;
	arch->levels[arch->core].instances = 24;
	static const char *const rows[][2] = {
		{"core: n8", NULL},
		{"core: n8 m2", NULL},
		{"core: n32", "'core' has 24 x 1 instances, not 32 x 1"},
		{"core: n2 m2@y", NULL},
		{"core: n4 m2@y", "'core' has 2 x 3 instances, not 4 x 2"},
		{"core: n2 m4@y", "'core' has 2 x 3 instances, not 2 x 4"},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct mapping mapping = parse(f, rows[i][0]);
		const char *why = mapping_check(f->arena, arch, f->workload, f->op, &mapping);
		if (!rows[i][1])
			assert_null(why);
		else
			assert_string_equal(why, rows[i][1]);
	}
}

static void order_counts_for_divided_loops_only(void **state)
{
	const struct fixture *f = *state;
	struct mapping a = parse(f, "core: n8 k4"), b = parse(f, "core: k4 n8");
	assert_false(mapping_equal(&a, &b));
	b = a;
	struct mapping_row *row = &b.rows[f->arch->core];
	row->spatial_order[0] = 0;
	row->spatial_order[1] = 1;
	row->spatial_order[2] = 2;
	assert_true(mapping_equal(&a, &b));
	row->spatial_y = 1;
	assert_true(mapping_equal(&a, &b));
	row->spatial_y = 2;
	assert_false(mapping_equal(&a, &b));
	b = a;
	b.residency[1] = 0;
	assert_false(mapping_equal(&a, &b));
}

static struct mapping draw(const struct fixture *f, struct random *random)
{
	struct mapping mapping = mapping_make(f->arch, f->op);
	for (int r = 0; r < mapping.level_count; r++) {
		struct mapping_row *row = &mapping.rows[r];
		for (int l = 0; l < mapping.loop_count; l++) {
			if (random_below(random, 3) == 0)
				row->spatial[l] = 1 + (uint32_t)random_below(random, 9);
			if (random_below(random, 3) == 0)
				row->temporal[l] = 1 + (uint32_t)random_below(random, 1000);
		}
		row->spatial_y = (uint16_t)random_below(random, 8);
		draw_shuffle(random, row->spatial_order, mapping.loop_count);
		draw_shuffle(random, row->temporal_order, mapping.loop_count);
	}
	for (int i = 0; i < op_operands(f->op); i++)
		mapping.residency[i] = (uint32_t)random_below(random, 1u << mapping.level_count);
	return mapping;
}

static void every_mapping_survives_its_text(void **state)
{
	const struct fixture *f = *state;
	uint64_t seed = draws_seed(1);
	for (long i = 0; i < draws(2000); i++) {
		struct random random = random_open(seed, (uint64_t)i);
		struct arena_mark mark = arena_mark(f->arena);
		struct mapping mapping = draw(f, &random);
		const char *text = mapping_print(f->arena, f->arch, f->op, &mapping);
		struct mapping again = parse(f, text);
		if (!mapping_equal(&mapping, &again))
			fail_msg("draw %ld: '%s' is read as another mapping", i, text);
		assert_string_equal(mapping_print(f->arena, f->arch, f->op, &again), text);
		arena_release(f->arena, mark);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_fresh_mapping_divides_nothing),
		cmocka_unit_test(the_fastest_loop_stands_first),
		cmocka_unit_test(temporal_loops_are_written_outermost_first),
		cmocka_unit_test(text_comes_back_the_same),
		cmocka_unit_test(blanks_and_the_order_of_parts_do_not_matter),
		cmocka_unit_test(a_name_that_ends_in_a_digit_keeps_it),
		cmocka_unit_test(loops_inside_a_tile_have_a_name),
		cmocka_unit_test(wrong_text_is_explained),
		cmocka_unit_test(impossible_mappings_are_refused),
		cmocka_unit_test(at_most_one_reduction_is_split),
		cmocka_unit_test(cores_of_a_mesh_are_numbered_through),
		cmocka_unit_test(order_counts_for_divided_loops_only),
		cmocka_unit_test(every_mapping_survives_its_text),
	};
	return cmocka_run_group_tests_name("mapping", tests, set_up, tear_down);
}

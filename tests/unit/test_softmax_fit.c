#include "base/arena.h"
#include "tests/support/arch_text.h"
#include "tests/support/complaints.h"
#include "tests/support/softmax_fit.h"

#include <math.h>

#include "tests/test.h"

#define SPYRE "specs/arch/spyre32_published.yaml"
#define SOFTMAX "specs/workloads/softmax_dim0.yaml"

struct fitted {
	struct arena *arena;
	const struct arch *arch;
	struct softmax_fit fit;
};

static int set_up(void **state)
{
	struct arena *arena = arena_open();
	struct fitted *fitted = arena_new(arena, struct fitted);
	struct diag *diag = diag_open(arena);
	fitted->arena = arena;
	fitted->arch = arch_of_file(arena, SPYRE, diag);
	if (!fitted->arch)
		fail_msg("%s", complaints_text(arena, diag));
	fitted->fit = softmax_fit(arena, fitted->arch, SOFTMAX);
	*state = fitted;
	return 0;
}

static int tear_down(void **state)
{
	arena_close(((struct fitted *)*state)->arena);
	return 0;
}

static void stages_move_the_published_bytes(void **state)
{
	static const int64_t bytes[SOFTMAX_ROWS] = {8396800, 8388608, 3145728, 2097152, 6299648};
	const struct fitted *fitted = *state;
	for (int i = 0; i < SOFTMAX_ROWS; i++)
		assert_int_equal(fitted->fit.rows[i].hbm_bytes, bytes[i]);
}

/* Overheads are read in ns and rounded up to cycles. */
static void the_machine_has_the_fitted_overheads(void **state)
{
	const struct fitted *fitted = *state;
	assert_true(fitted->fit.bundle_cycles >= 0 && fitted->fit.core_cycles >= 0);
	assert_int_equal(fitted->arch->bundle_cycles, (int64_t)ceil(fitted->fit.bundle_cycles));
	assert_int_equal(fitted->arch->core_cycles, (int64_t)ceil(fitted->fit.core_cycles));
}

static void predictions_come_out_in_the_measured_order(void **state)
{
	const struct softmax_row *rows = ((const struct fitted *)*state)->fit.rows;
	assert_true(rows[0].predicted_us >= rows[1].predicted_us);
	assert_true(rows[1].predicted_us > rows[2].predicted_us);
	assert_true(rows[2].predicted_us >= rows[3].predicted_us);
	assert_true(rows[4].predicted_us > rows[3].predicted_us);
}

static void rows_are_left_out_only_when_their_bytes_contradict(void **state)
{
	const struct fitted *fitted = *state;
	int used = 0;
	for (int i = 0; i < SOFTMAX_ROWS; i++) {
		const struct softmax_row *row = &fitted->fit.rows[i];
		double bytes_us = arch_nanoseconds(fitted->arch, row->bytes_cycles) / 1e3;
		assert_true(row->contradicts == (bytes_us > row->measured_us));
		assert_true(row->bytes_cycles <= row->model_cycles);
		used += !row->contradicts;
	}
	assert_true(used > 0);
}

static double squares(const struct softmax_fit *fit, double bundle_ns, double core_ns, double ns)
{
	double sum = 0;
	for (int i = 0; i < SOFTMAX_ROWS; i++) {
		const struct softmax_row *row = &fit->rows[i];
		double rest = (double)row->model_cycles * ns + (double)row->bundles * bundle_ns +
			      (double)row->cores_used * core_ns - row->measured_us * 1e3;
		if (!row->contradicts)
			sum += rest * rest;
	}
	return sum;
}

/* No step to a neighbour is better, or as good with a smaller norm. */
static void no_neighbour_fits_better(void **state)
{
	const struct fitted *fitted = *state;
	const struct softmax_fit *fit = &fitted->fit;
	double ns = arch_nanoseconds(fitted->arch, 1);
	double best = squares(fit, fit->bundle_ns, fit->core_ns, ns);
	double norm = hypot(fit->bundle_ns, fit->core_ns);
	for (int i = 0; i < 64; i++)
		for (double step = 0.01; step < 1000; step *= 3) {
			double bundle = fit->bundle_ns + step * cos(i * M_PI / 32);
			double core = fit->core_ns + step * sin(i * M_PI / 32);
			if (bundle < 0 || core < 0)
				continue;
			double other = squares(fit, bundle, core, ns);
			assert_true(other > best - 1e-6);
			assert_true(other > best + 1e-6 || hypot(bundle, core) > norm - 1e-6);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stages_move_the_published_bytes),
		cmocka_unit_test(the_machine_has_the_fitted_overheads),
		cmocka_unit_test(predictions_come_out_in_the_measured_order),
		cmocka_unit_test(rows_are_left_out_only_when_their_bytes_contradict),
		cmocka_unit_test(no_neighbour_fits_better),
	};
	return cmocka_run_group_tests_name("softmax fit", tests, set_up, tear_down);
}

#include "base/arena.h"
#include "base/random.h"
#include "base/text.h"
#include "calibrate/fit.h"
#include "spec/file.h"
#include "tests/support/draws.h"

#include <math.h>
#include <string.h>

#include "tests/test.h"

/* A small machine; `mac_rate` is free, and no row below has a product. */
static const char machine[] =
	"architecture:\n"
	"  version: 0.4\n"
	"  name: small\n"
	"  nodes:\n"
	"  - !Container\n"
	"    name: system\n"
	"    attributes: {clock: 1GHz, bundle_overhead: 1000ns}\n"
	"    free: {bundle_overhead: [0ns, 4000ns]}\n"
	"  - !Component\n"
	"    name: HBM\n"
	"    class: DRAM\n"
	"    attributes: {shared_bandwidth: 100GB/s, alignment: 128, stick: 128B, turn_time: 1.00ns}\n"
	"    free: {shared_bandwidth: [50GB/s, 300GB/s], turn_time: [0.01ns, 4ns]}\n"
	"  - !Container {name: core, spatial: {meshX: 8}}\n"
	"  - !Component\n"
	"    name: LX\n"
	"    class: SRAM\n"
	"    attributes: {size: 1MiB, reserve: 0.5, transfer: box, alignment: 128}\n"
	"  - !Component\n"
	"    name: array\n"
	"    class: fp16_array\n"
	"    attributes: {mac_rate: 512, vector_rate: 32, reduction_rate: 12.0}\n"
	"    free: {mac_rate: [64, 1024], reduction_rate: [1.0, 64.0]}\n";

enum { BUNDLE, BANDWIDTH, TURN, MAC, REDUCTION, ATTRIBUTES, SEEDS = 20 };

static const struct source *text_source(struct arena *arena, const char *name, const char *text)
{
	struct diag *diag = diag_open(arena);
	const struct source *source = file_of_text(arena, name, text, strlen(text), diag);
	assert_false(diag_failed(diag));
	return source;
}

/* Kernels of several sizes, without times. */
static const char *rows_text(struct arena *arena, const double *us)
{
	static const char *const ops[] = {"neg", "add", "read", "sumrow"};
	struct text text = text_open(arena);
	int row = 0;
	text_add(&text, "op,rows,cols,cores,kernel_us_median\n");
	for (int o = 0; o < 4; o++)
		for (int rows = 256; rows <= 1024; rows *= 2)
			for (int cores = 1; cores <= 8; cores *= 8, row++)
				text_add(&text, "%s,%d,1024,%d,%.9g\n", ops[o], rows, cores,
					us ? us[row] : 1.0);
	return text_read(&text);
}

static struct measured_set read_set(struct arena *arena, const char *text)
{
	struct measured_set set;
	struct diag *diag = diag_open(arena);
	assert_true(measured_read(arena, text_source(arena, "rows.csv", text), diag, &set));
	assert_int_equal(set.skipped, 0);
	return set;
}

/* Times of the planted values, off by about 5 %: the sum of 12 draws is nearly normal. */
static const char *planted_rows(
	struct arena *arena, const struct machine_file *file, const double *values, uint64_t seed)
{
	struct random random = random_open(seed, 7);
	struct diag *diag = diag_open(arena);
	struct measured_set set = read_set(arena, rows_text(arena, NULL));
	const struct arch *arch = machine_file_make(arena, file, values, diag);
	double *us = arena_array(arena, double, set.count);
	assert_non_null(arch);
	accuracy_predict(&set, arch, us, diag);
	for (size_t i = 0; i < set.count; i++) {
		double normal = -6;
		for (int k = 0; k < 12; k++)
			normal += (double)random_below(&random, 1000000) / 1e6;
		us[i] *= exp(0.05 * normal);
	}
	return rows_text(arena, us);
}

/* An interval of 95 % misses one time in 20: of 20 seeds and 4 attributes 4, with
 * a standard deviation of 2; of 300 seeds (N=300) 60 of 1200, at most 75. */
BARE_TEST(planted_values_are_found_within_their_intervals)
{
	static const double planted[ATTRIBUTES] = {
		[BUNDLE] = 2200, [BANDWIDTH] = 160, [TURN] = 0.5, [MAC] = 512, [REDUCTION] = 24};
	long seeds = draws(SEEDS), missed = 0;
	for (long seed = 1; seed <= seeds; seed++) {
		struct arena *arena = arena_open();
		struct diag *diag = diag_open(arena);
		struct machine_file file;
		struct fit fit;
		assert_true(machine_file_read(
			arena, text_source(arena, "small.yaml", machine), diag, &file));
		assert_int_equal(file.count, ATTRIBUTES);
		struct measured_set set =
			read_set(arena, planted_rows(arena, &file, planted, (uint64_t)seed));
		assert_true(fit_machine(&file, &set, NULL, arena, diag, &fit));
		assert_false(fit.attributes[MAC].determined);
		assert_true(fit.values[MAC] == 512);
		for (int a = 0; a < ATTRIBUTES; a++) {
			const struct fitted *found = &fit.attributes[a];
			double error = fabs(found->value - planted[a]);
			if (a == MAC)
				continue;
			assert_true(found->determined);
			missed += error > found->half;
			if (error > 3 * found->half)
				fail_msg("seed %ld: %s is %g, not within 3 x %g of %g", seed,
					file.free[a].key, found->value, found->half, planted[a]);
		}
		assert_true(fit.after < 0.09);
		arena_close(arena);
	}
	print_message("%ld of %ld intervals miss their value\n", missed, 4 * seeds);
	double drawn = 4.0 * (double)seeds;
	assert_true((double)missed <= 0.05 * drawn + 2 * sqrt(0.05 * 0.95 * drawn));
}

TEST(bad_rows_are_named_and_skipped)
{
	static const char rows[] = "op,rows,cols,tiles,io_hbm_bytes,kernel_us_median\n"
				   "neg,64,128,,,3.5\n"
				   "neg,64,128,,,0\n"
				   "neg,64,128,,,-2\n"
				   "neg,64,128,,,nan\n"
				   "neg,64,128,,,failed\n"
				   "nge,64,128,,,3\n"
				   "neg,64,,,,3\n"
				   "mm,64,64,,24576,3\n"
				   "mm,64,64,,24578,3\n"
				   "softmax_row_tiling,64,128,3,,3\n"
				   "mmwd,64,64,,24576,5\n"
				   "mmwd,64,64,,24576,4\n"
				   "neg,64,128\n"
				   "neg,64,128,-2,,3\n";
	struct diag *diag = diag_open(arena);
	struct measured_set set;
	assert_true(measured_read(arena, text_source(arena, "rows.csv", rows), diag, &set));
	assert_int_equal(set.count, 3);
	assert_int_equal(set.skipped, 10);
	assert_string_equal(set.skipped_lines, " 3-8, 10-11, 14-15");
	assert_int_equal(set.slower, 1);
	assert_int_equal(set.rows[0].line, 2);
	assert_true(set.rows[2].us == 4);
	assert_false(diag_failed(diag));
}

/* Bytes are those of whole sticks; columns say what bytes do not. */
TEST(sizes_of_products_come_from_bytes_or_columns)
{
	static const char rows[] = "op,M,K,N,batch,io_hbm_bytes,time_us\n"
				   "mm,100,100,,,76800,3\n"       /* N is 128 in whole sticks */
				   "mm,64,64,,,24576,3\n"         /* 64 */
				   "mm,64,64,192,,,3\n"           /* given */
				   "bmm,1024,128,,,4227072,3\n"   /* 6 products of 192 columns */
				   "bmm,1024,128,,6,4227072,3\n"  /* the same */
				   "bmm,1024,128,192,6,,3\n"      /* the same */
				   "bmm,1024,1024,,,25165824,3\n" /* 4 of 1024 or 8 of 256 */
				   "bmm,64,64,,,777,3\n";
	struct diag *diag = diag_open(arena);
	struct measured_set set;
	assert_true(measured_read(arena, text_source(arena, "rows.csv", rows), diag, &set));
	assert_string_equal(set.skipped_lines, " 8-9");
	assert_int_equal(set.count, 6);
	assert_non_null(strstr(set.rows[0].text, "m: 100, k: 100, n: 128}"));
	assert_non_null(strstr(set.rows[1].text, "m: 64, k: 64, n: 64}"));
	assert_non_null(strstr(set.rows[2].text, "m: 64, k: 64, n: 192}"));
	for (int i = 3; i < 6; i++)
		assert_non_null(strstr(set.rows[i].text, "h: 6, m: 1024, k: 128, n: 192}"));
}

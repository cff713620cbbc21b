#include "cost/nest/nest.h"
#include "sim/nest/nest.h"
#include "tests/support/nest_line.h"

#include <math.h>

#include "tests/test.h"

/* Words that leave a buffer for its parent are read there: what that comes to. */

static struct nest_counts count(struct arena *arena, const struct nest_case *nest,
	enum counting counting, double *pj, int64_t *cycles)
{
	struct nest_counts counts = {0};
	struct nest_score score;
	const struct nest_model *model =
		nest_model_make(arena, &nest->hierarchy, &nest->shape, counting);
	assert_int_equal(nest_evaluate(model, &nest->mapping, &counts, &score), NEST_FITS);
	*pj = score.energy_pj;
	*cycles = score.cycles;
	return counts;
}

static struct nest_sim simulate(struct arena *arena, const struct nest_case *nest)
{
	struct nest_sim_options options = {.data = true, .timing = true, .seed = 5};
	struct nest_sim sim =
		nest_simulate(&nest->hierarchy, &nest->shape, &nest->mapping, &options, arena);
	assert_true(sim.finished && sim.right);
	return sim;
}

static void set_price(struct nest_case *nest, const char *level, double read, double write)
{
	double *pj = nest_line_level(nest, level)->energies.pj;
	pj[NEST_READ] = read;
	pj[NEST_FILL] = pj[NEST_UPDATE] = write;
}

/* A product of 64 x 64 x 64 on a machine like the TPU v4i, 8-bit words, prices of published
 * studies; four local buffers share nothing. */
TEST(outputs_leave_the_local_buffers_by_reads)
{
	struct nest_case *nest = nest_line(arena, "DRAM GLB (Z:4) Local (PE:64x64) Register MAC",
		"O[m,n] = I[m,k] W[k,n], m=64 n=64 k=64",
		"Z: m4 | Local: m16 | PE: n64 k64@y | keep DRAM,Local: I O; "
		"DRAM,GLB,Register: W");
	nest_line_flag(nest, "inter_Z_spatial no_spatial_reuse I");
	nest_line_flag(nest, "inter_Z_spatial no_spatial_reuse W");
	nest_line_flag(nest, "inter_Z_spatial no_spatial_reuse O");
	set_price(nest, "DRAM", 56.24, 56.24);
	set_price(nest, "GLB", 15.04, 18.88);
	set_price(nest, "Local", 1.992, 2.344);
	set_price(nest, "Register", 0, 0);
	nest->hierarchy.compute_pj = 0.084;
	double pj;
	int64_t cycles;
	struct nest_counts counts = count(arena, nest, COUNTING_EXACT, &pj, &cycles);
	assert_string_equal(nest_line_counts(arena, nest, &counts),
		"DRAM O 0/0/4096 I 4096/0/0 W 4096/0/0; GLB O 0/0/0 I 0/0/0 W 16384/4096/0; "
		"Local O 4096/0/4096 I 4096/4096/0 W 0/0/0; "
		"Register O 0/0/0 I 0/0/0 W 262144/16384/0");
	assert_true(fabs(pj - 1072365.568) < 1e-3);
	struct nest_sim sim = simulate(arena, nest);
	assert_true(nest_counts_equal(&nest->hierarchy, &nest->shape, &counts, &sim.counts));
	count(arena, nest, COUNTING_TIMELOOP, &pj, &cycles);
	assert_true(fabs(pj - (1072365.568 - 4096 * 1.992)) < 1e-3);
}

/* A port of one word per cycle: 4 operands, 2 sums that are added to, 2 that drain. */
TEST(drains_load_the_port)
{
	struct nest_case *nest =
		nest_line(arena, "DRAM Buf MAC", "Z[m] = A[m,k], m=2 k=2", "DRAM: m2 | Buf: k2");
	nest_line_level(nest, "Buf")->store.read_rate = (struct ratio){1, 1};
	double pj;
	int64_t cycles;
	count(arena, nest, COUNTING_EXACT, &pj, &cycles);
	assert_int_equal(cycles, 8);
	assert_int_equal(simulate(arena, nest).cycles, 8);
	count(arena, nest, COUNTING_TIMELOOP, &pj, &cycles);
	assert_int_equal(cycles, 6);
}

/* The network's share of a group is that of the sums that drain, not of what buffers read: 16 words
 * of A for a PE each, a hop; 2 sums of all four, 2 sqrt(4) + (2 - 2) / 2 - 2 / 2 + 1/2 hops. */
TEST(networks_carry_what_drains)
{
	struct nest_case *nest = nest_line(arena, "DRAM (PE:4) RF MAC", "Z[m] = A[m,k], m=2 k=8",
		"DRAM: m2 | RF: k2 | PE: k4");
	nest_line_level(nest, "DRAM")->network.hop_pj = 1;
	for (int i = 0; i < nest->hierarchy.level_count; i++)
		for (int a = 0; a < NEST_ACTIONS; a++)
			nest->hierarchy.levels[i].energies.pj[a] = 0;
	nest->hierarchy.compute_pj = 0;
	double pj;
	int64_t cycles;
	count(arena, nest, COUNTING_EXACT, &pj, &cycles);
	assert_true(fabs(pj - (16 + 2 * 3.5)) < 1e-9);
}

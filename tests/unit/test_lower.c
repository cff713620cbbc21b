#include "base/arena.h"
#include "lower/graph/lower.h"
#include "tests/support/plan_text.h"
#include "tests/support/program_text.h"

#include "tests/test.h"

static const struct row {
	const char *name;
	int cores;
	const char *workload;
	const char *mappings[5], *stays[4];
	const char *program; /* or why there is none */
} rows[] = {
	{
		.name = "one_tile_comes_in_is_computed_and_goes_out",
		.cores = 1,
		.workload = "{dimensions: {m: 8, n: 256}, ops: ['y[m,n] = a[m,n] + b[n]']}",
		.mappings = {""},
		.program = "0 in 0: a[0+4 0+8] 0 > 1677824\n"
			   "1 in 0: b[0+4] 4096 > 1681920\n"
			   "2 compute 0: m0+8 n0+256 a[0+4 0+8]@1677824 b[0+4]@1681920 -> y[0+4 "
			   "0+8]@1682432 after 1\n"
			   "3 out 0: y[0+4 0+8] 1682432 > 4608 after 2\n",
	},
	{
		.name = "tiles_take_turns_in_two_buffers",
		.cores = 1,
		.workload = "{dimensions: {m: 8, n: 64}, ops: ['y[m,n] = exp(x[m,n])']}",
		.mappings = {"LX: m4"},
		.program =
			"0 in 0: x[0+1 0+2] 0 > 1677824\n"
			"1 compute 0: m0+2 n0+64 x[0+1 0+2]@1677824 -> y[0+1 0+2]@1678336 after 0\n"
			"2 out 0: y[0+1 0+2] 1678336 > 1024 after 1\n"
			"3 in 0: x[0+1 2+2] 256 > 1678080\n"
			"4 compute 0: m2+2 n0+64 x[0+1 2+2]@1678080 -> y[0+1 2+2]@1678592 after 3\n"
			"5 out 0: y[0+1 2+2] 1678592 > 1280 after 4\n"
			"6 in 0: x[0+1 4+2] 512 > 1677824 after 1\n"
			"7 compute 0: m4+2 n0+64 x[0+1 4+2]@1677824 -> y[0+1 4+2]@1678336 after 2 "
			"6\n"
			"8 out 0: y[0+1 4+2] 1678336 > 1536 after 7\n"
			"9 in 0: x[0+1 6+2] 768 > 1678080 after 4\n"
			"10 compute 0: m6+2 n0+64 x[0+1 6+2]@1678080 -> y[0+1 6+2]@1678592 after 5 "
			"9\n"
			"11 out 0: y[0+1 6+2] 1678592 > 1792 after 10\n",
	},
	{
		.name = "what_does_not_move_is_fetched_once",
		.cores = 1,
		.workload = "{dimensions: {m: 4, n: 64}, ops: ['y[m,n] = x[m,n] - b[n]']}",
		.mappings = {"LX: m2"},
		.program = "0 in 0: x[0+1 0+2] 0 > 1677824\n"
			   "1 in 0: b[0+1] 512 > 1678336\n"
			   "2 compute 0: m0+2 n0+64 x[0+1 0+2]@1677824 b[0+1]@1678336 -> y[0+1 "
			   "0+2]@1678464 after 1\n"
			   "3 out 0: y[0+1 0+2] 1678464 > 640 after 2\n"
			   "4 in 0: x[0+1 2+2] 256 > 1678080\n"
			   "5 compute 0: m2+2 n0+64 x[0+1 2+2]@1678080 b[0+1]@1678336 -> y[0+1 "
			   "2+2]@1678720 after 4\n"
			   "6 out 0: y[0+1 2+2] 1678720 > 896 after 5\n",
	},
	{
		.name = "cores_that_want_one_box_share_its_transfer",
		.cores = 4,
		.workload = "{dimensions: {m: 4, n: 128}, ops: ['y[m,n] = x[m,n] - b[n]']}",
		.mappings = {"core: n2 m2"},
		.program = "0 in 0: x[0+1 0+2] 0 > 1677824\n"
			   "1 in 1: x[1+1 0+2] 512 > 1677824\n"
			   "2 in 2: x[0+1 2+2] 256 > 1677824\n"
			   "3 in 3: x[1+1 2+2] 768 > 1677824\n"
			   "4 in 0,2: b[0+1] 1024 > 1678080\n"
			   "5 in 1,3: b[1+1] 1152 > 1678080\n"
			   "6 compute 0: m0+2 n0+64 x[0+1 0+2]@1677824 b[0+1]@1678080 -> y[0+1 "
			   "0+2]@1678208 after 4\n"
			   "7 compute 1: m0+2 n64+64 x[1+1 0+2]@1677824 b[1+1]@1678080 -> y[1+1 "
			   "0+2]@1678208 after 5\n"
			   "8 compute 2: m2+2 n0+64 x[0+1 2+2]@1677824 b[0+1]@1678080 -> y[0+1 "
			   "2+2]@1678208 after 4\n"
			   "9 compute 3: m2+2 n64+64 x[1+1 2+2]@1677824 b[1+1]@1678080 -> y[1+1 "
			   "2+2]@1678208 after 5\n"
			   "10 out 0: y[0+1 0+2] 1678208 > 1280 after 6\n"
			   "11 out 1: y[1+1 0+2] 1678208 > 1792 after 7\n"
			   "12 out 2: y[0+1 2+2] 1678208 > 1536 after 8\n"
			   "13 out 3: y[1+1 2+2] 1678208 > 2048 after 9\n",
	},
	{
		.name = "passes_go_through_an_accumulator",
		.cores = 1,
		.workload = "{dimensions: {m: 2, n: 64, k: 192}, ops: ['c[m,n] = sum(k) a[m,k] * "
			    "b[k,n]']}",
		.mappings = {"LX: m2 k3"},
		.program = "0 in 0: a[0+1 0+1] 0 > 1677824\n"
			   "1 in 0: b[0+1 0+64] 768 > 1678080\n"
			   "2 compute 0: m0+1 n0+64 k0+64 a[0+1 0+1]@1677824 b[0+1 0+64]@1678080 "
			   "-> c[0+1 0+1] acc@1694720w after 1\n"
			   "3 in 0: a[1+1 0+1] 256 > 1677952\n"
			   "4 in 0: b[0+1 64+64] 8960 > 1686272\n"
			   "5 compute 0: m0+1 n0+64 k64+64 a[1+1 0+1]@1677952 b[0+1 64+64]@1686272 "
			   "-> c[0+1 0+1] acc@1694720rw after 4\n"
			   "6 in 0: a[2+1 0+1] 512 > 1677824 after 2\n"
			   "7 in 0: b[0+1 128+64] 17152 > 1678080\n"
			   "8 compute 0: m0+1 n0+64 k128+64 a[2+1 0+1]@1677824 b[0+1 "
			   "128+64]@1678080 -> c[0+1 0+1]@1694464 acc@1694720r after 7\n"
			   "9 out 0: c[0+1 0+1] 1694464 > 25344 after 8\n"
			   "10 in 0: a[0+1 1+1] 128 > 1677952 after 5\n"
			   "11 in 0: b[0+1 0+64] 768 > 1686272\n"
			   "12 compute 0: m1+1 n0+64 k0+64 a[0+1 1+1]@1677952 b[0+1 0+64]@1686272 "
			   "-> c[0+1 1+1] acc@1694720w after 11\n"
			   "13 in 0: a[1+1 1+1] 384 > 1677824 after 8\n"
			   "14 in 0: b[0+1 64+64] 8960 > 1678080\n"
			   "15 compute 0: m1+1 n0+64 k64+64 a[1+1 1+1]@1677824 b[0+1 "
			   "64+64]@1678080 -> c[0+1 1+1] acc@1694720rw after 14\n"
			   "16 in 0: a[2+1 1+1] 640 > 1677952 after 12\n"
			   "17 in 0: b[0+1 128+64] 17152 > 1686272\n"
			   "18 compute 0: m1+1 n0+64 k128+64 a[2+1 1+1]@1677952 b[0+1 "
			   "128+64]@1686272 -> c[0+1 1+1]@1694592 acc@1694720r after 17\n"
			   "19 out 0: c[0+1 1+1] 1694592 > 25472 after 18\n",
	},
	{
		.name = "a_split_reduction_ends_on_the_ring",
		.cores = 4,
		.workload = "{dimensions: {m: 3, n: 128, k: 128}, ops: ['c[m,n] = sum(k) a[m,k] * "
			    "b[k,n]']}",
		.mappings = {"core: k2 n2 | LX: m3"},
		.program = "0 in 0,2: a[0+1 0+1] 0 > 1677824\n"
			   "1 in 1,3: a[1+1 0+1] 384 > 1677824\n"
			   "2 in 0: b[0+1 0+64] 768 > 1678080\n"
			   "3 in 1: b[0+1 64+64] 8960 > 1678080\n"
			   "4 in 2: b[1+1 0+64] 17152 > 1678080\n"
			   "5 in 3: b[1+1 64+64] 25344 > 1678080\n"
			   "6 compute 0: m0+1 n0+64 k0+64 a[0+1 0+1]@1677824 b[0+1 0+64]@1678080 "
			   "-> c[0+1 0+1] acc@1686528w after 2\n"
			   "7 compute 1: m0+1 n0+64 k64+64 a[1+1 0+1]@1677824 b[0+1 64+64]@1678080 "
			   "-> c[0+1 0+1] acc@1686528w after 3\n"
			   "8 compute 2: m0+1 n64+64 k0+64 a[0+1 0+1]@1677824 b[1+1 0+64]@1678080 "
			   "-> c[1+1 0+1] acc@1686528w after 4\n"
			   "9 compute 3: m0+1 n64+64 k64+64 a[1+1 0+1]@1677824 b[1+1 "
			   "64+64]@1678080 -> c[1+1 0+1] acc@1686528w after 5\n"
			   "10 ring 1,0: c[0+1 0+1]@1686528 -> @1686272 after 6 7\n"
			   "11 out 0: c[0+1 0+1] 1686272 > 33536 after 10\n"
			   "12 ring 3,2: c[1+1 0+1]@1686528 -> @1686272 after 8 9\n"
			   "13 out 2: c[1+1 0+1] 1686272 > 33920 after 12\n"
			   "14 in 0,2: a[0+1 1+1] 128 > 1677952\n"
			   "15 in 1,3: a[1+1 1+1] 512 > 1677952\n"
			   "16 compute 0: m1+1 n0+64 k0+64 a[0+1 1+1]@1677952 b[0+1 0+64]@1678080 "
			   "-> c[0+1 1+1] acc@1686784w after 14\n"
			   "17 compute 1: m1+1 n0+64 k64+64 a[1+1 1+1]@1677952 b[0+1 "
			   "64+64]@1678080 -> c[0+1 1+1] acc@1686784w after 15\n"
			   "18 compute 2: m1+1 n64+64 k0+64 a[0+1 1+1]@1677952 b[1+1 0+64]@1678080 "
			   "-> c[1+1 1+1] acc@1686784w after 14\n"
			   "19 compute 3: m1+1 n64+64 k64+64 a[1+1 1+1]@1677952 b[1+1 "
			   "64+64]@1678080 -> c[1+1 1+1] acc@1686784w after 15\n"
			   "20 ring 1,0: c[0+1 1+1]@1686784 -> @1686400 after 16 17\n"
			   "21 out 0: c[0+1 1+1] 1686400 > 33664 after 20\n"
			   "22 ring 3,2: c[1+1 1+1]@1686784 -> @1686400 after 18 19\n"
			   "23 out 2: c[1+1 1+1] 1686400 > 34048 after 22\n"
			   "24 in 0,2: a[0+1 2+1] 256 > 1677824 after 6 8\n"
			   "25 in 1,3: a[1+1 2+1] 640 > 1677824 after 7 9\n"
			   "26 compute 0: m2+1 n0+64 k0+64 a[0+1 2+1]@1677824 b[0+1 0+64]@1678080 "
			   "-> c[0+1 2+1] acc@1686528w after 10 24\n"
			   "27 compute 1: m2+1 n0+64 k64+64 a[1+1 2+1]@1677824 b[0+1 "
			   "64+64]@1678080 -> c[0+1 2+1] acc@1686528w after 10 25\n"
			   "28 compute 2: m2+1 n64+64 k0+64 a[0+1 2+1]@1677824 b[1+1 0+64]@1678080 "
			   "-> c[1+1 2+1] acc@1686528w after 12 24\n"
			   "29 compute 3: m2+1 n64+64 k64+64 a[1+1 2+1]@1677824 b[1+1 "
			   "64+64]@1678080 -> c[1+1 2+1] acc@1686528w after 12 25\n"
			   "30 ring 1,0: c[0+1 2+1]@1686528 -> @1686272 after 11 26 27\n"
			   "31 out 0: c[0+1 2+1] 1686272 > 33792 after 30\n"
			   "32 ring 3,2: c[1+1 2+1]@1686528 -> @1686272 after 13 28 29\n"
			   "33 out 2: c[1+1 2+1] 1686272 > 34176 after 32\n",
	},
	{
		.name = "a_split_maximum_ends_where_it_stays",
		.cores = 2,
		.workload = "{dimensions: {m: 4, n: 64}, ops: ['x[n] = max(m) a[m,n]', 'y[n] = "
			    "exp(x[n])']}",
		.mappings = {"core: m2 | LX: m2", ""},
		.stays = {"x at 256 steps 0 2, cores 2 only / 2 by 1"},
		.program = "0 in 0: a[0+1 0+1] 0 > 1677824\n"
			   "1 in 1: a[0+1 2+1] 256 > 1677824\n"
			   "2 compute 0: n0+64 m0+1 a[0+1 0+1]@1677824 -> x[0+1] acc@1678080w "
			   "after 0\n"
			   "3 compute 1: n0+64 m2+1 a[0+1 2+1]@1677824 -> x[0+1] acc@1678080w "
			   "after 1\n"
			   "4 in 0: a[0+1 1+1] 128 > 1677952\n"
			   "5 in 1: a[0+1 3+1] 384 > 1677952\n"
			   "6 compute 0: n0+64 m1+1 a[0+1 1+1]@1677952 -> x[0+1] acc@1678080rw "
			   "after 4\n"
			   "7 compute 1: n0+64 m3+1 a[0+1 3+1]@1677952 -> x[0+1] acc@1678080rw "
			   "after 5\n"
			   "8 ring 1,0: x[0+1]@1678080 -> @256 after 6 7\n"
			   "9 sync 0-1 after 8\n"
			   "10 compute 0: n0+64 x[0+1]@256 -> y[0+1]@1677824 after 9\n"
			   "11 out 0: y[0+1] 1677824 > 512 after 10\n",
	},
	{
		.name = "residents_are_used_where_they_lie",
		.cores = 2,
		.workload = "{dimensions: {m: 4, n: 64}, ops: ['s[m,n] = a[m,n] + a[m,n]', 'e[m,n] "
			    "= exp(s[m,n])', 'y[m,n] = neg(e[m,n])']}",
		.mappings = {"core: m2", "core: m2 | LX: m2", "core: m2"},
		.stays = {"s at 0 steps 0 2, cores 2: dim 1 / 2 by 1",
			"e at 0 steps 1 3 in place of s, cores 2: dim 1 / 2 by 1"},
		.program = "0 in 0: a[0+1 0+2] 0 > 1677824\n"
			   "1 in 1: a[0+1 2+2] 256 > 1677824\n"
			   "2 in 0: a[0+1 0+2] 0 > 1678080\n"
			   "3 in 1: a[0+1 2+2] 256 > 1678080\n"
			   "4 compute 0: m0+2 n0+64 a[0+1 0+2]@1677824 a[0+1 0+2]@1678080 -> s[0+1 "
			   "0+2]@0 after 2\n"
			   "5 compute 1: m2+2 n0+64 a[0+1 2+2]@1677824 a[0+1 2+2]@1678080 -> s[0+1 "
			   "2+2]@0 after 3\n"
			   "6 sync 0-1 after 4 5\n"
			   "7 compute 0: m0+1 n0+64 s[0+1 0+1]@0 -> e[0+1 0+1]@0 after 6\n"
			   "8 compute 1: m2+1 n0+64 s[0+1 2+1]@0 -> e[0+1 2+1]@0 after 6\n"
			   "9 compute 0: m1+1 n0+64 s[0+1 1+1]@128 -> e[0+1 1+1]@128\n"
			   "10 compute 1: m3+1 n0+64 s[0+1 3+1]@128 -> e[0+1 3+1]@128\n"
			   "11 sync 0-1 after 9 10\n"
			   "12 compute 0: m0+2 n0+64 e[0+1 0+2]@0 -> y[0+1 0+2]@1677824 after 11\n"
			   "13 compute 1: m2+2 n0+64 e[0+1 2+2]@0 -> y[0+1 2+2]@1677824 after 11\n"
			   "14 out 0: y[0+1 0+2] 1677824 > 512 after 12\n"
			   "15 out 1: y[0+1 2+2] 1677824 > 768 after 13\n",
	},
	{
		.name = "a_clone_runs_ahead_of_its_reader",
		.cores = 2,
		.workload = "{dimensions: {m: 8, n: 64}, ops: ['c[m,n] = clone(x[m,n])', 'y[m,n] = "
			    "exp(c[m,n])', 'z[m,n] = neg(c[m,n])']}",
		.mappings = {"core: m2 | LX: m4", "core: m2 | LX: m2", "core: m2"},
		.stays = {"c at 128 steps 0 3, cores 2: dim 1 / 2 by 1"},
		.program =
			"0 in 0: x[0+1 0+1] 0 > 128\n"
			"1 in 1: x[0+1 4+1] 512 > 128\n"
			"2 in 0: x[0+1 1+1] 128 > 256\n"
			"3 in 1: x[0+1 5+1] 640 > 256\n"
			"4 in 0: x[0+1 2+1] 256 > 384\n"
			"5 in 1: x[0+1 6+1] 768 > 384\n"
			"6 in 0: x[0+1 3+1] 384 > 512\n"
			"7 in 1: x[0+1 7+1] 896 > 512\n"
			"8 compute 0: m0+2 n0+64 c[0+1 0+2]@128 -> y[0+1 0+2]@1677824 after 2\n"
			"9 compute 1: m4+2 n0+64 c[0+1 4+2]@128 -> y[0+1 4+2]@1677824 after 3\n"
			"10 out 0: y[0+1 0+2] 1677824 > 1024 after 8\n"
			"11 out 1: y[0+1 4+2] 1677824 > 1536 after 9\n"
			"12 compute 0: m2+2 n0+64 c[0+1 2+2]@384 -> y[0+1 2+2]@1678080 after 6\n"
			"13 compute 1: m6+2 n0+64 c[0+1 6+2]@384 -> y[0+1 6+2]@1678080 after 7\n"
			"14 out 0: y[0+1 2+2] 1678080 > 1280 after 12\n"
			"15 out 1: y[0+1 6+2] 1678080 > 1792 after 13\n"
			"16 sync 0-1 after 14 15\n"
			"17 compute 0: m0+4 n0+64 c[0+1 0+4]@128 -> z[0+1 0+4]@1677824 after 16\n"
			"18 compute 1: m4+4 n0+64 c[0+1 4+4]@128 -> z[0+1 4+4]@1677824 after 16\n"
			"19 out 0: z[0+1 0+4] 1677824 > 2048 after 17\n"
			"20 out 1: z[0+1 4+4] 1677824 > 2560 after 18\n",
	},
	{
		.name = "an_opaque_op_is_one_compute_in_hbm",
		.cores = 2,
		.workload = "{dimensions: {m: 4, n: 64}, ops: ['y[m,n] = exp(x[m,n])', {opaque: "
			    "topk, reads: [y], writes: ['z[m,n]']}, 'w[m,n] = neg(z[m,n])']}",
		.mappings = {"core: m2", "", "core: m2"},
		.program =
			"0 in 0: x[0+1 0+2] 0 > 1677824\n"
			"1 in 1: x[0+1 2+2] 256 > 1677824\n"
			"2 compute 0: m0+2 n0+64 x[0+1 0+2]@1677824 -> y[0+1 0+2]@1678080 after 0\n"
			"3 compute 1: m2+2 n0+64 x[0+1 2+2]@1677824 -> y[0+1 2+2]@1678080 after 1\n"
			"4 out 0: y[0+1 0+2] 1678080 > 512 after 2\n"
			"5 out 1: y[0+1 2+2] 1678080 > 768 after 3\n"
			"6 sync 0-1 after 4 5\n"
			"7 compute 0: y@512 -> z@1024 after 6\n"
			"8 sync 0 after 7\n"
			"9 in 0: z[0+1 0+2] 1024 > 1677824 after 8\n"
			"10 in 1: z[0+1 2+2] 1280 > 1677824 after 8\n"
			"11 compute 0: m0+2 n0+64 z[0+1 0+2]@1677824 -> w[0+1 0+2]@1678080 after "
			"9\n"
			"12 compute 1: m2+2 n0+64 z[0+1 2+2]@1677824 -> w[0+1 2+2]@1678080 after "
			"10\n"
			"13 out 0: w[0+1 0+2] 1678080 > 1536 after 11\n"
			"14 out 1: w[0+1 2+2] 1678080 > 1792 after 12\n",
	},
	{
		.name = "a_restickify_moves_whole_sticks",
		.cores = 1,
		.workload = "{dimensions: {m: 128, n: 64}, tensors: {y: {layout: [n, m]}}, ops: "
			    "['y[m,n] = restickify x[m,n]']}",
		.mappings = {"LX: m2"},
		.program = "0 in 0: x[0+1 0+64] 0 > 1677824\n"
			   "1 compute 0: m0+64 n0+64 x[0+1 0+64]@1677824 -> y[0+1 0+64]@1694208 "
			   "after 0\n"
			   "2 out 0: y[0+1 0+64] 1694208 > 16384 after 1\n"
			   "3 in 0: x[0+1 64+64] 8192 > 1686016\n"
			   "4 compute 0: m64+64 n0+64 x[0+1 64+64]@1686016 -> y[1+1 0+64]@1702400 "
			   "after 3\n"
			   "5 out 0: y[1+1 0+64] 1702400 > 24576 after 4\n",
	},
	{
		.name = "the_last_tile_is_cut_short",
		.cores = 1,
		.workload = "{dimensions: {m: 2, n: 100}, ops: ['y[m,n] = exp(x[m,n])']}",
		.mappings = {"LX: n2"},
		.program =
			"0 in 0: x[0+1 0+2] 0 > 1677824\n"
			"1 compute 0: m0+2 n0+64 x[0+1 0+2]@1677824 -> y[0+1 0+2]@1678336 after 0\n"
			"2 out 0: y[0+1 0+2] 1678336 > 512 after 1\n"
			"3 in 0: x[1+1 0+2] 256 > 1678080\n"
			"4 compute 0: m0+2 n64+36 x[1+1 0+2]@1678080 -> y[1+1 0+2]@1678592 after "
			"3\n"
			"5 out 0: y[1+1 0+2] 1678592 > 768 after 4\n",
	},
	{
		.name = "tiles_in_the_same_sticks_fetch_them_once",
		.cores = 1,
		.workload = "{dimensions: {p: 4, q: 63}, ops: ['y[p,q] = restickify x[p+q]']}",
		.mappings = {"LX: p4"},
		.program =
			"0 in 0: x[0+1] 0 > 1677824\n"
			"1 compute 0: p0+1 q0+63 x[0+1]@1677824 -> y[0+1 0+1]@1678336 after 0\n"
			"2 out 0: y[0+1 0+1] 1678336 > 256 after 1\n"
			"3 compute 0: p1+1 q0+63 x[0+1]@1677824 -> y[0+1 1+1]@1678464\n"
			"4 out 0: y[0+1 1+1] 1678464 > 384 after 3\n"
			"5 in 0: x[0+2] 0 > 1678080\n"
			"6 compute 0: p2+1 q0+63 x[0+2]@1678080 -> y[0+1 2+1]@1678336 after 2 5\n"
			"7 out 0: y[0+1 2+1] 1678336 > 512 after 6\n"
			"8 compute 0: p3+1 q0+63 x[0+2]@1678080 -> y[0+1 3+1]@1678464 after 4\n"
			"9 out 0: y[0+1 3+1] 1678464 > 640 after 8\n",
	},
	{
		.name = "cores_in_the_same_sticks_share_them",
		.cores = 4,
		.workload = "{dimensions: {p: 4, q: 63}, ops: ['y[p,q] = restickify x[p+q]']}",
		.mappings = {"core: p4"},
		.program = "0 in 0-1: x[0+1] 0 > 1677824\n"
			   "1 in 2-3: x[0+2] 0 > 1677824\n"
			   "2 compute 0: p0+1 q0+63 x[0+1]@1677824 -> y[0+1 0+1]@1678080 after 0\n"
			   "3 compute 1: p1+1 q0+63 x[0+1]@1677824 -> y[0+1 1+1]@1678080 after 0\n"
			   "4 compute 2: p2+1 q0+63 x[0+2]@1677824 -> y[0+1 2+1]@1678080 after 1\n"
			   "5 compute 3: p3+1 q0+63 x[0+2]@1677824 -> y[0+1 3+1]@1678080 after 1\n"
			   "6 out 0: y[0+1 0+1] 1678080 > 256 after 2\n"
			   "7 out 1: y[0+1 1+1] 1678080 > 384 after 3\n"
			   "8 out 2: y[0+1 2+1] 1678080 > 512 after 4\n"
			   "9 out 3: y[0+1 3+1] 1678080 > 640 after 5\n",
	},
	{
		.name = "a_box_outside_of_its_slice_is_refused",
		.cores = 2,
		.workload = "{dimensions: {m: 4, n: 128}, ops: ['c[m,n] = exp(x[m,n])', 'y[m,n] = "
			    "neg(c[m,n])']}",
		.mappings = {"core: m2", "core: n2"},
		.stays = {"c at 0 steps 0 2, cores 2: dim 1 / 2 by 1"},
		.program = "op 'y' on core 0 uses 0..3 of device dimension 1 of 'c', whose slice "
			   "there is 0..1",
	},
	{
		.name = "a_core_without_a_slice_is_refused",
		.cores = 2,
		.workload = "{dimensions: {m: 4, n: 128}, ops: ['c[m,n] = exp(x[m,n])', 'y[m,n] = "
			    "neg(c[m,n])']}",
		.mappings = {"", "core: n2"},
		.stays = {"c at 0 steps 0 2, cores 1"},
		.program = "op 'y' runs on core 1, which holds nothing of 'c': only 1 cores do",
	},
	{
		.name = "a_view_of_more_than_a_core_writes_is_refused",
		.cores = 2,
		.workload = "{dimensions: {m: 4, n: 128}, ops: ['c[m,n] = exp(x[m,n])', 'y[m,n] = "
			    "neg(c[m,n])']}",
		.mappings = {"core: m2", ""},
		.stays = {"c at 0 steps 0 2, cores 2"},
		.program = "op 'c' on core 0 leaves 0..1 of device dimension 1 of 'c', whose slice "
			   "there is 0..3",
	},
	{
		.name = "a_view_of_cores_that_write_nothing_is_refused",
		.cores = 2,
		.workload = "{dimensions: {m: 4, n: 128}, ops: ['c[m,n] = exp(x[m,n])', 'y[m,n] = "
			    "neg(c[m,n])']}",
		.mappings = {"", "core: n2"},
		.stays = {"c at 0 steps 0 2, cores 2"},
		.program = "op 'c' leaves nothing of 'c' on core 1, whose view has a slice there",
	},
	{
		.name = "tiles_that_do_not_fit_are_refused",
		.cores = 1,
		.workload = "{dimensions: {m: 4096, n: 64}, ops: ['y[m,n] = exp(x[m,n])']}",
		.mappings = {"LX: m2"},
		.program = "op 'y' needs 1048576 bytes of tile buffers on a core; the reserve of "
			   "'LX' has 419328",
	},
};

static void lowers(void **state)
{
	const struct row *row = *state;
	struct arena *arena = arena_open();
	const struct plan *plan =
		plan_text(arena, row->cores, row->workload, row->mappings, row->stays);
	const char *why = NULL;
	const struct program *program = lower_plan(plan, arena, &why);
	assert_string_equal(program ? program_text(arena, program) : why, row->program);
	if (!program) {
		arena_close(arena);
		return;
	}
	size_t count = program->instruction_count;
	struct lower_refusal refusal;
	assert_non_null(lower_within(plan, count, arena, &refusal));
	assert_null(lower_within(plan, count - 1, arena, &refusal));
	assert_null(refusal.why);
	arena_close(arena);
}

int main(void)
{
	enum { ROWS = sizeof rows / sizeof *rows };
	struct CMUnitTest tests[ROWS];
	for (int i = 0; i < ROWS; i++)
		tests[i] = (struct CMUnitTest){.name = rows[i].name,
			.test_func = lowers,
			.initial_state = (void *)&rows[i]};
	return run_table("lower", tests, ROWS);
}

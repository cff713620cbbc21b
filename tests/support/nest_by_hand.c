#include "tests/support/nest_by_hand.h"

#include "base/arena.h"

const struct nest_by_hand nests_by_hand[NESTS_BY_HAND] = {
	{
		/* 18 of 24 updates find a sum, and each of 6 words drains: 24 reads */
		.name = "sums stay, operands come again at every step",
		.levels = "DRAM Buf MAC",
		.einsum = "Z[m,n] = A[m,k] B[k,n], m=2 n=3 k=4",
		.mapping = "DRAM: m2 n3 k4",
		.counts = "DRAM Z 0/0/6 A 24/0/0 B 24/0/0; Buf Z 24/0/24 A 24/24/0 B 24/24/0",
		.computes = 24,
		.cycles = 24,
	},
	{
		.name = "an operand stays, sums go out and come back but for the first time",
		.levels = "DRAM Buf MAC",
		.einsum = "Z[m,n] = A[m,k] B[k,n], m=2 n=3 k=4",
		.mapping = "DRAM: m2 k4 n3",
		.counts = "DRAM Z 18/0/24 A 8/0/0 B 24/0/0; Buf Z 42/18/24 A 24/8/0 B 24/24/0",
		.computes = 24,
		.cycles = 24,
	},
	{
		.name = "a loop that a tile does not know leaves it where it is",
		.levels = "DRAM Buf MAC",
		.einsum = "Z[m,n] = A[m,k] B[k,n], m=2 n=3 k=4",
		.mapping = "DRAM: m2 n3 | Buf: k4",
		.counts = "DRAM Z 0/0/6 A 8/0/0 B 24/0/0; Buf Z 24/0/24 A 24/8/0 B 24/24/0",
		.computes = 24,
		.cycles = 24,
	},
	{
		.name = "without temporal reuse it comes again all the same",
		.levels = "DRAM Buf MAC",
		.einsum = "Z[m,n] = A[m,k] B[k,n], m=2 n=3 k=4",
		.mapping = "DRAM: m2 n3 | Buf: k4",
		.flags = {"Buf no_temporal_reuse A"},
		.counts = "DRAM Z 0/0/6 A 24/0/0 B 24/0/0; Buf Z 24/0/24 A 24/24/0 B 24/24/0",
		.computes = 24,
		.cycles = 24,
	},
	{
		.name = "a window slides: only its new end comes",
		.levels = "DRAM Buf MAC",
		.einsum = "O[p] = I[p+r] W[r], p=6 r=3",
		.mapping = "DRAM: p6 | Buf: r3",
		.counts = "DRAM O 0/0/6 I 8/0/0 W 3/0/0; Buf O 18/0/18 I 18/8/0 W 18/3/0",
		.computes = 18,
		.cycles = 18,
	},
	{
		/* windows {0 2 4} {2 4 6} {4 6 8} as boxes of 5: 5 + 2 + 2 */
		.name = "strides and dilations: boxes with their gaps",
		.levels = "DRAM Buf MAC",
		.einsum = "O[p] = I[2p+2r] W[r], p=3 r=3",
		.mapping = "DRAM: p3 | Buf: r3",
		.counts = "DRAM O 0/0/3 I 9/0/0 W 3/0/0; Buf O 9/0/9 I 9/9/0 W 9/3/0",
		.computes = 9,
		.cycles = 9,
	},
	{
		/* one tile: words 0 to 7, of which 2 and 5 are never used */
		.name = "a gap inside a tile moves with it",
		.levels = "DRAM Buf MAC",
		.einsum = "O[p] = I[3p+r] W[r], p=3 r=2",
		.mapping = "Buf: p3 r2",
		.counts = "DRAM O 0/0/3 I 8/0/0 W 2/0/0; Buf O 6/0/6 I 6/8/0 W 6/2/0",
		.computes = 6,
		.cycles = 6,
	},
	{
		/* PE x needs word x + r: after the first step only the last PE asks the buffer */
		.name = "neighbours hand words on",
		.levels = "Buf (PE:4) RF MAC",
		.einsum = "O[p] = I[p+r] W[r], p=4 r=3",
		.mapping = "Buf: r3 | PE: p4",
		.counts = "Buf O 0/0/4 I 6/0/0 W 3/0/0; RF O 12/0/12 I 18/12/0+6 W 12/12/0",
		.computes = 12,
		.cycles = 3,
	},
	{
		.name = "no links, no handing on",
		.levels = "Buf (PE:4) RF MAC",
		.einsum = "O[p] = I[p+r] W[r], p=4 r=3",
		.mapping = "Buf: r3 | PE: p4",
		.flags = {"inter_PE_spatial no_link_transfer I"},
		.counts = "Buf O 0/0/4 I 12/0/0 W 3/0/0; RF O 12/0/12 I 12/12/0 W 12/12/0",
		.computes = 12,
		.cycles = 3,
	},
	{
		/* no group of W either: every PE reads its own */
		.name = "without spatial reuse every child is on its own",
		.levels = "Buf (PE:4) RF MAC",
		.einsum = "O[p] = I[p+r] W[r], p=4 r=3",
		.mapping = "Buf: r3 | PE: p4",
		.flags = {"inter_PE_spatial no_spatial_reuse I",
			"inter_PE_spatial no_spatial_reuse W"},
		.counts = "Buf O 0/0/4 I 12/0/0 W 12/0/0; RF O 12/0/12 I 12/12/0 W 12/12/0",
		.computes = 12,
		.cycles = 3,
	},
	{
		/* PEs (0,0) (1,0) (0,1) (1,1) need words 0 1 1 2, sums 0 1 0 1 */
		.name = "multicast along a diagonal",
		.levels = "Buf (PE:2x2) RF MAC",
		.einsum = "O[p] = I[p+r] W[r], p=2 r=2",
		.mapping = "PE: p2 r2@y",
		.counts = "Buf O 0/0/2 I 3/0/0 W 2/0/0; RF O 4/0/4 I 4/4/0 W 4/4/0",
		.computes = 4,
		.cycles = 1,
	},
	{
		/* both PEs drain a sum at each of 4 moves, added on the way; a sum that returns
		 * goes to the first of them */
		.name = "the network adds up, sums return to one of the group",
		.levels = "Buf (PE:2) RF MAC",
		.einsum = "Z[n] = A[n,k], n=2 k=4",
		.mapping = "Buf: k2 n2 | PE: k2",
		.counts = "Buf Z 2/0/4 A 8/0/0; RF Z 10/2/8 A 8/8/0",
		.computes = 8,
		.cycles = 4,
	},
	{
		/* the second PE's drain finds the first one's, 4 times; the first takes the whole sum */
		.name = "without spatial reuse the sums drain one by one",
		.levels = "Buf (PE:2) RF MAC",
		.einsum = "Z[n] = A[n,k], n=2 k=4",
		.mapping = "Buf: k2 n2 | PE: k2",
		.flags = {"inter_PE_spatial no_spatial_reuse Z"},
		.counts = "Buf Z 6/0/8 A 8/0/0; RF Z 10/2/8 A 8/8/0",
		.computes = 8,
		.cycles = 4,
	},
	{
		.name = "multipliers that share a word read it once and add up",
		.levels = "Buf (MACs:4) MAC",
		.einsum = "Z[m] = A[m,k] B[k], m=6 k=2",
		.mapping = "Buf: m3 | MACs: m2 k2",
		.counts = "Buf Z 0/0/6 A 12/0/0 B 6/0/0",
		.computes = 12,
		.cycles = 3,
	},
	{
		/* 4 + 3 of m, 3 + 2 of k: A 7 * 5 for each of 3 n, B 5 * 12 for each of 2 m */
		.name = "bounds that do not divide, in time",
		.levels = "DRAM Buf MAC",
		.einsum = "Z[m,n] = A[m,k] B[k,n], m=7 n=12 k=5",
		.mapping = "DRAM: m2 n3 k2 | Buf: m4 n4 k3",
		.counts = "DRAM Z 0/0/84 A 105/0/0 B 120/0/0; "
			  "Buf Z 420/0/420 A 420/105/0 B 420/120/0",
		.computes = 420,
		.cycles = 420,
	},
	{
		/* four PEs, three in the second round: B is read for all of them together */
		.name = "bounds that do not divide, in space",
		.levels = "Buf (MACs:4) MAC",
		.einsum = "Z[m,n] = A[m,k] B[k,n], m=7 n=8 k=8",
		.mapping = "Buf: m2 n8 k8 | MACs: m4",
		.counts = "Buf Z 392/0/448 A 448/0/0 B 128/0/0",
		.computes = 448,
		.cycles = 128,
	},
	{
		/* A's parent is DRAM, which serves both PEs at once: 2 words for each of m3 */
		.name = "who does not keep a dataspace is passed by",
		.levels = "DRAM GLB (PE:2) RF MAC",
		.einsum = "Z[m,n] = A[m,k] B[k,n], m=3 n=2 k=2",
		.mapping = "DRAM: m3 | PE: n2 | RF: k2 | keep DRAM,RF: A",
		.counts = "DRAM Z 0/0/6 A 6/0/0 B 4/0/0; GLB Z 6/0/6 A 0/0/0 B 4/4/0; "
			  "RF Z 12/0/12 A 12/12/0 B 12/4/0",
		.computes = 12,
		.cycles = 6,
	},
	{
		/* 2 drained words twice: GLB makes sums first, DRAM gets none */
		.name = "a home below the outermost level",
		.levels = "DRAM GLB (PE:2) RF MAC",
		.einsum = "Z[m] = A[m,k], m=2 k=2",
		.mapping = "DRAM: k2 m2 | keep GLB,RF: Z",
		.counts = "DRAM Z 0/0/0 A 4/0/0; GLB Z 2/0/4 A 4/4/0; RF Z 6/2/4 A 4/4/0",
		.computes = 4,
		.cycles = 4,
	},
	{
		/* as if GLB were bypassed, but every A that passes is a fill and a read there, and
		 * every Z that comes back too; one that drains is an update and a read */
		.name = "a level that does not coalesce",
		.levels = "DRAM GLB (PE:2) RF MAC",
		.einsum = "Z[m] = A[m,k], m=2 k=4",
		.mapping = "DRAM: k2 m2 | PE: k2",
		.flags = {"GLB no_coalesce A", "GLB no_coalesce Z"},
		.counts = "DRAM Z 2/0/4 A 8/0/0; GLB Z 6/2/4 A 8/8/0; RF Z 10/2/8 A 8/8/0",
		.computes = 8,
		.cycles = 4,
	},
	{
		/* what entered without a sum is read at its first update: 6 at DRAM, 6 below */
		.name = "first updates that read",
		.levels = "DRAM Buf MAC",
		.einsum = "Z[m,n] = A[m,k] B[k,n], m=2 n=3 k=4",
		.mapping = "DRAM: m2 k4 n3",
		.flags = {"DRAM rmw_first_update Z", "Buf rmw_first_update Z"},
		.counts = "DRAM Z 24/0/24 A 8/0/0 B 24/0/0; Buf Z 48/18/24 A 24/8/0 B 24/24/0",
		.computes = 24,
		.cycles = 24,
	},
	{
		/* PE 1 has no work in the second round, and its buffer keeps what the register below
		 * will drain into; that of PE 0 sends a zero, unread, and is read as a sum is added to
		 * it; in the end both are */
		.name = "no tile goes from above a sum",
		.levels = "DRAM (PE:2) Buf RF MAC",
		.einsum = "Z[z] = A[k], k=3 z=1",
		.mapping = "DRAM: k2 | PE: k2",
		.flags = {"Buf no_temporal_reuse Z"},
		.counts = "DRAM Z 1/0/2 A 3/0/0; Buf Z 3/1/2 A 3/3/0; RF Z 3/0/3 A 3/3/0",
		.computes = 3,
		.cycles = 2,
	},
};

struct nest_case *nest_by_hand_make(struct arena *arena, const struct nest_by_hand *nest)
{
	struct nest_case *made = nest_line(arena, nest->levels, nest->einsum, nest->mapping);
	for (int i = 0; i < 3 && nest->flags[i]; i++)
		nest_line_flag(made, nest->flags[i]);
	return made;
}

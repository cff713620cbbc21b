#ifndef SUPPORT_NEST_LINE_H
#define SUPPORT_NEST_LINE_H

#include "model/nest/nest_score.h"
#include "tests/support/nest_case.h"

/*
 * Nests in three lines, and their counts in one.
 *
 *	levels   "DRAM GLB (PE:4x2) RF MAC", as level_path reads them
 *	einsum   "O[p] = I[2p+r] W[r], p=6 r=3"
 *	mapping  "DRAM: p3 | GLB: p2 r3", as nest_mapping_parse reads it
 */
struct arena;

struct nest_case *nest_line(
	struct arena *arena, const char *levels, const char *einsum, const char *mapping);

/* Sets a flag of nest_level for one dataspace: "Buf no_coalesce Z". */
void nest_line_flag(struct nest_case *nest, const char *flag);

/* By their names. */
struct nest_level *nest_line_level(struct nest_case *nest, const char *level);
uint8_t nest_line_space(const struct nest_case *nest, const char *space);

/* Reads/fills/updates of all dataspaces, outermost level first, links behind a "+":
 * "DRAM O 0/0/6 I 8/0/0 W 3/0/0; Buf O 12/0/18 I 18/8/0 W 18/3/0". */
const char *nest_line_counts(
	struct arena *arena, const struct nest_case *nest, const struct nest_counts *counts);

#endif

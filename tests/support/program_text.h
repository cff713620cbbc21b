#ifndef SUPPORT_PROGRAM_TEXT_H
#define SUPPORT_PROGRAM_TEXT_H

#include "lower/graph/program.h"

/*
 * One line per instruction, for comparison and for messages:
 *
 *	0 in 0-3: x[0+4 0+512] 0 > 1677824
 *	1 compute 0: n0+64 m0+512 x[0+1 0+512]@1677824 -> mx[0+1]@1808896 after 0
 *	2 out 0: mx[0+1] 1808896 > 1048576 after 1
 *	3 ring 1 0: y[0+1 0+8]@1808896 -> @1810944 after 1 2
 *	4 sync 0-3 after 2
 *	5 out 0: wq[0+4 0+64] 0 > rank 2 65536 after 4
 *
 * Boxes are first+count by device dimension; a compute's accumulator is shown
 * as "acc@ADDRESS" with r where it is read and w where it is written.
 */
struct arena;
const char *program_text(struct arena *arena, const struct program *program);

#endif

#ifndef MODEL_LIMITS_H
#define MODEL_LIMITS_H

/* Fixed maxima of every op, so that a mapping is a value of fixed size; beyond is a clear error. */
enum {
	OP_LOOPS_MOST = 16,
	OP_READS_MOST = 7, /* with the output: 8 dataspaces */
};

#endif

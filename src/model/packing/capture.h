#ifndef MODEL_PACKING_CAPTURE_H
#define MODEL_PACKING_CAPTURE_H

#include "base/diag.h"
#include "model/packing/buffer.h"

/*
 * A capture: the joint problem of division and placement that a compiler met.  Each op makes one
 * buffer and has a menu of divisions.  A division decides how many bytes of the buffer each core
 * holds and which cores hold which part.  A reader finds a buffer in LX only under certain pairs of
 * divisions, its own and that of the op which made the buffer.
 *
 *	legal     a buffer is in LX only if every reader's division is paired with its own, and no
 *	          two buffers that live at once share bytes; a child may take the address of an
 *	          in-place parent that ends in the child's first step, if the two have equal bytes per
 *	          core and their divisions are paired
 *	cost      bytes that buffers outside LX move through HBM; then most cores in sum; then the
 *	          least sum of squared ways: lexicographic
 *
 * The format is that of torch-spyre's test captures: {case: [{"inputs": [..], "solved": [..]}]}.
 */
struct arena;
struct node;
struct reading;

/* One entry of a menu. */
struct capture_division {
	int64_t pieces; /* product of the ways of output splits: bytes per core = ceil(size / pieces) */
	int64_t cores;   /* product of the ways of all splits */
	int64_t squares; /* sum of the squared ways of all splits */
};

struct capture_pair {
	int parent, own; /* entries of the two menus */
};

/* A buffer that the op reads. */
struct capture_edge {
	int parent;        /* index of a buffer */
	bool is_in_place;  /* the op may write over it */
	size_t pair_count; /* 0: the op never finds it in LX */
	const struct capture_pair *pairs;
};

struct capture_buffer {
	const char *name;
	struct span span;
	int64_t size;       /* bytes of the whole tensor; 0: not known, never in LX */
	int64_t start, end; /* steps of its life, half-open */
	bool may_stay;      /* in LX */
	int64_t cost;       /* bytes moved through HBM if it is not in LX */
	size_t division_count;
	const struct capture_division *divisions; /* entry 0 is the compiler's own choice */
	size_t edge_count;
	const struct capture_edge *edges;
};

struct capture_cost {
	int64_t spilled; /* bytes */
	int64_t idle;    /* minus the sum of cores: less is better in all three */
	int64_t squares;
};

/* An answer; arrays by buffer. */
struct capture_answer {
	int *divisions;     /* entries of the menus */
	int64_t *addresses; /* bytes; UNPLACED: in HBM */
	struct capture_cost cost;
};

struct capture {
	const char *name; /* the key; of several cases under one key with a position: "mlp[1]" */
	const char *key;
	size_t position; /* in the list under the key */
	size_t count;
	const struct capture_buffer *buffers;   /* in the order of the file */
	const struct capture_answer *published; /* "solved" of the file; NULL: it has none */
};

/* A capture with the memory that it is solved for. */
struct capture_question {
	const struct capture *capture;
	int64_t capacity, alignment; /* bytes of each core */
};

struct captures {
	size_t count;
	const struct capture *at;
};

/* Reads all cases of a file, without the costs of published answers.  False after complaining. */
bool captures_read(const struct reading *reading, const struct node *root, struct captures *out);

/* Bytes of a buffer per core under a division, before alignment. */
int64_t capture_bytes(const struct capture_buffer *buffer, int division);

/* The sum of the sizes of all buffers: what "half of the footprint" is a half of. */
int64_t capture_footprint(const struct capture *capture);

/* The cost that follows from divisions and addresses. */
struct capture_cost capture_cost(
	const struct capture *capture, const struct capture_answer *answer);

/* Below 0 if a is better, 0 if equal. */
int capture_compare(const struct capture_cost *a, const struct capture_cost *b);

/*
 * The independent checker: NULL, or why the answer is illegal, in the arena.  Looks at every pair of
 * buffers: time n^2.
 */
const char *capture_check(struct arena *arena, const struct capture_question *question,
	const struct capture_answer *answer);

#endif

#ifndef SIM_GRAPH_DATA_H
#define SIM_GRAPH_DATA_H

#include "model/machine/layout.h"
#include "sim/graph/memory.h"
#include "sim/graph/nests.h"

/*
 * The elements of a stick in the host array: `lanes` of them from linear index
 * `host` on, `step` apart; the stick's other lanes are padding.  `coordinates`
 * are the host coordinates of the first.
 */
struct image_stick {
	int64_t host, step;
	int lanes;
	int64_t coordinates[LAYOUT_HOST_RANK_MOST];
};

struct image_stick image_find(const struct layout *layout, int64_t stick);

/* Between the host array and STICK_BYTES of a memory; packing leaves padding alone. */
void image_pack(const struct layout *layout, int64_t stick, const void *array, void *memory);
void image_unpack(const struct layout *layout, int64_t stick, const void *memory, void *array);

/*
 * The bytes of HBM and of every LX, and what instructions do to them.  HBM
 * begins with the graph's inputs in it.  Only instructions whose boxes are
 * right (sim/graph/audit.h) may be run.
 */
struct arena;
struct data;

/* The data of one rank; each draws inputs of its own (reference.h). */
struct data *data_open(const struct program *program, int rank, const struct nests *nests,
	const struct sim_options *options, struct arena *arena);

/* Scratchpads alone, for computes and rings; and the bytes of one. */
struct data *data_open_lx(
	const struct program *program, const struct nests *nests, struct arena *arena);
char *data_lx(struct data *data, int core);

/* NULL, or why it could not be done. */
const char *data_run(struct data *data, const struct instruction *instruction);

/* A broadcast's store, from LX of the root to HBM of another rank, or of its own. */
void data_store(struct data *root, struct data *to, const struct instruction *instruction);

/* Host arrays of all tensors that have a place in HBM, as they are there now. */
void **data_outputs(const struct data *data, struct arena *arena);

/* Host arrays of what ops have made, as it was when they made it; NULL where none has. */
void **data_made(const struct data *data);

/*
 * In identity mode no memory has bytes; yet of every op the first output tile is computed for real.
 * An operand's elements are drawn from the identities in its box: a small integer for every element
 * of every tensor.  The computes and the ring run on them as on data.  Some elements of the result are
 * compared with the op's loops over the same numbers.
 */
struct sample;

struct sample *sample_open(const struct program *program, const struct nests *nests, uint64_t seed,
	struct shadow *shadow, struct faults *faults, struct arena *arena);

/* Before the shadow knows what the instruction writes; its boxes are known to be right. */
void sample_compute(struct sample *sample, uint32_t instruction, const struct box *reads,
	const struct box *write);
void sample_combine(struct sample *sample, uint32_t instruction, const struct box *output);

int sample_count(const struct sample *sample); /* tiles compared */

#endif

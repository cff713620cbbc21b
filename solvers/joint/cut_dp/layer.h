#ifndef JOINT_CUT_DP_LAYER_H
#define JOINT_CUT_DP_LAYER_H

#include "solvers/joint/cut_dp/frame.h"

/*
 * All that is known at one cut: states, each with the labels that end in it.
 *
 * A label is a path from the first op.  Its bundle part says what the bundle that it is in has so far; a label
 * that dominates another needs no more than that one does, however both go on.  Let a and b be labels of
 * one state, F the tensors that their bundles have in HBM.  If b goes on in its bundle with tensors R, it has
 * args_b + |R \ F_b| of them in the end, and a would have args_a + |R \ F_a|, which is no more if
 * args_a + |F_b \ F_a| <= args_b.  Widening costs a at most core_value x max(0, widest_b - widest_a) more.
 * Or a begins a bundle where b goes on: that costs at most what a bundle of width widest_b costs.
 */
#define LABEL_NONE UINT32_MAX /* no enumerator: those are ints */
enum { LABEL_CLOSED = UINT16_MAX };

struct bundle {
	uint64_t in_hbm; /* slots whose tensor it has in HBM already */
	uint16_t args;   /* tensors in HBM; LABEL_CLOSED: the next step begins a bundle */
	uint16_t widest;
};

struct label {
	int64_t cost;  /* of all steps and bundles, the open one included as wide as it is */
	int64_t bound; /* no answer that goes on from it is below */
	struct bundle bundle;
	bool dominated, begins_bundle;
	bool is_chosen, is_changed; /* for evictions and relays; they were made */
	uint8_t kind;               /* enum joint_step_kind: how it came here */
	uint16_t parent_cut;
	uint32_t parent;      /* LABEL_NONE: it is the first */
	uint32_t step;        /* an option; or a tensor */
	uint16_t view;        /* of a relay */
	uint32_t state, next; /* next of the same state */
};

struct cut_layer;
struct cut_layer *layer_open(const struct frame *frame, int cut, struct arena *arena);

/* The number of a state, by its codes; it is added if it is new. */
uint32_t layer_state(struct cut_layer *layer, const uint16_t *codes);
bool layer_find(const struct cut_layer *layer, const uint16_t *codes, uint32_t *state);
uint32_t layer_state_count(const struct cut_layer *layer);
const uint16_t *layer_codes(const struct cut_layer *layer, uint32_t state);
uint32_t layer_first(const struct cut_layer *layer, uint32_t state); /* label */
int64_t layer_bytes(const struct cut_layer *layer, uint32_t state);  /* in LX */

void layer_clear(struct cut_layer *layer); /* of labels; states stay */

/* Adds a label unless another dominates it; those that it dominates are marked.  LABEL_NONE if not added. */
uint32_t layer_add(struct cut_layer *layer, const struct label *label);
uint32_t layer_append(struct cut_layer *layer, const struct label *label); /* of no state's list */
void layer_forget(struct cut_layer *layer); /* labels that are marked as dominated */
uint32_t layer_label_count(const struct cut_layer *layer);
struct label *layer_label(const struct cut_layer *layer, uint32_t i);

/* The steps to a label of a cut. */
struct joint_answer *layers_trace(
	struct cut_layer *const *layers, int cut, uint32_t at, struct arena *arena);

/* States or labels by a value: the least first, of equal ones the first. */
struct cut_ranked {
	int64_t value;
	uint32_t number;
};
void cut_rank(struct cut_ranked *ranked, size_t count);

#endif

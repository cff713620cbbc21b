#ifndef CUT_DP_FRAME_H
#define CUT_DP_FRAME_H

#include "search/joint/joint_space.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * A joint space, prepared for a search over its cuts.  Cut c lies before op c; cut op_count is the end.
 *
 * A tensor has a slot at each cut between the first and the last option that mention it, an output up to the
 * end.  Its code there says where it is: bit 0: valid in HBM; the rest: its view + 1, 0: not in LX.
 *
 * A tensor is dropped from LX only where room is wanted: to keep it costs nothing.  But where nothing can need
 * it in LX any more, it is taken out of the state, so that equal futures are equal states.
 */
enum { CUT_SLOTS_MOST = 64, CUT_VALID = 1 };
#define CUT_NO_SLOT (-1)

struct cut {
	int slot_count;
	const int *tensors;          /* by slot, ascending */
	const uint16_t *const *kept; /* [slot][code]: without a view that nothing needs */
	uint64_t mentions;           /* slots whose tensor may still be used in HBM */
};

struct frame {
	const struct joint_space *space;
	struct arena *arena;
	int cut_count; /* op_count + 1 */
	const struct cut *cuts;
	const int8_t *slots; /* [cut * tensor_count + tensor]; CUT_NO_SLOT */
	const int64_t *
		over; /* what a bundle of this width costs; JOINT_NEVER: more than can be counted */
	int width_most;
	int rank_count;    /* of different widths of steps */
	const int *widths; /* by rank, ascending */
	const int *ranks;  /* by width: rank of the largest width up to it */
	int args_most;     /* of a bundle; 0: any number */
	/* By tensor: the first cut behind an option that mentions it in HBM; that has it among its arguments. */
	const int *hbm_from, *argued_from;
};

/* NULL after saying in *why what cannot be searched. */
const struct frame *frame_make(
	const struct joint_space *space, struct arena *arena, const char **why);

/*
 * The same, but a tensor takes no more room, and costs no more to evict, than under any view that it can be
 * relayed to: so no relay comes early.  The frame itself if nothing can be relayed.
 */
const struct frame *frame_with_less_room(const struct frame *frame, struct arena *arena);

/* The same without relays. */
const struct frame *frame_without_relays(const struct frame *frame, struct arena *arena);

/* True if some tensor can be relayed. */
bool frame_relays(const struct frame *frame);

/* The codes of the first cut. */
void frame_start(const struct frame *frame, uint16_t *codes);

/* Is this the end, where all outputs are valid in HBM? */
bool frame_is_complete(const struct frame *frame, const uint16_t *codes);

static inline int frame_slot(const struct frame *frame, int cut, int tensor)
{
	return frame->slots[(size_t)cut * (size_t)frame->space->tensor_count + (size_t)tensor];
}

/* Is an option of ops from `first` on certainly the first to use this tensor in HBM?  What was made before may have
 * been evicted. */
static inline bool frame_is_fresh(const struct frame *frame, int first, int tensor)
{
	int producer = frame->space->tensors[tensor].producer;
	return frame->hbm_from[tensor] > first && (producer < 0 || producer >= first);
}

static inline uint16_t cut_code(bool valid, int view)
{
	return (uint16_t)((view + 1) << 1 | valid);
}

static inline int cut_view(uint16_t code)
{
	return (code >> 1) - 1;
}

/* The bytes in LX of a tensor with this code. */
static inline int64_t cut_bytes(const struct joint_tensor *tensor, uint16_t code)
{
	return cut_view(code) < 0 ? 0 : tensor->bytes[cut_view(code)];
}

/* A sum of what is not negative; JOINT_NEVER where it is more than can be counted. */
static inline int64_t cut_add(int64_t a, int64_t b)
{
	int64_t sum;
	return __builtin_add_overflow(a, b, &sum) ? JOINT_NEVER : sum;
}

/*
 * The states of one cut, each with the labels that end in it.
 *
 * A label is a path from the first op.  Its bundle part has the tensors of the open bundle so far.  A label
 * dominates another if every continuation costs it no more.  Let a and b be labels of one state, F the tensors that
 * their bundles have in HBM.  If b goes on in its bundle with tensors R, it has args_b + |R \ F_b| of them in the
 * end, and a would have args_a + |R \ F_a|. The latter is no more than the former if args_a + |F_b \ F_a| <=
 * args_b.  Widening costs a at most core_value x max(0, widest_b - widest_a) more.  Or a begins a bundle where b
 * goes on: that costs at most what a bundle of width widest_b costs.
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

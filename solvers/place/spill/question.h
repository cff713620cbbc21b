#ifndef PLACE_SPILL_PACK_H
#define PLACE_SPILL_PACK_H

#include "solvers/place/pack/pack.h"
#include "solvers/place/spill/model.h"

/*
 * The packer's question about a set of items: what is kept of one buffer without a break is one
 * buffer of the question.
 */
struct spill_residence {
	int first, last; /* items */
	int64_t from, to;
};

struct spill_question {
	const struct spill_model *model;
	struct packing packing;
	struct spill_residence *residences; /* by buffer of that packing */
};

struct spill_question spill_question_make(
	struct arena *arena, const struct spill_model *model, const bool *kept);

/* The answer's addresses, by item. */
void spill_question_answer(const struct spill_question *question, const struct placement *placement,
	int64_t *addresses);

/* Items at addresses, of the buffers that the model was made from. */
struct placement *spill_placement(struct arena *arena, const struct spill_model *model,
	const bool *kept, const int64_t *addresses);

/*
 * No set that packs has all these items: unless it has one of the parents as well, which an item
 * among them needs that must take a place over.
 */
struct spill_cut {
	int item_count, parent_count;
	const int *items, *parents;
};

/* From buffers of the question that do not fit. */
struct spill_cut spill_question_cut(
	struct arena *arena, const struct spill_question *question, const int *core, size_t count);

#endif

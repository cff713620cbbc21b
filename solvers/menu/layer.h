#ifndef MENU_LAYER_H
#define MENU_LAYER_H

#include "base/array.h"
#include "model/packing/capture.h"

/*
 * The labels after one step: of equal states and no-goods the cheapest is kept.
 */
/* Kept until the pass ends; its state only until the next layer is made. */
struct menu_label {
	struct capture_cost cost;
	uint64_t nogoods; /* bits of those all of whose buffers so far it keeps */
	int32_t before;   /* label of the layer before */
	int32_t division;
	bool stays;
};

struct menu_layer {
	size_t width;     /* slots of a state */
	const int *slots; /* buffers that are live after this step */
	struct array(struct menu_label) labels;
	struct array(int) states; /* width numbers for each label */
	size_t table_size;        /* a power of two */
	int32_t *table;           /* labels by state and no-goods; -1: free */
};

/* Keeps the label if no cheaper one has its state: `width` numbers. */
void layer_keep(struct arena *arena, struct menu_layer *layer, const struct menu_label *label,
	const int *state);

#endif

#ifndef CUT_DP_STEP_H
#define CUT_DP_STEP_H

#include "solvers/joint/cut_dp/frame.h"

#include <stddef.h>

struct menus;

/*
 * Steps that can be taken from a state, with the states that they lead to.
 *
 * The effects of the options of a cut depend on the codes of few slots only, those that they use.  So each choice
 * of these has a menu: the options that can be taken, with their effects and their room, without those that another
 * one does as well.  If room is short, a step drops tensors: each minimal set.
 */
enum { STEP_RELAYS_MOST = 8 };

struct step_relay {
	int slot, view, cores;
	int64_t value;
};

struct cut_step {
	enum joint_step_kind kind;
	uint32_t which; /* an option; or a tensor */
	int view;       /* of a relay */
	int64_t value;
	int cores;
	bool ends_bundle, alone;
	int fresh;            /* tensors that no step before can have used in HBM */
	int args;             /* tensors that it uses in HBM */
	uint64_t args_before; /* those that have slots at the cut before, at the one after */
	uint64_t args_after;
	int cut;         /* where it leads to */
	int relay_count; /* relays right before it, of a lazy option: their values are in `value` */
	struct step_relay relays[STEP_RELAYS_MOST];
	uint16_t codes[CUT_SLOTS_MOST];
};

/* Called for each step; false: no more. */
typedef bool step_visit(void *context, const struct cut_step *step);

/*
 * Lazy relays come only right before an option that reads what they made, as one step with it.
 * With bundles, or where relays free room, that may miss the best.  `roomless`: relays take no room for two
 * views.
 */
struct steps;
struct steps *steps_open(const struct frame *frame, struct arena *arena);
void steps_be_lazy(struct steps *steps, bool lazy, bool roomless);
void steps_close(struct steps *steps);
void steps_leave_room(struct steps *steps, int64_t capacity); /* less than LX has */

/* Options that can be taken from a state at a cut, which has these bytes in LX. */
bool steps_options(struct steps *steps, int cut, const uint16_t *codes, int64_t bytes,
	step_visit *visit, void *context);

/* Evictions and relays, which lead to the same cut. */
bool steps_changes(struct steps *steps, int cut, const uint16_t *codes, int64_t bytes,
	step_visit *visit, void *context);

/* The slots at `to` whose tensors are in this set of slots at `from`. */
uint64_t steps_slots(const struct steps *steps, int from, int to, uint64_t slots);

#endif

#ifndef JOINT_JOINT_SPACE_H
#define JOINT_JOINT_SPACE_H

#include "base/stopper.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A joint space: all that can be decided about a graph of ops, as numbers in one unit (cycles, bytes, or
 * 2^-10 pJ).  Ops 0 .. op_count-1 run in order.  An option carries out ops [first, end) at one go: one op,
 * or a run of ops that share a tile loop.  An answer is a sequence of steps: options that follow each
 * other from op 0 to the last, and between them relays and evictions.
 *
 * Between two steps a tensor is in HBM (valid or not), and in LX under one of its views or not at
 * all.  Inputs are valid in HBM from the start, all others from an option or an eviction that writes them
 * there.  An option may be taken if each of its uses finds its tensor:
 *
 *	JOINT_HBM       valid in HBM: it is streamed from there
 *	JOINT_RESIDENT  in LX under a view that serves the one asked for
 *	JOINT_MOVED     valid in HBM and not in LX under a view that serves: the phase of the option brings
 *	                it into LX under that view, where it then is; it replaces another view
 *
 * and leaves what it makes where its `outs` say: in HBM, or in LX under a view.  A relay replaces the view
 * of a tensor by another, for which both take room; an eviction makes what is in LX valid in HBM, too.  A
 * tensor may be dropped from LX at any time; one that is dropped without being valid in HBM is lost.
 * Outputs of the graph are valid in HBM at the end.
 *
 * Room: at each step the bytes of all tensors that are in LX before or after it, of both views of a relay, and
 * `room` of the option are at most `capacity`; but an out that takes over the bytes of a use (joint_out.in_place)
 * counts only as far as it is larger, if the used tensor lies there under the very view of the use, and is dropped
 * with the step.  This is necessary, not sufficient: addresses are found afterwards (joint_pack), and an answer
 * must have them.
 *
 * Bundles: runs of steps.  A bundle costs bundle_value + core_value x the widest of its steps, and uses at
 * most bundle_most distinct tensors in HBM: those of uses JOINT_HBM and JOINT_MOVED, of outs in HBM, of
 * evictions, and `arguments` of options.  An eviction is as wide as the view that it stores, a relay as
 * the wider one of its two.  The step behind an option that ends_bundle begins a bundle.  An option that
 * is alone has a bundle of its own, in which it may use any number of tensors in HBM.
 *
 * A list of steps names no drops: a tensor is in LX from the step that brings or makes it up to the last
 * one that needs it there.  An option may leave one tensor in both places: it has two outs then.
 *
 * The value of an answer is the sum of its options, relays, evictions and bundles.
 */
#define JOINT_NEVER INT64_MAX

enum joint_mode { JOINT_HBM, JOINT_RESIDENT, JOINT_MOVED };

struct joint_tensor {
	const char *name;
	int producer;         /* the op that makes it; -1: an input */
	int last;             /* the last op that reads it, or its producer */
	bool output;          /* it must be valid in HBM at the end */
	int view_count;       /* 0: it never lies in LX */
	const int64_t *bytes; /* by view: of LX, on each core */
	const int *cores;     /* by view: how many take part in moving it */
	const bool *serves;   /* [held * view_count + asked] */
	const int64_t *relay; /* [from * view_count + to]; JOINT_NEVER: it cannot be done */
	const int64_t *evict; /* by view; JOINT_NEVER */
};

/* True if it can be relayed. */
static inline bool joint_is_relayed(const struct joint_tensor *tensor)
{
	for (int from = 0; from < tensor->view_count; from++)
		for (int to = 0; to < tensor->view_count; to++)
			if (from != to &&
				tensor->relay[from * tensor->view_count + to] != JOINT_NEVER)
				return true;
	return false;
}

struct joint_use {
	int tensor;
	enum joint_mode mode;
	int view; /* JOINT_HBM: -1 */
};

struct joint_out {
	int tensor;
	int view;     /* -1: into HBM */
	int in_place; /* the use whose bytes it may take over; -1 */
};

struct joint_option {
	int first, end; /* ops */
	int64_t value;
	int64_t room; /* LX bytes that it needs beside uses and outs */
	int cores;
	bool ends_bundle; /* the step behind it begins a bundle */
	bool alone;   /* one phase with more tensors than a bundle may use; it ends its bundle */
	bool empties; /* an opaque op: no tensor is in LX before, while or after it runs */
	int use_count, out_count, argument_count;
	const struct joint_use *uses; /* each tensor once, ascending */
	const struct joint_out *outs;
	/* further tensors in HBM, valid there or not, ascending; none of uses or outs */
	const int *arguments;
	const void *choice; /* what it stands for; a solver leaves it alone */
};

/* The use of a tensor; NULL if the option has none. */
const struct joint_use *joint_use_of(const struct joint_option *option, int tensor);

struct joint_space {
	int op_count, tensor_count;
	size_t option_count;
	const struct joint_tensor *tensors;
	const struct joint_option *options; /* by first, then end */
	const size_t *first_option;  /* by op: the first with this `first`; op_count + 1 entries */
	int64_t capacity, alignment; /* bytes of LX */
	int bundle_most;             /* 0: any number */
	int64_t bundle_value, core_value;
	const void *graph; /* what it was made of (joint_graph.h); NULL: of nothing */
};

enum joint_step_kind { JOINT_OPTION, JOINT_RELAY, JOINT_EVICT };

struct joint_step {
	enum joint_step_kind kind;
	bool begins_bundle;
	size_t option; /* JOINT_OPTION */
	int tensor;    /* JOINT_RELAY, JOINT_EVICT */
	int view;      /* JOINT_RELAY: to which */
};

struct joint_answer {
	int64_t value;
	size_t count;
	const struct joint_step *steps;
};

/* Returns the value of an answer by the rules above, step by step; *why, and JOINT_NEVER, if it breaks one. */
struct arena;
int64_t joint_value(const struct joint_space *space, const struct joint_answer *answer,
	struct arena *arena, const char **why);

/* A stay of a tensor in LX under one view. */
struct joint_stay {
	int tensor, view;
	size_t from, to; /* the first and the last step that need it */
	ptrdiff_t
		in_place_of; /* the stay whose bytes it may take over, if that ends with `from`; -1 */
	bool passed_on;      /* an out takes over its bytes, if it ends with that step */
	size_t passed_at;
};

struct joint_stays {
	size_t count;
	const struct joint_stay *at;
};

/* The stays of an answer, by the step that begins them; none, and *why, if it breaks a rule. */
struct joint_stays joint_stays(const struct joint_space *space, const struct joint_answer *answer,
	struct arena *arena, const char **why);

/*
 * Addresses for an answer: all that is in LX at some step, packed by the solver that proves.  Items are the
 * stays of joint_stays, by number, and behind them the room of each step that needs some, in order.
 */
struct arena;
struct run;

struct joint_packing {
	enum verdict
		status;  /* VERDICT_OPEN: the ticks were not enough, or joint_stays says why not */
	const char *why; /* the answer breaks a rule; NULL */
	struct joint_stays stays;
	size_t item_count;
	const int64_t *addresses; /* VERDICT_YES: by item */
	const int *in_place_of;   /* VERDICT_YES: by item, the stay whose bytes it took over; -1 */
	const int64_t *rooms;     /* VERDICT_YES: by step, where its room is; 0 without one */
	size_t core_count; /* VERDICT_NO: items that do not fit even alone; 0: none was found */
	const int *core;
	uint64_t ticks; /* that it took */
};

/* Finds addresses within these ticks (0: no limit); it ends soon after `run` does (NULL: no run). */
struct joint_packing joint_pack(const struct joint_space *space, const struct joint_answer *answer,
	struct run *run, uint64_t ticks, struct arena *arena);

#endif

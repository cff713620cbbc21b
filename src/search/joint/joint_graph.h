#ifndef JOINT_JOINT_GRAPH_H
#define JOINT_JOINT_GRAPH_H

#include "constraints/constraints.h"
#include "model/graph/plan.h"
#include "model/graph/view.h"
#include "search/drive/solver.h"
#include "search/graph/op_map.h"
#include "search/joint/joint_space.h"

/*
 * The joint space of a workload, on machines whose tiles move in boxes.  It has every legal division of every op
 * (from the solver that enumerates them) with the orders of its loops over the cores that make a difference to a
 * view.  Each operand is in HBM, in LX or moved into LX, the output in HBM or LX; streaming tiles are those of
 * least value.  Tensors of the space are those of the workload, by number.
 *
 * Values are what the steps add to the score of the plan that joint_build makes, so that the sum over an
 * answer is the plan's: its cycles (latency_cycles, or estimate_cycles, as the price says), its energy in
 * 2^-10 pJ, rounded for each option, and its HBM bytes, each times its weight.
 *
 * Views are those that an op asks for or leaves behind under one of its divisions, and the smallest ones that serve
 * several of those.  A tensor is also moved into LX under a view that a later op needs, if it serves as well.  It is
 * relayed under a view that an op needs, if it has at most RELAYED_VIEWS_MOST views.  It is left in LX if a later
 * op can use it, or until an evict.  Options are left out that are no better in value, room and cores than one with equal uses and outs.
 */
struct arena;
struct planning;

/* Kinds of decisions beside the homes of tensors; the ablation takes one away at a time. */
enum joint_kind {
	KIND_EVICT = 1 << 0,       /* what is in LX may be written back */
	KIND_RELOAD = 1 << 1,      /* what an op has made may be moved into LX */
	KIND_CLONE = 1 << 2,       /* so may inputs of the graph */
	KIND_FEW_CORES = 1 << 3,   /* ops may use fewer cores than they could */
	KIND_REDUCTION = 1 << 4,   /* they may split a reduction */
	KIND_MANY_LOOPS = 1 << 5,  /* and more than one loop */
	KIND_ORDERS = 1 << 6,      /* in any order over the cores */
	KIND_FUSION = 1 << 7,      /* runs of ops may share a tile loop */
	KIND_FUSED_LOOPS = 1 << 8, /* and more than one */
	KIND_OWNERS = 1 << 10,     /* a split reduction may leave its result in LX of its owners */
	KIND_RELAY = 1 << 9,       /* tensors in LX may be relayed over the data ring */
	KIND_EARLY = 1 << 11,      /* moves may stand before ops that do not read what they bring */
	KIND_BOTH = 1 << 12,       /* outputs of the graph may lie in LX until an evict */
	KIND_SHARED =
		1
		<< 13, /* views may serve several ops that are divided differently, and that none asks for */
	KIND_SMALL_RUNS = 1 << 14, /* runs need not be where LX is short */
	/* Kinds that plans allow and no joint space has: every proof names them. */
	/* Runs divided otherwise than all ops alike by loops that all of them share; with parts in HBM; in more
	 * tiles than leave a quarter of LX; with results in LX that are outputs, or that no later op can use
	 * there.  Runs with more than four tensors from outside (ALL_PLACES_MOST): places other than the smallest
	 * ones in LX. */
	KIND_UNLIKE_RUNS = 1 << 15,
	KIND_OTHER_MOVES =
		1
		<< 16, /* moves that end a bundle, or stand before a run, an evict, a relayout or the end;
				     * more than EARLY_MOST early ones before an op, or of what it streams;
				     * those over fewer cores than the ops that find what they bring; of
				     * operands of which an op's cores use unequal parts; of a tensor that
				     * stays in LX under another view as well; to more cores than those of
				     * the ops that find what they bring, where cores have lanes */
	/* Tilings of an op that a limit (OP_MAP_EVALUATIONS) left out, and nests of its array that
	 * heuristics did not find: named where that happened. */
	KIND_CUT_TILES = 1 << 17,
	/* Results that no later op can use in LX lie there until an evict, even if that gains no more than a place
	 * in a bundle.  Without it they do only if making them there and the evict take less than writing them. */
	KIND_LATE_EVICTS = 1 << 18,
	/* Runs over fewer cores than their loops allow, and tiles that suit fewer cores than there are. */
	KIND_NARROW_RUNS = 1 << 19,
	KIND_NEVER_FREE = KIND_UNLIKE_RUNS | KIND_OTHER_MOVES,
	/* Kinds that a brief space leaves out; it has a tenth of the options. */
	KIND_BRIEF = KIND_FEW_CORES | KIND_MANY_LOOPS | KIND_ORDERS | KIND_FUSED_LOOPS |
		     KIND_RELAY | KIND_EARLY | KIND_BOTH | KIND_SHARED | KIND_LATE_EVICTS |
		     KIND_NARROW_RUNS
};
extern const char *const joint_kind_names[]; /* by bit; NULL ends them */

struct joint_question {
	const struct arch *arch;
	const struct workload *workload;
	const struct planning *planning; /* tiles and cycles as it says */
	struct joint_aim aim;
};

/* NULL, and *why, if a joint space cannot express something of the graph, or planning->stopper ends it. */
const struct joint_space *joint_graph_make(
	const struct joint_question *question, struct arena *arena, const char **why);

/* One op of an option. */
struct joint_part {
	const struct mapping *mapping;        /* its division */
	const struct op_option *tiles;        /* NULL: an opaque op, or a broadcast */
	const struct staging_option *staging; /* of a broadcast; else NULL */
};

/* A tensor that only the ops of an option make and read, or its part in a run: where it lies in the option's room. */
struct joint_inside {
	int tensor;
	struct view view;
	int64_t offset;
	int in_place_of; /* plus 1: the tensor inside whose bytes it takes over; 0: none */
};

/* The meaning of an option (joint_option.choice): its ops, from `first` on. */
struct joint_choice {
	const struct joint_part *parts;
	const struct tile_run *run; /* whose steps are ops; NULL: of a single op */
	int inside_count;
	const struct joint_inside *inside;
};

/* The graph of a space (joint_space.graph). */
struct joint_graph {
	struct joint_question question;
	const struct view *const *views; /* by tensor, then view */
	bool unproven; /* a plan may be worth less than the space says: some op has a nest that is
			* not proven to be best, or clones of the graph stand where joint_options.c says so */
};

#endif

#ifndef MODEL_NEST_HIERARCHY_H
#define MODEL_NEST_HIERARCHY_H

#include "model/machine/arch.h"
#include "model/machine/mapping.h"
#include "model/nest/shape.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * A machine as the loop-nest model sees it: storage levels from the innermost
 * outwards, in words, made once from an architecture and a shape.  Block i is
 * the fan-out below level i: instances of level i-1 (or multipliers, for i = 0)
 * in one instance of level i.
 *
 * In v0.4 everything with a fan-out, container or component, has a level around
 * it that keeps nothing, which Timeloop's front end calls inter_NAME_spatial;
 * containers without a fan-out do not appear.  The older form has the blocks
 * between its levels, and `dummy_storage` where such a level is wanted.
 *
 * A level always names a row with temporal and one with spatial factors.  Where
 * there is nothing to say it names a row of factors 1: the multipliers' row for
 * the temporal loops of a component's fan-out, any row without a fan-out for a
 * block of one.
 *
 * Multipliers with a rate above 1 are an ideal array.  What it holds is a level of its own, innermost and
 * free, without limits: it has the loops of the storage around it, and so the whole tile that is there,
 * which that storage serves once.  Nothing may be kept around that storage, so all is kept in it.
 *
 * Storage, energies, fan-out and network of a level are copies of those of its row, since a part of a machine may lift
 * limits (inner_nest_make) and a counting has energies of its own; the other members depend on the shape or the part.
 */
struct nest_level {
	const char *name;
	int row;       /* level of the architecture: mapping.rows[row] has the temporal loops */
	int block_row; /* row whose spatial factors are the block below this level */
	bool storage;  /* false: only fans out */
	bool free;     /* what an ideal array holds: the tile of the storage around it */
	bool emptied;  /* that storage: its row's temporal loops are those of the free level */
	int64_t mesh_x, mesh_y; /* instances in the machine, along X and Y */
	struct fanout fanout;   /* of the block below */
	double least_usage;     /* part of these that spatial loops must take; 0 */
	bool ring; /* a reduce ring joins the children of the block below, and adds their sums */

	struct network_energies network; /* of the block below */
	struct storage store;            /* of a level that only fans out, without limits */
	int64_t size; /* words an instance may hold: floor(entries / multiple_buffering); 0: unlimited */
	double rate_scale[SHAPE_SPACES_MOST]; /* per_dataspace_bandwidth_consumption_scale, 1 */

	struct storage_energies energies; /* of the counting (hierarchy_price) */
	int gated_at; /* level whose instances switch this one's off; its own index if none */
	int row_rank
		[SHAPE_SPACES_MOST]; /* rank along which the words of a row lie; -1: of a scalar */
	const char
		*energy_source; /* "ERT", "the architecture", "built-in, ..."; NULL: no storage */

	/* Flags by dataspace, bit t: see specs/counting.md. */
	uint8_t no_temporal_reuse, rmw_first_update, no_coalesce; /* of this level */
	uint8_t no_spatial_reuse, no_link_transfer;               /* of the block below */
};

struct hierarchy {
	int level_count;                            /* storage levels and fan-outs */
	struct nest_level levels[ARCH_LEVELS_MOST]; /* innermost first */
	/* The blocks of the systolic array, array_end - 1 the outermost; no level between them stores.
	 * array_end 0: there is none. */
	int array_inner, array_end;
	bool dummy_loops;    /* mapspaces give dummy levels temporal loops, as Timeloop's do */
	bool array_overlaps; /* PEs buffer everything twice: passes follow one another */
	bool resumes; /* what is written holds partial sums at its home before the nest begins */
	const char *compute_name;
	int compute_row;
	int64_t compute_mesh_x, compute_mesh_y;
	double compute_pj; /* per multiply-add, or per element of a map or reduction */
	struct ratio
		compute_rate; /* of one multiplier: multiply-adds, or elements, per cycle; 0: 1 */
	bool vector;          /* it computes maps and reductions */
	double least_parallelism; /* utilization / parallelism constraint, 0 */
	double clock_ns;          /* of a cycle */
	/* The rows of the multipliers, and of all, with the levels' names where they differ. */
	const char *compute_energy_source, *energy_source;
};

/* NULL after complaining: no storage, no compute level, a fan-out that does not come out even.
 * Its energies are those of `exact` counting. */
struct hierarchy *hierarchy_make(
	struct arena *arena, const struct arch *arch, const struct shape *shape, struct diag *diag);

/* A part of a machine, by rows: from one instance of the storage `from` inwards to the multipliers of
 * `compute`. */
struct machine_part {
	int from, compute;
	bool vector; /* for a map or reduction: at the vector rate and energy of `compute` */
};

/* The same of a part: of branches that do not lead to `compute`, and of other computes, nothing is
 * taken. */
struct hierarchy *hierarchy_make_part(struct arena *arena, const struct arch *arch,
	struct machine_part part, const struct shape *shape, struct diag *diag);

/* Gives the levels the flags of another hierarchy of the same ones. */
void hierarchy_copy_flags(struct hierarchy *to, const struct hierarchy *from);

/* Gives a machine the energies of a counting, and says where they come from. */
void hierarchy_price(struct hierarchy *hierarchy, struct arena *arena, const struct arch *arch,
	enum counting counting);

/* The level of an architecture row; -1 if the row is none. */
int hierarchy_level(const struct hierarchy *hierarchy, int row);

/* The row that has the temporal loops of a level; where it has none, the multipliers' one, which has
 * factors 1. */
static inline int hierarchy_loops_row(
	const struct hierarchy *hierarchy, const struct nest_level *level)
{
	return level->emptied ? hierarchy->compute_row : level->row;
}

/* Multiply-adds or elements of one multiplier per cycle. */
struct ratio hierarchy_rate(const struct hierarchy *hierarchy);

/* Cycles of this many steps of a multiplier; at most INT64_MAX, rounded up. */
int64_t hierarchy_cycles(const struct hierarchy *hierarchy, int64_t steps);

/* The same of at least so many steps: no more cycles than there are, also where doubles err. */
double hierarchy_cycles_least(const struct hierarchy *hierarchy, double steps);

/* Words of a row of a level's tiles of a dataspace at most, which is the case if they have all of its indices; 0 if
 * rows have no length of their own, or take no time. */
int64_t hierarchy_row_most(const struct nest_level *level, const struct shape *shape, int space);

/* True if some level has a flag for some dataspace. */
bool hierarchy_flagged(const struct hierarchy *hierarchy);

/* Bit t: some level has a flag that changes where sums of dataspace t are joined, so that a level may
 * have fewer accesses with it than without. */
unsigned hierarchy_update_flags(const struct hierarchy *hierarchy);

#endif

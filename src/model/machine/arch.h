#ifndef MODEL_ARCH_H
#define MODEL_ARCH_H

#include "base/diag.h"
#include "base/number.h"
#include "model/machine/primitives.h"
#include "model/machine/topology.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The machine as a tree of levels, outermost first: a path from the system
 * down to one processing element, with the fan-out at every step.  Rates are
 * exact bytes (or operations) per cycle of the one reference clock; energies
 * are picojoules per byte or operation.  Every number carries a sentence with
 * its source, "assumed: ..." if it was not measured.
 */
enum { ARCH_LEVELS_MOST = 24, ARCH_CORES_MOST = 64 };
/* The scratchpads of a machine for graphs, all cores together, in bytes: the simulator has all of them. */
#define ARCH_LX_MOST (INT64_C(16) << 30)

enum level_class {
	LEVEL_CONTAINER, /* only fans out; `dummy_storage` too */
	LEVEL_STORAGE,
	LEVEL_COMPUTE,
};

/* Sources of the energies of a level. */
enum energy_origin {
	ENERGY_BUILT_IN,
	ENERGY_OF_LEVEL, /* its own attributes */
	ENERGY_ERT,
	ENERGY_ERT_PARTLY, /* those of some accesses; the others are built in */
};

/* The ways to count a nest (specs/counting.md); a level has energies for each. */
enum counting { COUNTING_EXACT, COUNTING_TIMELOOP, COUNTINGS };

/* Accesses of a storage that a nest counts. */
enum nest_action { NEST_READ, NEST_FILL, NEST_UPDATE, NEST_ACTIONS };

struct storage_energies {
	double pj[NEST_ACTIONS]; /* per access, of a block */
	double leak_pj;          /* per instance and cycle */
	enum energy_origin origin;
};

struct compute_energy {
	double pj; /* per multiply-add of a nest */
	enum energy_origin origin;
};

/* Values by dataspace: the weight of its words in a level's bandwidth, or the dimension along which they lie in
 * rows. */
struct space_values {
	const struct space_value {
		const char *space, *dimension;
		double scale;
		struct span span;
	} * at;
	size_t count;
};

/* A storage level in words and accesses.  An access takes a block, a part of a row, and serves the instances of a
 * cluster.  Graphs use the same of it in bytes. */
struct storage {
	int64_t entries; /* words per instance, before multiple buffering; 0: unlimited, if not: */
	bool no_room;    /* it stores nothing: its entries are given as 0 */
	bool shared;     /* reads and writes share a port, whose rate may be unlimited */
	bool reduces;    /* it adds to a sum that it holds by itself; by default all but DRAM */
	double multiple_buffering; /* tiles may fill this part of its words: 2 halves them */
	double least_utilization;  /* part of that which tiles must fill */
	int64_t word_bits;
	int64_t block_words;  /* of an access; at least 1 */
	int64_t cluster_size; /* instances that one access serves; at least 1 */
	struct ratio read_rate, write_rate,
		shared_rate; /* words per cycle and instance; 0: unlimited */
	int64_t fill_cycles,
		drain_cycles; /* latency of the network to the level, before and after the work */
	/* Cycles of the read port for each row of a tile that it serves, besides its words; least cycles of a round:
	 * an iteration of the temporal loops outside the level (specs/counting.md).  0: none. */
	struct ratio row_cycles, round_cycles;
};

/* Words of 16 bits without limits, in blocks and clusters of one; accesses take no time. */
extern const struct storage storage_unlimited;

/* Instances side by side in one that is around them. */
struct fanout {
	int64_t x, y;
	bool systolic; /* these are PEs that hand words on to their neighbours, without other wires */
};

static inline int64_t fanout_count(const struct fanout *fanout)
{
	return fanout->x * fanout->y;
}

/* Picojoules per word of the network below a level, by the hop and by the router. */
struct network_energies {
	double hop_pj, router_pj;
};

/* A level that stores; bytes are per instance. */
struct storage_level {
	struct storage store;
	int64_t capacity; /* bytes, as graphs count; they may end within a word; 0: unlimited */
	int64_t reserve;  /* bytes at the top that planners leave to streaming tiles */
	bool scratchpad;  /* buffers of plans may live here */
	bool boxes; /* `transfer: box`: a tile that comes from outside moves whole; else what is new */
	int64_t stick; /* bytes that tensors here are laid out and moved in; 0: words, row by row */
	int64_t alignment;      /* of buffers, bytes; at least 1 */
	struct ratio fill_rate; /* bytes per cycle: the port to the level outside; 0: unlimited */
	/* of a shared home: cycles for each byte read that one written stands beside, in which the bus turns
	 * round; where an operand is broadcast; and where the stick moves.  0: it turns in no time */
	struct ratio turn, turn_repeated, turn_restickify;
	int64_t turn_bytes; /* of a burst */
	/* of a home: cycles that each doubling of the tensor written, from write_span bytes on, adds to a byte
	 * written.  0: none */
	int64_t write_span;
	struct ratio write_far;
	/* of a home: cycles that each doubling of the distance of a tensor's planes, from plane_span bytes on, adds to
	 * a byte read from one plane after the other.  0: none */
	int64_t plane_span;
	struct ratio plane;
	/* of a home: cycles that a core waits at the start of a contiguous run of sticks that is shorter than these
	 * bytes; the cores of an op wait together, and HBM with them.  0: none */
	struct ratio run;
	int64_t run_bytes; /* 0: however long it is */
	/* of a home: runs of maps that are shorter than a page, and blocks of maps that write in another order than
	 * they read, begin in a page that is closed (arch_misses): cycles that a core waits for one.  0: none */
	int64_t page_bytes, open_planes;
	struct ratio page;
	double read_pj, write_pj;                    /* per byte, as graphs count */
	struct storage_energies energies[COUNTINGS]; /* per access, as nests count */
	bool dram;                                   /* `technology: DRAM`, with any class */
	struct space_values rows;                    /* rows_along */
	struct space_values scales;                  /* per_dataspace_bandwidth_consumption_scale */
};

/* A level that computes; rates are per instance. */
struct compute_level {
	int64_t word_bits;
	struct ratio mac_rate; /* multiply-adds per cycle at 2 bytes an element */
	struct ratio
		strided_mac_rate; /* of products with one operand whose rows lie in strides; 0: the same */
	struct ratio vector_rate;    /* elements per cycle of map and reduce functions */
	struct ratio operand_rate;   /* elements that maps read and write per cycle; 0: unlimited */
	struct ratio reduction_rate; /* of reduce functions alone; 0: that */
	struct ratio restickify_rate; /* of restickify; 0: that of vector functions */
	int64_t tile_cycles;          /* to fill and drain the array for each tile of an einsum */
	double mac_pj, vector_pj;     /* per operation, as graphs count */
	struct compute_energy energies[COUNTINGS];
	bool vector_priced; /* vector_pj is given; else nests price it as a multiply-add */
};

/* A level of the machine.  `kind` decides which member of the union it has; level_set_kind begins it, level_storage and
 * level_compute check it. */
struct level {
	const char *name; /* unique in the machine */
	enum level_class kind;
	const char *device;   /* the class the spec names: "DRAM", "intmac"; NULL of a !Container */
	struct fanout fanout; /* instances of this level in one of its parent */
	int64_t instances;    /* in the whole machine */
	struct network_energies network;
	union {
		struct storage_level storage;
		struct compute_level compute;
	};
	const char *gated_at;           /* power_gated_at; NULL */
	const struct node *constraints; /* inline, as written; NULL */
	int parallel; /* branches of one !Parallel share a number > 0; 0: on the path */
	int branch;   /* of that !Parallel, from 0 */

	struct span span; /* of the node in the spec */
};

/* Makes a level one of a kind that is without limits, with words of 16 bits and no energies yet. */
void level_set_kind(struct level *level, enum level_class kind);

/* The members of a level of that kind. */
static inline const struct storage_level *level_storage(const struct level *level)
{
	assert(level->kind == LEVEL_STORAGE);
	return &level->storage;
}

static inline const struct compute_level *level_compute(const struct level *level)
{
	assert(level->kind == LEVEL_COMPUTE);
	return &level->compute;
}

/* A ring joins the instances of the core level. */
enum { RING_PARTS_LEAST = 2, RING_PARTS_MOST = 8 };
struct ring {
	bool present;
	struct ratio rate;         /* bytes per cycle, one link, one direction */
	double pj;                 /* per byte and link */
	const char *energy_source; /* where pj comes from, in a sentence; NULL */
	/* of a data ring: cycles to set up one contiguous run of a slice that is cut into so many parts
	 * (RING_PARTS_LEAST at [0]; fewer cost the same, and more as much as the most); 0: no time */
	struct ratio run_cycles[RING_PARTS_MOST - RING_PARTS_LEAST + 1];
	const struct primitive *const *reductions; /* that a reduce ring can do; NULL ends them */
};

/* True if a reduce ring can do a reduction; nothing does NULL. */
bool ring_reduces(const struct ring *ring, const struct primitive *reduction);

/* Cycles of one contiguous run of a slice that is cut into so many parts. */
struct ratio ring_run(const struct ring *ring, int64_t parts);

/* A branch of a !Parallel that stores nothing. */
struct nothing {
	int parallel, branch;           /* as those of a level */
	const struct node *constraints; /* inline, as written; NULL */
	struct span span;
};

/* The source of the value of one attribute, in a sentence. */
struct source_note {
	const char *level, *key, *source;
	bool given; /* the spec has the sentence */
};

struct arch {
	const char *name;
	struct ratio clock_hz; /* of the reference clock */
	int level_count;
	struct level levels[ARCH_LEVELS_MOST]; /* outermost first */

	/* The roles of levels, by index; -1: the machine has none (model/machine/arch_read.h).
	 * Einsums run on `compute`, maps and reductions on `vector`, which may be the same. */
	int hbm, core, lx, compute, vector;

	int64_t span_limit; /* bytes of one tensor that a core can address; 0: none */
	int64_t lane_cores; /* cores next to each other that one lane from the home serves; 0: no lanes */
	struct ratio lane_rate;             /* bytes per cycle of a lane, towards the cores */
	int64_t bundle_tensors;             /* distinct HBM tensors in a bundle; 0: any number */
	struct ring data_ring, reduce_ring; /* relayouts; split reductions */
	int64_t ranks;                      /* machines like this one that run a graph together */
	int rank_columns;                   /* of a mesh of them; else 0 */
	struct copying copying;             /* what ranks exchange tensors with */
	double link_pj;                     /* per byte and link between ranks */
	int64_t bundle_cycles;              /* overhead of a bundle, cycles */
	int64_t core_cycles;                /* overhead of each core that a bundle uses, cycles */

	bool tree; /* written in the older form: spatial constraints name the parent */
	int nothing_count;
	struct nothing nothings[ARCH_LEVELS_MOST]; /* every !Nothing */

	/* Entries of constraint files that every nest of a graph takes, each in a list of its own, NULL
	 * at the end (search/graph/nests.h); NULL: none. */
	const struct node *const *constraints;

	size_t note_count;
	const struct source_note *notes;
	struct span span;
};

/* The sentence under `sources:` of a level's energies, the first that there is; NULL: none. */
const char *arch_energy_source(const struct arch *arch, const char *level);

/* True if a sentence says that the value was not measured. */
bool arch_is_assumed(const char *source);

/* "HBM, LX, data ring": the levels and rings whose energies are assumed; "" if none are. */
struct arena;
const char *arch_assumed_energies(struct arena *arena, const struct arch *arch);

/* True if tensors reach the scratchpad in whole boxes (model/graph/plan.h); else everything from the
 * home inwards is one nest. */
bool arch_moves_boxes(const struct arch *arch);

/* True if a compute level stands right in the scratchpad, or has a rate above 1 and no storage between:
 * what it needs of a tile is read once, as if its registers had no end. */
bool arch_array_is_ideal(const struct arch *arch, int compute);

/* The outermost storage, in which graphs find and leave their tensors; NULL without one. */
const struct level *arch_home(const struct arch *arch);

/* The home and the scratchpad, of machines that have them. */
static inline const struct storage_level *arch_hbm(const struct arch *arch)
{
	assert(arch->hbm >= 0);
	return level_storage(&arch->levels[arch->hbm]);
}

static inline const struct storage_level *arch_lx(const struct arch *arch)
{
	assert(arch->lx >= 0);
	return level_storage(&arch->levels[arch->lx]);
}

/* Cores of the machine: instances of the core level; 1 without one. */
int64_t arch_cores(const struct arch *arch);

/* Lanes that so many cores from the first one on are served by; 0: there are none. */
int64_t arch_lanes(const struct arch *arch, int64_t cores);

/* Whole doublings of the distance between two planes, from plane_span bytes on. */
int64_t arch_plane_doublings(const struct arch *arch, int64_t stride);

/*
 * Number of runs over so many planes that begin in a closed page.  Runs in order take the planes in turn:
 * 1 - open_planes / planes of them.  Blocks replace open pages at random: planes / (planes + open_planes).
 */
int64_t arch_misses(const struct arch *arch, int64_t planes, int64_t runs);
int64_t arch_block_misses(const struct arch *arch, int64_t planes, int64_t blocks);

/* Whole doublings from write_span bytes to so many; 0 if writes of all sizes are equally fast. */
int64_t arch_write_doublings(const struct arch *arch, int64_t bytes);

/* LX bytes that a planner may hand out: capacity - reserve.  Not rounded. */
int64_t arch_lx_capacity(const struct arch *arch);

/* The bytes that a fraction of a capacity keeps back; what is left is rounded down. */
int64_t arch_reserve(int64_t capacity, struct ratio fraction);

/* The same machine with another reserve in LX. */
const struct arch *arch_with_reserve(struct arena *arena, const struct arch *arch, int64_t reserve);

/* Bytes of LX kept for streaming tiles, from the first aligned address on. */
int64_t arch_stream_capacity(const struct arch *arch);
int64_t arch_stream_address(const struct arch *arch);

/*
 * True if graphs can run here: one home for tensors and a compute, both inside a scratchpad if there is
 * one; where tiles move in boxes, cores (at most ARCH_CORES_MOST) with one scratchpad each, and no storage
 * between it and the home.  Complains about what is missing.
 */
bool arch_fits_graphs(const struct arch *arch, struct diag *diag);

/* The ports of a storage as graphs count: bytes per cycle and instance, 0: unlimited; a shared one is both. */
struct storage_ports {
	struct ratio read, write;
	bool shared;
};
struct storage_ports storage_ports(const struct storage *store);

/* Index of a level by name; -1 if there is none. */
int arch_level(const struct arch *arch, const char *name);

/* Nanoseconds of a number of reference cycles. */
double arch_nanoseconds(const struct arch *arch, int64_t cycles);

#endif

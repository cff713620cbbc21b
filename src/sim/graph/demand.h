#ifndef SIM_GRAPH_DEMAND_H
#define SIM_GRAPH_DEMAND_H

#include "sim/graph/memory.h"
#include "sim/graph/nests.h"
#include "sim/graph/pace.h"
#include "sim/transfer/schedule.h"

/*
 * Who may use which bytes of LX when, as the program says.  Two allotments that
 * live in one step on one core share no bytes; but a tensor may take over the
 * very place of a dying one, in the step in which the one is born and the other
 * is last read.
 */
struct arena;

/*
 * Those inside of LX, in the order of the program: of tensor t they are at[first[t]] ..
 * at[first[t + 1] - 1], tile buffers of step s the same with t = tensor_count + s.
 */
struct allotment_index {
	size_t tensor_count, step_count;
	size_t *first;
	const struct allotment **at;
};

struct allotment_index allotment_index_make(const struct program *program, struct arena *arena);

/* Complains about allotments that share bytes or leave LX. */
void allotment_check(const struct program *program, struct faults *faults, struct arena *arena);

/* Whose bytes [low, high) are in a step on a core, if the tensor's or tile buffers'; NULL. */
const struct allotment *allotment_find(const struct allotment_index *index, int step, int core,
	int tensor, int64_t low, int64_t high);

/*
 * What an instruction asks of the machine, in ticks: a fraction of a cycle chosen so that a stick takes
 * a whole number of them at every rate of the machine; where no small fraction does, times round up.
 */
struct arena;

enum { FP32_BYTES = 4 };

/* Paces of all servers. */
struct paces {
	const struct program *program;
	const struct nests *nests;
	int64_t ticks;              /* of a cycle */
	int64_t longest;            /* an instruction takes no more: sums stay far from overflow */
	bool hbm_shared, lx_shared; /* one server for reads and writes */
	struct pace hbm_read, hbm_write, port, lx_read, lx_write, link; /* of a stick */
	struct pace mac[FP32_BYTES + 1]; /* of a multiply-add, by bytes of an element */
	struct ratio mac_rate,
		strided_rate; /* of one core; where rows of an operand lie in strides */
	struct pace vector, reduction, restickify; /* of an element */
	int64_t tile;                              /* ticks that fill and drain the array */
	struct pace lane;                          /* of a stick */
	struct pace
		run; /* of a contiguous run of sticks in HBM, before it, for the core that waits */
	struct pace page; /* of a miss, where a run begins in a page that is not open, likewise */
	int64_t *step_cores;   /* by step: the cores that compute */
	struct pace plane;     /* of a stick from a bank where planes meet, besides */
	struct pace write_far; /* of a stick written, for each doubling of the tensor */
	struct pace turn[2];   /* of a stick read beside one written; where one operand repeats */
	struct pace ring;      /* of a stick, the data ring's links */
	int64_t link_stick, ring_stick;           /* ticks of a stick on a link */
	struct pace copy_in, copy_out, copy_link; /* of a stick, for roots of broadcasts */
	int64_t in_latency, out_latency, link_latency, sync;
	struct hops hops; /* found as they are asked for */
};

struct paces *paces_open(
	const struct program *program, const struct nests *nests, struct arena *arena);

/* The ticks that an instruction asks of each kind of server. */
struct service_demand {
	enum engine engine;
	int step;
	bool idle; /* of nobody, and it ends as it starts */
	int64_t hbm, port, lx_reads, lx_writes, work, link, lane;
	int64_t bus; /* sticks on the bus of reads and writes, which turns round; 0: on none */
	/* of a broadcast: beside the servers; behind them; until the other queue sees its end */
	int64_t stream, latency, delay;
};

struct service_demand demand_find(struct paces *paces, const struct instruction *instruction);

#endif

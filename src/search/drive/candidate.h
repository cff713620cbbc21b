#ifndef SEARCH_CANDIDATE_H
#define SEARCH_CANDIDATE_H

#include <stdint.h>

/*
 * What solvers are asked, and what they offer.  A stage is a kind of question;
 * a candidate answers it.
 */
struct arch;
struct capture_answer;
struct capture_question;
struct folding;
struct joint_answer;
struct joint_space;
struct kept;
struct mapping;
struct nest_search;
struct packing;
struct placement;
struct plan;
struct planning;
struct project_search;
struct projection;
struct send_schedule;
struct solver;
struct synthesis;
struct workload;

enum stage {
	STAGE_DIVIDE,
	STAGE_PLACE,
	STAGE_MAP,
	STAGE_JOINT,
	STAGE_PROJECT,
	STAGE_BROADCAST,
	STAGE_SCATTER,
	STAGE_MENU,
	STAGE_COUNT
};
extern const char *const stage_names[]; /* the folders of solvers/ */

/* What the plan of a workload as a whole is to be best in: a sum of cycles (as planning->price says), energy
 * and HBM bytes. */
struct joint_aim {
	int64_t cycles, energy, hbm_bytes; /* weights of a cycle, of 2^-10 pJ, of a byte */
	unsigned
		fixed; /* what is not decided: a set of enum joint_kind (search/joint/joint_graph.h) */
	const struct solver *map; /* of nests; NULL: as for problems */
	uint64_t nest_ticks; /* of a whole nest; 0: NEST_JOINT_TICKS (search/joint/options.h) */
	struct kept *kept;   /* what is known of ops; NULL: nothing */
};

struct problem {
	enum stage stage;
	const struct arch *arch;
	const struct workload *workload; /* divide, joint */
	const struct planning *planning; /* divide, joint */
	int op;                          /* divide: this op alone; -1 all */
	const struct packing *packing;   /* place */
	const struct mapping *division;  /* joint: the mappings to start from, by op */
	const struct solver *place;      /* joint: who places what it divides */
	const struct joint_space
		*joint;              /* joint: of those for plans; NULL: it follows from the aim */
	const struct joint_aim *aim; /* joint: of those for plans, without a space */
	const struct nest_search *nest;           /* map: nest_search.h */
	const struct project_search *projections; /* project: project_search.h */
	const struct synthesis *synthesis;        /* broadcast, scatter */
	const struct capture_question *menu;      /* menu: model/packing/capture.h */
	uint64_t first, end;                      /* map: this share of the work, see solver.h */
};

struct candidate {
	enum stage stage;
	const struct mapping *mappings; /* divide, joint: one per op (or of the one op); map: one */
	const struct placement *placement;    /* place */
	const struct joint_answer *joint;     /* joint: of a joint space */
	const struct plan *plan;              /* joint: of an aim */
	const struct projection *projection;  /* project */
	const struct folding *folding;        /* project: of an einsum, in place of a projection */
	const struct send_schedule *schedule; /* broadcast, scatter */
	const struct capture_answer *menu;    /* menu */
};

#endif

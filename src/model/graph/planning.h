#ifndef MODEL_GRAPH_PLANNING_H
#define MODEL_GRAPH_PLANNING_H

#include "base/diag.h"
#include "base/stopper.h"
#include "model/machine/score.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The settings of division and LX planning.  Each has a key in `search:`, of the same name (planning_noun; the
 * help is in cli/settings.c).  Environment variables of the published system win over the default and lose
 * to the spec and the command line: SENCORES (cores), LX_PLANNING (lx_planning), CO_OPTIMIZING_LX_PLANNING
 * (co_optimize), DXP_LX_FRAC_AVAIL (lx_reserve).
 *
 * eligible `published` is the list of the published documents: max, amax, sum,
 * exp, sub, and clone, without which their fourth stage is empty.
 * `extended` is the longer list that the same project used some months later.
 * in_place `published` is exp and sub; `extended` and `all` are every map op.
 *
 * A planner that uses lx_capacity must be given the machine of
 * planning_arch: its streaming tiles keep out of the planner's bytes.
 */
enum {
	PLANNING_CORES_MOST = 32,
	PLACE_TICKS = 50000, /* about a tenth of a second */
};

enum clone_split {
	CLONE_OFF,     /* no clones of graph inputs */
	CLONE_NONE,    /* inserted as published, undivided */
	CLONE_READERS, /* divided as their readers are */
};

/* The index of a word of `mode`. */
enum { PLANNING_COMPATIBLE, PLANNING_STRICT };

extern const char *const planning_modes[];
extern const char *const planning_tiles[]; /* the index is published_tiles */
extern const struct noun planning_noun;

struct name_list {
	size_t count;
	const char *const *names;
	bool all; /* every name */
};

struct planning {
	int cores;
	bool strict; /* unsatisfied spans and conflicts are errors */
	bool k_fast; /* the K-fast division of matrix products */
	bool lx_planning;
	bool co_optimize;
	bool published_tiles; /* streaming tiles by the published rule, else by price */
	enum price price;     /* that latency and edp are of */
	enum clone_split clones;
	struct name_list eligible; /* op types whose outputs may live in LX */
	struct name_list in_place; /* map ops whose output may take a dying read's bytes */
	int64_t lx_capacity;       /* bytes for the planner */
	int64_t span_limit;        /* bytes */
	uint64_t place_ticks;      /* of a placement solver that searches; 0: no limit */
	int64_t staging_bytes; /* of LX for the tiles of one broadcast, at most; 0: as capacity */
	int staging_tiles;     /* of one broadcast; 0: any number */
	const struct staging_menu
		*menus; /* of broadcasts; NULL: as search/graph/lx_passes.c makes them */
	const struct constraints *constraints; /* of single ops and tensors; NULL: none */
	struct stopper
		stopper; /* called for every op and buffer; a stop ends planning without a plan */

	/* of the machine: the bounds of what may be asked for */
	int machine_cores;
	int64_t machine_lx;
};

/* The lists that a name stands for; false if it is none of those above. */
bool planning_lists(const char *name, struct name_list *eligible, struct name_list *in_place);
bool name_list_has(const struct name_list *list, const char *name);

/* Default settings. */
struct arch;
struct planning planning_default(const struct arch *arch);

/* Reads the settings of the environment; false after complaining.  The only getenv of the program. */
bool planning_environment(struct planning *planning, struct diag *diag);

/* Returns the variables that are set, as one text: "SENCORES=4 ". */
const char *planning_environment_text(struct arena *arena);

/* Reads the keys above out of a `search:` map and leaves the others to the caller. */
struct reader;
bool planning_read(struct reader *search, struct planning *planning);

/* The machine with the reserve that was asked for. */
struct arena;
const struct arch *planning_arch(
	struct arena *arena, const struct arch *arch, const struct planning *planning);

#endif

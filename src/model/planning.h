#ifndef MODEL_PLANNING_H
#define MODEL_PLANNING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The settings of division and LX planning.  Each has a key in `search:` and,
 * where the published system has one, an environment variable, which wins over
 * the default and loses to the spec and the command line:
 *
 *	cores                SENCORES                  1..32, default: all of the machine
 *	lx_planning          LX_PLANNING               0|1, default 1
 *	lx_reserve           DXP_LX_FRAC_AVAIL         0..1, default: of the architecture
 *	co_optimize          CO_OPTIMIZING_LX_PLANNING 0|1, default 0
 */
enum clone_split { CLONE_OFF, CLONE_NONE, CLONE_READERS };

struct name_list {
	size_t count;
	const char *const *names;
	bool all; /* every name */
};

struct planning {
	int cores;
	bool strict;    /* unsatisfied spans and conflicts are errors */
	bool k_fast;    /* the K-fast division of matrix products */
	bool lx_planning;
	bool co_optimize;
	enum clone_split clones; /* CLONE_NONE: inserted as published, undivided */
	struct name_list eligible; /* op types whose outputs may live in LX */
	struct name_list in_place; /* op types whose output may take a dying read's bytes */
	int64_t lx_capacity;       /* bytes for the planner */
	int64_t span_limit;        /* bytes */
};

/* The defaults of the published system on a machine. */
struct arch;
struct planning planning_default(const struct arch *arch);

#endif

#ifndef SUPPORT_NEST_TEXT_H
#define SUPPORT_NEST_TEXT_H

#include "model/nest/nest_mapping.h"
#include "model/nest/network.h"

/*
 * Machines, problems, networks and mappings from text.  `complaints` (may be NULL) gets what was printed
 * about it, "" for nothing.
 */
struct arena;

/*
 * The levels of a machine, outermost first: "DRAM GLB (PE:4x2) RF MAC".  Brackets make a
 * container, ":4x2" or ":4" the fan-out into it; the last is the multiplier, all others are
 * storages.
 */
const struct arch *level_path(struct arena *arena, const char *levels, bool tree);

/* From a `problem:`; NULL when it is refused. */
const struct shape *problem_of_text(struct arena *arena, const char *yaml, const char **complaints);

/* From a `network:`; NULL when it is refused. */
const struct network *network_of_text(
	struct arena *arena, const char *yaml, const char **complaints);

/* The graph of a network's layers as a workload; NULL with complaints. */
const char *network_graph_of_text(struct arena *arena, const char *yaml, const char **complaints);

/* From a `mapping:`; false when it is refused. */
bool nest_mapping_of_text(struct arena *arena, const struct arch *arch, const struct shape *shape,
	const char *yaml, struct mapping *out, const char **complaints);

#endif

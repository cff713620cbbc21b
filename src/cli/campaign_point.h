#ifndef CLI_CAMPAIGN_POINT_H
#define CLI_CAMPAIGN_POINT_H

#include "base/option.h"
#include "campaign/neighbours.h"
#include "campaign/store_runner.h"
#include "cli/listener.h"

/* What the points of a campaign share: options, and the person in front. */
struct campaign_points {
	const struct arguments *arguments;
	const struct listener *listener;
	struct neighbours *neighbours; /* NULL: points are explored without regard to each other */
};

/* Explores one point, as `explore` does, on one thread, into a result (campaign/store_runner.h). */
bool campaign_point_explore(void *points, const struct sweep_point *point,
	const struct stopper *stopper, struct arena *arena, struct task_result *out);

#endif

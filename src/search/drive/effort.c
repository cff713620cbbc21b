#include "search/drive/effort.h"

void effort_add(struct effort *sum, const struct effort *effort)
{
	sum->evaluated += effort->evaluated;
	sum->ticks += effort->ticks;
	sum->states += effort->states;
	sum->edges += effort->edges;
	sum->labels += effort->labels;
	sum->offered += effort->offered;
	sum->refused += effort->refused;
	sum->pruned += effort->pruned;
	sum->simulated += effort->simulated;
	sum->unsimulated += effort->unsimulated;
	sum->events += effort->events;
	sum->disagreed += effort->disagreed;
	sum->asked += effort->asked;
	sum->known += effort->known;
	sum->bytes += effort->bytes;
	if (sum->bytes_most < effort->bytes_most)
		sum->bytes_most = effort->bytes_most;
	sum->bytes_kept += effort->bytes_kept;
}

#include "model/graph/counts.h"

#include "base/fatal.h"
#include "base/number.h"

#include <stddef.h>

const char *const traffic_names[] = {
	[TRAFFIC_HBM_READ] = "hbm_read",
	[TRAFFIC_HBM_WRITE] = "hbm_write",
	[TRAFFIC_LX_FILL] = "lx_fill",
	[TRAFFIC_LX_DRAIN] = "lx_drain",
	[TRAFFIC_LX_READ] = "lx_read",
	[TRAFFIC_LX_WRITE] = "lx_write",
	[TRAFFIC_RING] = "ring",
	[TRAFFIC_DATA_RING] = "data_ring",
	[TRAFFIC_LINK] = "link",
	[TRAFFIC_COUNT] = NULL,
};

static bool steps_equal(const struct step_count *a, const struct step_count *b)
{
	for (int i = 0; i <= OP_READS_MOST; i++) {
		for (int t = 0; t < TRAFFIC_COUNT; t++) {
			if (a->bytes[i][t] != b->bytes[i][t])
				return false;
		}
	}
	if (!a->nests || !b->nests)
		return a->computes == b->computes && a->nests == b->nests;
	return a->computes == b->computes && nest_totals_equal(a->nests, b->nests);
}

bool counts_equal(const struct counts *a, const struct counts *b)
{
	if (a->step_count != b->step_count)
		return false;
	for (int s = 0; s < a->step_count; s++) {
		if (!steps_equal(&a->steps[s], &b->steps[s]))
			return false;
	}
	return true;
}

static bool add_up(const struct counts *counts, enum traffic traffic, int64_t *total)
{
	*total = 0;
	for (int s = 0; s < counts->step_count; s++)
		for (int i = 0; i <= OP_READS_MOST; i++)
			if (!number_add(*total, counts->steps[s].bytes[i][traffic], total))
				return false;
	return true;
}

bool counts_fit(const struct counts *counts)
{
	int64_t total;
	for (int t = 0; t < TRAFFIC_COUNT; t++)
		if (!add_up(counts, (enum traffic)t, &total))
			return false;
	return true;
}

int64_t counts_total(const struct counts *counts, enum traffic traffic)
{
	int64_t total;
	if (!add_up(counts, traffic, &total))
		BUG("more %s bytes than an int64_t counts", traffic_names[traffic]);
	return total;
}

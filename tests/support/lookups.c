#include "tests/support/lookups.h"

#include "base/text.h"

bool dtype_parse(const char *name, enum dtype *out)
{
	for (int d = 0; d < DTYPE_COUNT; d++) {
		if (text_equal(name, dtype_names[d])) {
			*out = (enum dtype)d;
			return true;
		}
	}
	return false;
}

int64_t layout_stick(const struct layout *layout, const int64_t *host, int *lane)
{
	int64_t stick = 0;
	*lane = 0;
	for (int d = 0; d < layout->rank; d++) {
		int h = layout->host_dim[d];
		int64_t at = 0;
		switch (layout->part[d]) {
		case PART_SYNTHETIC:
			break;
		case PART_WHOLE:
			at = host[h];
			break;
		case PART_STICK_OUTER:
			at = host[h] / layout->per_stick;
			break;
		case PART_STICK_INNER:
			*lane = (int)(host[h] % layout->per_stick);
			break;
		}
		if (d + 1 < layout->rank)
			stick = stick * layout->size[d] + at;
	}
	return stick;
}

int64_t mapping_slot(const struct arch *arch, const struct mapping *mapping, int l, int64_t core)
{
	return core / mapping_divisor(arch, mapping, l) % mapping_split(arch, mapping, l);
}

bool cost_score(const struct plan *plan, struct arena *arena, struct score *out)
{
	struct plan_cost cost;
	if (!cost_plan(plan, arena, &cost))
		return false;
	*out = cost.score;
	return true;
}

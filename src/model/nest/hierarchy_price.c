#include "model/nest/hierarchy.h"

#include "base/text.h"

static const struct action_energies *energies_of(const struct level *level, enum counting counting)
{
	return counting == COUNTING_TIMELOOP ? &level->timeloop_pj : &level->pj;
}

static const char *source_of(
	const struct level *level, enum counting counting, enum energy_origin origin)
{
	switch (origin) {
	case ENERGY_ERT:
		return "ERT";
	case ENERGY_ERT_PARTLY:
		return "ERT, what it lacks built-in as Timeloop's";
	case ENERGY_OF_LEVEL:
		return "the architecture";
	case ENERGY_BUILT_IN:
		break;
	}
	if (counting == COUNTING_TIMELOOP || level->kind == LEVEL_STORAGE)
		return "built-in, as Timeloop's";
	return "built-in, of Horowitz 2014";
}

/* The levels that energies come to from one place, after others are told. */
static void add_source(
	struct text *text, const struct hierarchy *hierarchy, const char *source, const char *own)
{
	const char *between = ": ";
	text_add(text, "%s%s", text->length ? "; " : "", source);
	for (int i = 0; i < hierarchy->level_count; i++) {
		const struct nest_level *level = &hierarchy->levels[i];
		if (!level->energy_source || !text_equal(level->energy_source, source))
			continue;
		text_add(text, "%s%s", between, level->name);
		between = ", ";
	}
	if (own)
		text_add(text, "%s%s", between, own);
}

/* One source alone, or each with its levels, in the order of the levels. */
static const char *all_sources(const struct hierarchy *hierarchy, struct arena *arena)
{
	struct text text = text_open(arena);
	const char *told[ARCH_LEVELS_MOST + 1];
	int count = 0;
	for (int i = 0; i <= hierarchy->level_count; i++) {
		const char *source = i < hierarchy->level_count ? hierarchy->levels[i].energy_source
								: hierarchy->compute_energy_source;
		bool is_told = !source;
		for (int k = 0; k < count && !is_told; k++)
			is_told = text_equal(told[k], source);
		if (!is_told)
			told[count++] = source;
	}
	if (count == 1)
		return told[0];
	for (int k = 0; k < count; k++) {
		bool own = text_equal(told[k], hierarchy->compute_energy_source);
		add_source(&text, hierarchy, told[k], own ? hierarchy->compute_name : NULL);
	}
	return text_read(&text);
}

void hierarchy_price(struct hierarchy *hierarchy, struct arena *arena, const struct arch *arch,
	enum counting counting)
{
	const struct level *compute = &arch->levels[hierarchy->compute_row];
	const struct action_energies *pj = energies_of(compute, counting);
	bool vector = hierarchy->vector && compute->vector_priced;
	hierarchy->compute_pj = vector ? compute->vector_pj : pj->compute;
	hierarchy->compute_energy_source =
		source_of(compute, counting, vector ? ENERGY_OF_LEVEL : pj->origin);
	for (int i = 0; i < hierarchy->level_count; i++) {
		struct nest_level *nest = &hierarchy->levels[i];
		const struct level *level = &arch->levels[nest->row];
		if (!nest->storage || nest->free)
			continue;
		pj = energies_of(level, counting);
		nest->pj[NEST_READ] = pj->read;
		nest->pj[NEST_FILL] = pj->fill;
		nest->pj[NEST_UPDATE] = pj->update;
		nest->leak_pj = pj->leak;
		nest->energy_source = source_of(level, counting, pj->origin);
	}
	hierarchy->energy_source = all_sources(hierarchy, arena);
}

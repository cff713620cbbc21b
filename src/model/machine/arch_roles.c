#include "model/machine/arch_draft.h"

#include <strings.h>

static bool fans_out(const struct level *level)
{
	return level->fanout_x * level->fanout_y > 1;
}

/* A unit for maps and reductions says so by its rates or by its class. */
static bool is_vector_unit(const struct level *level)
{
	return !level->mac_rate.num &&
	       (level->vector_rate.num || strcasestr(level->device, "vector") ||
		       strcasestr(level->device, "scalar"));
}

/* Where a level says something. */
static struct span span_of(const struct arch_draft *draft, int r, const char *key)
{
	const struct node *own = draft->entries[r].own;
	int i = own ? node_index(own, key) : -1;
	return i < 0 ? draft->arch->levels[r].span : own->entries[i].key_span;
}

static void refuse_twin(struct arch_draft *draft, int r, int other, const char *rate)
{
	const struct level *levels = draft->arch->levels;
	WRONG(draft, levels[r].span,
		"'%s' and '%s' both compute; the array alone has a 'mac_rate', the unit for maps "
		"and reductions a 'vector_rate' alone, and there is one of each%s",
		levels[other].name, levels[r].name, rate);
}

/* The array: the compute with a 'mac_rate', else the innermost that is no vector unit. */
static void find_computes(struct arch_draft *draft)
{
	struct arch *arch = draft->arch;
	arch->compute = arch->vector = -1;
	for (int r = 0; r < arch->level_count; r++) {
		const struct level *level = &arch->levels[r];
		if (level->kind != LEVEL_COMPUTE)
			continue;
		int *role = is_vector_unit(level) ? &arch->vector : &arch->compute;
		if (*role >= 0)
			refuse_twin(draft, r, *role, "");
		*role = r;
	}
	if (arch->compute < 0)
		arch->compute = arch->vector;
	if (arch->vector < 0)
		arch->vector = arch->compute;
	if (arch->compute < 0)
		return;
	struct level *array = &arch->levels[arch->compute], *unit = &arch->levels[arch->vector];
	if (array != unit && array->vector_rate.num)
		refuse_twin(draft, arch->compute, arch->vector, "; both have a 'vector_rate'");
	if (!array->mac_rate.num)
		array->mac_rate = (struct ratio){1, 1};
	if (!unit->vector_rate.num)
		unit->vector_rate = array == unit ? array->mac_rate : (struct ratio){1, 1};
}

/* The outermost storage, and the outermost that is marked as scratchpad. */
static void find_storages(struct arch_draft *draft)
{
	struct arch *arch = draft->arch;
	arch->hbm = arch->lx = -1;
	for (int r = 0; r < arch->level_count; r++) {
		const struct level *level = &arch->levels[r];
		if (level->kind != LEVEL_STORAGE)
			continue;
		if (arch->hbm < 0)
			arch->hbm = r;
		if (!level->scratchpad)
			continue;
		if (arch->lx < 0)
			arch->lx = r;
		else if (level->parallel && level->parallel == arch->levels[arch->lx].parallel)
			WRONG(draft, level->span,
				"'%s' and '%s' stand side by side, and both are marked as "
				"scratchpads; tensors stay in one",
				arch->levels[arch->lx].name, level->name);
		else
			diag_remark(draft->reading->diag, level->span,
				"tensors stay in '%s', the outermost scratchpad; in '%s' they are "
				"as long as the mapping of one op keeps them",
				arch->levels[arch->lx].name, level->name);
	}
}

/* Cores are the innermost level with a fan-out from the home down to the scratchpad; without any they are the
 * level around it, of one instance. */
static void find_cores(struct arch_draft *draft)
{
	struct arch *arch = draft->arch;
	int inside = arch->lx;
	arch->core = -1;
	for (int r = arch->lx; r > arch->hbm && arch->core < 0; r--) {
		const struct level *level = &arch->levels[r];
		if (level->kind == LEVEL_COMPUTE)
			continue;
		if (fans_out(level))
			arch->core = r;
		else if (level->kind == LEVEL_CONTAINER && inside == arch->lx)
			inside = r;
	}
	if (arch->core < 0)
		arch->core = inside;
}

/* What is said of cores needs a scratchpad, which tells them from other fan-outs. */
static void check_cores(struct arch_draft *draft)
{
	static const char *const keys[] = {
		"core_overhead", "data_ring", "lane_bandwidth", "reduce_ring", "span_limit", NULL};
	const struct arch *arch = draft->arch;
	bool fans = false;
	for (int r = 0; r < arch->level_count; r++)
		fans |= fans_out(&arch->levels[r]);
	for (int r = 0; arch->lx < 0 && fans && r < arch->level_count; r++)
		for (int k = 0; keys[k]; k++)
			if (draft->entries[r].own && node_find(draft->entries[r].own, keys[k]))
				WRONG(draft, span_of(draft, r, keys[k]),
					"'%s' is said of cores, and nothing tells which level is one; "
					"mark the storage of each with 'scratchpad: true'",
					keys[k]);
}

/* Boxes of sticks go between the home and the scratchpad. */
static void check_transfers(struct arch_draft *draft)
{
	const struct arch *arch = draft->arch;
	const char *pad = arch->lx < 0 ? NULL : arch->levels[arch->lx].name;
	for (int r = 0; r < arch->level_count; r++) {
		const struct level *level = &arch->levels[r];
		if (level->boxes && !pad)
			WRONG(draft, span_of(draft, r, "transfer"),
				"boxes go into a scratchpad, which '%s' is not; it needs "
				"'scratchpad: true'",
				level->name);
		else if (level->boxes && r != arch->lx)
			WRONG(draft, span_of(draft, r, "transfer"),
				"boxes go into the outermost scratchpad, '%s', not into '%s'", pad,
				level->name);
		if (level->stick && r != arch->hbm)
			WRONG(draft, span_of(draft, r, "stick"),
				"tensors have the layout of their home, '%s'; 'stick' is said there",
				arch->levels[arch->hbm].name);
		else if (level->stick && !arch_moves_boxes(arch))
			WRONG(draft, span_of(draft, r, "stick"),
				"sticks move in boxes; the scratchpad needs 'transfer: box'");
	}
	if (arch_moves_boxes(arch) && arch->hbm != arch->lx && !arch->levels[arch->hbm].stick)
		WRONG(draft, span_of(draft, arch->lx, "transfer"),
			"boxes are of sticks; '%s' needs 'stick: 128B'",
			arch->levels[arch->hbm].name);
}

void arch_roles_find(struct arch_draft *draft, size_t errors)
{
	find_computes(draft);
	find_storages(draft);
	find_cores(draft);
	if (diag_errors(draft->reading->diag) > errors)
		return;
	check_cores(draft);
	check_transfers(draft);
}

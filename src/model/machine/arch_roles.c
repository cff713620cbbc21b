#include "model/machine/arch_draft.h"

#include "base/arena.h"
#include "base/number.h"
#include "base/text.h"
#include "model/machine/layout.h"
#include "spec/reader.h"

#include <string.h>
#include <strings.h>

/* A unit for maps and reductions says so by its rates or by its class. */
static bool is_vector_unit(const struct level *level)
{
	const struct compute_level *unit = level_compute(level);
	return !unit->mac_rate.num &&
	       (unit->vector_rate.num || strcasestr(level->device, "vector") ||
		       strcasestr(level->device, "scalar"));
}

/* The place of a key of a level. */
static struct span arch_draft_span(const struct arch_draft *draft, int r, const char *key)
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

/* The array: the compute with a 'mac_rate', else the innermost that is not a vector unit. */
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
	struct compute_level *array = &arch->levels[arch->compute].compute;
	struct compute_level *unit = &arch->levels[arch->vector].compute;
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
		if (!level_storage(level)->scratchpad)
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
		if (fanout_count(&level->fanout) > 1)
			arch->core = r;
		else if (level->kind == LEVEL_CONTAINER && inside == arch->lx)
			inside = r;
	}
	if (arch->core < 0)
		arch->core = inside;
}

/* Checks that attributes of cores come with a scratchpad, which marks the level of cores. */
static void check_cores(struct arch_draft *draft)
{
	static const char *const keys[] = {
		"core_overhead", "data_ring", "lane_bandwidth", "reduce_ring", "span_limit", NULL};
	const struct arch *arch = draft->arch;
	bool fans = false;
	for (int r = 0; r < arch->level_count; r++)
		fans |= fanout_count(&arch->levels[r].fanout) > 1;
	for (int r = 0; arch->lx < 0 && fans && r < arch->level_count; r++)
		for (int k = 0; keys[k]; k++)
			if (draft->entries[r].own && node_find(draft->entries[r].own, keys[k]))
				WRONG(draft, arch_draft_span(draft, r, keys[k]),
					"'%s' is an attribute of cores, and no level is marked as one; "
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
		if (level->kind != LEVEL_STORAGE)
			continue;
		bool boxes = level->storage.boxes, sticks = level->storage.stick;
		if (boxes && !pad)
			WRONG(draft, arch_draft_span(draft, r, "transfer"),
				"boxes go into a scratchpad, which '%s' is not; it needs "
				"'scratchpad: true'",
				level->name);
		else if (boxes && r != arch->lx)
			WRONG(draft, arch_draft_span(draft, r, "transfer"),
				"boxes go into the outermost scratchpad, '%s', not into '%s'", pad,
				level->name);
		if (sticks && r != arch->hbm)
			WRONG(draft, arch_draft_span(draft, r, "stick"),
				"tensors have the layout of their home, '%s'; 'stick' is said there",
				arch->levels[arch->hbm].name);
		else if (sticks && !arch_moves_boxes(arch))
			WRONG(draft, arch_draft_span(draft, r, "stick"),
				"sticks move in boxes; the scratchpad needs 'transfer: box'");
	}
	if (arch_moves_boxes(arch) && arch->hbm != arch->lx && !arch_hbm(arch)->stick)
		WRONG(draft, arch_draft_span(draft, arch->lx, "transfer"),
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

static bool arch_role_need(bool good, struct span span, struct diag *diag, const char *what)
{
	if (!good)
		diag_error(diag, span, "graphs cannot run on this machine: %s", what);
	return good;
}

/* The outermost storage, where every tensor can be. */
static bool fits_home(const struct arch *arch, struct diag *diag)
{
	const struct level *levels = arch->levels, *home = &levels[arch->hbm];
	for (int r = arch->hbm + 1; home->parallel && r < arch->level_count; r++) {
		if (levels[r].parallel != home->parallel || levels[r].branch == home->branch ||
			levels[r].kind != LEVEL_STORAGE)
			continue;
		diag_error(diag, levels[r].span,
			"graphs cannot run on this machine: '%s' and '%s' stand side by side "
			"outermost, and tensors have one home; put one around the other",
			home->name, levels[r].name);
		return false;
	}
	return arch_role_need(home->instances == 1, home->span, diag,
		"its outermost storage is in several parts");
}

static bool fits_lx(const struct level *lx, bool boxes, struct diag *diag)
{
	const struct storage_level *pad = level_storage(lx);
	bool size =
		arch_role_need(pad->capacity > 0, lx->span, diag, "its scratchpad has no 'size'");
	size &= arch_role_need(pad->capacity <= ARCH_LX_MOST / lx->instances, lx->span, diag,
		"its scratchpads have more than 16 GiB together");
	bool reserve = arch_role_need(pad->reserve <= pad->capacity, lx->span, diag,
		"its scratchpad is smaller than its 'reserve'");
	bool aligned = arch_role_need(!boxes || pad->alignment % STICK_BYTES == 0, lx->span, diag,
		"its scratchpad must align buffers to sticks, 'alignment: 128'");
	return size && reserve && aligned;
}

/* Boxes go straight from the home to the scratchpad of a core. */
static bool fits_boxes(const struct arch *arch, struct diag *diag)
{
	const struct level *core = &arch->levels[arch->core], *lx = &arch->levels[arch->lx];
	if (core->instances > ARCH_CORES_MOST) {
		diag_error(diag, core->span,
			"graphs cannot run on this machine: it has %lld cores, %d are the most",
			(long long)core->instances, ARCH_CORES_MOST);
		return false;
	}
	bool path = true, ideal = arch_array_is_ideal(arch, arch->compute);
	for (int r = 0; r < arch->level_count; r++) {
		const struct level *level = &arch->levels[r];
		bool around = r >= arch->lx || r == arch->hbm || level->kind != LEVEL_STORAGE;
		path &= arch_role_need(!level->parallel || r > arch->lx, level->span, diag,
			"boxes do not go through a !Parallel; it must stand inside the scratchpad");
		path &= arch_role_need(!level->constraints || (r > arch->lx && !ideal), level->span,
			diag,
			"the constraints beside its attributes are of nests; plans take those of a "
			"'constraints' file");
		path &= arch_role_need(around || level->parallel, level->span, diag,
			"boxes go straight from the home to the scratchpad, and this storage stands "
			"between them");
	}
	return arch_role_need(lx->instances == core->instances, lx->span, diag,
		       "each core needs one scratchpad") &&
	       path;
}

static bool fits_scratchpad(const struct arch *arch, struct diag *diag)
{
	const struct level *lx = &arch->levels[arch->lx];
	bool boxes = arch_moves_boxes(arch);
	bool home = arch_role_need(arch->hbm < arch->lx, lx->span, diag,
		"its scratchpad is the outermost storage, and tensors need a home outside it");
	bool inside = arch_role_need(arch->compute > arch->lx && arch->vector > arch->lx, lx->span,
		diag, "a compute is not inside the scratchpad");
	return fits_lx(lx, boxes, diag) && home && inside && (!boxes || fits_boxes(arch, diag));
}

bool arch_fits_graphs(const struct arch *arch, struct diag *diag)
{
	bool compute = arch_role_need(arch->compute >= 0, arch->span, diag, "no level computes");
	bool home = arch_role_need(arch->hbm >= 0, arch->span, diag, "no level stores");
	if (!compute || !home || !fits_home(arch, diag))
		return false;
	return arch->lx < 0 || fits_scratchpad(arch, diag);
}

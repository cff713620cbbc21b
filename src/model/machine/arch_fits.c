#include "model/machine/arch.h"

#include "model/machine/dtype.h"

static bool need(bool good, struct span span, struct diag *diag, const char *what)
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
	return need(home->instances == 1, home->span, diag,
		"its outermost storage is in several parts");
}

static bool fits_lx(const struct level *lx, bool boxes, struct diag *diag)
{
	bool size = need(lx->capacity > 0, lx->span, diag, "its scratchpad has no 'size'");
	size &= need(lx->capacity <= ARCH_LX_MOST / lx->instances, lx->span, diag,
		"its scratchpads have more than 16 GiB together");
	bool reserve = need(lx->reserve <= lx->capacity, lx->span, diag,
		"its scratchpad is smaller than its 'reserve'");
	bool aligned = need(!boxes || lx->alignment % STICK_BYTES == 0, lx->span, diag,
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
		path &= need(!level->parallel || r > arch->lx, level->span, diag,
			"boxes do not go through a !Parallel; it must stand inside the scratchpad");
		path &= need(!level->constraints || (r > arch->lx && !ideal), level->span, diag,
			"the constraints beside its attributes are of nests; plans take those of a "
			"'constraints' file");
		path &= need(around || level->parallel, level->span, diag,
			"boxes go straight from the home to the scratchpad, and this storage stands "
			"between them");
	}
	return need(lx->instances == core->instances, lx->span, diag,
		       "each core needs one scratchpad") &&
	       path;
}

static bool fits_scratchpad(const struct arch *arch, struct diag *diag)
{
	const struct level *lx = &arch->levels[arch->lx];
	bool boxes = arch_moves_boxes(arch);
	bool home = need(arch->hbm < arch->lx, lx->span, diag,
		"its scratchpad is the outermost storage, and tensors need a home outside it");
	bool inside = need(arch->compute > arch->lx && arch->vector > arch->lx, lx->span, diag,
		"a compute is not inside the scratchpad");
	return fits_lx(lx, boxes, diag) && home && inside && (!boxes || fits_boxes(arch, diag));
}

bool arch_fits_graphs(const struct arch *arch, struct diag *diag)
{
	bool compute = need(arch->compute >= 0, arch->span, diag, "no level computes");
	bool home = need(arch->hbm >= 0, arch->span, diag, "no level stores");
	if (!compute || !home || !fits_home(arch, diag))
		return false;
	return arch->lx < 0 || fits_scratchpad(arch, diag);
}

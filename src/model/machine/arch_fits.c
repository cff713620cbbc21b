#include "model/machine/arch.h"

#include "model/machine/dtype.h"

static bool need(bool good, struct span span, struct diag *diag, const char *what)
{
	if (!good)
		diag_error(diag, span, "graphs cannot run on this machine: %s", what);
	return good;
}

static bool fits_lx(const struct level *lx, struct diag *diag)
{
	bool size = need(lx->capacity > 0, lx->span, diag, "its scratchpad has no 'size'");
	size &= need(lx->capacity <= ARCH_LX_MOST, lx->span, diag,
		"its scratchpad has more than 64 GiB");
	bool reserve = need(lx->reserve <= lx->capacity, lx->span, diag,
		"its scratchpad is smaller than its 'reserve'");
	bool aligned = need(lx->alignment % STICK_BYTES == 0, lx->span, diag,
		"its scratchpad must align buffers to sticks, 'alignment: 128'");
	return size && reserve && aligned;
}

static bool fits_cores(const struct arch *arch, struct diag *diag)
{
	const struct level *core = &arch->levels[arch->core], *lx = &arch->levels[arch->lx];
	if (core->instances > ARCH_CORES_MOST) {
		diag_error(diag, core->span,
			"graphs cannot run on this machine: it has %lld cores, %d are the most",
			(long long)core->instances, ARCH_CORES_MOST);
		return false;
	}
	return need(
		lx->instances == core->instances, lx->span, diag, "each core needs one scratchpad");
}

static bool fits_compute(const struct level *compute, struct diag *diag)
{
	bool macs =
		need(compute->mac_rate.num > 0, compute->span, diag, "its array has no 'mac_rate'");
	bool vectors = need(compute->vector_rate.num > 0, compute->span, diag,
		"its array has no 'vector_rate'");
	return macs && vectors;
}

static bool fits_path(const struct arch *arch, struct diag *diag)
{
	for (int r = 0; r < arch->level_count; r++)
		if (arch->levels[r].parallel)
			return need(false, arch->levels[r].span, diag,
				"it has a !Parallel, and its levels must be one path");
	return true;
}

/* A machine for one problem lacks everything that graphs need: that is one complaint. */
static bool fits_problems_only(const struct arch *arch)
{
	const struct level *compute = arch->compute < 0 ? NULL : &arch->levels[arch->compute];
	return arch->lx < 0 && compute && !compute->mac_rate.num && !compute->vector_rate.num;
}

bool arch_fits_graphs(const struct arch *arch, struct diag *diag)
{
	if (fits_problems_only(arch))
		return need(false, arch->span, diag,
			"it has no scratchpad and no rates; it takes a 'problem'");
	bool hbm = need(arch->hbm >= 0, arch->span, diag, "no level is a DRAM");
	bool lx = need(arch->lx >= 0, arch->span, diag,
		"no storage is a scratchpad; one needs 'reserve' or 'scratchpad: true'");
	bool compute = need(arch->compute > arch->lx, arch->span, diag,
		"no level inside the scratchpad computes");
	if (hbm)
		hbm = need(arch->levels[arch->hbm].instances == 1, arch->levels[arch->hbm].span,
			diag, "its DRAM is in several parts");
	if (hbm && lx)
		hbm = need(arch->hbm < arch->lx, arch->span, diag,
			"the scratchpad is not inside the DRAM");
	bool path = fits_path(arch, diag), cores = lx && fits_cores(arch, diag);
	if (lx)
		lx = fits_lx(&arch->levels[arch->lx], diag);
	if (compute)
		compute = fits_compute(&arch->levels[arch->compute], diag);
	return path && hbm && lx && cores && compute;
}

#include "model/nest/domain.h"

#include "base/arena.h"
#include "base/number.h"

bool domain_stores(const struct arch *arch, int row)
{
	return arch->levels[row].kind == LEVEL_STORAGE;
}

bool domain_iterates(const struct arch *arch, int row)
{
	const struct level *level = &arch->levels[row];
	return level->kind == LEVEL_STORAGE || (level->kind == LEVEL_CONTAINER && level->device);
}

int domain_outermost(const struct arch *arch)
{
	for (int r = 0; r < arch->level_count; r++)
		if (domain_stores(arch, r))
			return r;
	return -1;
}

int64_t domain_fanout(const struct arch *arch, int row)
{
	return arch->levels[row].fanout_x * arch->levels[row].fanout_y;
}

static void open_row(struct domain *domain, int r)
{
	const struct arch *arch = domain->arch;
	const struct shape *shape = domain->shape;
	struct row_domain *row = &domain->rows[r];
	bool stores = domain_stores(arch, r);
	bool iterates = stores || (domain->hierarchy && domain->hierarchy->dummy_loops &&
					  domain_iterates(arch, r));
	int64_t across = number_max(arch->levels[r].fanout_x, arch->levels[r].fanout_y);
	for (int d = 0; d < shape->dimension_count; d++) {
		int64_t extent = shape->dimensions[d].extent;
		row->spatial[d] = (struct factor_domain){1, number_min(across, extent), -1, -1};
		row->temporal[d] = (struct factor_domain){1, iterates ? extent : 1, -1, -1};
	}
	row->spatial_order_by = row->temporal_order_by = -1;
	row->split = row->split_by = -1;
	uint32_t all = (UINT32_C(1) << shape->space_count) - 1;
	row->keep = r == domain_outermost(arch) ? all : 0;
	row->bypass = stores && !arch->levels[r].no_room ? 0 : all;
	for (int t = 0; t < SHAPE_SPACES_MOST; t++)
		row->keep_by[t] = -1;
}

struct domain *domain_make(struct arena *arena, const struct arch *arch, const struct shape *shape,
	const struct hierarchy *hierarchy)
{
	struct domain *domain = arena_new(arena, struct domain);
	*domain = (struct domain){
		.arch = arch,
		.shape = shape,
		.hierarchy = hierarchy,
		.least_parallelism_by = -1,
	};
	for (int r = 0; r < arch->level_count; r++)
		open_row(domain, r);
	for (int i = 0; hierarchy && i < hierarchy->level_count; i++)
		if (hierarchy->levels[i].free)
			domain->rows[hierarchy->levels[i].row].keep =
				(1u << shape->space_count) - 1;
	return domain;
}

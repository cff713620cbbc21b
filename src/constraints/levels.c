#include "base/arena.h"
#include "base/number.h"
#include "base/text.h"
#include "constraints/kind.h"
#include "model/nest/constraint.h"

#include <math.h>

/*
 * Constraints of a level: the dataspaces that it keeps and bypasses, flags of dataspaces, and how many of its instances
 * must work.
 *
 * In a branch that stores nothing (row -1, branch arch.nothings[number]) the first kinds say only that a dataspace goes
 * that way.
 */
extern const struct constraint_kind constraint_keep, constraint_keep_only, constraint_bypass_only;

static bool read_residence(
	const struct constraint_context *context, const struct node *value, struct constraint *out)
{
	return directive_spaces(context->reading, value, context->shape, &out->spaces);
}

/* The dataspaces to be kept and those to be bypassed. */
struct residence {
	uint32_t keep, bypass;
};

static struct residence residence_of(
	const struct domain *domain, const struct constraint *constraint)
{
	const struct constraint_kind *kind = constraint->kind;
	uint32_t named = constraint->spaces;
	uint32_t rest = ((UINT32_C(1) << domain->shape->space_count) - 1) & ~named;
	if (kind == &constraint_keep)
		return (struct residence){named, 0};
	if (kind == &constraint_keep_only)
		return (struct residence){named, rest};
	if (kind == &constraint_bypass_only)
		return (struct residence){rest, named};
	return (struct residence){0, named};
}

static void keep_one(struct domain *domain, const struct constraint *constraint, int self, int t,
	struct clashes *clashes)
{
	struct row_domain *row = &domain->rows[constraint->row];
	const struct level *level = &domain->arch->levels[constraint->row];
	uint32_t bit = UINT32_C(1) << t;
	bool stores = domain_stores(domain->arch, constraint->row);
	/* A branch of a !Parallel may keep a dataspace in nothing at all. */
	if (!stores && level->parallel)
		return;
	if (!stores)
		clash_add(clashes, self, -1, constraint->span, "'%s' only %s: it cannot keep %s",
			level->name, place_use(level), domain->shape->spaces[t].name);
	else if (level_storage(level)->store.no_room)
		clash_add(clashes, self, -1, constraint->span,
			"'%s' has no room: it cannot keep %s", level->name,
			domain->shape->spaces[t].name);
	else if (row->bypass & bit)
		clash_add(clashes, self, row->keep_by[t], constraint->span,
			"'%s' cannot both keep and bypass %s", level->name,
			domain->shape->spaces[t].name);
	else if (!(row->keep & bit) || row->keep_by[t] < 0) {
		row->keep |= bit;
		row->keep_by[t] = self;
	}
}

static void bypass_one(struct domain *domain, const struct constraint *constraint, int self, int t,
	struct clashes *clashes)
{
	struct row_domain *row = &domain->rows[constraint->row];
	uint32_t bit = UINT32_C(1) << t;
	if (row->keep & bit && row->keep_by[t] >= 0) {
		clash_add(clashes, self, row->keep_by[t], constraint->span,
			"'%s' cannot both bypass and keep %s",
			domain->arch->levels[constraint->row].name, domain->shape->spaces[t].name);
		return;
	}
	row->keep &= ~bit;
	if (row->bypass & bit)
		return;
	row->bypass |= bit;
	row->keep_by[t] = self;
}

static void narrow_residence(struct domain *domain, const struct constraint *constraint, int self,
	struct clashes *clashes)
{
	struct residence residence = residence_of(domain, constraint);
	if (constraint->row < 0)
		return;
	for (int t = 0; t < domain->shape->space_count; t++) {
		if (residence.keep >> t & 1)
			keep_one(domain, constraint, self, t, clashes);
		if (residence.bypass >> t & 1)
			bypass_one(domain, constraint, self, t, clashes);
	}
}

static const char *check_residence(const struct domain *domain, const struct constraint *constraint,
	const struct mapping *mapping, struct arena *arena)
{
	struct residence residence = residence_of(domain, constraint);
	if (constraint->row < 0)
		return NULL;
	const char *level = domain->arch->levels[constraint->row].name;
	if (!domain_stores(domain->arch, constraint->row))
		residence.keep = 0;
	for (int t = 0; t < domain->shape->space_count; t++) {
		bool kept = mapping->residency[t] >> constraint->row & 1;
		if (residence.keep >> t & 1 && !kept)
			return arena_format(arena, "'%s' bypasses %s, it must keep it", level,
				domain->shape->spaces[t].name);
		if (residence.bypass >> t & 1 && kept)
			return arena_format(arena, "'%s' keeps %s, it must bypass it", level,
				domain->shape->spaces[t].name);
	}
	return NULL;
}

static const char *explain_residence(
	const struct domain *domain, const struct constraint *constraint, struct arena *arena)
{
	struct residence residence = residence_of(domain, constraint);
	uint32_t keep = residence.keep, bypass = residence.bypass;
	struct text text = text_open(arena);
	text_add(&text, "%s ", place_text(arena, domain, constraint));
	if (keep)
		text_add(&text, "keeps %s", place_spaces(arena, domain->shape, keep));
	if (bypass)
		text_add(&text, "%sbypasses %s", keep ? " and " : "",
			place_spaces(arena, domain->shape, bypass));
	if (!keep && !bypass)
		text_add(&text, "may keep what it likes");
	return text_read(&text);
}

const struct constraint_kind constraint_keep = {
	.key = "keep",
	.summary = "dataspaces that the level must keep",
	.parts = 1u << PART_DATASPACE,
	.read = read_residence,
	.narrow = narrow_residence,
	.check = check_residence,
	.explain = explain_residence,
};

const struct constraint_kind constraint_keep_only = {
	.key = "keep_only",
	.summary = "dataspaces that the level must keep; it bypasses all others",
	.parts = 1u << PART_DATASPACE,
	.read = read_residence,
	.narrow = narrow_residence,
	.check = check_residence,
	.explain = explain_residence,
};

const struct constraint_kind constraint_bypass = {
	.key = "bypass",
	.summary = "dataspaces that the level must not keep",
	.parts = 1u << PART_DATASPACE,
	.read = read_residence,
	.narrow = narrow_residence,
	.check = check_residence,
	.explain = explain_residence,
};

const struct constraint_kind constraint_bypass_only = {
	.key = "bypass_only",
	.summary = "dataspaces that the level must not keep; it keeps all others",
	.parts = 1u << PART_DATASPACE,
	.read = read_residence,
	.narrow = narrow_residence,
	.check = check_residence,
	.explain = explain_residence,
};

/* Flags of dataspaces at a level; they ask nothing of a mapping. */
extern const struct constraint_kind constraint_no_coalesce, constraint_no_link_transfer,
	constraint_rmw_first_update;

static bool read_flags(
	const struct constraint_context *context, const struct node *value, struct constraint *out)
{
	const struct shape *shape = context->shape;
	bool written = false;
	if (!directive_spaces(context->reading, value, shape, &out->spaces))
		return false;
	for (int t = 0; t < shape->space_count; t++)
		written |= shape->spaces[t].written && out->spaces >> t & 1;
	if (out->kind == &constraint_rmw_first_update && out->spaces && !written)
		diag_warning(context->reading->diag, value->span,
			"'rmw_first_update' has no effect on dataspaces that are only read");
	return true;
}

/* The level whose flags a constraint sets: of its row, or with the block that its row is; NULL
 * when there is none. */
static struct nest_level *constrained_level(
	struct hierarchy *hierarchy, const struct constraint *constraint)
{
	for (int i = 0; i < hierarchy->level_count; i++) {
		struct nest_level *level = &hierarchy->levels[i];
		bool spatial = constraint->part == PART_SPATIAL;
		if ((spatial ? level->block_row : level->row) == constraint->row &&
			(spatial || !level->free))
			return level;
	}
	return NULL;
}

static void flag_flags(struct hierarchy *hierarchy, const struct constraint *constraint)
{
	const struct constraint_kind *kind = constraint->kind;
	struct nest_level *level = constrained_level(hierarchy, constraint);
	if (level)
		*(kind == &constraint_no_coalesce              ? &level->no_coalesce
			: kind == &constraint_no_link_transfer ? &level->no_link_transfer
			: kind == &constraint_rmw_first_update ? &level->rmw_first_update
			: constraint->part == PART_SPATIAL     ? &level->no_spatial_reuse
							       : &level->no_temporal_reuse) |=
			(uint8_t)constraint->spaces;
}

/* Any mapping will do. */
static const char *check_flags(const struct domain *domain, const struct constraint *constraint,
	const struct mapping *mapping, struct arena *arena)
{
	return NULL;
}

/* "no multicast of Inputs at 'PE' (spatial)" */
static const char *explain_flags(
	const struct domain *domain, const struct constraint *constraint, struct arena *arena)
{
	const struct constraint_kind *kind = constraint->kind;
	const char *what =
		kind == &constraint_no_coalesce        ? "no coalescing"
		: kind == &constraint_no_link_transfer ? "no transfers between neighbours"
		: kind == &constraint_rmw_first_update ? "the first update is a read and a write"
		: constraint->part == PART_SPATIAL     ? "no multicast and no spatial reduction"
						       : "no reuse over time";
	return arena_format(arena, "%s of %s at %s", what,
		place_spaces(arena, domain->shape, constraint->spaces),
		place_text(arena, domain, constraint));
}

const struct constraint_kind constraint_no_coalesce = {
	.key = "no_coalesce",
	.summary = "dataspaces whose every word passes on by itself",
	.parts = 1u << PART_DATASPACE,
	.read = read_flags,
	.flag = flag_flags,
	.check = check_flags,
	.explain = explain_flags,
};

const struct constraint_kind constraint_no_link_transfer = {
	.key = "no_link_transfer",
	.summary = "dataspaces that neighbours do not hand on",
	.parts = 1u << PART_SPATIAL,
	.read = read_flags,
	.flag = flag_flags,
	.check = check_flags,
	.explain = explain_flags,
};

const struct constraint_kind constraint_no_reuse = {
	.key = "no_reuse",
	.summary =
		"dataspaces without multicast and reduction (spatial) or emptied at every step (temporal)",
	.parts = 1u << PART_SPATIAL | 1u << PART_TEMPORAL,
	.read = read_flags,
	.flag = flag_flags,
	.check = check_flags,
	.explain = explain_flags,
};

const struct constraint_kind constraint_rmw_first_update = {
	.key = "rmw_first_update",
	.summary = "dataspaces whose first update reads what it adds to",
	.parts = 1u << PART_TEMPORAL,
	.read = read_flags,
	.flag = flag_flags,
	.check = check_flags,
	.explain = explain_flags,
};

/* The part of the multipliers that must be busy, {min: 0.5} or 0.5; `utilization` and `parallelism`
 * both mean it. */
static bool read_busy(
	const struct constraint_context *context, const struct node *value, struct constraint *out)
{
	const struct node *least = value->kind == NODE_MAP ? node_find(value, "min") : value;
	if (!least)
		return reading_refuse(context->reading, value,
			"a least utilization needs 'min', such as {min: 0.5}");
	if (!node_number(context->reading, least, "a least utilization", &out->least))
		return false;
	if (out->least >= 0 && out->least <= 1)
		return true;
	return reading_refuse(context->reading, least,
		"a least utilization is between 0 and 1, not %g", out->least);
}

static void narrow_busy(struct domain *domain, const struct constraint *constraint, int self,
	struct clashes *clashes)
{
	if (constraint->least <= domain->least_parallelism)
		return;
	domain->least_parallelism = constraint->least;
	domain->least_parallelism_by = self;
}

static void flag_busy(struct hierarchy *hierarchy, const struct constraint *constraint)
{
	if (constraint->least > hierarchy->least_parallelism)
		hierarchy->least_parallelism = constraint->least;
}

/* Instances of the compute level in the machine. */
static int64_t arch_multipliers(const struct arch *arch)
{
	int64_t product = 1;
	for (int r = 0; r < arch->level_count; r++)
		if (!number_mul(product, domain_fanout(arch, r), &product))
			return INT64_MAX;
	return product;
}

static int64_t domain_busy(const struct domain *domain, const struct mapping *mapping)
{
	int64_t product = 1;
	for (int r = 0; r < domain->arch->level_count; r++)
		for (int d = 0; d < domain->shape->dimension_count; d++)
			if (!number_mul(product, mapping->rows[r].spatial[d], &product))
				return INT64_MAX;
	return product;
}

static const char *check_busy(const struct domain *domain, const struct constraint *constraint,
	const struct mapping *mapping, struct arena *arena)
{
	int64_t used = domain_busy(domain, mapping), all = arch_multipliers(domain->arch);
	if ((double)used >= constraint->least * (double)all)
		return NULL;
	return arena_format(arena, "%lld of %lld multipliers are busy, %g of them must be",
		(long long)used, (long long)all, constraint->least);
}

static const char *explain_busy(
	const struct domain *domain, const struct constraint *constraint, struct arena *arena)
{
	return arena_format(arena, "at least %g of the %lld multipliers are busy",
		constraint->least, (long long)arch_multipliers(domain->arch));
}

const struct constraint_kind constraint_parallelism = {
	.key = "parallelism",
	.summary = "{min: 0.5}: the least part of all multipliers that is busy",
	.parts = 1u << PART_MACHINE,
	.read = read_busy,
	.narrow = narrow_busy,
	.flag = flag_busy,
	.check = check_busy,
	.explain = explain_busy,
};

const struct constraint_kind constraint_utilization = {
	.key = "utilization",
	.summary = "{min: 0.5}: the least part of all multipliers that is busy",
	.parts = 1u << PART_MACHINE,
	.read = read_busy,
	.narrow = narrow_busy,
	.flag = flag_busy,
	.check = check_busy,
	.explain = explain_busy,
};

/* The part of a block's instances that spatial loops must take: AccelForge's min_usage. */
static bool read_usage(
	const struct constraint_context *context, const struct node *value, struct constraint *out)
{
	if (!node_number(context->reading, value, "a least usage", &out->least))
		return false;
	if (out->least >= 0 && out->least <= 1)
		return true;
	return reading_refuse(context->reading, value,
		"a least usage is a part of the instances, between 0 and 1, not %g", out->least);
}

static void narrow_usage(struct domain *domain, const struct constraint *constraint, int self,
	struct clashes *clashes)
{
	struct row_domain *row = &domain->rows[constraint->row];
	row->least_usage = fmax(row->least_usage, constraint->least);
}

static void flag_usage(struct hierarchy *hierarchy, const struct constraint *constraint)
{
	for (int i = 0; i < hierarchy->level_count; i++) {
		struct nest_level *level = &hierarchy->levels[i];
		if (level->block_row == constraint->row)
			level->least_usage = fmax(level->least_usage, constraint->least);
	}
}

static const char *check_usage(const struct domain *domain, const struct constraint *constraint,
	const struct mapping *mapping, struct arena *arena)
{
	double used = 1, all = (double)domain_fanout(domain->arch, constraint->row);
	for (int d = 0; d < domain->shape->dimension_count; d++)
		used *= mapping->rows[constraint->row].spatial[d];
	if (used / all >= constraint->least)
		return NULL;
	return arena_format(arena, "'%s' has %g of %g instances in use, %g of them must be",
		domain->arch->levels[constraint->row].name, used, all, constraint->least);
}

static const char *explain_usage(
	const struct domain *domain, const struct constraint *constraint, struct arena *arena)
{
	return arena_format(arena, "at least %g of the %lld instances of '%s' are in use",
		constraint->least, (long long)domain_fanout(domain->arch, constraint->row),
		domain->arch->levels[constraint->row].name);
}

const struct constraint_kind constraint_min_usage = {
	.key = "min_usage",
	.summary = "0.5: the least part of the instances of a fan-out that spatial loops take",
	.parts = 1u << PART_SPATIAL,
	.read = read_usage,
	.narrow = narrow_usage,
	.flag = flag_usage,
	.check = check_usage,
	.explain = explain_usage,
};

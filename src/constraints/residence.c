#include "base/arena.h"
#include "base/text.h"
#include "constraints/place.h"
#include "model/nest/constraint.h"

extern const struct constraint_kind constraint_keep, constraint_keep_only, constraint_bypass_only;

/*
 * What a level keeps and bypasses.  In a branch that stores nothing (row -1, branch
 * arch.nothings[number]) the kinds say only that a dataspace goes that way.
 */
static bool read(
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
	else if (level->no_room)
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

static void narrow(struct domain *domain, const struct constraint *constraint, int self,
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

static const char *check(const struct domain *domain, const struct constraint *constraint,
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

static const char *explain(
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
	.read = read,
	.narrow = narrow,
	.check = check,
	.explain = explain,
};

const struct constraint_kind constraint_keep_only = {
	.key = "keep_only",
	.summary = "dataspaces that the level must keep; it bypasses all others",
	.parts = 1u << PART_DATASPACE,
	.read = read,
	.narrow = narrow,
	.check = check,
	.explain = explain,
};

const struct constraint_kind constraint_bypass = {
	.key = "bypass",
	.summary = "dataspaces that the level must not keep",
	.parts = 1u << PART_DATASPACE,
	.read = read,
	.narrow = narrow,
	.check = check,
	.explain = explain,
};

const struct constraint_kind constraint_bypass_only = {
	.key = "bypass_only",
	.summary = "dataspaces that the level must not keep; it keeps all others",
	.parts = 1u << PART_DATASPACE,
	.read = read,
	.narrow = narrow,
	.check = check,
	.explain = explain,
};

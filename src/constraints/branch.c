#include "constraints/branch.h"

#include "base/text.h"

/* Branch `branch` of a !Parallel, and the constraint that keeps a dataspace there. */
struct keeper {
	int branch, by;
	const char *name;
};

static bool keeps(const struct constraint *constraint, int t)
{
	return (text_equal(constraint->kind->key, "keep") ||
		       text_equal(constraint->kind->key, "keep_only")) &&
	       constraint->spaces >> t & 1;
}

/* What a constraint keeps in a !Parallel; false if it does not. */
static bool find_keeper(const struct domain *domain, int by, int parallel, struct keeper *out)
{
	const struct arch *arch = domain->arch;
	const struct constraint *constraint = &domain->constraints->at[by];
	if (constraint->row >= 0) {
		const struct level *level = &arch->levels[constraint->row];
		*out = (struct keeper){level->branch, by, level->name};
		return level->parallel == parallel;
	}
	const struct nothing *nothing = &arch->nothings[constraint->number];
	*out = (struct keeper){nothing->branch, by, "!Nothing"};
	return nothing->parallel == parallel;
}

/* The rows of all other branches. */
static void bypass_others(struct domain *domain, int parallel, const struct keeper *home, int t)
{
	uint32_t bit = UINT32_C(1) << t;
	for (int r = 0; r < domain->arch->level_count; r++) {
		const struct level *level = &domain->arch->levels[r];
		struct row_domain *row = &domain->rows[r];
		if (level->parallel != parallel || level->branch == home->branch ||
			row->bypass & bit)
			continue;
		row->keep &= ~bit;
		row->bypass |= bit;
		row->keep_by[t] = home->by;
	}
}

/* Where a !Parallel begins. */
static struct span span_of(const struct arch *arch, int parallel)
{
	for (int r = 0; r < arch->level_count; r++)
		if (arch->levels[r].parallel == parallel)
			return arch->levels[r].span;
	return (struct span){0};
}

static void narrow_space(
	struct domain *domain, const bool *chosen, int parallel, int t, struct clashes *clashes)
{
	const struct constraints *all = domain->constraints;
	const char *name = domain->shape->spaces[t].name;
	struct keeper home = {.by = -1}, other;
	for (size_t i = 0; i < all->count; i++) {
		if ((chosen && !chosen[i]) || !keeps(&all->at[i], t) ||
			!find_keeper(domain, (int)i, parallel, &other))
			continue;
		if (home.by >= 0 && home.branch != other.branch) {
			clash_add(clashes, (int)i, home.by, all->at[i].span,
				"%s is kept in two branches of one !Parallel, by %s and by %s",
				name, home.name, other.name);
			return;
		}
		home = other;
	}
	if (home.by >= 0)
		bypass_others(domain, parallel, &home, t);
	else if (!chosen)
		clash_add(clashes, -1, -1, span_of(domain->arch, parallel),
			"no branch of this !Parallel keeps %s; one that stores nothing would be "
			"- !Nothing {constraints: {dataspace: {keep: [%s]}}}",
			name, name);
}

void branch_narrow(struct domain *domain, const bool *chosen, struct clashes *clashes)
{
	int most = 0;
	for (int r = 0; r < domain->arch->level_count; r++)
		if (domain->arch->levels[r].parallel > most)
			most = domain->arch->levels[r].parallel;
	for (int parallel = 1; parallel <= most; parallel++)
		for (int t = 0; t < domain->shape->space_count; t++)
			narrow_space(domain, chosen, parallel, t, clashes);
}

#include "constraints/branch.h"

#include "base/text.h"

/* The constraint that keeps a dataspace in a row; a row that keeps nothing may stand for it. */
static int keeper(const struct domain *domain, const bool *chosen, int r, int t)
{
	const struct constraints *all = domain->constraints;
	if (domain_stores(domain->arch, r))
		return domain->rows[r].keep >> t & 1 ? domain->rows[r].keep_by[t] : -1;
	for (size_t i = 0; i < all->count; i++) {
		const struct constraint *constraint = &all->at[i];
		bool keeps = text_equal(constraint->kind->key, "keep") ||
			     text_equal(constraint->kind->key, "keep_only");
		if (keeps && constraint->row == r && constraint->spaces >> t & 1 &&
			(!chosen || chosen[i]))
			return (int)i;
	}
	return -1;
}

static void bypass_others(struct domain *domain, int parallel, int branch, int t)
{
	for (int r = 0; r < domain->arch->level_count; r++) {
		const struct level *level = &domain->arch->levels[r];
		struct row_domain *row = &domain->rows[r];
		if (level->parallel == parallel && level->branch != branch)
			row->bypass |= UINT32_C(1) << t;
	}
}

static void narrow_space(
	struct domain *domain, const bool *chosen, int parallel, int t, struct clashes *clashes)
{
	const struct arch *arch = domain->arch;
	const char *name = domain->shape->spaces[t].name;
	int home = -1, by = -1, first = -1;
	for (int r = 0; r < arch->level_count; r++) {
		const struct level *level = &arch->levels[r];
		if (level->parallel != parallel)
			continue;
		first = first < 0 ? r : first;
		int self = keeper(domain, chosen, r, t);
		if (self < 0)
			continue;
		if (home >= 0 && arch->levels[home].branch != level->branch) {
			clash_add(clashes, self, by, domain->constraints->at[self].span,
				"%s is kept in two branches of one !Parallel, by '%s' and by '%s'",
				name, arch->levels[home].name, level->name);
			return;
		}
		home = r;
		by = self;
	}
	if (home >= 0)
		bypass_others(domain, parallel, arch->levels[home].branch, t);
	else if (!chosen)
		clash_add(clashes, -1, -1, arch->levels[first].span,
			"no branch of this !Parallel keeps %s; give it a branch, such as "
			"!Nothing {constraints: {dataspace: {keep: [%s]}}}",
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

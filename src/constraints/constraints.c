#include "constraints/constraints.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/text.h"
#include "constraints/product.h"

#include <stdarg.h>
#include <stdio.h>

enum { ROUNDS = 3 };

const struct constraint_kind *constraint_kind_find(const char *key)
{
	for (int i = 0; constraint_kinds[i]; i++)
		if (text_equal(constraint_kinds[i]->key, key))
			return constraint_kinds[i];
	return NULL;
}

struct clash *clash_add(
	struct clashes *clashes, int self, int by, struct span span, const char *format, ...)
{
	va_list list;
	va_start(list, format);
	const char *text = arena_format_list(clashes->arena, format, list);
	va_end(list);
	struct clash *clash = array_add(clashes->arena, clashes);
	*clash = (struct clash){.self = self, .by = by, .span = span, .text = text};
	return clash;
}

static bool uses(const struct hierarchy *hierarchy, int row)
{
	for (int i = 0; i < hierarchy->level_count; i++)
		if (hierarchy->levels[i].row == row || hierarchy->levels[i].block_row == row)
			return true;
	return row < 0 || row == hierarchy->compute_row;
}

void constraints_keep_used(
	struct constraints *constraints, const struct hierarchy *hierarchy, const struct arch *arch)
{
	struct constraint *at = (struct constraint *)constraints->at;
	size_t all = constraints->count;
	if (!hierarchy->vector || arch->vector == arch->compute)
		return;
	constraints->count = 0;
	for (size_t i = 0; i < all; i++)
		if (uses(hierarchy, at[i].row))
			at[constraints->count++] = at[i];
}

void constraints_flag(const struct constraints *constraints, struct hierarchy *hierarchy)
{
	for (size_t i = 0; i < constraints->count; i++) {
		const struct constraint *constraint = &constraints->at[i];
		if (constraint->kind->flag)
			constraint->kind->flag(hierarchy, constraint);
	}
}

/* Those that maximize go spatial before temporal, from the innermost row outwards; all others
 * as they are written. */
static bool goes_before(const struct constraint *a, const struct constraint *b)
{
	if (a->kind->round != 1)
		return false;
	return a->part != b->part ? a->part < b->part : a->row > b->row;
}

static void narrow_round(const struct constraints *constraints, const bool *chosen, int round,
	struct domain *domain, struct clashes *clashes)
{
	size_t *order = arena_array(clashes->arena, size_t, constraints->count), count = 0;
	for (size_t i = 0; i < constraints->count; i++) {
		const struct constraint *constraint = &constraints->at[i];
		if (constraint->kind->round != round || !constraint->kind->narrow ||
			(chosen && !chosen[i]))
			continue;
		size_t to = count++;
		for (; to > 0 && goes_before(constraint, &constraints->at[order[to - 1]]); to--)
			order[to] = order[to - 1];
		order[to] = i;
	}
	for (size_t k = 0; k < count; k++) {
		const struct constraint *constraint = &constraints->at[order[k]];
		constraint->kind->narrow(domain, constraint, (int)order[k], clashes);
	}
}

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

/* The branches of a !Parallel: every dataspace is kept in exactly one of them, by a constraint, and the
 * levels of the others bypass it.  What `chosen` leaves out is not asked for; then a dataspace without a branch
 * is no clash. */
static void narrow_branches(struct domain *domain, const bool *chosen, struct clashes *clashes)
{
	int most = 0;
	for (int r = 0; r < domain->arch->level_count; r++)
		if (domain->arch->levels[r].parallel > most)
			most = domain->arch->levels[r].parallel;
	for (int parallel = 1; parallel <= most; parallel++)
		for (int t = 0; t < domain->shape->space_count; t++)
			narrow_space(domain, chosen, parallel, t, clashes);
}

/* `chosen` NULL: all of them. */
static void narrow(const struct constraints *constraints, const bool *chosen, struct domain *domain,
	struct clashes *clashes)
{
	domain->constraints = constraints;
	for (int round = 0; round < ROUNDS; round++)
		narrow_round(constraints, chosen, round, domain, clashes);
	if (!clashes->count)
		narrow_branches(domain, chosen, clashes);
	if (!clashes->count)
		product_check(domain, clashes);
}

bool constraints_narrow(
	const struct constraints *constraints, struct domain *domain, struct diag *diag)
{
	struct arena *arena = arena_open();
	struct clashes clashes = {.arena = arena};
	narrow(constraints, NULL, domain, &clashes);
	for (size_t i = 0; i < clashes.count; i++) {
		const struct clash *clash = &clashes.at[i];
		diag_error(diag, clash->span, "%s", clash->text);
		if (clash->by >= 0 && clash->by != clash->self)
			diag_note(diag, constraints->at[clash->by].span, "the other one is here");
		for (int k = 0; k < clash->more_count; k++)
			diag_note(diag, constraints->at[clash->more[k]].span, "this takes part");
	}
	arena_close(arena);
	return !clashes.count;
}

bool constraints_agree(const struct constraints *constraints, const bool *chosen,
	struct domain *domain, struct arena *arena)
{
	struct arena_mark mark = arena_mark(arena);
	struct clashes clashes = {.arena = arena};
	narrow(constraints, chosen, domain, &clashes);
	bool agree = !clashes.count;
	arena_release(arena, mark);
	return agree;
}

bool constraints_agree_on_graph(const struct constraints *constraints, struct diag *diag)
{
	bool agree = true;
	for (size_t i = 0; i < constraints->count; i++)
		for (size_t k = 0; k < i; k++) {
			const struct constraint *a = &constraints->at[i], *b = &constraints->at[k];
			if (a->kind != b->kind || a->lx == b->lx ||
				!text_equal(a->subject, b->subject))
				continue;
			agree = false;
			diag_error(diag, a->span, "'%s' cannot live both in LX and in HBM",
				a->subject);
			diag_note(diag, b->span, "the other one is here");
		}
	return agree;
}

const char *constraints_check_one(const struct constraints *constraints, size_t i,
	const struct domain *domain, const struct mapping *mapping, struct arena *arena)
{
	const struct constraint *constraint = &constraints->at[i];
	if (!constraint->kind->check)
		return NULL;
	/* some kinds look at their neighbours */
	if (domain->constraints != constraints) {
		struct domain *same = arena_copy(arena, domain, sizeof *domain);
		same->constraints = constraints;
		domain = same;
	}
	return constraint->kind->check(domain, constraint, mapping, arena);
}

const char *constraints_check(const struct constraints *constraints, const struct domain *domain,
	const struct mapping *mapping, struct arena *arena)
{
	for (size_t i = 0; i < constraints->count; i++) {
		const char *why = constraints_check_one(constraints, i, domain, mapping, arena);
		if (!why)
			continue;
		struct span span = source_told(constraints->at[i].span);
		return arena_format(
			arena, "%s:%d:%d: %s", span.source->name, span.line, span.column, why);
	}
	return NULL;
}

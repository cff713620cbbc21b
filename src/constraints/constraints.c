#include "constraints/constraints.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/text.h"
#include "constraints/branch.h"
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

/* `chosen` NULL: all of them. */
static void narrow(const struct constraints *constraints, const bool *chosen, struct domain *domain,
	struct clashes *clashes)
{
	domain->constraints = constraints;
	for (int round = 0; round < ROUNDS; round++)
		narrow_round(constraints, chosen, round, domain, clashes);
	if (!clashes->count)
		branch_narrow(domain, chosen, clashes);
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
		struct span span = constraints->at[i].span;
		return arena_format(
			arena, "%s:%d:%d: %s", span.source->name, span.line, span.column, why);
	}
	return NULL;
}

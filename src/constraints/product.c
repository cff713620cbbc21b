#include "constraints/product.h"

#include "base/arena.h"
#include "base/number.h"
#include "base/text.h"

#include <string.h>

/* One dimension's loops, innermost first. */
struct chain {
	const struct domain *domain;
	int d;
	int64_t extent;
	int count;
	struct link {
		struct factor_domain bounds;
		int row;
		bool spatial;
	} links[2 * ARCH_LEVELS_MOST];
};

static struct chain chain_of(const struct domain *domain, int d)
{
	struct chain chain = {
		.domain = domain, .d = d, .extent = domain->shape->dimensions[d].extent};
	for (int r = domain->arch->level_count - 1; r >= 0; r--) {
		chain.links[chain.count++] = (struct link){domain->rows[r].temporal[d], r, false};
		chain.links[chain.count++] = (struct link){domain->rows[r].spatial[d], r, true};
	}
	return chain;
}

static struct span span_of(const struct domain *domain, int by)
{
	return domain->constraints && by >= 0 ? domain->constraints->at[by].span : (struct span){0};
}

/* "M=4 at 'GLB' (temporal) x M>=2 at 'PE' (spatial)": the bounds that somebody set.  The last
 * two constraints among them come out as well. */
static const char *chain_text(
	const struct chain *chain, struct arena *arena, bool least, int *self, int *by)
{
	struct text text = text_open(arena);
	const char *name = chain->domain->shape->dimensions[chain->d].name;
	*self = *by = -1;
	for (int i = chain->count - 1; i >= 0; i--) {
		const struct link *link = &chain->links[i];
		const struct factor_domain *bounds = &link->bounds;
		int who = least ? bounds->least_by : bounds->most_by;
		if (who < 0)
			continue;
		text_add(&text, "%s%s%s%lld at '%s' (%s)", text.length ? " x " : "", name,
			bounds->least == bounds->most ? "="
			: least                       ? ">="
						      : "<=",
			(long long)(least ? bounds->least : bounds->most),
			chain->domain->arch->levels[link->row].name,
			link->spatial ? "spatial" : "temporal");
		if (who == *self)
			continue;
		*by = who > *self ? *self : who > *by ? who : *by;
		*self = who > *self ? who : *self;
	}
	return text_read(&text);
}

static void add(const struct chain *chain, struct clashes *clashes, bool least, const char *why)
{
	int self, by;
	const char *bounds = chain_text(chain, clashes->arena, least, &self, &by);
	clash_add(clashes, self, by, span_of(chain->domain, self), "dimension %s has %lld, %s: %s",
		chain->domain->shape->dimensions[chain->d].name, (long long)chain->extent, why,
		bounds);
}

/* The product of all lower (upper) bounds, or more than any extent. */
static int64_t product_of(const struct chain *chain, bool least)
{
	int64_t product = 1;
	for (int i = 0; i < chain->count; i++) {
		const struct factor_domain *bounds = &chain->links[i].bounds;
		if (!number_mul(product, least ? bounds->least : bounds->most, &product))
			return INT64_MAX;
	}
	return product;
}

/* The one bound that has no divisor to choose, told with the nearest ones. */
static bool refuse_divisor(const struct chain *chain, const struct link *link,
	const struct divisors *divisors, struct clashes *clashes)
{
	const struct factor_domain *bounds = &link->bounds;
	int64_t below = 0, above = 0;
	for (size_t i = 0; i < divisors->count; i++) {
		int64_t divisor = divisors->at[i];
		if (divisor >= bounds->least && divisor <= bounds->most)
			return false;
		if (divisor < bounds->least)
			below = divisor;
		if (divisor > bounds->most && !above)
			above = divisor;
	}
	const char *name = chain->domain->shape->dimensions[chain->d].name;
	struct text range = text_open(clashes->arena), near = text_open(clashes->arena);
	text_add(&range, bounds->least == bounds->most ? "%s=%lld" : "%s=%lld..%lld", name,
		(long long)bounds->least, (long long)bounds->most);
	if (below)
		text_add(&near, "%lld", (long long)below);
	if (above)
		text_add(&near, "%s%lld", below ? " and " : "", (long long)above);
	int self = bounds->least_by > bounds->most_by ? bounds->least_by : bounds->most_by;
	int by = bounds->least_by > bounds->most_by ? bounds->most_by : bounds->least_by;
	clash_add(clashes, self, by == self ? -1 : by, span_of(chain->domain, self),
		"%s at '%s' (%s) does not divide dimension %s, which has %lld; %s would",
		text_read(&range), chain->domain->arch->levels[link->row].name,
		link->spatial ? "spatial" : "temporal", name, (long long)chain->extent,
		text_read(&near));
	return true;
}

/* Which divisors products of the loops so far can be, loop by loop. */
static bool some_product(
	const struct chain *chain, const struct divisors *divisors, struct arena *arena)
{
	bool *now = arena_array(arena, bool, divisors->count);
	bool *next = arena_array(arena, bool, divisors->count);
	now[0] = true;
	for (int i = 0; i < chain->count; i++) {
		const struct factor_domain *bounds = &chain->links[i].bounds;
		memset(next, 0, divisors->count * sizeof *next);
		for (size_t a = 0; a < divisors->count; a++)
			for (size_t b = a; now[a] && b < divisors->count; b++) {
				int64_t factor = divisors->at[b] / divisors->at[a];
				next[b] |= divisors->at[b] % divisors->at[a] == 0 &&
					   factor >= bounds->least && factor <= bounds->most;
			}
		bool *free = now;
		now = next;
		next = free;
	}
	return now[divisors->count - 1];
}

static void check_perfect(const struct chain *chain, struct clashes *clashes)
{
	struct divisors divisors = number_divisors(clashes->arena, chain->extent);
	bool told = false;
	for (int i = 0; i < chain->count; i++)
		told |= refuse_divisor(chain, &chain->links[i], &divisors, clashes);
	if (told)
		return;
	if (product_of(chain, true) > chain->extent)
		add(chain, clashes, true, "less than the product of its bounds");
	else if (product_of(chain, false) < chain->extent)
		add(chain, clashes, false, "more than the product of its bounds");
	else if (!some_product(chain, &divisors, clashes->arena))
		add(chain, clashes, true, "which no factors within its bounds make up");
}

/* From the inside outwards, a bound is at most what is left, rounded up. */
static void check_imperfect(const struct chain *chain, struct clashes *clashes)
{
	int64_t inside = 1;
	bool fits = true;
	for (int i = 0; i < chain->count && fits; i++) {
		int64_t least = chain->links[i].bounds.least;
		fits = least <= number_ceil_div(chain->extent, inside) &&
		       number_mul(inside, least, &inside);
	}
	if (!fits)
		add(chain, clashes, true, "less than the product of its bounds");
	else if (product_of(chain, false) < chain->extent)
		add(chain, clashes, false, "more than the product of its bounds");
}

static void check_fanout(const struct domain *domain, int r, struct clashes *clashes)
{
	int64_t product = 1, fanout = domain_fanout(domain->arch, r);
	struct text text = text_open(clashes->arena);
	int self = -1, by = -1;
	for (int d = 0; d < domain->shape->dimension_count; d++) {
		const struct factor_domain *bounds = &domain->rows[r].spatial[d];
		if (bounds->least == 1)
			continue;
		if (!number_mul(product, bounds->least, &product))
			product = INT64_MAX;
		text_add(&text, "%s%s%s%lld", text.length ? " x " : "",
			domain->shape->dimensions[d].name,
			bounds->least == bounds->most ? "=" : ">=", (long long)bounds->least);
		int who = bounds->least_by;
		if (who != self) {
			by = who > self ? self : who;
			self = who > self ? who : self;
		}
	}
	if (product > fanout)
		clash_add(clashes, self, by, span_of(domain, self),
			"'%s' fans out to %lld instances, less than %s",
			domain->arch->levels[r].name, (long long)fanout, text_read(&text));
}

void product_check(const struct domain *domain, struct clashes *clashes)
{
	for (int d = 0; d < domain->shape->dimension_count; d++) {
		struct chain chain = chain_of(domain, d);
		if (domain->imperfect >> d & 1)
			check_imperfect(&chain, clashes);
		else
			check_perfect(&chain, clashes);
	}
	for (int r = 0; r < domain->arch->level_count; r++)
		check_fanout(domain, r, clashes);
}

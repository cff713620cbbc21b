#include "constraints/product.h"

#include "base/arena.h"
#include "base/number.h"
#include "base/text.h"

#include <string.h>

/* One dimension's loops, innermost first. */
struct factor_chain {
	const struct domain *domain;
	int d;
	int64_t extent;
	int count;
	struct chain_link {
		struct factor_domain bounds;
		int row;
		bool spatial;
	} links[2 * ARCH_LEVELS_MOST];
};

static struct factor_chain chain_of(const struct domain *domain, int d)
{
	struct factor_chain chain = {
		.domain = domain, .d = d, .extent = domain->shape->dimensions[d].extent};
	for (int r = domain->arch->level_count - 1; r >= 0; r--) {
		chain.links[chain.count++] =
			(struct chain_link){domain->rows[r].temporal[d], r, false};
		chain.links[chain.count++] =
			(struct chain_link){domain->rows[r].spatial[d], r, true};
	}
	return chain;
}

static struct span span_of(const struct domain *domain, int by)
{
	return domain->constraints && by >= 0 ? domain->constraints->at[by].span : (struct span){0};
}

/* Constraints that clash, each once, ascending. */
struct party {
	int count;
	int at[2 * ARCH_LEVELS_MOST * SHAPE_DIMENSIONS_MOST];
};

static void join(struct party *party, int who)
{
	int i = party->count;
	while (i > 0 && party->at[i - 1] > who)
		i--;
	if (who < 0 || (i > 0 && party->at[i - 1] == who))
		return;
	memmove(party->at + i + 1, party->at + i, (size_t)(party->count - i) * sizeof *party->at);
	party->at[i] = who;
	party->count++;
}

/* The last of them complains; the others are shown. */
static void complain(const struct domain *domain, const struct party *party,
	struct clashes *clashes, const char *text)
{
	int others = party->count - 1;
	int self = others >= 0 ? party->at[others] : -1;
	struct clash *clash = clash_add(
		clashes, self, others == 1 ? party->at[0] : -1, span_of(domain, self), "%s", text);
	if (others < 2)
		return;
	clash->more = arena_copy(clashes->arena, party->at, (size_t)others * sizeof *party->at);
	clash->more_count = others;
}

/* "M=4 at 'GLB' (temporal) x M>=2 at 'PE' (spatial)": the bounds that somebody set. */
static const char *chain_text(
	const struct factor_chain *chain, struct arena *arena, bool least, struct party *party)
{
	struct text text = text_open(arena);
	const char *name = chain->domain->shape->dimensions[chain->d].name;
	for (int i = chain->count - 1; i >= 0; i--) {
		const struct chain_link *link = &chain->links[i];
		const struct factor_domain *bounds = &link->bounds;
		int who = least ? bounds->least_by : bounds->most_by;
		join(party, who);
		if (who >= 0)
			text_add(&text, "%s%s%s%lld at '%s' (%s)", text.length ? " x " : "", name,
				bounds->least == bounds->most ? "="
				: least                       ? ">="
							      : "<=",
				(long long)(least ? bounds->least : bounds->most),
				chain->domain->arch->levels[link->row].name,
				link->spatial ? "spatial" : "temporal");
	}
	return text_read(&text);
}

static void add(
	const struct factor_chain *chain, struct clashes *clashes, bool least, const char *why)
{
	struct party party = {0};
	const char *bounds = chain_text(chain, clashes->arena, least, &party);
	complain(chain->domain, &party, clashes,
		arena_format(clashes->arena, "dimension %s has %lld, %s: %s",
			chain->domain->shape->dimensions[chain->d].name, (long long)chain->extent,
			why, bounds));
}

/* The product of all lower (upper) bounds, or more than any extent. */
static int64_t product_of(const struct factor_chain *chain, bool least)
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
static bool refuse_divisor(const struct factor_chain *chain, const struct chain_link *link,
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
	struct party party = {0};
	join(&party, bounds->least_by);
	join(&party, bounds->most_by);
	complain(chain->domain, &party, clashes,
		arena_format(clashes->arena,
			"%s at '%s' (%s) does not divide dimension %s, which has %lld; %s would",
			text_read(&range), chain->domain->arch->levels[link->row].name,
			link->spatial ? "spatial" : "temporal", name, (long long)chain->extent,
			text_read(&near)));
	return true;
}

/* The products that one loop more can make; divisors are known by their place. */
static void add_link(const struct divisors *divisors, const struct factor_domain *bounds,
	const bool *now, bool *next)
{
	memset(next, 0, divisors->count * sizeof *next);
	for (size_t a = 0; a < divisors->count; a++)
		for (size_t b = a; now[a] && b < divisors->count; b++) {
			int64_t factor = divisors->at[b] / divisors->at[a];
			next[b] |= divisors->at[b] % divisors->at[a] == 0 &&
				   factor >= bounds->least && factor <= bounds->most;
		}
}

/* True if the loops can make up the extent.  One that may have any bound makes up what the
 * others leave. */
static bool some_product(
	const struct factor_chain *chain, const struct divisors *divisors, struct arena *arena)
{
	bool *now = arena_array(arena, bool, divisors->count);
	bool *next = arena_array(arena, bool, divisors->count);
	bool any = false;
	now[0] = true;
	for (int i = 0; i < chain->count; i++) {
		const struct factor_domain *bounds = &chain->links[i].bounds;
		bool free = bounds->least == 1 && bounds->most >= chain->extent;
		any |= free;
		if (free || bounds->most == 1)
			continue;
		add_link(divisors, bounds, now, next);
		bool *old = now;
		now = next;
		next = old;
	}
	bool some = false;
	for (size_t i = 0; i < divisors->count; i++)
		some |= now[i] && (any || i == divisors->count - 1);
	return some;
}

static void check_perfect(const struct factor_chain *chain, struct clashes *clashes)
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
static void check_imperfect(const struct factor_chain *chain, struct clashes *clashes)
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

/* Whether a split leaves a dimension along X only (1), along Y only (2), or either (3). */
static int axes_of(const struct domain *domain, int r, int d)
{
	const struct row_domain *row = &domain->rows[r];
	int count = domain->shape->dimension_count;
	if (row->split < 0)
		return 3;
	if (row->split == 0 || row->split == count)
		return row->split ? 1 : 2;
	for (int i = 0; i < row->spatial_inner; i++)
		if (row->spatial_order[i] == d)
			return i < row->split ? 1 : 2;
	for (int i = 0; i < row->spatial_outer; i++)
		if (row->spatial_last[i] == d)
			return count - row->spatial_outer + i < row->split ? 1 : 2;
	return 3;
}

/* True if the least bounds of dimensions d and up fit what is left of a fan-out. */
static bool fits_fanout(const struct domain *domain, int r, int d, int64_t x, int64_t y)
{
	while (d < domain->shape->dimension_count && domain->rows[r].spatial[d].least == 1)
		d++;
	if (d == domain->shape->dimension_count)
		return true;
	int64_t least = domain->rows[r].spatial[d].least;
	int axes = axes_of(domain, r, d);
	return (axes & 1 && least <= x && fits_fanout(domain, r, d + 1, x / least, y)) ||
	       (axes & 2 && least <= y && fits_fanout(domain, r, d + 1, x, y / least));
}

static void check_fanout(const struct domain *domain, int r, struct clashes *clashes)
{
	const struct level *level = &domain->arch->levels[r];
	const struct row_domain *row = &domain->rows[r];
	if (fits_fanout(domain, r, 0, level->fanout_x, level->fanout_y))
		return;
	struct text text = text_open(clashes->arena);
	struct party party = {0};
	for (int d = 0; d < domain->shape->dimension_count; d++) {
		const struct factor_domain *bounds = &row->spatial[d];
		if (bounds->least == 1)
			continue;
		text_add(&text, "%s%s%s%lld", text.length ? " x " : "",
			domain->shape->dimensions[d].name,
			bounds->least == bounds->most ? "=" : ">=", (long long)bounds->least);
		join(&party, bounds->least_by);
	}
	if (row->split >= 0) {
		text_add(&text, " with split %d", row->split);
		join(&party, row->split_by);
		join(&party, row->spatial_order_by);
	}
	complain(domain, &party, clashes,
		arena_format(clashes->arena, "the fan-out %lld x %lld of '%s' has no room for %s",
			(long long)level->fanout_x, (long long)level->fanout_y, level->name,
			text_read(&text)));
}

void product_check(const struct domain *domain, struct clashes *clashes)
{
	for (int d = 0; d < domain->shape->dimension_count; d++) {
		struct factor_chain chain = chain_of(domain, d);
		if (domain->imperfect >> d & 1)
			check_imperfect(&chain, clashes);
		else
			check_perfect(&chain, clashes);
	}
	for (int r = 0; r < domain->arch->level_count; r++)
		check_fanout(domain, r, clashes);
}

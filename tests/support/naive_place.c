#include "tests/support/naive_place.h"

#include <string.h>

enum { MOST = 32 };

struct naive {
	const struct packing *packing;
	const bool *chosen;
	int count;
	int parent[MOST]; /* whose place it takes; -1 */
	int root[MOST];   /* the first of those at its address */
	bool placed[MOST];
	int64_t address[MOST];
	bool any, gave_up;
	uint64_t nodes, nodes_most;
	int64_t best; /* least peak so far, or more than the capacity */
};

static bool live_together(const struct buffer *a, const struct buffer *b)
{
	return a->size > 0 && b->size > 0 && a->start < b->end && b->start < a->end &&
	       a->start < a->end && b->start < b->end;
}

static bool declares(const struct buffer *child, int parent, const struct buffer *buffers)
{
	for (size_t k = 0; k < child->parent_count; k++)
		if (child->parents[k] == parent)
			return buffers[parent].end == child->start + 1 &&
			       child->size <= buffers[parent].size;
	return false;
}

static const struct buffer *buffer_of(const struct naive *naive, int i)
{
	return &naive->packing->buffers[i];
}

static int64_t step_of(const struct packing *packing, int i)
{
	return packing->buffers[i].alignment ? packing->buffers[i].alignment : packing->alignment;
}

static bool alone_good(const struct packing *packing, int i, int64_t address)
{
	const struct buffer *buffer = &packing->buffers[i];
	if (address < 0 || address % step_of(packing, i) ||
		address + buffer->size > packing->capacity)
		return false;
	if (buffer->is_fixed && address != buffer->address)
		return false;
	for (size_t k = 0; k < packing->reserved_count && buffer->size > 0; k++)
		if (address < packing->reserved[k].to &&
			packing->reserved[k].from < address + buffer->size &&
			buffer->start < buffer->end)
			return false;
	return true;
}

static bool good_at(const struct naive *naive, int root, int64_t address)
{
	for (int i = 0; i < naive->count; i++) {
		if (naive->root[i] != root)
			continue;
		if (!alone_good(naive->packing, i, address))
			return false;
		for (int j = 0; j < naive->count; j++)
			if (naive->placed[j] &&
				live_together(buffer_of(naive, i), buffer_of(naive, j)) &&
				address < naive->address[j] + buffer_of(naive, j)->size &&
				naive->address[j] < address + buffer_of(naive, i)->size)
				return false;
	}
	return true;
}

/* The first address from `from` on that is a multiple of what all at this address ask for. */
static int64_t round_up(const struct naive *naive, int root, int64_t from)
{
	for (int i = 0; i < naive->count; i++) {
		int64_t step = step_of(naive->packing, i);
		if (naive->root[i] == root && from % step) {
			from += step - from % step;
			i = -1;
		}
	}
	return from;
}

/* The lowest good address of all that share it: 0, or the end of something, rounded up.  -1: none. */
static int64_t lowest(const struct naive *naive, int root)
{
	const struct packing *packing = naive->packing;
	int64_t least = good_at(naive, root, 0) ? 0 : -1;
	if (buffer_of(naive, root)->is_fixed) {
		int64_t address = buffer_of(naive, root)->address;
		return good_at(naive, root, address) ? address : -1;
	}
	for (int k = 0; k < naive->count + (int)packing->reserved_count && least; k++) {
		int range = k - naive->count;
		if (range < 0 && !naive->placed[k])
			continue;
		int64_t end = range < 0 ? naive->address[k] + buffer_of(naive, k)->size
					: packing->reserved[range].to;
		int64_t address = round_up(naive, root, end);
		if ((least < 0 || address < least) && good_at(naive, root, address))
			least = address;
	}
	return least;
}

static void put(struct naive *naive, int root, bool placed, int64_t address)
{
	for (int i = 0; i < naive->count; i++)
		if (naive->root[i] == root) {
			naive->placed[i] = placed;
			naive->address[i] = address;
		}
}

static int64_t peak_of(const struct naive *naive)
{
	int64_t peak = 0;
	for (int i = 0; i < naive->count; i++) {
		if (!naive->placed[i])
			continue;
		int64_t end = naive->address[i] + buffer_of(naive, i)->size;
		peak = end > peak ? end : peak;
	}
	return peak;
}

static void place_rest(struct naive *naive, int64_t last, int last_root)
{
	bool left = false;
	if (naive->gave_up || peak_of(naive) >= naive->best ||
		(naive->any && naive->best <= naive->packing->capacity))
		return;
	if (++naive->nodes > naive->nodes_most) {
		naive->gave_up = true;
		return;
	}
	for (int root = 0; root < naive->count; root++) {
		if (naive->root[root] != root || naive->placed[root])
			continue;
		left = true;
		int64_t address = lowest(naive, root);
		if (address < 0)
			return;
		if (address < last || (address == last && root < last_root))
			continue;
		put(naive, root, true, address);
		place_rest(naive, address, root);
		put(naive, root, false, 0);
	}
	if (!left)
		naive->best = peak_of(naive);
}

/* Two of those that share an address may do so only pair by pair. */
static bool lawful_together(const struct naive *naive)
{
	for (int i = 0; i < naive->count; i++)
		for (int j = 0; j < naive->count; j++) {
			const struct buffer *a = buffer_of(naive, i), *b = buffer_of(naive, j);
			if (i == j || naive->root[i] < 0 || naive->root[i] != naive->root[j])
				continue;
			if (live_together(a, b) && !declares(a, j, naive->packing->buffers) &&
				!declares(b, i, naive->packing->buffers))
				return false;
		}
	return true;
}

static void place_fixed_then_rest(struct naive *naive)
{
	/* One that is fixed stands for all that share its address. */
	for (int i = 0; i < naive->count; i++)
		if (naive->root[i] >= 0 && buffer_of(naive, i)->is_fixed &&
			!buffer_of(naive, naive->root[i])->is_fixed) {
			int old = naive->root[i];
			for (int j = 0; j < naive->count; j++)
				if (naive->root[j] == old)
					naive->root[j] = i;
		}
	bool possible = lawful_together(naive);
	for (int i = 0; i < naive->count && possible; i++)
		if (naive->root[i] == i && buffer_of(naive, i)->is_fixed) {
			int64_t address = lowest(naive, i);
			possible = address >= 0;
			if (possible)
				put(naive, i, true, address);
		}
	if (possible)
		place_rest(naive, -1, -1);
	memset(naive->placed, 0, sizeof naive->placed);
}

static void choose_parents(struct naive *naive, int i)
{
	if (i == naive->count) {
		for (int k = 0; k < naive->count; k++) {
			int root = k;
			while (naive->parent[root] >= 0)
				root = naive->parent[root];
			naive->root[k] = naive->chosen && !naive->chosen[k] ? -1 : root;
		}
		place_fixed_then_rest(naive);
		return;
	}
	const struct buffer *child = buffer_of(naive, i);
	bool chosen = !naive->chosen || naive->chosen[i];
	for (size_t k = 0; k < child->parent_count && chosen; k++) {
		int parent = child->parents[k];
		if ((naive->chosen && !naive->chosen[parent]) ||
			!declares(child, parent, naive->packing->buffers))
			continue;
		naive->parent[i] = parent;
		choose_parents(naive, i + 1);
	}
	naive->parent[i] = -1;
	if (!chosen || !child->must_take_over)
		choose_parents(naive, i + 1);
}

struct naive_answer naive_place(
	const struct packing *packing, const bool *chosen, bool any, uint64_t nodes)
{
	struct naive naive = {.packing = packing,
		.chosen = chosen,
		.count = (int)packing->count,
		.any = any,
		.nodes_most = nodes,
		.best = packing->capacity + 1};
	memset(naive.parent, -1, sizeof naive.parent);
	choose_parents(&naive, 0);
	bool fits = naive.best <= packing->capacity;
	enum naive_verdict verdict = fits ? NAIVE_FITS : NAIVE_NEVER;
	if (naive.gave_up && !(any && fits))
		verdict = NAIVE_UNKNOWN;
	return (struct naive_answer){verdict, naive.best, naive.nodes};
}

int64_t naive_spill(const struct packing *packing, uint64_t nodes)
{
	int64_t weights = 0, least = INT64_MAX;
	for (size_t i = 0; i < packing->count; i++)
		weights += packing->buffers[i].weight;
	for (unsigned set = 0; set < 1U << packing->count; set++) {
		bool chosen[MOST] = {0};
		int64_t lost = 0;
		for (size_t i = 0; i < packing->count; i++) {
			const struct buffer *buffer = &packing->buffers[i];
			chosen[i] = set >> i & 1;
			lost += chosen[i] ? 0 : weights ? buffer->weight : buffer->size;
		}
		if (lost >= least)
			continue;
		struct naive_answer answer = naive_place(packing, chosen, true, nodes);
		if (answer.verdict == NAIVE_UNKNOWN)
			return -1;
		if (answer.verdict == NAIVE_FITS)
			least = lost;
	}
	return least;
}

const char *naive_wrong(const struct packing *packing, const struct placement *placement)
{
	const struct buffer *buffers = packing->buffers;
	const int64_t *at = placement->addresses;
	for (int i = 0; i < (int)packing->count; i++) {
		const struct buffer *a = &buffers[i];
		if (at[i] == UNPLACED && packing->goal == PACKING_SPILL)
			continue;
		if (at[i] == UNPLACED)
			return "a buffer has no place";
		if (!alone_good(packing, i, at[i]))
			return "a buffer may not lie there";
		bool took = false;
		for (int j = 0; j < (int)packing->count; j++) {
			bool same = at[i] == at[j] && declares(a, j, buffers);
			took |= same;
			if (j != i && at[j] != UNPLACED && live_together(a, &buffers[j]) &&
				at[i] < at[j] + buffers[j].size && at[j] < at[i] + a->size &&
				!same && !(at[i] == at[j] && declares(&buffers[j], i, buffers)))
				return "two buffers share bytes";
		}
		if (a->must_take_over && !took)
			return "a buffer does not take over";
	}
	return NULL;
}

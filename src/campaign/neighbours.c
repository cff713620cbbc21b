#include "campaign/neighbours.h"

#include "base/array.h"
#include "base/text.h"
#include "campaign/canon.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>

enum { SIZES_MOST = 32, KNOWN_MOST = 100000 };

struct neighbour {
	digest rest; /* of all but the sizes */
	size_t count;
	double sizes[SIZES_MOST];
};

struct known {
	struct neighbour point;
	double proven;
};

struct neighbours {
	pthread_mutex_t mutex;
	struct arena *arena;
	struct array(struct known) known;
};

struct neighbours *neighbours_open(void)
{
	struct arena *arena = arena_open();
	struct neighbours *neighbours = arena_new(arena, struct neighbours);
	neighbours->arena = arena;
	pthread_mutex_init(&neighbours->mutex, NULL);
	return neighbours;
}

void neighbours_close(struct neighbours *neighbours)
{
	if (!neighbours)
		return;
	pthread_mutex_destroy(&neighbours->mutex);
	arena_close(neighbours->arena);
}

/* --- a point */

static bool is_one_of(const char *key, const char *const *words)
{
	while (*words && !text_equal(*words, key))
		words++;
	return *words != NULL;
}

/* A plain number above 0. */
static bool read_size(const struct node *node, double *out)
{
	char *end;
	if (node->kind != NODE_SCALAR || node->tag)
		return false;
	*out = strtod(node->text, &end);
	return end > node->text && !*end && *out > 0 && isfinite(*out);
}

static bool walk(struct neighbour *point, const struct node *node, bool sizes)
{
	static const char *const size_keys[] = {
		"depth", "memory_depth", "entries", "size", "sizeKB", NULL};
	static const char *const others[] = {
		"min_utilization", "utilization", "maximize_dims", "maximize_dims_capacity", NULL};
	bool good = true;
	point->rest = digest_text(point->rest, node->tag ? node->tag : "");
	if (node->kind == NODE_SCALAR)
		point->rest = digest_text(point->rest, node->text);
	point->rest = digest_text(point->rest, node->kind == NODE_LIST ? "[" : "{");
	for (size_t i = 0; node->kind == NODE_LIST && i < node->count; i++)
		good &= walk(point, node->items[i], sizes);
	for (size_t i = 0; node->kind == NODE_MAP && i < node->count; i++) {
		const struct node_entry *entry = &node->entries[i];
		point->rest = digest_text(point->rest, entry->key);
		good &= !is_one_of(entry->key, others) && point->count < SIZES_MOST;
		if (good && sizes && is_one_of(entry->key, size_keys) &&
			read_size(entry->value, &point->sizes[point->count]))
			point->count++;
		else
			good &= walk(point, entry->value, sizes);
	}
	point->rest = digest_text(point->rest, "}");
	return good;
}

const struct neighbour *neighbour_make(
	struct arena *arena, const struct node *const *files, size_t count)
{
	struct neighbour *point = arena_new(arena, struct neighbour);
	bool good = true;
	for (size_t f = 0; f < count; f++)
		for (size_t i = 0; files[f]->kind == NODE_MAP && i < files[f]->count; i++) {
			const struct node_entry *entry = &files[f]->entries[i];
			if (text_equal(entry->key, "sweep"))
				continue;
			point->rest = digest_text(point->rest, entry->key);
			good &= walk(point, entry->value, text_equal(entry->key, "architecture"));
		}
	return good && point->count ? point : NULL;
}

/* --- what is proven */

static bool is_within(const struct neighbour *a, const struct neighbour *b)
{
	bool within = a->rest == b->rest && a->count == b->count;
	for (size_t i = 0; within && i < a->count; i++)
		within = a->sizes[i] <= b->sizes[i];
	return within;
}

double neighbours_ceiling(struct neighbours *neighbours, const struct neighbour *point)
{
	double ceiling = 0;
	pthread_mutex_lock(&neighbours->mutex);
	for (size_t i = 0; i < neighbours->known.count; i++) {
		const struct known *known = &neighbours->known.at[i];
		if ((ceiling <= 0 || known->proven < ceiling) && is_within(&known->point, point))
			ceiling = known->proven;
	}
	pthread_mutex_unlock(&neighbours->mutex);
	return ceiling;
}

void neighbours_add(struct neighbours *neighbours, const struct neighbour *point, double proven)
{
	pthread_mutex_lock(&neighbours->mutex);
	if (neighbours->known.count < KNOWN_MOST)
		*array_add(neighbours->arena, &neighbours->known) = (struct known){*point, proven};
	pthread_mutex_unlock(&neighbours->mutex);
}

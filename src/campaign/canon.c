#include "campaign/canon.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/text.h"
#include "spec/step.h"

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Known digests by node; open addressing. */
struct known_digest {
	const struct node *node;
	digest value;
};

struct canon {
	struct arena *arena;
	struct known_digest *slots;
	size_t count, capacity;
};

static const digest offset =
	(digest)UINT64_C(0x6c62272e07bb0142) << 64 | UINT64_C(0x62b821756295c58d);

static digest add_bytes(digest value, const void *bytes, size_t count)
{
	const digest prime = (digest)1 << 88 | 0x13b;
	for (const unsigned char *at = bytes; count--; at++)
		value = (value ^ *at) * prime;
	return value;
}

digest digest_text(digest seed, const char *text)
{
	return add_bytes(seed ? seed : offset, text, strlen(text) + 1);
}

void digest_print(digest value, char out[DIGEST_TEXT])
{
	snprintf(out, DIGEST_TEXT, "%016" PRIx64 "%016" PRIx64, (uint64_t)(value >> 64),
		(uint64_t)value);
}

struct canon *canon_open(struct arena *arena)
{
	struct canon *canon = arena_new(arena, struct canon);
	canon->arena = arena;
	return canon;
}

static struct known_digest *find(const struct canon *canon, const struct node *node)
{
	size_t i = (size_t)((uintptr_t)node / sizeof *node * UINT64_C(0x9e3779b97f4a7c15) >> 20);
	while (canon->slots[i &= canon->capacity - 1].node && canon->slots[i].node != node)
		i++;
	return &canon->slots[i];
}

static void keep(struct canon *canon, const struct node *node, digest value)
{
	if (2 * canon->count >= canon->capacity) {
		struct canon old = *canon;
		canon->capacity = old.capacity ? 2 * old.capacity : 1024;
		canon->slots = arena_array(canon->arena, struct known_digest, canon->capacity);
		for (size_t i = 0; i < old.capacity; i++)
			if (old.slots[i].node)
				*find(canon, old.slots[i].node) = old.slots[i];
	}
	*find(canon, node) = (struct known_digest){node, value};
	canon->count++;
}

digest canon_digest(struct canon *canon, const struct node *node)
{
	bool stays = node->weight > 1;
	if (stays && canon->capacity && find(canon, node)->node)
		return find(canon, node)->value;
	const char head[] = {(char)('0' + node->kind), node->quoted ? 'q' : 'p'};
	digest value = add_bytes(offset, head, sizeof head);
	value = digest_text(value, node->tag ? node->tag : "");
	if (node->kind == NODE_SCALAR)
		value = digest_text(value, node->text);
	for (size_t i = 0; node->kind != NODE_SCALAR && i < node->count; i++) {
		bool map = node->kind == NODE_MAP;
		digest part = canon_digest(canon, map ? node->entries[i].value : node->items[i]);
		if (map)
			value = digest_text(value, node->entries[i].key);
		value = add_bytes(value, &part, sizeof part);
	}
	if (stays)
		keep(canon, node, value);
	return value;
}

digest canon_digest_files(struct canon *canon, const struct node *const *files, size_t count)
{
	digest all = 0;
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; files[i]->kind == NODE_MAP && k < files[i]->count; k++) {
			const struct node_entry *entry = &files[i]->entries[k];
			if (text_equal(entry->key, "sweep"))
				continue;
			digest part = canon_digest(canon, entry->value);
			/* equal keys, as constraints that add up, count in their order */
			digest before = 0;
			for (size_t j = 0; j < i; j++)
				before += node_index(files[j], entry->key) >= 0;
			part = add_bytes(digest_text(before + 1, entry->key), &part, sizeof part);
			all += part;
		}
	return all;
}

static void add_text(struct text *text, const struct node *node)
{
	if (node->tag)
		text_add(text, "%s ", node->tag);
	if (node->kind == NODE_SCALAR) {
		if (node->quoted)
			quote_yaml(text, node->text);
		else
			text_add(text, "%s", node->text);
		return;
	}
	bool map = node->kind == NODE_MAP;
	text_add(text, "%s", map ? "{" : "[");
	for (size_t i = 0; i < node->count; i++) {
		text_add(text, "%s", i ? ", " : "");
		if (map) {
			quote_yaml(text, node->entries[i].key);
			text_add(text, ": ");
		}
		add_text(text, map ? node->entries[i].value : node->items[i]);
	}
	text_add(text, "%s", map ? "}" : "]");
}

const char *canon_text(struct arena *arena, const struct node *node)
{
	struct text text = text_open(arena);
	if (node->kind == NODE_SCALAR && !node->tag)
		return node->text;
	add_text(&text, node);
	return text_read(&text);
}

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

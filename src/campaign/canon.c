#include "campaign/canon.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/text.h"
#include "spec/node.h"

#include <inttypes.h>
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

static struct known_digest *digest_find(const struct canon *canon, const struct node *node)
{
	size_t i = (size_t)((uintptr_t)node / sizeof *node * UINT64_C(0x9e3779b97f4a7c15) >> 20);
	while (canon->slots[i &= canon->capacity - 1].node && canon->slots[i].node != node)
		i++;
	return &canon->slots[i];
}

static void canon_keep(struct canon *canon, const struct node *node, digest value)
{
	if (2 * canon->count >= canon->capacity) {
		struct canon old = *canon;
		canon->capacity = old.capacity ? 2 * old.capacity : 1024;
		canon->slots = arena_array(canon->arena, struct known_digest, canon->capacity);
		for (size_t i = 0; i < old.capacity; i++)
			if (old.slots[i].node)
				*digest_find(canon, old.slots[i].node) = old.slots[i];
	}
	*digest_find(canon, node) = (struct known_digest){node, value};
	canon->count++;
}

digest canon_digest(struct canon *canon, const struct node *node)
{
	bool stays = node->weight > 1;
	if (stays && canon->capacity && digest_find(canon, node)->node)
		return digest_find(canon, node)->value;
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
		canon_keep(canon, node, value);
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

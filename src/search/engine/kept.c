#include "search/engine/kept.h"

#include "base/arena.h"
#include "base/array.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

enum { LISTS = 1 << 16 };

struct entry {
	const struct entry *before; /* in the list of its hash */
	uint64_t hash;
	size_t size;
	const void *key, *value;
};

/*
 * A list grows at its head, under the lock; readers need none.
 */
struct kept {
	struct arena *arena;
	pthread_mutex_t lock;
	atomic_uint_fast64_t asked;
	uint64_t distinct, work;
	_Atomic(const struct entry *) lists[LISTS];
};

struct kept *kept_open(void)
{
	struct arena *arena = arena_open();
	struct kept *kept = arena_new(arena, struct kept);
	kept->arena = arena;
	pthread_mutex_init(&kept->lock, NULL);
	return kept;
}

void kept_close(struct kept *kept)
{
	if (!kept)
		return;
	pthread_mutex_destroy(&kept->lock);
	arena_close(kept->arena);
}

void kept_leave(struct kept *kept, struct arena *arena)
{
	if (!kept)
		return;
	pthread_mutex_destroy(&kept->lock);
	arena_adopt(arena, kept->arena);
}

/* The hash of a key, eight bytes at a time. */
static uint64_t hash_of(const void *key, size_t size)
{
	const unsigned char *bytes = key;
	uint64_t hash = HASH_START, word;
	for (; size; size -= size < sizeof word ? size : sizeof word, bytes += sizeof word) {
		word = 0;
		memcpy(&word, bytes, size < sizeof word ? size : sizeof word);
		hash = hash_add(hash, word);
		hash ^= hash >> 29;
	}
	return hash;
}

static const struct entry *kept_entry_find(
	const struct entry *at, uint64_t hash, const void *key, size_t size)
{
	while (at && (at->hash != hash || at->size != size || memcmp(at->key, key, size)))
		at = at->before;
	return at;
}

static _Atomic(const struct entry *) *list_of(struct kept *kept, uint64_t hash)
{
	return &kept->lists[hash % LISTS];
}

const void *kept_find(struct kept *kept, const void *key, size_t size)
{
	uint64_t hash = hash_of(key, size);
	atomic_fetch_add(&kept->asked, 1);
	const struct entry *entry =
		kept_entry_find(atomic_load(list_of(kept, hash)), hash, key, size);
	return entry ? entry->value : NULL;
}

const void *kept_add(struct kept *kept, const void *key, size_t size, const void *value,
	size_t value_size, uint64_t work)
{
	uint64_t hash = hash_of(key, size);
	pthread_mutex_lock(&kept->lock);
	_Atomic(const struct entry *) *list = list_of(kept, hash);
	const struct entry *head = atomic_load(list);
	const struct entry *known = kept_entry_find(head, hash, key, size);
	if (!known) {
		struct entry *entry = arena_new(kept->arena, struct entry);
		*entry = (struct entry){.before = head,
			.hash = hash,
			.size = size,
			.key = arena_copy(kept->arena, key, size),
			.value = arena_copy(kept->arena, value, value_size)};
		atomic_store(list, entry);
		kept->distinct++;
		kept->work += work;
		known = entry;
	}
	pthread_mutex_unlock(&kept->lock);
	return known->value;
}

struct kept_tally kept_tally(struct kept *kept)
{
	pthread_mutex_lock(&kept->lock);
	struct kept_tally tally = {atomic_load(&kept->asked), kept->distinct, kept->work};
	pthread_mutex_unlock(&kept->lock);
	return tally;
}

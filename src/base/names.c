#include "base/names.h"

#include "base/arena.h"
#include "base/fatal.h"
#include "base/text.h"

#include <stdint.h>

/* FNV-1a, 64 bits: Fowler, Noll, Vo. */
static uint64_t hash(const char *name)
{
	uint64_t h = 0xcbf29ce484222325u;
	for (; *name; name++)
		h = (h ^ (unsigned char)*name) * 0x100000001b3u;
	return h;
}

/* The name's slot, or the free one where it belongs; there is always a free one. */
static struct name_slot *find_slot(const struct names *names, const char *name)
{
	size_t i = hash(name) & (names->capacity - 1);
	while (names->slots[i].name && !text_equal(names->slots[i].name, name))
		i = (i + 1) & (names->capacity - 1);
	return &names->slots[i];
}

static void grow(struct arena *arena, struct names *names)
{
	struct names grown = {.capacity = names->capacity ? 2 * names->capacity : 16};
	grown.slots = arena_array(arena, struct name_slot, grown.capacity);
	for (size_t i = 0; i < names->capacity; i++) {
		if (names->slots[i].name)
			*find_slot(&grown, names->slots[i].name) = names->slots[i];
	}
	grown.count = names->count;
	*names = grown;
}

int names_find(const struct names *names, const char *name)
{
	if (names->count == 0)
		return -1;
	const struct name_slot *slot = find_slot(names, name);
	return slot->name ? slot->number : -1;
}

void names_add(struct arena *arena, struct names *names, const char *name, int number)
{
	if (2 * (names->count + 1) > names->capacity)
		grow(arena, names);
	struct name_slot *slot = find_slot(names, name);
	if (slot->name)
		BUG("name '%s' is added twice", name);
	*slot = (struct name_slot){name, number};
	names->count++;
}

#include "tests/support/mutated_text.h"

#include "base/arena.h"
#include "tests/support/draws.h"

#include <stdio.h>
#include <string.h>

void mutated_tell(long inputs, long past_reading)
{
	printf("fuzzed: %ld inputs, %ld past reading\n", inputs, past_reading);
}

const char *spliced_text(
	struct arena *arena, const char *text, size_t from, size_t to, const char *with)
{
	size_t length = strlen(text), more = strlen(with);
	char *made = arena_alloc(arena, length - (to - from) + more + 1);
	memcpy(made, text, from);
	memcpy(made + from, with, more);
	strcpy(made + from + more, text + to);
	return made;
}

const char *mutated_bytes(struct arena *arena, struct random *random, const char *seed)
{
	static const char alphabet[] = "mnkhqdo0123456789[]()+-*/=,. {}:\"yxw_\n\t#&!|>%@\xc3\xa9";
	char *text = arena_alloc(arena, 2 * strlen(seed) + 64);
	strcpy(text, seed);
	for (uint64_t i = 1 + random_below(random, 2); i > 0; i--) {
		size_t length = strlen(text), at = (size_t)random_below(random, length);
		size_t span = (size_t)random_below(random, 8);
		switch (random_below(random, 4)) {
		case 0:
			text[at] = alphabet[random_below(random, sizeof alphabet - 1)];
			break;
		case 1: /* take out */
			span = at + span > length ? length - at : span;
			memmove(text + at, text + at + span, length - at - span + 1);
			break;
		case 2: /* put in */
			memmove(text + at + 1, text + at, length - at + 1);
			text[at] = alphabet[random_below(random, sizeof alphabet - 1)];
			break;
		default: /* say twice */
			span = at + span > length ? length - at : span;
			memmove(text + at + span, text + at, length - at + 1);
		}
		if (!*text)
			return seed;
	}
	return text;
}

const char *mutated_with(
	struct arena *arena, struct random *random, const char *seed, const char *other)
{
	switch (random_below(random, 8)) {
	case 0:
		return mutated_bytes(arena, random, seed);
	case 1:
	case 2:
	case 3:
	case 4:
		return mutated_numbers(arena, random, seed);
	default: {
		const char *text = mutated_structure(arena, random, seed, other);
		return draw_chance(random, 4) ? mutated_numbers(arena, random, text) : text;
	}
	}
}

const char *mutated_text(struct arena *arena, struct random *random, const char *seed)
{
	return mutated_with(arena, random, seed, seed);
}

#include "tests/support/mutated_text.h"

#include "base/arena.h"

#include <string.h>

const char *mutated_text(struct arena *arena, struct random *random, const char *seed)
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

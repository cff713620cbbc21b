#include "spec/value.h"

#include "base/diag.h"

#include <ctype.h>
#include <string.h>

struct unit {
	const char *name;
	int64_t num, den;
	signed char bytes, time, energy;
};

#define KI INT64_C(1024)
#define K INT64_C(1000)

/* In bytes, nanoseconds and picojoules. */
static const struct unit units[] = {
	{"B", 1, 1, 1, 0, 0},
	{"kB", K, 1, 1, 0, 0},
	{"KB", K, 1, 1, 0, 0},
	{"MB", K *K, 1, 1, 0, 0},
	{"GB", K *K *K, 1, 1, 0, 0},
	{"TB", K *K *K *K, 1, 1, 0, 0},
	{"KiB", KI, 1, 1, 0, 0},
	{"MiB", KI *KI, 1, 1, 0, 0},
	{"GiB", KI *KI *KI, 1, 1, 0, 0},
	{"TiB", KI *KI *KI *KI, 1, 1, 0, 0},
	{"B/s", 1, K *K *K, 1, -1, 0},
	{"kB/s", 1, K *K, 1, -1, 0},
	{"KB/s", 1, K *K, 1, -1, 0},
	{"MB/s", 1, K, 1, -1, 0},
	{"GB/s", 1, 1, 1, -1, 0},
	{"TB/s", K, 1, 1, -1, 0},
	{"KiB/s", KI, K *K *K, 1, -1, 0},
	{"MiB/s", KI *KI, K *K *K, 1, -1, 0},
	{"GiB/s", KI *KI *KI, K *K *K, 1, -1, 0},
	{"TiB/s", KI *KI *KI *KI, K *K *K, 1, -1, 0},
	{"Hz", 1, K *K *K, 0, -1, 0},
	{"kHz", 1, K *K, 0, -1, 0},
	{"KHz", 1, K *K, 0, -1, 0},
	{"MHz", 1, K, 0, -1, 0},
	{"GHz", 1, 1, 0, -1, 0},
	{"ps", 1, K, 0, 1, 0},
	{"ns", 1, 1, 0, 1, 0},
	{"us", K, 1, 0, 1, 0},
	{"ms", K *K, 1, 0, 1, 0},
	{"s", K *K *K, 1, 0, 1, 0},
	{"aJ", 1, K *K, 0, 0, 1},
	{"fJ", 1, K, 0, 0, 1},
	{"pJ", 1, 1, 0, 0, 1},
	{"nJ", K, 1, 0, 0, 1},
	{"uJ", K *K, 1, 0, 0, 1},
	{"mJ", K *K *K, 1, 0, 0, 1},
	{"J", K *K *K *K, 1, 0, 0, 1},
};

static bool ends_word(char c)
{
	return !isalnum((unsigned char)c) && c != '_';
}

bool unit_read(const char *text, size_t *length, struct value *out)
{
	const struct unit *longest = NULL;
	*length = 0;
	for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
		size_t size = strlen(units[i].name);
		if (size > *length && strncmp(text, units[i].name, size) == 0 &&
			ends_word(text[size])) {
			longest = &units[i];
			*length = size;
		}
	}
	if (!longest)
		return false;
	value_fraction(longest->num, longest->den, out);
	out->bytes = longest->bytes;
	out->time = longest->time;
	out->energy = longest->energy;
	return true;
}

const char *unit_suggest(const char *word)
{
	enum { COUNT = sizeof units / sizeof *units };
	const char *names[COUNT + 1];
	for (size_t i = 0; i < COUNT; i++)
		names[i] = units[i].name;
	names[COUNT] = NULL;
	return suggest(word, names);
}

#include "model/transfer/element.h"

#include <string.h>

const char *const element_names[] = {
	"fp32", "int32", "uint32", "fp16", "bf16", "int16", "uint16", "int8", "uint8", NULL};

static const struct {
	const char *name;
	int bytes;
} elements[ELEMENT_COUNT] = {
	{"f32", 4},
	{"i32", 4},
	{"ui32", 4},
	{"f16", 2},
	{"bf16", 2},
	{"i16", 2},
	{"ui16", 2},
	{"i8", 1},
	{"ui8", 1},
};

static bool is_word(const char *name, const char *word, size_t length)
{
	return strlen(name) == length && memcmp(name, word, length) == 0;
}

bool element_parse(const char *word, size_t length, enum element *out)
{
	for (int e = 0; e < ELEMENT_COUNT; e++)
		if (is_word(element_names[e], word, length) ||
			is_word(elements[e].name, word, length)) {
			*out = (enum element)e;
			return true;
		}
	return false;
}

const char *element_short_name(enum element element)
{
	return elements[element].name;
}

int element_bytes(enum element element)
{
	return elements[element].bytes;
}

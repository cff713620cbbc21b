#include "base/amount.h"

#include "base/arena.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	DIGITS = 5,       /* that matter */
	LEAST_POWER = -4, /* of ten, that is written without an exponent */
	MOST_POWER = 14,
	EXACT = 60, /* digits that separate a tie from its neighbours */
};

#define KI 1024.0

static const struct amount_unit numbers[] = {{"", 1, INFINITY}};
static const struct amount_unit times[] = {
	{"ns", 1, 1e3}, {"us", 1e3, 1e9}, {"ms", 1e6, 1e12}, {"s", 1e9, INFINITY}};
static const struct amount_unit energies[] = {{"pJ", 1, 1e3}, {"nJ", 1e3, 1e6}, {"uJ", 1e6, 1e12},
	{"mJ", 1e9, 1e15}, {"J", 1e12, INFINITY}};
static const struct amount_unit bytes[] = {{"B", 1, 10 * KI}, {"KiB", KI, 10 * KI *KI},
	{"MiB", KI *KI, 10 * KI *KI *KI}, {"GiB", KI *KI *KI, 10 * KI *KI *KI *KI},
	{"TiB", KI *KI *KI *KI, INFINITY}};

#define LIST(units)                                                                                \
	{                                                                                          \
		units, sizeof units / sizeof *units                                                \
	}
static const struct {
	const struct amount_unit *at;
	size_t count;
} kinds[AMOUNT_COUNT] = {LIST(numbers), LIST(times), LIST(energies), LIST(bytes)};

static const struct {
	const char *end;
	enum amount kind;
} endings[] = {{"_ns", AMOUNT_TIME}, {"_pj", AMOUNT_ENERGY}, {"_bytes", AMOUNT_BYTES}};
enum { ENDINGS = sizeof endings / sizeof *endings };

const struct amount_unit *amount_units(enum amount kind, size_t *count)
{
	*count = kinds[kind].count;
	return kinds[kind].at;
}

const struct amount_unit *amount_unit(enum amount kind, double most)
{
	const struct amount_unit *unit = kinds[kind].at;
	while (fabs(most) >= unit->below && unit + 1 < kinds[kind].at + kinds[kind].count)
		unit++;
	return unit;
}

/* Rounds `digits`, of which `have` are given, to the first `keep` of them; true if all of them were nines. */
static bool round_digits(char *digits, int keep)
{
	bool up = digits[keep] >= '5';
	digits[keep] = '\0';
	for (int i = keep - 1; up && i >= 0; i--) {
		up = digits[i] == '9';
		digits[i] = up ? '0' : (char)(digits[i] + 1);
	}
	if (up) {
		digits[0] = '1';
		memset(digits + 1, '0', (size_t)keep - 1);
	}
	return up;
}

/* The digits with a point behind the first `whole` of them, without zeros at the end of the fraction. */
static void add_digits(struct text *text, const char *digits, int whole)
{
	int count = (int)strlen(digits);
	while (count > whole && count > 1 && digits[count - 1] == '0')
		count--;
	if (whole <= 0)
		text_add(text, "0.%.*s%.*s", -whole, "0000", count, digits);
	else if (count <= whole)
		text_add(text, "%.*s", whole, digits);
	else
		text_add(text, "%.*s.%.*s", whole, digits, count - whole, digits + whole);
}

const char *amount_number(struct arena *arena, double value)
{
	char exact[EXACT + 16], digits[EXACT + 2];
	struct text text = text_open(arena);
	if (!isfinite(value))
		return isnan(value) ? "nan" : value < 0 ? "-inf" : "inf";
	if (value == 0)
		return "0";
	snprintf(exact, sizeof exact, "%.*e", EXACT, fabs(value));
	digits[0] = exact[0];
	memcpy(digits + 1, exact + 2, EXACT);
	int power = atoi(strchr(exact, 'e') + 1);
	int keep = power >= DIGITS && power <= MOST_POWER ? power + 1 : DIGITS;
	if (round_digits(digits, keep))
		power++;
	text_add(&text, "%s", value < 0 ? "-" : "");
	bool plain = power >= LEAST_POWER && power <= MOST_POWER;
	if (plain && (int)strlen(digits) <= power) /* 99999.5 became 1 and five zeros */
		strcat(digits, "0");
	add_digits(&text, digits, plain ? power + 1 : 1);
	if (!plain)
		text_add(&text, "e%+d", power);
	return text_read(&text);
}

const char *amount_in(struct arena *arena, double value, const struct amount_unit *unit)
{
	return arena_format(arena, "%s%s%s", amount_number(arena, value / unit->size),
		*unit->name ? " " : "", unit->name);
}

const char *amount_text(struct arena *arena, enum amount kind, double value)
{
	return amount_in(arena, value, amount_unit(kind, value));
}

const char *amount_share(struct arena *arena, double share)
{
	return arena_format(arena, "%.1f %%", 100 * share);
}

bool amount_read(const char *text, enum amount *kind, double *value)
{
	char *end;
	double number = strtod(text, &end);
	if (end == text)
		return false;
	end += *end == ' ';
	for (int k = 0; k < AMOUNT_COUNT; k++)
		for (size_t i = 0; i < kinds[k].count; i++)
			if (strcmp(end, kinds[k].at[i].name) == 0) {
				*kind = (enum amount)k;
				*value = number * kinds[k].at[i].size;
				return true;
			}
	return false;
}

/* Returns the end of the name that stands for its kind; NULL if it has none. */
static const char *ending_of(const char *name, enum amount *kind)
{
	size_t length = strlen(name);
	for (int i = 0; i < ENDINGS; i++) {
		size_t end = strlen(endings[i].end);
		if (length > end && strcmp(name + length - end, endings[i].end) == 0) {
			*kind = endings[i].kind;
			return name + length - end;
		}
	}
	*kind = AMOUNT_NUMBER;
	return NULL;
}

enum amount amount_of_column(const char *name)
{
	enum amount kind;
	ending_of(name, &kind);
	return kind;
}

const char *amount_title(struct arena *arena, const char *name, const struct amount_unit *unit)
{
	enum amount kind;
	const char *end = ending_of(name, &kind);
	size_t length = end && kind != AMOUNT_BYTES ? (size_t)(end - name) : strlen(name);
	char *words = arena_format(arena, "%.*s", (int)length, name);
	for (char *at = words; *at; at++)
		*at = *at == '_' ? ' ' : *at;
	return unit && *unit->name ? arena_format(arena, "%s (%s)", words, unit->name) : words;
}

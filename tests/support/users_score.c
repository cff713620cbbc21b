#include "tests/support/users_score.h"

#include "base/arena.h"
#include "tests/support/case_json.h"
#include "tests/support/family.h"

#include <math.h>
#include <string.h>

static const char *const counts[] = {"reads", "fills", "updates", "utilized_capacity", NULL};

static double number(const json_t *object, const char *key)
{
	return json_number_value(json_object_get(object, key));
}

static void expect_key(struct family *family, const char *what, const char *key,
	const json_t *expected, const json_t *got)
{
	const json_t *value = json_object_get(expected, key);
	if (json_is_number(value))
		family_expect(family, arena_format(family->arena, "%s %s", what, key), value,
			json_incref(json_object_get(got, key)));
}

/* `terms` printed figures were added up, each rounded to hundredths. */
static void expect_energy(
	struct family *family, const char *what, double expected, double got, int terms)
{
	family->compared++;
	if (fabs(expected - got) > 1e-6 * fabs(expected) + 0.005001 * terms)
		family_note(family, what,
			arena_format(family->arena, "energy %.2f, expected %.2f", got, expected));
}

/* Timeloop prints rows of zeros for what a level does not keep. */
static bool is_kept(const json_t *space)
{
	for (int i = 0; counts[i]; i++)
		if (number(space, counts[i]) != 0)
			return true;
	return false;
}

static const json_t *level_of(const json_t *levels, const char *name)
{
	size_t i;
	json_t *level;
	json_array_foreach(levels, i, level)
		if (strcmp(case_text(level, "name"), name) == 0)
			return level;
	return NULL;
}

static int compare_space(
	struct family *family, const char *what, const json_t *expected, const json_t *got)
{
	if (!is_kept(expected))
		return 0;
	if (!got) {
		family_note(family, what, "not kept");
		return 0;
	}
	for (int i = 0; counts[i]; i++)
		expect_key(family, what, counts[i], expected, got);
	if (json_is_number(json_object_get(expected, "energy_total_pJ")))
		expect_energy(family, what, number(expected, "energy_total_pJ"),
			number(got, "energy_pj"), 1);
	return 1;
}

/* Notes the dataspaces that are kept here and not expected. */
static void expect_no_more(
	struct family *family, const char *level, const json_t *expected, const json_t *got)
{
	const char *name;
	json_t *space;
	json_object_foreach((json_t *)got, name, space) {
		const json_t *other = json_object_get(expected, name);
		if (is_kept(space) && !(other && is_kept(other)))
			family_note(family, arena_format(family->arena, "%s %s", level, name),
				"kept, not expected");
	}
}

/* Compares a level; returns the number of printed energies. */
static int compare_level(
	struct family *family, const json_t *expected, const json_t *got, bool priced)
{
	const char *level = case_text(expected, "name"), *name;
	const json_t *spaces = json_object_get(expected, "dataspaces");
	const json_t *mine = json_object_get(got, "dataspaces");
	bool computes = json_object_get(expected, "computes") != NULL;
	int terms = computes;
	json_t *space;
	if (got && json_object_get(got, "cycles"))
		expect_key(family, level, "cycles", expected, got);
	if (computes && priced)
		expect_energy(family, level, number(expected, "energy_total_pJ"),
			number(got, "energy_pj"), 1);
	json_object_foreach((json_t *)spaces, name, space)
		terms += compare_space(family, arena_format(family->arena, "%s %s", level, name),
			space, json_object_get(mine, name));
	expect_no_more(family, level, spaces, mine);
	return terms;
}

void users_score_compare(struct family *family, const json_t *expected, const json_t *got)
{
	bool priced = strcmp(case_text(expected, "energy_from"), "ERT") == 0;
	int terms = 0;
	size_t i;
	json_t *level;
	if (json_is_false(json_object_get(got, "feasible"))) {
		family_note(family, "not feasible", case_text(got, "why"));
		return;
	}
	expect_key(family, "score", "cycles", expected, got);
	expect_key(family, "score", "computes", expected, got);
	json_array_foreach(json_object_get(expected, "levels"), i, level)
		terms += compare_level(family, level,
			level_of(json_object_get(got, "levels"), case_text(level, "name")), priced);
	if (fabs(number(expected, "utilization") - number(got, "utilization")) > 0.0000501)
		family_note(family, "utilization", "differs");
	if (priced)
		expect_energy(family, "total", number(expected, "energy_pJ"),
			number(got, "energy_pj"), terms);
}

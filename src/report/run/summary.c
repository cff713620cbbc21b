#include "report/run/summary.h"

#include "base/amount.h"
#include "base/arena.h"
#include "base/text.h"

#include <math.h>

static void add_point(struct text *text, const char *title, const struct summary_point *point)
{
	text_add(text, "%s: point %zu, %s (%s), %s%s%s\n", title, point->number,
		amount_text(text->arena, AMOUNT_TIME, point->nanoseconds), point->proof,
		amount_text(text->arena, AMOUNT_ENERGY, point->energy_pj),
		*point->bound ? "; bound by " : "", point->bound);
}

const char *summary_text(struct arena *arena, const struct summary_point *fastest,
	const struct summary_point *leanest)
{
	struct text text = text_open(arena);
	bool one = leanest && leanest->number == fastest->number;
	add_point(&text, one ? "fastest and leanest" : "fastest", fastest);
	if (leanest && !one)
		add_point(&text, "leanest", leanest);
	return text_read(&text);
}

const char *summary_proof(struct arena *arena, const struct found *found, double value)
{
	if (found->proof == PROOF_OPTIMAL)
		return "proven";
	if (found->proof != PROOF_BOUND || !(value > 0))
		return "not proven";
	return arena_format(arena, "within %.1f %%", ceil(found->gap / value * 1000) / 10);
}

size_t summary_least(const struct frontier *frontier, enum objective objective)
{
	size_t least = 0;
	for (size_t i = 1; i < frontier->count; i++)
		if (objective_value(objective, &frontier->points[i].score) <
			objective_value(objective, &frontier->points[least].score))
			least = i;
	return least;
}

size_t summary_proven(const struct frontier *frontier)
{
	size_t proven = 0;
	for (size_t i = 0; i < frontier->count; i++) {
		const struct found *found = frontier->points[i].payload;
		proven += found->proof == PROOF_OPTIMAL;
	}
	return proven;
}

const char *summary_bests(
	struct arena *arena, const struct frontier *frontier, const char *const *names)
{
	struct text text = text_open(arena);
	for (size_t k = 0; k < frontier->objectives.count; k++) {
		enum objective objective = frontier->objectives.at[k];
		size_t best = summary_least(frontier, objective);
		const char *unit = objective_unit(objective);
		text_add(&text, "%s%s: point %zu (%s%s%s)", k ? ", " : "least ", names[k], best + 1,
			amount_number(
				arena, objective_value(objective, &frontier->points[best].score)),
			unit ? " " : "", unit ? unit : "");
	}
	text_add(&text, "\n");
	return text_read(&text);
}

void summary_choose(const struct frontier *frontier, bool *shown)
{
	size_t room = SUMMARY_ROWS;
	for (size_t i = 0; i < frontier->count; i++)
		shown[i] = false;
	for (size_t k = 0; frontier->count && k < frontier->objectives.count && room; k++) {
		size_t best = summary_least(frontier, frontier->objectives.at[k]);
		room -= !shown[best];
		shown[best] = true;
	}
	for (size_t i = 0; i < frontier->count && room; i++) {
		room -= !shown[i];
		shown[i] = true;
	}
}

#include "search/drive/frontier.h"

#include "base/amount.h"
#include "base/arena.h"
#include "base/number.h"
#include "base/text.h"

#include <string.h>

const char *const objective_names[] = {"latency", "energy", "edp", "hbm_bytes", "lx_peak", "cores",
	"pes", "registers", "ports", "wire", "link_bytes", "buffer_bytes", "rounds",
	"accesses:LEVEL", NULL};

const char *const objective_summaries[] = {
	"cycles of the whole workload, overheads included",
	"picojoules of all accesses and computes",
	"energy times latency",
	"bytes read from and written to HBM",
	"highest LX address in use on any core",
	"cores of the widest step",
	"PEs of a projection",
	"registers of all PEs of a projection",
	"places where values enter or leave the array of a projection",
	"steps through the array that the channels of a PE take",
	"bytes over all links of a broadcast, or of a graph's broadcasts",
	"bytes of staging tiles of a broadcast; of a graph, of the largest",
	"rounds of a broadcast",
	"words read, filled and updated at a level of a problem's machine",
	NULL,
};

const char *const subject_names[] = {
	"a workload graph", "a problem", "a projection", "a broadcast", NULL};

int objective_find(const char *name)
{
	static const char accesses[] = "accesses:";
	if (strncmp(name, accesses, sizeof accesses - 1) == 0)
		return OBJECTIVE_ACCESSES;
	for (int i = 0; objective_names[i]; i++)
		if (text_equal(objective_names[i], name))
			return i;
	return -1;
}

const char *objective_value_text(struct arena *arena, int objective, double value)
{
	const char *number = amount_number(arena, value);
	switch (objective) {
	case OBJECTIVE_LATENCY:
		return arena_format(arena, "%s cycles", number);
	case OBJECTIVE_ENERGY:
		return amount_text(arena, AMOUNT_ENERGY, value);
	case OBJECTIVE_EDP:
		return arena_format(arena, "%s pJ cycles", number);
	case OBJECTIVE_HBM_BYTES:
	case OBJECTIVE_LX_PEAK:
	case OBJECTIVE_LINK_BYTES:
	case OBJECTIVE_BUFFER_BYTES:
		return amount_text(arena, AMOUNT_BYTES, value);
	default:
		return objective < OBJECTIVE_ACCESSES ? number
						      : arena_format(arena, "%s words", number);
	}
}

bool objective_applies(enum objective objective, enum subject subject)
{
	bool space = objective >= OBJECTIVE_PES && objective <= OBJECTIVE_WIRE;
	bool broadcast = objective >= OBJECTIVE_LINK_BYTES && objective <= OBJECTIVE_ROUNDS;
	switch (subject) {
	case SUBJECT_SPACE_TIME:
		return space || objective == OBJECTIVE_LATENCY;
	case SUBJECT_BROADCAST:
		return broadcast || objective == OBJECTIVE_LATENCY;
	case SUBJECT_GRAPH:
		return objective < OBJECTIVE_PES || objective == OBJECTIVE_LINK_BYTES ||
		       objective == OBJECTIVE_BUFFER_BYTES;
	default:
		return !space && !broadcast &&
		       (objective < OBJECTIVE_ACCESSES || subject == SUBJECT_PROBLEM);
	}
}

bool objectives_have(const struct objectives *objectives, enum objective objective)
{
	for (size_t i = 0; i < objectives->count; i++)
		if (objectives->at[i] == objective)
			return true;
	return false;
}

static double score_latency(const struct score *score)
{
	return (double)(score->price == PRICE_ESTIMATE ? score->estimate_cycles : score->cycles);
}

double objective_value(enum objective objective, const struct score *score)
{
	if (objective >= OBJECTIVE_ACCESSES)
		return (double)score->accesses[objective - OBJECTIVE_ACCESSES];
	switch (objective) {
	case OBJECTIVE_LATENCY:
		return score_latency(score);
	case OBJECTIVE_ENERGY:
		return score->energy_pj;
	case OBJECTIVE_EDP:
		return score->energy_pj * score_latency(score);
	case OBJECTIVE_HBM_BYTES:
		return (double)score->hbm_bytes;
	case OBJECTIVE_LX_PEAK:
		return (double)score->lx_peak_bytes;
	case OBJECTIVE_CORES:
		return (double)score->cores;
	case OBJECTIVE_PES:
		return (double)score->pes;
	case OBJECTIVE_REGISTERS:
		return (double)score->registers;
	case OBJECTIVE_PORTS:
		return (double)score->ports;
	case OBJECTIVE_WIRE:
		return (double)score->wire;
	case OBJECTIVE_LINK_BYTES:
		return (double)score->link_bytes;
	case OBJECTIVE_BUFFER_BYTES:
		return (double)score->buffer_bytes;
	case OBJECTIVE_ROUNDS:
		return (double)score->rounds;
	case OBJECTIVE_ACCESSES:
	case OBJECTIVE_COUNT:
		break;
	}
	return 0;
}

const char *const *objectives_texts(struct arena *arena, const struct objectives *objectives)
{
	const char **texts = arena_array(arena, const char *, objectives->count + 1);
	for (size_t i = 0; i < objectives->count; i++)
		texts[i] = objective_names[number_min(objectives->at[i], OBJECTIVE_ACCESSES)];
	return texts;
}

struct frontier frontier_open(struct objectives objectives)
{
	return (struct frontier){.objectives = objectives};
}

/* -1: a is better in one objective and worse in none, or, if thrifty, equal in all and better in
 * energy x latency; 1: the reverse; 0: equal in all; 2: neither. */
static int scores_compare(
	const struct frontier *frontier, const struct score *a, const struct score *b)
{
	const struct objectives *objectives = &frontier->objectives;
	bool less = false, more = false;
	for (size_t i = 0; i < objectives->count; i++) {
		double x = objective_value(objectives->at[i], a);
		double y = objective_value(objectives->at[i], b);
		less |= x < y;
		more |= x > y;
	}
	if (less && more)
		return 2;
	if (frontier->thrifty && !less && !more) {
		double x = objective_value(OBJECTIVE_EDP, a), y = objective_value(OBJECTIVE_EDP, b);
		return (x > y) - (x < y);
	}
	return more - less;
}

bool frontier_beats(const struct frontier *frontier, const struct score *score, const char *key)
{
	for (size_t i = 0; i < frontier->count; i++) {
		const struct point *point = &frontier->points[i];
		int order = scores_compare(frontier, &point->score, score);
		if (order < 0 || (order == 0 && (!key || strcmp(point->key, key) <= 0)))
			return true;
	}
	return false;
}

static bool comes_before(
	const struct objectives *objectives, const struct point *a, const struct point *b)
{
	for (size_t i = 0; i < objectives->count; i++) {
		double x = objective_value(objectives->at[i], &a->score);
		double y = objective_value(objectives->at[i], &b->score);
		if (x != y)
			return x < y;
	}
	return strcmp(a->key, b->key) < 0;
}

bool frontier_add(struct frontier *frontier, struct arena *arena, struct point point)
{
	if (frontier_beats(frontier, &point.score, point.key))
		return false;
	size_t kept = 0;
	for (size_t i = 0; i < frontier->count; i++) {
		int order = scores_compare(frontier, &point.score, &frontier->points[i].score);
		if (order != -1 && order != 0)
			frontier->points[kept++] = frontier->points[i];
	}
	frontier->count = kept;
	if (kept == frontier->capacity) {
		frontier->capacity = kept ? 2 * kept : 16;
		struct point *points = arena_array(arena, struct point, frontier->capacity);
		if (kept)
			memcpy(points, frontier->points, kept * sizeof *points);
		frontier->points = points;
	}
	size_t at = kept;
	while (at && comes_before(&frontier->objectives, &point, &frontier->points[at - 1])) {
		frontier->points[at] = frontier->points[at - 1];
		at--;
	}
	frontier->points[at] = point;
	frontier->count = kept + 1;
	return true;
}

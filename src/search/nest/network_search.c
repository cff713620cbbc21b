#include "search/nest/network_search.h"

#include "base/arena.h"

#include <math.h>

enum { ENERGY_BITS = 40 };

bool network_objectives(const struct objectives *objectives, struct diag *diag)
{
	bool good = objectives->count <= 2;
	if (!good)
		diag_error(diag, (struct span){0},
			"the frontier of a network is over at most two objectives, not %zu",
			objectives->count);
	for (size_t i = 0; i < objectives->count; i++) {
		if (objectives->at[i] != OBJECTIVE_EDP || objectives->count == 1)
			continue;
		diag_error(diag, (struct span){0},
			"the edp of a network is no sum over its layers; ask for edp alone, or for "
			"latency,energy, whose frontier has the least edp");
		good = false;
	}
	return good;
}

/* --- whole numbers */

wide network_energy(double pj)
{
	const double most = 0x1p85;
	return (wide)rint(ldexp(pj < most ? pj : most, ENERGY_BITS));
}

wide network_energy_most(double pj)
{
	wide energy = network_energy(pj);
	return energy + (network_energy(nextafter(pj, INFINITY)) - energy) / 2;
}

double network_picojoules(wide energy)
{
	return ldexp((double)energy, -ENERGY_BITS);
}

wide network_value(enum objective objective, const struct score *score)
{
	if (objective == OBJECTIVE_LATENCY)
		return score->cycles;
	if (objective == OBJECTIVE_ENERGY)
		return network_energy(score->energy_pj);
	if (objective == OBJECTIVE_HBM_BYTES)
		return score->hbm_bytes;
	return score->accesses[objective - OBJECTIVE_ACCESSES];
}

/* --- the network */

static struct sums_part part_of(
	const struct network_explored *explored, size_t l, struct arena *arena)
{
	const struct objectives *objectives = &explored->search->wishes.objectives;
	const struct frontier *frontier = &explored->layers[l].frontier;
	struct sums_point *points = arena_array(arena, struct sums_point, frontier->count);
	bool edp = objectives->at[0] == OBJECTIVE_EDP;
	for (size_t i = 0; i < frontier->count; i++) {
		const struct score *score = &frontier->points[i].score;
		points[i].x = network_value(edp ? OBJECTIVE_LATENCY : objectives->at[0], score);
		points[i].y = objectives->count > 1 ? network_value(objectives->at[1], score) : 0;
	}
	return (struct sums_part){
		explored->search->network->layers[l].count, frontier->count, points};
}

/* Cycles, bytes and words of everything at once must fit an int64_t, energies 2^126, for any
 * taken. */
static bool totals_fit(const struct network_explored *explored)
{
	const struct network *network = explored->search->network;
	const wide limit = (wide)1 << 126;
	int64_t cycles = 0, bytes = 0, words = 0, product;
	wide energy = 0;
	for (size_t l = 0; l < network->layer_count; l++) {
		const struct frontier *frontier = &explored->layers[l].frontier;
		struct score most = {0};
		int64_t accesses = 0, count = network->layers[l].count;
		for (size_t i = 0; i < frontier->count; i++) {
			const struct score *score = &frontier->points[i].score;
			most.cycles = number_max(most.cycles, score->cycles);
			most.energy_pj = fmax(most.energy_pj, score->energy_pj);
			most.hbm_bytes = number_max(most.hbm_bytes, score->hbm_bytes);
			for (int k = 0; k < ARCH_LEVELS_MOST; k++)
				accesses = number_max(accesses, score->accesses[k]);
		}
		if (network_energy(most.energy_pj) > (limit - energy) / count)
			return false;
		energy += count * network_energy(most.energy_pj);
		if (!number_mul(most.cycles, count, &product) ||
			!number_add(cycles, product, &cycles) ||
			!number_mul(most.hbm_bytes, count, &product) ||
			!number_add(bytes, product, &bytes) ||
			!number_mul(accesses, count, &product) ||
			!number_add(words, product, &words))
			return false;
	}
	return true;
}

static void add_up(struct network_explored *explored, struct arena *arena)
{
	const struct network *network = explored->search->network;
	struct sums_part *parts = arena_array(arena, struct sums_part, network->layer_count);
	for (size_t l = 0; l < network->layer_count; l++) {
		if (!explored->layers[l].frontier.count) {
			explored->missing = arena_format(arena,
				"no mapping of layer '%s' was found", network->layers[l].name);
			return;
		}
		parts[l] = part_of(explored, l, arena);
	}
	size_t most = NETWORK_CHOICES_MOST / network->layer_count;
	if (totals_fit(explored))
		explored->sums = sums_make(arena, parts, network->layer_count,
			most < NETWORK_SUMS_MOST ? most : NETWORK_SUMS_MOST);
	if (!explored->sums.counted)
		explored->missing = "the cycles, bytes or energies of all layers together are too "
				    "many to be counted";
}

struct network_explored network_explore(const struct network_search *search, struct arena *arena)
{
	struct network_explored explored = {.search = search,
		.layers = arena_array(arena, struct explored, search->network->layer_count)};
	network_layers(&explored, arena);
	add_up(&explored, arena);
	const enum objective *at = search->wishes.objectives.at;
	bool both = search->wishes.objectives.count == 2 && at[0] != at[1] &&
		    (at[0] == OBJECTIVE_LATENCY || at[0] == OBJECTIVE_ENERGY) &&
		    (at[1] == OBJECTIVE_LATENCY || at[1] == OBJECTIVE_ENERGY);
	explored.least_edp = SIZE_MAX;
	if (both && explored.sums.count)
		explored.least_edp = sums_within(&explored.sums, SUMS_NO_LIMIT, SUMS_NO_LIMIT);
	return explored;
}

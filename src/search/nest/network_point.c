#include "search/nest/network_search.h"

#include "base/arena.h"

/* Adds so many occurrences of a layer's point. */
struct tally {
	struct score score;
	struct execution execution;
	wide energy, sim_energy;
	double busy; /* cycles x utilization */
};

static void add_execution(struct tally *tally, const struct execution *of, int64_t times)
{
	struct execution *execution = &tally->execution;
	execution->finished &= of->finished;
	if (of->mode != SIM_DATA)
		execution->mode = SIM_COUNT;
	execution->agrees &= of->agrees;
	int64_t cycles, bytes;
	wide energy;
	if (!number_mul(of->cycles, times, &cycles) ||
		!number_add(execution->cycles, cycles, &execution->cycles) ||
		!number_mul(of->hbm_bytes, times, &bytes) ||
		!number_add(execution->hbm_bytes, bytes, &execution->hbm_bytes) ||
		__builtin_mul_overflow(network_energy(of->energy_pj), times, &energy) ||
		__builtin_add_overflow(tally->sim_energy, energy, &tally->sim_energy))
		execution->finished = false;
}

/* What is added fits: network_explore saw to it. */
static void add_point(struct tally *tally, const struct point *point, int64_t times)
{
	const struct nest_found *found = point->payload;
	const struct score *score = &point->score;
	tally->score.cycles += times * score->cycles;
	tally->score.hbm_bytes += times * score->hbm_bytes;
	for (int k = 0; k < ARCH_LEVELS_MOST; k++)
		tally->score.accesses[k] += times * score->accesses[k];
	tally->energy += times * network_energy(score->energy_pj);
	tally->busy += (double)times * (double)score->cycles * score->utilization;
	add_execution(tally, &found->common.execution, times);
}

/* One objective: no layer's mapping is below its bound. */
static double find_bound(const struct network_explored *explored)
{
	const struct network *network = explored->search->network;
	double bound = 0;
	for (size_t l = 0; l < network->layer_count; l++) {
		const struct explored *layer = &explored->layers[l];
		double value = objective_value(explored->search->wishes.objectives.at[0],
			&layer->frontier.points[0].score);
		bound +=
			(double)network->layers[l].count * (layer->complete ? value : layer->bound);
	}
	return bound;
}

static void prove(const struct network_explored *explored, struct network_point *point)
{
	const struct objectives *objectives = &explored->search->wishes.objectives;
	enum objective last = objectives->at[objectives->count - 1];
	double value = objective_value(last, &point->score), bound = 0;
	point->common.proof = PROOF_NONE;
	if (last == OBJECTIVE_EDP)
		return;
	if (explored->total.complete && explored->sums.excess == 0) {
		point->common.proof = PROOF_OPTIMAL;
		return;
	}
	if (explored->total.complete)
		bound = value / (1 + explored->sums.excess);
	else if (objectives->count == 1)
		bound = find_bound(explored);
	if (bound <= 0)
		return;
	point->common.proof = PROOF_BOUND;
	point->common.gap = value > bound ? value - bound : 0;
}

struct network_point network_point(
	const struct network_explored *explored, size_t i, struct arena *arena)
{
	size_t layers = explored->search->network->layer_count;
	int64_t **taken = arena_array(arena, int64_t *, layers);
	struct tally tally = {.score = {.feasible = true},
		.execution = {.finished = true, .mode = SIM_DATA, .agrees = true}};
	for (size_t l = 0; l < layers; l++)
		taken[l] = arena_array(arena, int64_t, explored->layers[l].frontier.count);
	sums_choice(&explored->sums, i, taken, arena);
	for (size_t l = 0; l < layers; l++)
		for (size_t p = 0; p < explored->layers[l].frontier.count; p++)
			if (taken[l][p])
				add_point(&tally, &explored->layers[l].frontier.points[p],
					taken[l][p]);
	struct network_point point = {
		.score = tally.score, .common.execution = tally.execution, .taken = taken};
	point.score.energy_pj = network_picojoules(tally.energy);
	point.score.utilization = tally.score.cycles ? tally.busy / (double)tally.score.cycles : 0;
	point.common.execution.energy_pj = network_picojoules(tally.sim_energy);
	prove(explored, &point);
	return point;
}

#include "search/graph/plans.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/text.h"
#include "search/drive/drive.h"
#include "search/graph/options.h"

#include <math.h>

/* Energies of sums are in 2^-10 pJ. */
enum { PARTS_OF_PJ = 1024 };

/* The largest gap that rounding may leave. */
static const double NOTHING = 1e-8;

/* The same of a number of cycles or bytes. */
static const double PART_OF_ONE = 0.01;

/* A latency that is known within this part is not asked about; where between two plans it is looked at. */
static const double NEARLY = 0.01;
enum { PARTS_BETWEEN = 8 };

/* Energies of sums are rounded for each option: with a smaller weight cycles would drown in it, with a larger one
 * sums do not fit. */
static const double SLOPE_LEAST = 100, SLOPE_MOST = 1e15;

static const struct {
	enum objective objective;
	struct joint_aim aim;
} alone[] = {{OBJECTIVE_LATENCY, {.cycles = 1}}, {OBJECTIVE_ENERGY, {.energy = 1}},
	{OBJECTIVE_HBM_BYTES, {.hbm_bytes = 1}}};
enum { ALONE = sizeof alone / sizeof *alone };

double plans_unit(const struct joint_aim *aim)
{
	if (!aim->energy && !aim->hbm_bytes)
		return (double)aim->cycles;
	if (!aim->cycles && !aim->hbm_bytes)
		return (double)aim->energy * PARTS_OF_PJ;
	return aim->cycles || aim->energy ? 1 : (double)aim->hbm_bytes;
}

static double joint_aim_weight(const struct joint_aim *aim, enum objective objective)
{
	switch (objective) {
	case OBJECTIVE_LATENCY:
		return (double)aim->cycles;
	case OBJECTIVE_ENERGY:
		return (double)aim->energy * PARTS_OF_PJ;
	case OBJECTIVE_HBM_BYTES:
		return (double)aim->hbm_bytes;
	default:
		return 0;
	}
}

/* Returns the value of a sum for a plan. */
static double sum_of_plan(const struct planned *planned, const struct joint_aim *aim)
{
	return joint_aim_weight(aim, OBJECTIVE_LATENCY) * planned->latency +
	       joint_aim_weight(aim, OBJECTIVE_ENERGY) * planned->energy +
	       joint_aim_weight(aim, OBJECTIVE_HBM_BYTES) * planned->hbm_bytes;
}

bool plans_is_alone(const struct joint_aim *aim, enum objective objective)
{
	for (int i = 0; i < ALONE; i++)
		if ((joint_aim_weight(aim, alone[i].objective) > 0) !=
			(alone[i].objective == objective))
			return false;
	return true;
}

/* --- what is asked */

/* Energy x latency needs both. */
static bool objectives_wants(const struct objectives *objectives, enum objective objective)
{
	bool product = objective == OBJECTIVE_LATENCY || objective == OBJECTIVE_ENERGY;
	return objectives_have(objectives, objective) ||
	       (product && objectives_have(objectives, OBJECTIVE_EDP));
}

/* True if the answer is that of a question with more cores. */
static bool planned_answers(const struct planned *own, const struct plan_aim *asked)
{
	const struct joint_aim *aim = &asked->aim;
	if (own->asked.aim.hbm_bytes != aim->hbm_bytes || own->asked.aim.cycles != aim->cycles ||
		own->asked.aim.energy != aim->energy)
		return false;
	return own->asked.cores == asked->cores ||
	       (own->found && own->cores <= asked->cores && asked->cores < own->asked.cores &&
		       sum_of_plan(own, aim) * (1 - NOTHING) <= own->bound);
}

static bool planned_list_is_known(const struct planned_list *planned, const struct plan_aim *asked)
{
	for (size_t i = 0; i < planned->count; i++)
		if (planned_answers(&planned->at[i], asked))
			return true;
	return false;
}

void plans_alone(struct plan_aims *aims, const struct objectives *objectives,
	const struct planned_list *planned, int cores, struct arena *arena)
{
	for (int i = 0; i < ALONE; i++) {
		const struct plan_aim aim = {cores, alone[i].aim};
		if (objectives_wants(objectives, alone[i].objective) &&
			!planned_list_is_known(planned, &aim))
			*array_add(arena, aims) = aim;
	}
}

static int planned_list_most_cores(const struct planned_list *planned)
{
	int cores = 0;
	for (size_t i = 0; i < planned->count; i++)
		cores = planned->at[i].asked.cores > cores ? planned->at[i].asked.cores : cores;
	return cores;
}

static bool is_within(const struct planned *own, int cores)
{
	return own->found && own->cores <= cores;
}

/* The plan of next more latency and less energy; NULL. */
static const struct planned *planned_list_neighbour(
	const struct planned_list *planned, const struct planned *of, int cores)
{
	const struct planned *next = NULL;
	for (size_t i = 0; i < planned->count; i++) {
		const struct planned *own = &planned->at[i];
		if (is_within(own, cores) && own->latency > of->latency &&
			own->energy < of->energy &&
			(!next || own->latency < next->latency ||
				(own->latency <= next->latency && own->energy < next->energy)))
			next = own;
	}
	return next;
}

/* True if another plan is no worse in both and better in one. */
static bool is_beaten(const struct planned_list *planned, const struct planned *by, int cores)
{
	for (size_t i = 0; i < planned->count; i++) {
		const struct planned *own = &planned->at[i];
		if (is_within(own, cores) && own->latency <= by->latency &&
			own->energy <= by->energy &&
			(own->latency < by->latency || own->energy < by->energy))
			return true;
	}
	return false;
}

static bool aims_have(const struct plan_aims *aims, const struct plan_aim *aim)
{
	for (size_t k = 0; k < aims->count; k++)
		if (aims->at[k].cores == aim->cores && aims->at[k].aim.cycles == aim->aim.cycles)
			return true;
	return false;
}

/* True if the plans between two neighbours that a sum could find are hardly any better than what is proven. */
static bool is_nearly_proven(const struct planned_list *planned, int cores,
	const struct planned *from, const struct planned *to)
{
	const struct objectives all = {3, {OBJECTIVE_LATENCY, OBJECTIVE_ENERGY, OBJECTIVE_CORES}};
	for (int i = 0; i <= PARTS_BETWEEN; i++) {
		double part = (double)i / PARTS_BETWEEN;
		double latency = from->latency + part * (to->latency - from->latency);
		struct score point = {.cores = cores,
			.energy_pj = from->energy + part * (to->energy - from->energy)};
		if (plans_bound(planned, &all, &point) < latency * (1 - NEARLY))
			return false;
	}
	return true;
}

static void add_between(
	struct plan_aims *aims, const struct planned_list *planned, int cores, struct arena *arena)
{
	for (size_t i = 0; i < planned->count; i++) {
		const struct planned *own = &planned->at[i];
		if (!is_within(own, cores) || is_beaten(planned, own, cores))
			continue;
		const struct planned *next = planned_list_neighbour(planned, own, cores);
		if (!next)
			continue;
		double parts = (own->energy - next->energy) * PARTS_OF_PJ;
		double slope = parts / (next->latency - own->latency);
		struct plan_aim aim = {
			cores, {.cycles = (int64_t)llround(fmin(slope, SLOPE_MOST)), .energy = 1}};
		if (slope >= SLOPE_LEAST && slope < SLOPE_MOST &&
			!planned_list_is_known(planned, &aim) && !aims_have(aims, &aim) &&
			!is_nearly_proven(planned, cores, own, next))
			*array_add(arena, aims) = aim;
	}
}

/* True if a limit of cores is worth another question, after searches that were cut. */
static bool planned_list_goes_on(const struct planned_list *planned, int cores)
{
	int cut = 0, most = cores < planned_list_most_cores(planned)
				    ? PLANS_CUT_MOST / PLANS_FEWER_PARTS
				    : PLANS_CUT_MOST;
	for (size_t i = 0; i < planned->count; i++)
		cut += planned->at[i].asked.cores == cores && planned->at[i].cut;
	return cut < most;
}

struct plan_aims plans_between(const struct objectives *objectives,
	const struct planned_list *planned, struct arena *arena)
{
	struct plan_aims aims = {0};
	if (!objectives_wants(objectives, OBJECTIVE_LATENCY) ||
		!objectives_wants(objectives, OBJECTIVE_ENERGY))
		return aims;
	for (size_t i = 0; i < planned->count; i++) {
		int cores = planned->at[i].asked.cores;
		size_t first = 0;
		while (planned->at[first].asked.cores != cores)
			first++;
		if (first == i && planned_list_goes_on(planned, cores))
			add_between(&aims, planned, cores, arena);
	}
	return aims;
}

struct plan_aims plans_next(const struct objectives *objectives, const struct planned_list *planned,
	const int *cores, size_t core_count, int round, struct arena *arena)
{
	struct plan_aims aims = plans_between(objectives, planned, arena);
	bool fewer = round == 2 && planned->count && objectives_have(objectives, OBJECTIVE_CORES);
	for (size_t c = 0; fewer && c < core_count; c++)
		plans_alone(&aims, objectives, planned, cores[c], arena);
	return aims;
}

/* --- what it proves */

/* Returns the lower bound of the first objective by one sum; 0 if the sum has other terms than the objectives. */
static double bound_by(const struct planned *planned, const struct objectives *objectives,
	const struct score *point)
{
	const struct joint_aim *aim = &planned->asked.aim;
	double own = joint_aim_weight(aim, objectives->at[0]), rest = planned->bound;
	if (own <= 0 || planned->bound <= 0)
		return 0;
	for (int i = 0; i < ALONE; i++) {
		enum objective objective = alone[i].objective;
		if (objective == objectives->at[0] || joint_aim_weight(aim, objective) <= 0)
			continue;
		if (!objectives_have(objectives, objective))
			return 0;
		rest -= joint_aim_weight(aim, objective) * objective_value(objective, point);
	}
	return rest / own;
}

static double least_alone(const struct planned_list *planned, enum objective objective, int cores)
{
	const struct objectives objectives = {1, {objective}};
	const struct score none = {0};
	double least = 0;
	for (size_t i = 0; i < planned->count; i++)
		if (planned->at[i].asked.cores >= cores)
			least = fmax(least, bound_by(&planned->at[i], &objectives, &none));
	return least;
}

/* A corner of the half-planes of sums without HBM bytes: whether all hold there. */
static bool planned_list_holds(
	const struct planned_list *planned, int cores, double latency, double energy)
{
	for (size_t i = 0; i < planned->count; i++) {
		const struct planned *own = &planned->at[i];
		const struct joint_aim *aim = &own->asked.aim;
		double sum = joint_aim_weight(aim, OBJECTIVE_LATENCY) * latency +
			     joint_aim_weight(aim, OBJECTIVE_ENERGY) * energy;
		if (own->asked.cores >= cores && !aim->hbm_bytes && sum < own->bound * (1 - 1e-12))
			return false;
	}
	return true;
}

/* The product is least at a corner, for along an edge it is concave, and at the ends both have bounds. */
static double least_product(const struct planned_list *planned, int cores)
{
	double least = 0;
	if (least_alone(planned, OBJECTIVE_LATENCY, cores) <= 0 ||
		least_alone(planned, OBJECTIVE_ENERGY, cores) <= 0)
		return 0;
	for (size_t i = 0; i < planned->count; i++)
		for (size_t k = 0; k < i; k++) {
			const struct planned *p = &planned->at[i], *q = &planned->at[k];
			double a = joint_aim_weight(&p->asked.aim, OBJECTIVE_LATENCY),
			       b = joint_aim_weight(&p->asked.aim, OBJECTIVE_ENERGY),
			       c = joint_aim_weight(&q->asked.aim, OBJECTIVE_LATENCY),
			       d = joint_aim_weight(&q->asked.aim, OBJECTIVE_ENERGY);
			double determinant = a * d - b * c;
			if (p->asked.cores < cores || q->asked.cores < cores ||
				p->asked.aim.hbm_bytes || q->asked.aim.hbm_bytes || p->bound <= 0 ||
				q->bound <= 0 || !(fabs(determinant) > 0))
				continue;
			double latency = (p->bound * d - b * q->bound) / determinant;
			double energy = (a * q->bound - c * p->bound) / determinant;
			double product = latency * energy;
			if (latency >= 0 && energy >= 0 && (least <= 0 || product < least) &&
				planned_list_holds(planned, cores, latency, energy))
				least = product;
		}
	return least;
}

double plans_bound(const struct planned_list *planned, const struct objectives *objectives,
	const struct score *point)
{
	bool limited = objectives_have(objectives, OBJECTIVE_CORES);
	int cores = limited ? (int)point->cores : planned_list_most_cores(planned);
	double bound = 0;
	if (objectives->at[0] == OBJECTIVE_EDP)
		bound = least_product(planned, cores);
	for (size_t i = 0; i < planned->count; i++)
		if (planned->at[i].asked.cores >= cores)
			bound = fmax(bound, bound_by(&planned->at[i], objectives, point));
	return bound;
}

double plans_least(const struct planned_list *planned, enum objective objective)
{
	const struct objectives objectives = {1, {objective}};
	const struct score none = {0};
	return plans_bound(planned, &objectives, &none);
}

/* Cycles and bytes are whole. */
static double whole_bound(enum objective objective, double bound)
{
	bool whole = objective == OBJECTIVE_LATENCY || objective == OBJECTIVE_HBM_BYTES;
	return whole ? ceil(bound - PART_OF_ONE) : bound;
}

/* A point below its bound is not a plan of the spaces that were searched: it was found elsewhere, or given. */
static void note_point(const struct planned_list *planned, const struct objectives *objectives,
	const struct point *point)
{
	struct found *found = point->payload;
	double value = objective_value(objectives->at[0], &point->score);
	found->bound =
		whole_bound(objectives->at[0], plans_bound(planned, objectives, &point->score));
	found->gap = value - found->bound;
	if (found->gap < -NOTHING * value)
		found->bound = found->gap = 0;
	found->proof = found->bound <= 0               ? PROOF_NONE
		       : found->gap <= NOTHING * value ? PROOF_OPTIMAL
						       : PROOF_BOUND;
}

/* Returns the lower bound of an objective alone, confirmed by all known plans; 0: one is below what was proven. */
static double least_of_all(const struct planned_list *planned, const struct frontier *frontier,
	enum objective objective)
{
	double least = plans_least(planned, objective);
	for (size_t i = 0; i < frontier->count; i++)
		if (objective_value(objective, &frontier->points[i].score) < least * (1 - NOTHING))
			return 0;
	return least;
}

void plans_note(const struct planned_list *planned, struct explored *explored)
{
	const struct objectives *objectives = &explored->frontier.objectives;
	for (size_t i = 0; i < objectives->count; i++)
		explored->bounds[i] = least_of_all(planned, &explored->frontier, objectives->at[i]);
	for (size_t i = 0; i < explored->frontier.count; i++)
		note_point(planned, objectives, &explored->frontier.points[i]);
}

const char *const *plans_spaces(const struct planned_list *planned, struct arena *arena)
{
	const char **spaces = arena_array(arena, const char *, planned->count + 1);
	size_t count = 0;
	for (size_t i = 0; i < planned->count; i++) {
		const char *space = planned->at[i].bound > 0 ? planned->at[i].space : NULL;
		bool known = !space;
		for (size_t k = 0; k < count && !known; k++)
			known = text_equal(spaces[k], space);
		if (!known)
			spaces[count++] = arena_text(arena, space);
	}
	return spaces;
}

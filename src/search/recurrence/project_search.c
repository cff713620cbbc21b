#include "search/recurrence/project_search.h"

#include "base/arena.h"
#include "base/number.h"
#include "base/random.h"
#include "base/text.h"
#include "model/recurrence/recurrence_einsum.h"

#include <stdlib.h>
#include <string.h>

/* Sums of products that fit, or the most that does. */
static void add_capped(int64_t *sum, int64_t a, int64_t b)
{
	int64_t product;
	if (!number_mul(a, b, &product) || !number_add(*sum, product, sum))
		*sum = INT64_MAX;
}

struct score project_score(const struct recurrence *recurrence, const struct projection *projection,
	const struct projection_facts *facts, int64_t ports)
{
	struct score score = {.feasible = true,
		.cycles = facts->cycles,
		.computes = facts->points,
		.pes = facts->pes,
		.ports = ports};
	for (int s = 0; s < recurrence->stream_count; s++)
		add_capped(&score.registers, facts->registers[s], facts->pes);
	for (int d = 0; d < recurrence->dependence_count; d++)
		for (int r = 0; r < projection->space_count; r++)
			if (!projection->lanes[r])
				add_capped(&score.wire, llabs(facts->channels[d].move[r]), 1);
	if (facts->pes && facts->cycles)
		score.utilization =
			(double)facts->points / ((double)facts->pes * (double)facts->cycles);
	return score;
}

struct score project_found_score(const struct project_found *found)
{
	struct score score = project_score(
		&found->spec->recurrence, &found->projection, &found->facts, found->ports);
	if (!found->spec->einsum)
		return score;
	score.computes = recurrence_box(found->spec->loops);
	if (score.pes && score.cycles)
		score.utilization =
			(double)score.computes / ((double)score.pes * (double)score.cycles);
	return score;
}

void project_count_ports(const struct project_search *search, struct project_found *found)
{
	found->ports = projection_ports(&found->spec->recurrence, &found->projection, &found->facts,
		&search->wishes.asker.stopper);
}

static double draw_input(void *user, int stream, const int64_t *place)
{
	struct random random = random_open(*(const uint64_t *)user, (uint64_t)stream);
	for (int i = 0; i < RECURRENCE_LOOPS_MOST; i++)
		random = random_open(random.state, (uint64_t)place[i]);
	return (double)random_below(&random, 9) - 4;
}

struct recurrence_inputs project_inputs(const uint64_t *seed)
{
	union {
		const uint64_t *kept;
		void *given;
	} user = {seed};
	return (struct recurrence_inputs){user.given, draw_input, NULL};
}

static void add_row(struct text *text, const int64_t *row, int count)
{
	text_add(text, "[");
	for (int i = 0; i < count; i++)
		text_add(text, "%s%lld", i ? ", " : "", (long long)row[i]);
	text_add(text, "]");
}

const char *project_text(struct arena *arena, const struct recurrence *recurrence,
	const struct projection *projection)
{
	struct text text = text_open(arena);
	text_add(&text, "allocation: [");
	for (int r = 0; r < projection->space_count; r++) {
		text_add(&text, "%s", r ? ", " : "");
		add_row(&text, projection->space[r], recurrence->loop_count);
	}
	text_add(&text, "], schedule: [");
	for (int r = 0; r < projection->time_count; r++) {
		text_add(&text, "%s", r ? ", " : "");
		add_row(&text, projection->time[r], recurrence->loop_count);
	}
	text_add(&text, "]");
	return text_read(&text);
}

/* A value that is no number is its own. */
static bool value_equal(double a, double b)
{
	return a == b || (a != a && b != b);
}

static bool outputs_equal(const struct recurrence_values *a, const struct systolic_result *b)
{
	if (a->output_count != b->output_count)
		return false;
	for (size_t i = 0; i < a->output_count; i++) {
		const struct recurrence_output *x = &a->outputs[i], *y = &b->outputs[i];
		if (x->stream != y->stream || memcmp(x->place, y->place, sizeof x->place) != 0 ||
			!value_equal(x->value, y->value))
			return false;
	}
	return true;
}

/* Every value at every point of the domain. */
static bool values_equal(const struct recurrence *recurrence, const double *a, const double *b)
{
	int64_t point[RECURRENCE_LOOPS_MOST], box = recurrence_box(recurrence);
	for (bool more = recurrence_first(recurrence, point); more;
		more = recurrence_next(recurrence, point))
		for (int s = 0; s < recurrence->stream_count; s++) {
			int64_t at = s * box + recurrence_index(recurrence, point);
			if (recurrence->streams[s].kind == STREAM_RECURRENT &&
				!value_equal(a[at], b[at]))
				return false;
		}
	return true;
}

void project_execute(
	const struct project_search *search, struct project_found *found, struct arena *arena)
{
	const struct recurrence *recurrence = &found->spec->recurrence;
	struct recurrence_inputs inputs = project_inputs(&search->wishes.seed);
	inputs.stopper = &search->wishes.asker.stopper;
	struct recurrence_values expected = sequential_run(recurrence, &inputs, arena);
	found->obstacle = expected.fault;
	found->large = expected.fault && !expected.values;
	if (expected.fault)
		return;
	found->execution = systolic_run(recurrence, &found->projection, &inputs, arena);
	const struct systolic_result *got = &found->execution;
	if (got->fault == SYSTOLIC_LARGE || got->fault == SYSTOLIC_STOPPED)
		return;
	found->common.execution = (struct execution){
		.finished = true,
		.mode = SIM_DATA,
		.cycles = got->cycles,
		.events = (uint64_t)got->points,
		.agrees = got->fault == SYSTOLIC_FINE && got->pes == found->facts.pes &&
			  got->cycles == found->facts.cycles &&
			  got->points == found->facts.points &&
			  (found->facts.units < 0 || got->units == found->facts.units) &&
			  (found->facts.issues < 0 || got->issues == found->facts.issues) &&
			  memcmp(got->registers, found->facts.registers, sizeof got->registers) ==
				  0 &&
			  values_equal(recurrence, expected.values, got->values) &&
			  outputs_equal(&expected, got),
	};
}

static const char *loop_list(
	struct arena *arena, const struct recurrence *recurrence, const int *loops, int count)
{
	struct text text = text_open(arena);
	for (int i = 0; i < count; i++)
		text_add(&text, "%s%s", i ? ", " : "", recurrence->loops[loops[i]].name);
	return text_read(&text);
}

const char *project_tiles_text(
	struct arena *arena, const struct space_time *spec, const char *between)
{
	const struct recurrence_einsum *einsum = spec->einsum;
	const struct recurrence *recurrence = &spec->recurrence;
	struct text text = text_open(arena);
	int reread[RECURRENCE_LOOPS_MOST], count = 0;
	if (!einsum)
		return "";
	for (int i = 0; i < einsum->split_count; i++)
		text_add(&text, "%s%s: %lld", i ? ", " : "split: {",
			recurrence->loops[einsum->splits[i].loop].name,
			(long long)einsum->splits[i].size);
	if (einsum->split_count)
		text_add(&text, "}%s", between);
	if (einsum->order_count)
		text_add(&text, "sum: [%s]%s",
			loop_list(arena, recurrence, einsum->order, einsum->order_count), between);
	for (int i = 0; i < recurrence->loop_count; i++)
		if (einsum->reread >> i & 1)
			reread[count++] = i;
	if (count)
		text_add(&text, "reread: [%s]%s", loop_list(arena, recurrence, reread, count),
			between);
	for (int i = 0; i < einsum->load_count; i++) {
		const struct recurrence_load *load = &einsum->loads[i];
		text_add(&text, "%s%s: [%s, %s]", i ? ", " : "load: {",
			einsum->operands[load->operand].name, recurrence->loops[load->along].name,
			recurrence->loops[load->before].name);
	}
	if (einsum->load_count)
		text_add(&text, "}%s", between);
	return text_read(&text);
}

bool project_fold(const struct project_search *search, const struct folding *folding, bool ports,
	struct arena *arena, struct project_found *found, struct score *score)
{
	struct folded *folded = arena_new(arena, struct folded);
	if (!folding_make(search->spec, folding, arena, folded))
		return false;
	const struct space_time *spec = &folded->spec;
	*found = (struct project_found){.spec = spec,
		.name = folded->name,
		.folds = folded->folds,
		.projection = spec->projection,
		.facts = projection_facts(&spec->recurrence, &spec->projection, spec),
		.common.solver = solver_label(arena, search->solver)};
	if (found->facts.fault != PROJECTION_FINE)
		return false;
	if (ports)
		project_count_ports(search, found);
	*score = project_found_score(found);
	return true;
}

/* What a solver offered, while it is judged. */
struct offered {
	struct project_found found;
	const struct candidate *candidate;
};

struct projects {
	const struct project_search *search;
	const char *solver_name;
};

static const char *price(void *self, struct found *at, struct slot *slot, struct score *score)
{
	const struct projects *projects = self;
	const struct project_search *search = projects->search;
	struct offered *offered = (struct offered *)at;
	struct project_found *found = &offered->found;
	if (offered->candidate->folding)
		return project_fold(
			       search, offered->candidate->folding, true, slot->arena, found, score)
			       ? NULL
			       : "the folding is not legal";
	const struct space_time *spec = search->spec;
	*found = (struct project_found){.spec = spec,
		.projection = *offered->candidate->projection,
		.facts = projection_facts(&spec->recurrence, offered->candidate->projection, spec),
		.common.solver = projects->solver_name};
	if (found->facts.fault != PROJECTION_FINE)
		return "the projection is not legal";
	project_count_ports(search, found);
	*score = project_found_score(found);
	return NULL;
}

/* All that a plan says. */
static const char *key(void *self, const struct found *at, struct arena *arena)
{
	const struct project_found *found = (const struct project_found *)at;
	const struct space_time *spec = found->spec;
	return arena_format(arena, "%s%s", found->name ? project_tiles_text(arena, spec, ", ") : "",
		project_text(arena, &spec->recurrence, &found->projection));
}

static bool make_task(void *self, int round, struct drive *drive, size_t *count)
{
	*count = 1;
	return round == 1;
}

static void run(void *self, size_t i, struct slot *slot)
{
	const struct project_search *search = ((struct projects *)self)->search;
	struct problem problem = {.stage = STAGE_PROJECT, .projections = search};
	struct answer answer = drive_ask(slot, search->solver, &problem, search->wishes.budget,
		search->wishes.seed, slot->scratch);
	for (size_t k = 0; k < answer.candidate_count; k++) {
		struct offered offered = {.candidate = &answer.candidates[k]};
		drive_offer(slot, &offered.found.common);
	}
}

/* What everybody compares with, whether the frontier has it or not. */
static void add_classical(void *self, struct explored *explored, struct arena *arena)
{
	const struct project_search *search = ((struct projects *)self)->search;
	const struct recurrence_einsum *einsum = search->spec->einsum;
	if (!search->spec->folds)
		return;
	explored->beside_count = (size_t)einsum->operand_count;
	explored->beside = arena_array(arena, struct point, explored->beside_count);
	for (int i = 0; i < einsum->operand_count; i++) {
		struct folding folding;
		struct point *point = &explored->beside[i];
		struct project_found *found = arena_new(arena, struct project_found);
		if (!folding_classical(search->spec, i, &folding) ||
			!project_fold(search, &folding, true, arena, found, &point->score))
			continue;
		point->key = key(self, &found->common, arena);
		point->payload = found;
	}
}

/* What the array did is for reports; values of all points are many. */
static const char *execute(void *self, struct found *found, struct slot *slot, bool last)
{
	project_execute(
		((struct projects *)self)->search, (struct project_found *)found, slot->arena);
	return NULL;
}

static const struct drive_kind recurrences = {
	.tasks = make_task,
	.run = run,
	.price = price,
	.key = key,
	.size = sizeof(struct project_found),
	.finish = add_classical,
	.execute = execute,
	.executes_kept = true,
};

struct explored project_explore(const struct project_search *search, struct arena *arena)
{
	struct projects projects = {search, solver_label(arena, search->solver)};
	return drive_explore(&recurrences, &projects, &search->wishes, arena);
}

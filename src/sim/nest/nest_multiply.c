#include "sim/nest/nest_multiply.h"

#include "base/arena.h"
#include "sim/nest/nest_array.h"
#include "sim/nest/nest_lay.h"

#include <inttypes.h>

struct nest_arithmetic nest_arithmetic_make(const struct nest_values *values)
{
	struct nest_arithmetic arithmetic = {.values = values};
	if (!values)
		return arithmetic;
	const struct primitive *primitive = values->primitive;
	arithmetic.joins = primitive->partial ? primitive->partial : primitive;
	if (primitive->kind == OP_EINSUM || primitive->kind == OP_REDUCE)
		arithmetic.neutral = (double)arithmetic.joins->start;
	return arithmetic;
}

double nest_arithmetic_point(
	const struct nest_arithmetic *arithmetic, const double *words, int count)
{
	const struct nest_values *values = arithmetic->values;
	float product = (float)words[0];
	if (!values) {
		double whole = 1;
		for (int k = 0; k < count; k++)
			whole *= words[k];
		return whole;
	}
	if (values->primitive->kind == OP_REDUCE)
		return (double)values->kernel(
			values->primitive, values->primitive->start, (float)words[0]);
	if (values->primitive->kind != OP_EINSUM)
		return (double)values->kernel(values->primitive, (float)words[0],
			count > 1 ? (float)words[1] : values->constant);
	for (int k = 1; k < count; k++)
		product *= (float)words[k];
	return (double)product;
}

/* A map makes every word once: what is joined with it is the neutral element. */
double nest_arithmetic_join_values(const struct nest_arithmetic *arithmetic, double a, double b)
{
	const struct nest_values *values = arithmetic->values;
	switch (values->primitive->kind) {
	case OP_EINSUM:
		return (double)((float)a + (float)b);
	case OP_REDUCE:
		return (double)values->kernel(arithmetic->joins, (float)a, (float)b);
	default:
		return b;
	}
}

/* Multipliers below one instance of the parent that have the same word. */
struct crew {
	int64_t first;                   /* the lowest that has work at this step */
	int64_t parent;                  /* instance */
	int64_t shift[SHAPE_RANKS_MOST]; /* what the place of its multipliers adds to the word */
	int64_t step;                    /* the last one at which it had work */
	int64_t place;                   /* of the word in the parent's buffer then */
	bool held;                       /* whether it was there */
	double sum;
	int64_t through[ARCH_LEVELS_MOST]; /* the last instance passed on the way, by pass */
};

/* One dataspace as the multipliers see it. */
struct nest_operand {
	const struct nest_feed *feed;
	int space;
	int64_t base[SHAPE_RANKS_MOST]; /* the word at this step, without shift */
	int64_t *crew;                  /* by multiplier */
	struct crew *crews;
	int64_t *pending; /* written: crews with work at this step */
	int64_t pending_count;
	/* Through a systolic array, by multiplier; NULL elsewhere. */
	const int64_t *partner; /* read: whom it takes its word from; written: gives its sum; -1 */
	double *latch;          /* the word that it has; the sums that it was given */
	int64_t *latched;       /* read: the step at which it got that */
};

struct nest_multipliers {
	struct nest_run *run;
	int operand_count, read_count; /* those that are read come first */
	struct nest_operand operands[SHAPE_SPACES_MOST];
};

static void find_shift(struct nest_run *run, int t, int64_t n, int64_t shift[])
{
	int dimensions = run->shape->dimension_count;
	dataspace_word(&run->shape->spaces[t], dimensions,
		&site_of(run, MULTIPLIERS)->shift[n * dimensions], shift);
}

static void find_crews(struct nest_run *run, struct nest_operand *operand)
{
	const struct nest_feed *feed = operand->feed;
	int64_t count = site_of(run, MULTIPLIERS)->instances, crew_count = 0;
	int ranks = run->shape->spaces[operand->space].rank_count;
	operand->crew = arena_array(run->arena, int64_t, count);
	operand->crews = arena_array(run->arena, struct crew, count);
	operand->pending = arena_array(run->arena, int64_t, count);
	struct arena_mark mark = arena_mark(run->arena);
	struct nest_groups groups;
	nest_groups_open(&groups, feed->children, run->arena);
	struct nest_words *sets = arena_array(run->arena, struct nest_words, feed->children);
	for (int64_t first = 0; first < count; first += feed->children) {
		for (int64_t n = 0; n < feed->children; n++) {
			struct nest_box *word = &sets[n].hull;
			find_shift(run, operand->space, first + n, word->low);
			for (int r = 0; r < ranks; r++)
				word->high[r] = word->low[r] + 1;
			sets[n].count = word->words = 1;
		}
		nest_groups_find(&groups, ranks, sets, feed->children, feed->apart, NULL);
		for (int64_t n = 0; n < feed->children; n++) {
			if (groups.leader[n] != n) {
				operand->crew[first + n] = operand->crew[first + groups.leader[n]];
				continue;
			}
			struct crew *crew = &operand->crews[crew_count];
			crew->parent = first / feed->children;
			crew->step = -1;
			find_shift(run, operand->space, first + n, crew->shift);
			operand->crew[first + n] = crew_count++;
		}
	}
	arena_release(run->arena, mark);
}

static void link_array(struct nest_run *run, struct nest_operand *operand)
{
	if (!run->array || operand->feed->parent->level < run->hierarchy->array_end - 1)
		return;
	operand->partner = nest_array_link(run->array, operand->space, operand->crew, run->arena);
	int64_t count = site_of(run, MULTIPLIERS)->instances;
	operand->latch = arena_array(run->arena, double, count);
	operand->latched = arena_array(run->arena, int64_t, count);
	for (int64_t n = 0; n < count; n++) {
		operand->latched[n] = -1;
		operand->latch[n] =
			run->shape->spaces[operand->space].written ? run->arithmetic.neutral : 0;
	}
}

struct nest_multipliers *nest_multipliers_open(struct nest_run *run)
{
	struct nest_multipliers *multipliers = arena_new(run->arena, struct nest_multipliers);
	multipliers->run = run;
	for (int written = 0; written < 2; written++) {
		for (int t = 0; t < run->shape->space_count; t++) {
			if (run->shape->spaces[t].written != (written == 1))
				continue;
			struct nest_operand *operand =
				&multipliers->operands[multipliers->operand_count++];
			multipliers->read_count += !written;
			operand->space = t;
			operand->feed = &run->multiplier_feed[t];
			find_crews(run, operand);
			link_array(run, operand);
		}
	}
	return multipliers;
}

static void miss(struct nest_run *run, const struct nest_operand *operand, const struct crew *crew)
{
	const struct nest_store *parent = operand->feed->parent;
	struct nest_words word = {.hull.words = 1, .count = 1};
	for (int r = 0; r < parent->ranks; r++) {
		word.hull.low[r] = operand->base[r] + crew->shift[r];
		word.hull.high[r] = word.hull.low[r] + 1;
	}
	nest_run_wrong(run,
		"multiplier %" PRId64 " needs %s of %s %" PRId64 ", which does not hold it",
		crew->first, nest_run_word(run, operand->space, &word),
		run->hierarchy->levels[parent->level].name, crew->parent);
}

/* Finds the word of a crew that begins its work at this step. */
static void begin(struct nest_run *run, struct nest_operand *operand, struct crew *crew, int64_t n)
{
	const struct nest_store *parent = operand->feed->parent;
	const struct nest_box *held = &parent->held[crew->parent];
	int64_t place = 0;
	bool there = held->words;
	for (int r = 0; r < parent->ranks; r++) {
		int64_t at = operand->base[r] + crew->shift[r];
		there &= at >= held->low[r] && at < held->high[r];
		place += (at - held->low[r]) * parent->stride[r];
	}
	for (int p = 0; p < operand->feed->pass_count; p++)
		crew->through[p] = -1;
	crew->step = run->step;
	crew->first = n;
	crew->sum = run->arithmetic.neutral;
	crew->place = place;
	crew->held = there;
	if (!there)
		miss(run, operand, crew);
}

/* Levels on the way that only count: whether the word of multiplier n passes anew. */
static void pass(struct nest_run *run, struct nest_operand *operand, struct crew *crew, int64_t n)
{
	const struct nest_feed *feed = operand->feed;
	for (int p = 0; p < feed->pass_count; p++) {
		int64_t through = n / feed->below[p];
		if (through == crew->through[p])
			continue;
		crew->through[p] = through;
		nest_run_pass(run, feed->pass[p], through, operand->space,
			feed->parent->written ? NEST_UPDATE : NEST_FILL, 1);
	}
}

/* Takes the word that the PE before has at this step, whether there is work with it or not; false
 * if there is none. */
static bool hand_on(struct nest_run *run, struct nest_operand *operand, int64_t n)
{
	int64_t from = operand->partner ? operand->partner[n] : -1;
	if (from < 0 || operand->latched[from] != run->step)
		return false;
	if (!nest_run_fault(run, NEST_SIM_HOP_LATE))
		operand->latch[n] = operand->latch[from];
	operand->latched[n] = run->step;
	return true;
}

static double read_word(struct nest_run *run, struct nest_operand *operand, int64_t n)
{
	const struct nest_store *parent = operand->feed->parent;
	struct crew *crew = &operand->crews[operand->crew[n]];
	if (crew->step != run->step) {
		begin(run, operand, crew, n);
		nest_run_count(run, parent->level, crew->parent, operand->space, NEST_READ, 1);
	}
	if (operand->feed->pass_count)
		pass(run, operand, crew, n);
	if (hand_on(run, operand, n))
		return operand->latch[n];
	double value = run->tensors && crew->held ? parent->value[crew->parent][crew->place] : 0;
	if (operand->partner) {
		operand->latch[n] = value;
		operand->latched[n] = run->step;
	}
	return value;
}

/* To the sum of the crew; in an array by way of the PEs after it.  One without work only hands on
 * what it was given. */
static void give_sum(
	const struct nest_run *run, struct nest_operand *operand, int64_t n, double product)
{
	const struct nest_arithmetic *arithmetic = &run->arithmetic;
	double *to = &operand->crews[operand->crew[n]].sum;
	if (operand->partner && operand->partner[n] >= 0)
		to = &operand->latch[operand->partner[n]];
	if (operand->partner) {
		product = nest_arithmetic_join(arithmetic, operand->latch[n], product);
		operand->latch[n] = arithmetic->neutral;
	}
	*to = nest_arithmetic_join(arithmetic, *to, product);
}

static void add_product(
	struct nest_run *run, struct nest_operand *operand, int64_t n, double product)
{
	struct crew *crew = &operand->crews[operand->crew[n]];
	if (crew->step != run->step) {
		begin(run, operand, crew, n);
		operand->pending[operand->pending_count++] = operand->crew[n];
	}
	if (operand->feed->pass_count)
		pass(run, operand, crew, n);
	give_sum(run, operand, n, product);
}

/* The sum of a crew goes to its level, once what is there has come to be added. */
static void update(struct nest_run *run, struct nest_operand *operand, struct crew *crew)
{
	const struct nest_feed *feed = operand->feed;
	struct nest_store *parent = feed->parent;
	if (!crew->held)
		return;
	uint8_t *state = &parent->state[crew->parent][crew->place];
	if (*state & WORD_SUM) {
		nest_run_count(run, parent->level, crew->parent, operand->space, NEST_READ, 1);
		for (int p = 0; p < feed->pass_count; p++)
			nest_run_pass(run, feed->pass[p], crew->first / feed->below[p],
				operand->space, NEST_FILL, 1);
		if (nest_run_fault(run, NEST_SIM_SUM_UNREAD))
			*state = 0;
	}
	nest_store_add(run, parent, crew->parent, crew->place, crew->sum);
	nest_run_count(run, parent->level, crew->parent, operand->space, NEST_UPDATE, 1);
}

/* A PE without work hands on what others need. */
static void pass_by(struct nest_multipliers *multipliers, int64_t n)
{
	int k = 0;
	for (; k < multipliers->read_count; k++)
		hand_on(multipliers->run, &multipliers->operands[k], n);
	for (; k < multipliers->operand_count; k++)
		give_sum(multipliers->run, &multipliers->operands[k], n,
			multipliers->run->arithmetic.neutral);
}

static bool all_work(const struct nest_run *run)
{
	for (int d = 0; d < run->shape->dimension_count; d++) {
		if (run->base[d] + run->furthest[d] >= run->shape->dimensions[d].extent)
			return false;
	}
	return true;
}

/* True if what a multiplier does at this step is beyond what exists. */
static bool is_padding(struct nest_run *run, int64_t n)
{
	const struct nest_values *values = run->options->values;
	const struct shape *shape = run->shape;
	const int64_t *shift = &site_of(run, MULTIPLIERS)->shift[n * shape->dimension_count];
	for (int d = 0; values && d < shape->dimension_count; d++) {
		if (run->base[d] + shift[d] >= values->extents[d])
			return true;
	}
	return false;
}

static void find_bases(struct nest_multipliers *multipliers)
{
	const struct nest_run *run = multipliers->run;
	for (int k = 0; k < multipliers->operand_count; k++) {
		struct nest_operand *operand = &multipliers->operands[k];
		dataspace_word(&run->shape->spaces[operand->space], run->shape->dimension_count,
			run->base, operand->base);
		operand->pending_count = 0;
	}
}

void nest_multipliers_step(struct nest_multipliers *multipliers)
{
	struct nest_run *run = multipliers->run;
	struct nest_operand *operands = multipliers->operands;
	bool all = all_work(run);
	find_bases(multipliers);
	for (int64_t n = 0; n < site_of(run, MULTIPLIERS)->instances; n++) {
		if (!all && !nest_run_works(run, MULTIPLIERS, n)) {
			pass_by(multipliers, n);
			continue;
		}
		run->counts.computes++;
		double product = run->arithmetic.neutral, words[SHAPE_SPACES_MOST] = {0};
		int k = 0;
		for (; k < multipliers->read_count; k++)
			words[k] = read_word(run, &operands[k], n);
		if (run->tensors && !is_padding(run, n))
			product = nest_arithmetic_point(&run->arithmetic, words, k);
		for (; k < multipliers->operand_count; k++)
			add_product(run, &operands[k], n, product);
	}
	for (int k = multipliers->read_count; k < multipliers->operand_count; k++) {
		for (int64_t i = 0; i < operands[k].pending_count; i++)
			update(run, &operands[k], &operands[k].crews[operands[k].pending[i]]);
	}
	run->counts.compute_cycles++;
	run->events++;
}

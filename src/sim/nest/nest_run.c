#include "sim/nest/nest_run.h"

#include "base/arena.h"
#include "base/text.h"
#include "sim/nest/nest_clock.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

void nest_run_project(const struct dataspace *space, int dimensions, const int64_t *low,
	const int64_t *high, struct nest_box *out)
{
	dataspace_word(space, dimensions, low, out->low);
	dataspace_word(space, dimensions, high, out->high);
	for (int r = 0; r < space->rank_count; r++)
		out->high[r]++;
	nest_box_finish(space->rank_count, out); /* fits: the whole dataspace does */
}

struct nest_box nest_whole(const struct shape *shape, int space)
{
	int64_t first[SHAPE_DIMENSIONS_MOST] = {0}, last[SHAPE_DIMENSIONS_MOST];
	struct nest_box box;
	for (int d = 0; d < shape->dimension_count; d++)
		last[d] = shape->dimensions[d].extent - 1;
	nest_run_project(&shape->spaces[space], shape->dimension_count, first, last, &box);
	return box;
}

int64_t nest_run_step(const struct nest_run *run, int space, int rank, int k)
{
	const struct nest_round *round = &run->rounds[k];
	return run->shape->spaces[space].ranks[rank].coefficient[round->dimension] * round->stride;
}

bool nest_run_works(struct nest_run *run, int level, int64_t instance)
{
	const struct shape *shape = run->shape;
	const int64_t *shift = &site_of(run, level)->shift[instance * shape->dimension_count];
	for (int d = 0; d < shape->dimension_count; d++) {
		if (run->base[d] + shift[d] >= shape->dimensions[d].extent)
			return false;
	}
	return true;
}

void nest_run_tile(struct nest_run *run, const struct nest_store *store, int64_t instance,
	struct nest_box *out)
{
	out->words = 0;
	if (!nest_run_works(run, store->level, instance))
		return;
	const struct shape *shape = run->shape;
	struct nest_site *site = site_of(run, store->level);
	const int64_t *shift = &site->shift[instance * shape->dimension_count];
	int64_t low[SHAPE_DIMENSIONS_MOST], high[SHAPE_DIMENSIONS_MOST];
	for (int d = 0; d < shape->dimension_count; d++) {
		low[d] = run->base[d] + shift[d];
		high[d] = number_min(low[d] + site->span[d], shape->dimensions[d].extent) - 1;
	}
	nest_run_project(&shape->spaces[store->space], shape->dimension_count, low, high, out);
}

void nest_run_count(struct nest_run *run, int level, int64_t instance, int space,
	enum nest_action action, int64_t words)
{
	struct nest_count *count = &run->counts.at[level][space];
	int64_t *to = action == NEST_READ   ? &count->reads
		      : action == NEST_FILL ? &count->fills
					    : &count->updates;
	run->overflow |= !number_add(*to, words, to);
	run->events++;
	if (run->clock)
		nest_clock_charge(run->clock, level, instance, space, action, words);
}

void nest_run_drain(struct nest_run *run, int level, int64_t instance, int space, int64_t words)
{
	if (!words)
		return;
	nest_run_count(run, level, instance, space, NEST_READ, words);
	run->counts.at[level][space].drains += words;
}

void nest_run_pass(struct nest_run *run, int level, int64_t instance, int space,
	enum nest_action comes, int64_t words)
{
	nest_run_count(run, level, instance, space, comes, words);
	if (comes == NEST_UPDATE)
		nest_run_drain(run, level, instance, space, words);
	else
		nest_run_count(run, level, instance, space, NEST_READ, words);
}

void nest_store_add(struct nest_run *run, struct nest_store *store, int64_t instance, int64_t place,
	double value)
{
	uint8_t *state = &store->state[instance][place];
	if (*state & WORD_FRESH && store->reads_first)
		nest_run_count(run, store->level, instance, store->space, NEST_READ, 1);
	if (run->tensors)
		store->value[instance][place] = nest_arithmetic_join(&run->arithmetic,
			*state & WORD_SUM ? store->value[instance][place] : run->arithmetic.neutral,
			value);
	*state = WORD_SUM;
}

void nest_run_wrong(struct nest_run *run, const char *format, ...)
{
	if (run->wrong)
		return;
	char text[400];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	run->wrong = arena_format(run->arena, "step %" PRId64 ": %s", run->step, text);
}

bool nest_run_fault(struct nest_run *run, enum nest_sim_fault fault)
{
	return run->options->fault == fault && run->faults++ == run->options->fault_at;
}

const char *nest_run_word(struct nest_run *run, int space, const struct nest_words *words)
{
	struct text text = text_open(run->arena);
	text_add(&text, "%s[", run->shape->spaces[space].name);
	struct nest_walk walk = nest_walk_first(run->shape->spaces[space].rank_count, words);
	for (int r = 0; r < run->shape->spaces[space].rank_count; r++)
		text_add(&text, "%s%" PRId64, r ? ", " : "", walk.at[r]);
	text_add(&text, "]");
	return text_read(&text);
}

#include "solvers/place/spill/question.h"

#include "base/array.h"

struct residences array(struct spill_residence);

struct spill_asking {
	struct arena *arena;
	const struct spill_model *model;
	const bool *kept;
	struct residences residences;
	int *of_item; /* the residence of each that is asked about; -1 */
};

static struct residences find_residences(
	struct arena *arena, const struct spill_model *model, const bool *kept)
{
	struct residences residences = {0};
	const struct spill_item *items = model->items;
	for (int i = 0; i < model->item_count; i++) {
		if (!kept[i])
			continue;
		bool goes_on = i > 0 && kept[i - 1] && items[i - 1].buffer == items[i].buffer &&
			       !items[i - 1].whole && items[i].from < items[i - 1].to;
		if (!goes_on)
			*array_add(arena, &residences) =
				(struct spill_residence){i, i, items[i].from, items[i].to};
		struct spill_residence *residence = &residences.at[residences.count - 1];
		residence->last = i;
		residence->to = items[i].to;
	}
	return residences;
}

static struct buffer buffer_of(
	const struct spill_asking *asking, const struct spill_residence *residence)
{
	const struct spill_item *first = &asking->model->items[residence->first];
	struct buffer buffer = asking->model->packing->buffers[first->buffer];
	int *parents = arena_array(asking->arena, int, first->parent_count);
	buffer.start = residence->from;
	buffer.end = residence->to;
	buffer.weight = 0;
	for (int i = residence->first; i <= residence->last; i++)
		buffer.weight += asking->model->items[i].gain;
	buffer.use_count = 0;
	buffer.must_take_over = first->tied;
	buffer.parents = parents;
	buffer.parent_count = 0;
	for (int k = 0; k < first->parent_count; k++)
		if (asking->of_item[first->parents[k]] >= 0)
			parents[buffer.parent_count++] = asking->of_item[first->parents[k]];
	return buffer;
}

struct spill_question spill_question_make(
	struct arena *arena, const struct spill_model *model, const bool *kept)
{
	struct spill_asking asking = {.arena = arena,
		.model = model,
		.kept = kept,
		.residences = find_residences(arena, model, kept),
		.of_item = arena_array(arena, int, model->item_count)};
	size_t count = asking.residences.count;
	struct buffer *buffers = arena_array(arena, struct buffer, count);
	for (int i = 0; i < model->item_count; i++)
		asking.of_item[i] = -1;
	for (size_t r = 0; r < count; r++)
		for (int i = asking.residences.at[r].first; i <= asking.residences.at[r].last; i++)
			asking.of_item[i] = (int)r;
	for (size_t r = 0; r < count; r++)
		buffers[r] = buffer_of(&asking, &asking.residences.at[r]);
	struct packing packing = *model->packing;
	packing.buffers = buffers;
	packing.count = count;
	packing.goal = PACKING_FIT;
	return (struct spill_question){model, packing, asking.residences.at};
}

void spill_question_answer(const struct spill_question *question, const struct placement *placement,
	int64_t *addresses)
{
	for (size_t r = 0; r < question->packing.count; r++) {
		const struct spill_residence *residence = &question->residences[r];
		for (int i = residence->first; i <= residence->last; i++)
			addresses[i] = placement->addresses[r];
	}
}

/* The parent whose place an item takes; -1. */
static int parent_at(const struct spill_model *model, const bool *kept, const int64_t *addresses,
	const struct spill_item *item, int64_t address)
{
	for (int k = 0; k < item->parent_count; k++) {
		int parent = item->parents[k];
		if (kept[parent] && addresses[parent] == address)
			return model->items[parent].buffer;
	}
	return -1;
}

struct placement *spill_placement(struct arena *arena, const struct spill_model *model,
	const bool *kept, const int64_t *addresses)
{
	struct residences residences = find_residences(arena, model, kept);
	const struct packing *packing = model->packing;
	struct placement *answer = arena_new(arena, struct placement);
	struct residence_part *parts = arena_array(arena, struct residence_part, residences.count);
	answer->count = packing->count;
	answer->addresses = arena_array(arena, int64_t, packing->count);
	answer->in_place_of = arena_array(arena, int, packing->count);
	answer->parts = parts;
	for (size_t b = 0; b < packing->count; b++) {
		answer->addresses[b] = UNPLACED;
		answer->in_place_of[b] = -1;
	}
	for (size_t r = 0; r < residences.count; r++) {
		const struct spill_residence *residence = &residences.at[r];
		const struct spill_item *first = &model->items[residence->first];
		const struct buffer *buffer = &packing->buffers[first->buffer];
		int64_t address = addresses[residence->first];
		if (residence->from == buffer->start && residence->to == buffer->end)
			answer->addresses[first->buffer] = address;
		else
			parts[answer->part_count++] = (struct residence_part){
				first->buffer, residence->from, residence->to, address};
		int parent = parent_at(model, kept, addresses, first, address);
		if (parent >= 0)
			answer->in_place_of[first->buffer] = parent;
	}
	return answer;
}

static bool is_among(const struct spill_question *question, const int *core, size_t count, int item)
{
	for (size_t k = 0; k < count; k++) {
		const struct spill_residence *residence = &question->residences[core[k]];
		if (residence->first <= item && item <= residence->last)
			return true;
	}
	return false;
}

struct spill_cut spill_question_cut(
	struct arena *arena, const struct spill_question *question, const int *core, size_t count)
{
	struct array(int) items = {0}, parents = {0};
	for (size_t k = 0; k < count; k++) {
		const struct spill_residence *residence = &question->residences[core[k]];
		const struct spill_item *first = &question->model->items[residence->first];
		for (int i = residence->first; i <= residence->last; i++)
			*array_add(arena, &items) = i;
		for (int p = 0; p < first->parent_count && first->tied; p++)
			if (!is_among(question, core, count, first->parents[p]))
				*array_add(arena, &parents) = first->parents[p];
	}
	return (struct spill_cut){(int)items.count, (int)parents.count, items.at, parents.at};
}

#include "solvers/place/spill_pack.h"

#include "base/array.h"

struct asking {
	struct arena *arena;
	const struct spill_model *model;
	const bool *kept;
	struct array(struct spill_residence) residences;
	int *of_item; /* the residence of each that is kept */
};

static void find_residences(struct asking *asking)
{
	const struct spill_item *items = asking->model->items;
	for (int i = 0; i < asking->model->item_count; i++) {
		if (!asking->kept[i])
			continue;
		bool goes_on = i > 0 && asking->kept[i - 1] &&
			       items[i - 1].buffer == items[i].buffer &&
			       items[i].from < items[i - 1].to;
		if (!goes_on)
			*array_add(asking->arena, &asking->residences) =
				(struct spill_residence){i, i, items[i].from, items[i].to};
		struct spill_residence *residence =
			&asking->residences.at[asking->residences.count - 1];
		residence->last = i;
		residence->to = items[i].to;
		asking->of_item[i] = (int)asking->residences.count - 1;
	}
}

static struct buffer buffer_of(const struct asking *asking, const struct spill_residence *residence)
{
	const struct spill_item *first = &asking->model->items[residence->first];
	struct buffer buffer = asking->model->packing->buffers[first->buffer];
	int *parents = arena_array(asking->arena, int, first->parent_count);
	buffer.start = residence->from;
	buffer.end = residence->to;
	buffer.use_count = 0;
	buffer.must_take_over = first->tied;
	buffer.parents = parents;
	buffer.parent_count = 0;
	for (int k = 0; k < first->parent_count; k++)
		if (asking->kept[first->parents[k]])
			parents[buffer.parent_count++] = asking->of_item[first->parents[k]];
	return buffer;
}

struct spill_question spill_question_make(
	struct arena *arena, const struct spill_model *model, const bool *kept)
{
	struct asking asking = {.arena = arena,
		.model = model,
		.kept = kept,
		.of_item = arena_array(arena, int, model->item_count)};
	find_residences(&asking);
	size_t count = asking.residences.count;
	struct buffer *buffers = arena_array(arena, struct buffer, count);
	for (size_t i = 0; i < count; i++)
		buffers[i] = buffer_of(&asking, &asking.residences.at[i]);
	struct packing packing = *model->packing;
	packing.buffers = buffers;
	packing.count = count;
	packing.goal = PACKING_FIT;
	return (struct spill_question){model, packing, asking.residences.at};
}

struct placement *spill_question_answer(struct arena *arena, const struct spill_question *question,
	const struct placement *placement)
{
	const struct spill_item *items = question->model->items;
	const struct packing *packing = question->model->packing;
	struct placement *answer = arena_new(arena, struct placement);
	struct residence_part *parts =
		arena_array(arena, struct residence_part, question->packing.count);
	answer->count = packing->count;
	answer->addresses = arena_array(arena, int64_t, packing->count);
	answer->in_place_of = arena_array(arena, int, packing->count);
	answer->parts = parts;
	for (size_t b = 0; b < packing->count; b++) {
		answer->addresses[b] = UNPLACED;
		answer->in_place_of[b] = -1;
	}
	for (size_t r = 0; r < question->packing.count; r++) {
		const struct spill_residence *residence = &question->residences[r];
		int b = items[residence->first].buffer, parent = placement->in_place_of[r];
		const struct buffer *buffer = &packing->buffers[b];
		if (residence->from == buffer->start && residence->to == buffer->end)
			answer->addresses[b] = placement->addresses[r];
		else
			parts[answer->part_count++] = (struct residence_part){
				b, residence->from, residence->to, placement->addresses[r]};
		if (parent >= 0)
			answer->in_place_of[b] = items[question->residences[parent].first].buffer;
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

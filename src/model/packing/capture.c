#include "model/packing/capture.h"

#include "base/arena.h"

#include <inttypes.h>

int64_t capture_bytes(const struct capture_buffer *buffer, int division)
{
	int64_t pieces = buffer->divisions[division].pieces;
	return buffer->size / pieces + (buffer->size % pieces != 0);
}

bool capture_pairs(const struct capture_edge *edge, int parent_division, int own_division)
{
	for (size_t i = 0; i < edge->pair_count; i++)
		if (edge->pairs[i].parent == parent_division && edge->pairs[i].own == own_division)
			return true;
	return false;
}

int64_t capture_footprint(const struct capture *capture)
{
	int64_t sum = 0;
	for (size_t i = 0; i < capture->count; i++)
		sum += capture->buffers[i].size;
	return sum;
}

struct capture_cost capture_cost(const struct capture *capture, const struct capture_answer *answer)
{
	struct capture_cost cost = {0};
	for (size_t i = 0; i < capture->count; i++) {
		const struct capture_buffer *buffer = &capture->buffers[i];
		const struct capture_division *division = &buffer->divisions[answer->divisions[i]];
		cost.spilled += answer->addresses[i] == UNPLACED ? buffer->cost : 0;
		cost.idle -= division->cores;
		cost.squares += division->squares;
	}
	return cost;
}

int capture_compare(const struct capture_cost *a, const struct capture_cost *b)
{
	if (a->spilled != b->spilled)
		return a->spilled < b->spilled ? -1 : 1;
	if (a->idle != b->idle)
		return a->idle < b->idle ? -1 : 1;
	return (a->squares > b->squares) - (a->squares < b->squares);
}

struct checking {
	struct arena *arena;
	const struct capture_question *question;
	const struct capture_answer *answer;
};

static int64_t end_of(const struct checking *check, size_t i)
{
	const struct capture_buffer *buffer = &check->question->capture->buffers[i];
	return check->answer->addresses[i] + capture_bytes(buffer, check->answer->divisions[i]);
}

static const char *check_buffer(const struct checking *check, size_t i)
{
	const struct capture_buffer *buffer = &check->question->capture->buffers[i];
	int division = check->answer->divisions[i];
	int64_t address = check->answer->addresses[i];
	if (division < 0 || (size_t)division >= buffer->division_count)
		return arena_format(
			check->arena, "'%s' has no division %d", buffer->name, division);
	if (address == UNPLACED)
		return NULL;
	if (!buffer->may_stay)
		return arena_format(check->arena, "'%s' may not be in LX", buffer->name);
	if (address < 0 || address % check->question->alignment)
		return arena_format(check->arena,
			"the address %" PRId64 " of '%s' is not a multiple of %" PRId64, address,
			buffer->name, check->question->alignment);
	if (end_of(check, i) > check->question->capacity)
		return arena_format(check->arena,
			"'%s' ends at %" PRId64 ", beyond the capacity of %" PRId64 " bytes",
			buffer->name, end_of(check, i), check->question->capacity);
	return NULL;
}

/* The parents of buffer i that are in LX. */
static const char *check_edges(const struct checking *check, size_t i)
{
	const struct capture_buffer *buffers = check->question->capture->buffers;
	const int *divisions = check->answer->divisions;
	for (size_t e = 0; e < buffers[i].edge_count; e++) {
		const struct capture_edge *edge = &buffers[i].edges[e];
		int parent = edge->parent;
		if (check->answer->addresses[parent] != UNPLACED &&
			!capture_pairs(edge, divisions[parent], divisions[i]))
			return arena_format(check->arena,
				"'%s' in division %d does not find '%s' in division %d in LX",
				buffers[i].name, divisions[i], buffers[parent].name,
				divisions[parent]);
	}
	return NULL;
}

/* True if the child lies in its parent's place by right. */
static bool takes_place(const struct checking *check, size_t child, size_t parent)
{
	const struct capture_buffer *buffers = check->question->capture->buffers;
	const struct capture_answer *answer = check->answer;
	if (answer->addresses[child] != answer->addresses[parent] ||
		buffers[parent].end != buffers[child].start + 1 ||
		end_of(check, child) != end_of(check, parent))
		return false;
	for (size_t e = 0; e < buffers[child].edge_count; e++)
		if (buffers[child].edges[e].parent == (int)parent &&
			buffers[child].edges[e].is_in_place)
			return true;
	return false;
}

static const char *check_two(const struct checking *check, size_t i, size_t k)
{
	const struct capture_buffer *buffers = check->question->capture->buffers;
	const int64_t *addresses = check->answer->addresses;
	if (addresses[i] == UNPLACED || addresses[k] == UNPLACED ||
		buffers[i].start >= buffers[k].end || buffers[k].start >= buffers[i].end ||
		addresses[i] >= end_of(check, k) || addresses[k] >= end_of(check, i) ||
		takes_place(check, i, k) || takes_place(check, k, i))
		return NULL;
	return arena_format(
		check->arena, "'%s' and '%s' share bytes", buffers[i].name, buffers[k].name);
}

const char *capture_check(struct arena *arena, const struct capture_question *question,
	const struct capture_answer *answer)
{
	struct checking check = {arena, question, answer};
	size_t count = question->capture->count;
	const char *why = NULL;
	for (size_t i = 0; i < count && !why; i++)
		why = check_buffer(&check, i);
	for (size_t i = 0; i < count && !why; i++)
		why = check_edges(&check, i);
	for (size_t i = 0; i < count && !why; i++)
		for (size_t k = 0; k < i && !why; k++)
			why = check_two(&check, i, k);
	return why;
}

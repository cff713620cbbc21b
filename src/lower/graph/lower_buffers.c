#include "lower/graph/lower_step.h"

#include <inttypes.h>

/* Hands out the reserve of LX from its first aligned byte on. */
struct reserve {
	int64_t address, used, alignment;
};

static bool take(struct reserve *reserve, int64_t size, int64_t *address)
{
	int64_t end;
	if (!number_add(reserve->used, size, &end) || end > INT64_MAX - reserve->alignment)
		return false;
	*address = reserve->address + reserve->used;
	reserve->used = number_align_up(end, reserve->alignment);
	return true;
}

/* All tiles and cores, one by one. */
static int64_t search_largest(
	const struct step_state *step, const struct operand_projection *projection)
{
	struct tile tile = {0};
	int64_t largest = 0;
	do {
		for (int c = 0; c < step->tiling.cores; c++) {
			struct region box;
			projection_box(projection, &step->tiling, &tile, c, &box);
			largest = number_max(largest, box.sticks);
		}
	} while (tile_next(&step->tiling, &tile));
	return largest;
}

/*
 * Where all tiles begin at whole sticks no box is larger than that of the first
 * tile on core 0: only last units are cut short.
 */
static int64_t largest_box(
	const struct step_state *step, const struct operand_projection *projection)
{
	static const struct tile first;
	struct region box;
	if (projection->access->pad || !projection_begins_at_sticks(projection, &step->tiling))
		return search_largest(step, projection);
	projection_box(projection, &step->tiling, &first, 0, &box);
	return box.sticks;
}

static bool changes(const struct step_state *step, const struct operand_projection *projection)
{
	for (uint32_t m = projection->loops; m; m &= m - 1) {
		if (step->tiling.factor[__builtin_ctz(m)] > 1)
			return true;
	}
	return false;
}

static bool take_slots(const struct step_state *step, const struct operand_projection *projection,
	int64_t unit, int count, struct reserve *reserve, struct slots *slots)
{
	int64_t size;
	slots->count = count;
	if (!number_mul(largest_box(step, projection), unit, &size))
		return false;
	for (int i = 0; i < count; i++) {
		if (!take(reserve, size, &slots->address[i]))
			return false;
	}
	return true;
}

static bool take_buffers(const struct step_state *step, const struct operand_projection *projection,
	struct reserve *reserve, struct slots *slots)
{
	int count = changes(step, projection) ? SLOTS_MOST : 1;
	return take_slots(step, projection, STICK_BYTES, count, reserve, slots);
}

static bool take_accumulators(
	const struct step_state *step, struct reserve *reserve, struct output *output)
{
	const struct operand_projection *projection = &output->projection;
	int count = step->tiling.passes > 1 || step->adds_up;
	if (output->ring)
		count = changes(step, projection) ? SLOTS_MOST : 1;
	return take_slots(
		step, projection, accumulator_unit(output), count, reserve, &output->accumulators);
}

static bool take_all(struct step_state *step, struct reserve *reserve)
{
	for (int i = 0; i < step->op->read_count; i++) {
		struct supply *supply = &step->supplies[i];
		if (!supply->resident &&
			!take_buffers(step, &supply->projection, reserve, &supply->slots))
			return false;
	}
	struct output *output = &step->output;
	if (!output->resident && !take_buffers(step, &output->projection, reserve, &output->slots))
		return false;
	return take_accumulators(step, reserve, output);
}

/* Once for all iterations of a run: they share the bytes. */
static void allot_tiles(struct lowering *lowering, const struct reserve *reserve)
{
	const struct step_state *step = &lowering->step;
	for (size_t i = lowering->allotments.count; step->iteration > 0 && i > 0; i--) {
		struct allotment *allotment = &lowering->allotments.at[i - 1];
		if (allotment->tensor >= 0 || allotment->from != step->number)
			continue;
		allotment->size = number_max(allotment->size, reserve->used);
		return;
	}
	*array_add(lowering->queues.arena, &lowering->allotments) = (struct allotment){
		.tensor = -1,
		.address = reserve->address,
		.size = reserve->used,
		.from = step->number,
		.to = step->number + 1,
		.in_place_of = -1,
		.cores = cores_below(step->tiling.cores),
	};
}

bool buffers_place(struct lowering *lowering)
{
	struct step_state *step = &lowering->step;
	const struct arch *arch = lowering->plan->arch;
	struct reserve reserve = {
		.address = arch_stream_address(arch),
		.alignment = number_max(arch->levels[arch->lx].alignment, STICK_BYTES),
	};
	if (!take_all(step, &reserve))
		return refuse(lowering, "op '%s': a tile buffer has more bytes than can be counted",
			step->op->name);
	if (reserve.used > arch_stream_capacity(arch))
		return refuse(lowering,
			"op '%s' needs %" PRId64
			" bytes of tile buffers on a core; the reserve of '%s' "
			"has %" PRId64,
			step->op->name, reserve.used, arch->levels[arch->lx].name,
			arch_stream_capacity(arch));
	if (reserve.used > 0)
		allot_tiles(lowering, &reserve);
	return true;
}

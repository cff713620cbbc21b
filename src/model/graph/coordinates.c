#include "model/graph/coordinates.h"

#include "base/number.h"
#include "base/text.h"

#include <inttypes.h>

static bool is_walked(const struct layout *layout, int d)
{
	return layout->size[d] > 1 && layout->stride_map[d] > 0;
}

/* The least stride above `stride`; INT64_MAX if there is none. */
static int64_t next_stride(const struct layout *layout, int64_t stride)
{
	int64_t next = INT64_MAX;
	for (int d = 0; d < layout->rank; d++)
		if (is_walked(layout, d) && layout->stride_map[d] > stride)
			next = number_min(next, layout->stride_map[d]);
	return next;
}

/* The dimension with the largest stride not above `step`; -1 if there is none. */
static int find_primary(const struct layout *layout, int64_t step)
{
	int best = -1;
	for (int d = 0; d < layout->rank; d++)
		if (is_walked(layout, d) && layout->stride_map[d] <= step &&
			(best < 0 || layout->stride_map[d] > layout->stride_map[best]))
			best = d;
	return best;
}

static void add(
	const struct layout *layout, struct coordinates *to, int loop, int64_t step, int64_t limit)
{
	int first = find_primary(layout, step);
	for (int d = 0; d < layout->rank; d++) {
		int64_t stride = layout->stride_map[d];
		if (!is_walked(layout, d) || (d != first && !(step < stride && stride < limit)))
			continue;
		int64_t next = next_stride(layout, stride);
		struct coordinate *dim = &to->dims[d];
		dim->parts[dim->part_count++] =
			(struct coordinate_part){loop, step, limit > next ? next : 0, stride};
	}
}

static void add_offset(const struct layout *layout, struct coordinates *to, int64_t offset)
{
	for (int d; (d = find_primary(layout, offset)) >= 0; offset %= layout->stride_map[d]) {
		struct coordinate *dim = &to->dims[d];
		dim->parts[dim->part_count++] =
			(struct coordinate_part){-1, offset / layout->stride_map[d], 0, 1};
	}
}

/* A padded index goes beyond the array, so each dimension is walked by its own index alone. */
static struct coordinates make_padded(
	const struct layout *layout, const struct op *op, const struct access *access)
{
	struct coordinates to = {.rank = layout->rank};
	for (int d = 0; d < layout->rank; d++) {
		int h = layout->part[d] == PART_SYNTHETIC ? -1 : layout->host_dim[d];
		int64_t per = layout->part[d] == PART_STICK_OUTER ? layout->per_stick : 1;
		struct coordinate *dim = &to.dims[d];
		if (h < 0)
			continue;
		for (int l = 0; l < op->loop_count; l++) {
			int64_t step = access->host[h].loop[l];
			bool wraps = layout->part[d] == PART_STICK_INNER &&
				     number_times(step, op->loops[l].extent) > layout->per_stick;
			if (step > 0 && op->loops[l].extent > 1)
				dim->parts[dim->part_count++] = (struct coordinate_part){
					l, step, wraps ? layout->per_stick : 0, per};
		}
		if (layout->part[d] == PART_STICK_INNER &&
			access->host[h].offset % layout->per_stick)
			dim->parts[dim->part_count++] = (struct coordinate_part){-1, 1, 0, 1};
	}
	return to;
}

struct coordinates coordinates_make(
	const struct layout *layout, const struct op *op, const struct access *access)
{
	if (access->pad)
		return make_padded(layout, op, access);
	struct coordinates to = {.rank = layout->rank};
	for (int l = 0; l < op->loop_count; l++) {
		int64_t step = access->linear.loop[l];
		if (step > 0 && op->loops[l].extent > 1)
			add(layout, &to, l, step, number_times(step, op->loops[l].extent));
	}
	if (access->linear.offset > 0)
		add_offset(layout, &to, access->linear.offset);
	return to;
}

/* The part of one loop at value v; v is ignored for the constant. */
static int64_t part_value(const struct coordinate_part *part, int64_t v)
{
	int64_t walk = part->loop < 0 ? part->step : number_times(v, part->step);
	return (part->modulus ? walk % part->modulus : walk) / part->stride;
}

int64_t coordinate_values(const struct coordinate *coordinate, const int64_t *count)
{
	int64_t values = 1;
	for (int p = 0; p < coordinate->part_count; p++) {
		const struct coordinate_part *part = &coordinate->parts[p];
		if (part->loop >= 0)
			values += part_value(part, count[part->loop] - 1);
	}
	return values;
}

uint32_t coordinate_loops(const struct coordinate *coordinate)
{
	uint32_t loops = 0;
	for (int p = 0; p < coordinate->part_count; p++)
		if (coordinate->parts[p].loop >= 0)
			loops |= UINT32_C(1) << coordinate->parts[p].loop;
	return loops;
}

bool coordinate_fits_stick(const struct coordinate *coordinate, int per_stick)
{
	if (coordinate->part_count == 0)
		return true;
	const struct coordinate_part *part = &coordinate->parts[0];
	return coordinate->part_count == 1 && part->loop >= 0 && part->step == part->stride &&
	       (part->modulus == 0 || part->modulus == number_times(part->stride, per_stick));
}

static void print_part(struct text *text, const struct op *op, const struct coordinate_part *part)
{
	if (part->loop < 0) {
		text_add(text, "%" PRId64, part_value(part, 0));
		return;
	}
	int64_t common = number_gcd(number_gcd(part->step, part->stride), part->modulus);
	int64_t step = part->step / common, stride = part->stride / common,
		modulus = part->modulus / common;
	const char *name = op->loops[part->loop].name;
	text_add(text, "%s%s", stride > 1 ? "floor(" : "", modulus ? "Mod(" : "");
	if (step > 1)
		text_add(text, "%" PRId64 "*", step);
	text_add(text, "%s", name);
	if (modulus)
		text_add(text, ", %" PRId64 ")", modulus);
	if (stride > 1)
		text_add(text, "/%" PRId64 ")", stride);
}

const char *coordinate_print(
	struct arena *arena, const struct op *op, const struct coordinate *coordinate)
{
	struct text text = text_open(arena);
	for (int p = 0; p < coordinate->part_count; p++) {
		text_add(&text, "%s", p ? " + " : "");
		print_part(&text, op, &coordinate->parts[p]);
	}
	return coordinate->part_count ? text_read(&text) : "0";
}

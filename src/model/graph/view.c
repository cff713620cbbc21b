#include "model/graph/view.h"

#include "base/arena.h"
#include "base/fatal.h"
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

static void coordinates_step(
	const struct layout *layout, struct coordinates *to, int loop, int64_t step, int64_t most)
{
	int first = find_primary(layout, step);
	for (int d = 0; d < layout->rank; d++) {
		int64_t stride = layout->stride_map[d];
		if (!is_walked(layout, d) || (d != first && !(step < stride && stride <= most)))
			continue;
		int64_t next = next_stride(layout, stride);
		struct coordinate *dim = &to->dims[d];
		dim->parts[dim->part_count++] =
			(struct coordinate_part){loop, step, most >= next ? next : 0, stride};
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
			int64_t step = access->host[h].coefficient[l];
			bool wraps =
				layout->part[d] == PART_STICK_INNER &&
				number_times(step, op->loops[l].extent - 1) >= layout->per_stick;
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
		int64_t step = access->linear.coefficient[l];
		if (step > 0 && op->loops[l].extent > 1)
			coordinates_step(
				layout, &to, l, step, number_times(step, op->loops[l].extent - 1));
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

const struct view_part *view_part_of(const struct view *view, int d)
{
	for (int i = 0; i < view->part_count; i++) {
		if (view->parts[i].dim == d && view->parts[i].split > 1)
			return &view->parts[i];
	}
	return NULL;
}

/* The same part of the dimension on every core: of divisors beyond the cores all say "part 0". */
static bool same_part(const struct view_part *a, const struct view_part *b, int64_t cores)
{
	if (!a || !b)
		return a == b;
	return a->split == b->split &&
	       number_min(a->divisor, cores) == number_min(b->divisor, cores);
}

bool view_holds(const struct view *view, int64_t core)
{
	return core < view->cores &&
	       (view->only < 2 || core / view->only_divisor % view->only == 0);
}

static int64_t part_on(const struct view_part *part, int64_t core)
{
	return core / part->divisor % part->split;
}

static bool same_slice(const struct view *view, int64_t a, int64_t b)
{
	for (int i = 0; i < view->part_count; i++)
		if (part_on(&view->parts[i], a) != part_on(&view->parts[i], b))
			return false;
	return true;
}

bool view_is_whole(const struct view *view)
{
	int64_t slices = 1, different = 0;
	for (int i = 0; i < view->part_count; i++)
		if (!number_mul(slices, view->parts[i].split, &slices))
			return false;
	for (int64_t core = 0; core < view->cores; core++) {
		int64_t before = 0;
		while (before < core &&
			!(view_holds(view, before) && same_slice(view, before, core)))
			before++;
		different += view_holds(view, core) && before == core;
	}
	return different == slices;
}

static bool same_holders(const struct view *a, const struct view *b)
{
	for (int64_t core = 0; (a->only > 1 || b->only > 1) && core < a->cores; core++)
		if (view_holds(a, core) != view_holds(b, core))
			return false;
	return true;
}

bool view_equal(const struct view *a, const struct view *b)
{
	if (a->cores != b->cores || !same_holders(a, b))
		return false;
	for (int d = 0; d < LAYOUT_RANK_MOST; d++) {
		if (!same_part(view_part_of(a, d), view_part_of(b, d), a->cores))
			return false;
	}
	return true;
}

int64_t view_bytes(const struct layout *layout, const struct view *view)
{
	int64_t bytes = layout->stick_bytes;
	for (int d = 0; d + 1 < layout->rank; d++) {
		if (!number_mul(bytes, view_size(layout, view, d), &bytes))
			BUG("a slice larger than an int64_t");
	}
	return bytes;
}

int64_t view_size(const struct layout *layout, const struct view *view, int d)
{
	const struct view_part *part = view_part_of(view, d);
	return part ? layout->size[d] / part->split : layout->size[d];
}

int64_t view_first(const struct layout *layout, const struct view *view, int d, int64_t core)
{
	const struct view_part *part = view_part_of(view, d);
	return part ? core / part->divisor % part->split * view_size(layout, view, d) : 0;
}

const char *view_check(struct arena *arena, const struct layout *layout, const struct view *view)
{
	if (view->cores < 1)
		return "a view needs a core at least";
	if (view->only > 1 && view->only_divisor < 1)
		return "'only / N by D' needs a divisor D of at least 1";
	for (int i = 0; i < view->part_count; i++) {
		const struct view_part *part = &view->parts[i];
		if (part->dim < 0 || part->dim + 1 >= layout->rank)
			return arena_format(arena,
				"dimension %d cannot be divided; those outside the stick are "
				"0 to %d",
				part->dim, layout->rank - 2);
		if (i > 0 && part->dim <= view->parts[i - 1].dim)
			return "the dimensions of a view ascend";
		if (part->split < 1 || part->divisor < 1 || layout->size[part->dim] % part->split)
			return arena_format(arena, "dimension %d has %lld parts, not %lld",
				part->dim, (long long)layout->size[part->dim],
				(long long)part->split);
	}
	return NULL;
}

const char *view_print(struct arena *arena, const struct view *view)
{
	struct text text = text_open(arena);
	text_add(&text, "cores %lld", (long long)view->cores);
	if (view->only > 1)
		text_add(&text, " only / %lld by %lld", (long long)view->only,
			(long long)view->only_divisor);
	for (int i = 0; i < view->part_count; i++) {
		const struct view_part *part = &view->parts[i];
		text_add(&text, "%s dim %d / %lld by %lld", i ? "," : ":", part->dim,
			(long long)part->split, (long long)part->divisor);
	}
	return text_read(&text);
}

/* "/ 4 by 2" */
static bool scan_slots(const char **text, int64_t *split, int64_t *divisor)
{
	return scan_text(text, "/") && scan_integer(text, split) && scan_text(text, "by") &&
	       scan_integer(text, divisor);
}

const char *view_parse(const char *text, struct view *out)
{
	static const char *const form =
		"a view reads 'cores 8: dim 1 / 4 by 2, dim 2 / 2 by 1' or 'cores 8 only / 2 by 4: ...'";
	struct view view = {0};
	if (!scan_text(&text, "cores") || !scan_integer(&text, &view.cores))
		return form;
	if (scan_text(&text, "only") &&
		(!scan_slots(&text, &view.only, &view.only_divisor) || view.only < 2))
		return form;
	bool more = scan_text(&text, ":");
	while (more) {
		struct view_part part = {0};
		int64_t dim;
		if (!scan_text(&text, "dim") || !scan_integer(&text, &dim) ||
			!scan_slots(&text, &part.split, &part.divisor) || dim > LAYOUT_RANK_MOST ||
			view.part_count == VIEW_PARTS_MOST)
			return form;
		part.dim = (int)dim;
		view.parts[view.part_count++] = part;
		more = scan_text(&text, ",");
	}
	if (!scan_end(&text))
		return form;
	*out = view;
	return NULL;
}

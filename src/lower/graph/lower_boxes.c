#include "lower/graph/lower_boxes.h"

#include "model/graph/run.h"

void projection_make(const struct workload *workload, const struct op *op, int operand,
	struct operand_projection *projection)
{
	const struct access *access = op_operand(op, operand);
	projection->operand = operand;
	projection->tensor = access->tensor;
	projection->layout = &workload->tensors[access->tensor].layout;
	projection->access = access;
	projection->loops = 0;
	projection->term_count = 0;
	for (int h = 0; h < projection->layout->host_rank; h++) {
		for (int l = 0; l < op->loop_count; l++) {
			int64_t factor = access->host[h].loop[l];
			if (factor == 0)
				continue;
			projection->loops |= UINT32_C(1) << l;
			projection->terms[projection->term_count++] =
				(struct projection_term){h, l, factor};
		}
	}
}

static void host_box(const struct operand_projection *projection, const struct step_tiling *tiling,
	const struct tile *tile, int core, int64_t *low, int64_t *high)
{
	for (int h = 0; h < projection->layout->host_rank; h++)
		low[h] = high[h] = projection->access->host[h].offset;
	for (int i = 0; i < projection->term_count; i++) {
		const struct projection_term *term = &projection->terms[i];
		int64_t first = tile_first(tiling, tile, core, term->loop) * term->factor;
		int64_t length = (tile_count(tiling, tile, core, term->loop) - 1) * term->factor;
		low[term->host] += first + number_min(length, 0);
		high[term->host] += first + number_max(length, 0);
	}
	for (int h = 0; h < projection->layout->host_rank; h++)
		access_clip(
			projection->access, projection->layout->host_size[h], &low[h], &high[h]);
}

void projection_box(const struct operand_projection *projection, const struct step_tiling *tiling,
	const struct tile *tile, int core, struct region *box)
{
	int64_t low[LAYOUT_HOST_RANK_MOST], high[LAYOUT_HOST_RANK_MOST];
	const struct layout *layout = projection->layout;
	host_box(projection, tiling, tile, core, low, high);
	box->tensor = projection->tensor;
	box->rank = layout->rank - 1;
	box->sticks = 1;
	for (int d = 0; d < box->rank; d++) {
		int h = layout->host_dim[d];
		int64_t step = layout->part[d] == PART_STICK_OUTER ? layout->per_stick : 1;
		bool moves = layout->part[d] != PART_SYNTHETIC;
		box->first[d] = moves ? (int32_t)(low[h] / step) : 0;
		box->count[d] = moves ? (int32_t)(high[h] / step) - box->first[d] + 1 : 1;
		box->sticks *= box->count[d];
	}
}

bool projection_begins_at_sticks(
	const struct operand_projection *projection, const struct step_tiling *tiling)
{
	int stick = projection->layout->stick_dim, per_stick = projection->layout->per_stick;
	if (stick < 0)
		return true;
	int64_t begin = projection->access->host[stick].offset;
	for (int i = 0; i < projection->term_count; i++) {
		const struct projection_term *term = &projection->terms[i];
		if (term->host != stick)
			continue;
		if (tiling->span[term->loop] * term->factor % per_stick != 0 &&
			tiling->span[term->loop] < tiling->extent[term->loop])
			return false;
		begin += tiling->first[term->loop] * term->factor;
	}
	return begin % per_stick == 0;
}

/*
 * Boxes of two classes differ at their start when every dimension has at most
 * one divided loop and all begin at sticks.
 */
bool projection_may_meet(
	const struct operand_projection *projection, const struct step_tiling *tiling)
{
	int divided[LAYOUT_HOST_RANK_MOST] = {0};
	if (projection->access->pad) /* two tiles of padding alone move the same edge */
		return true;
	for (int i = 0; i < projection->term_count; i++) {
		const struct projection_term *term = &projection->terms[i];
		if (tiling->share[term->loop] < tiling->extent[term->loop] &&
			++divided[term->host] > 1)
			return true;
	}
	return !projection_begins_at_sticks(projection, tiling);
}

struct region region_whole(const struct layout *layout, int tensor)
{
	struct region region = {
		.tensor = tensor, .rank = layout->rank - 1, .sticks = layout->sticks};
	for (int d = 0; d < region.rank; d++)
		region.count[d] = (int32_t)layout->size[d];
	return region;
}

struct location location_dense(const struct region *box, int64_t address, int64_t unit)
{
	struct location location = {.address = address};
	for (int d = box->rank - 1; d >= 0; d--) {
		location.stride[d] = unit;
		unit *= box->count[d];
	}
	return location;
}

struct location location_within(
	const struct region *box, int64_t address, const int64_t *size, const int64_t *origin)
{
	struct location location = {.address = address};
	int64_t stride = STICK_BYTES;
	for (int d = box->rank - 1; d >= 0; d--) {
		location.stride[d] = stride;
		location.address += (box->first[d] - origin[d]) * stride;
		stride *= size[d];
	}
	return location;
}

uint64_t holders_of(const struct view *view)
{
	uint64_t holders = 0;
	for (int c = 0; c < view->cores && c < PROGRAM_CORES_MOST; c++)
		if (view_holds(view, c))
			holders |= UINT64_C(1) << c;
	return holders;
}

void slices_make(const struct plan *plan, const struct residency *stay, int64_t iteration,
	struct slices *slices)
{
	struct layout layout = plan_stay_layout(plan, stay);
	slices->stay = stay;
	slices->holders = holders_of(&stay->view);
	for (int d = 0; d + 1 < layout.rank; d++) {
		int64_t first = plan_stay_first(plan, stay, iteration, d);
		slices->size[d] = view_size(&layout, &stay->view, d);
		for (int c = 0; c < stay->view.cores && c < PROGRAM_CORES_MOST; c++)
			slices->origin[c][d] = first + view_first(&layout, &stay->view, d, c);
	}
}

int slices_miss(const struct slices *slices, const struct region *box, int core)
{
	for (int d = 0; d < box->rank; d++) {
		int64_t origin = slices->origin[core][d];
		if (box->first[d] < origin ||
			(int64_t)box->first[d] + box->count[d] > origin + slices->size[d])
			return d;
	}
	return -1;
}

#include "solvers/map/exact/frame.h"

#include "cost/nest/nest_model.h"
#include "search/certificate/certificate.h"

/* Dimensions of extent 1 have no loops, and no part in ranks. */
static struct nest_space describe(const struct dataspace *dataspace, const struct shape *shape)
{
	struct nest_space space = {.plain = true, .simple = true, .dense = true};
	uint32_t seen = 0;
	for (int d = 0; d < shape->dimension_count; d++)
		space.rank_of[d] = -1;
	for (int r = 0; r < dataspace->rank_count; r++) {
		uint32_t rank = 0;
		for (int d = 0; d < shape->dimension_count; d++) {
			int64_t coefficient = dataspace->ranks[r].coefficient[d];
			if (!coefficient || shape->dimensions[d].extent == 1)
				continue;
			space.dense &= coefficient == 1;
			rank |= 1u << d;
			space.rank_of[d] = (int8_t)r;
		}
		bool sum = rank & (rank - 1);
		space.simple &= !(rank & seen);
		space.plain &= space.dense && !sum && !(rank & seen);
		*(sum ? &space.paired : &space.alone) |= rank;
		space.own[r] = rank & ~seen;
		seen |= rank;
	}
	space.relevant = seen;
	return space;
}

static void add_meter(struct nest_frame *frame, int j, unsigned actions, struct ratio rate)
{
	if (frame->meter_count < METERS_MOST)
		frame->meters[frame->meter_count++] = (struct nest_meter){j, actions, rate, 1};
}

static void add_port(struct nest_frame *frame, int j, unsigned actions, struct ratio rate)
{
	if (rate.num)
		add_meter(frame, j, actions, rate);
}

static void add_ports(struct nest_frame *frame)
{
	frame->port_first = frame->meter_count;
	const unsigned reads = 1u << NEST_READ, writes = 1u << NEST_FILL | 1u << NEST_UPDATE;
	for (int j = 0; j < frame->count; j++) {
		frame->port_of[j] = frame->meter_count;
		const struct nest_level *level = &frame->search->hierarchy->levels[frame->level[j]];
		add_port(frame, j, reads, level->read_rate);
		add_port(frame, j, writes, level->write_rate);
		add_port(frame, j, reads | writes, level->shared_rate);
	}
	frame->port_of[frame->count] = frame->meter_count;
}

static void add_objectives(struct nest_frame *frame)
{
	const struct nest_search *search = frame->search;
	const unsigned all = 1u << NEST_READ | 1u << NEST_FILL | 1u << NEST_UPDATE;
	for (size_t k = 0; k < search->wishes.objectives.count; k++) {
		enum objective objective = search->wishes.objectives.at[k];
		int wanted = objective == OBJECTIVE_HBM_BYTES ? frame->level[frame->count - 1]
							      : (int)objective - OBJECTIVE_ACCESSES;
		for (int j = 0; j < frame->count; j++) {
			if (frame->level[j] != wanted || frame->meter_count == METERS_MOST)
				continue;
			frame->objective_meter[objective] = frame->meter_count;
			add_meter(frame, j, all, (struct ratio){0, 1});
			if (objective == OBJECTIVE_HBM_BYTES)
				frame->meters[frame->meter_count - 1].weight =
					(double)search->hierarchy->levels[wanted].word_bits / 8;
		}
	}
}

static bool is_loose(const struct nest_search *search, const struct row_domain *row)
{
	bool loose = !row->temporal_over && !row->temporal_inner && !row->temporal_outer;
	for (int d = 0; d < search->shape->dimension_count; d++)
		loose &= row->temporal[d].least <= 1 &&
			 row->temporal[d].most >= search->shape->dimensions[d].extent;
	return loose;
}

struct nest_frame nest_frame_make(const struct nest_search *search)
{
	const struct hierarchy *hierarchy = search->hierarchy;
	struct nest_frame frame = {.search = search,
		.timeloop = search->counting == COUNTING_TIMELOOP,
		.ways = search->counting == COUNTING_TIMELOOP && search->model->priced_hops,
		.uneven = !certificate_covers(search),
		.flagged = hierarchy_flagged(hierarchy),
		.macs = 1};
	frame.blind = frame.flagged && (frame.timeloop || frame.uneven);
	for (int d = 0; d < search->shape->dimension_count; d++)
		frame.macs *= (double)search->shape->dimensions[d].extent;
	for (int i = 0; i < search->space->level_count; i++)
		if (!search->space->levels[i].spatial) {
			frame.level[frame.count] = search->space->levels[i].level;
			frame.tiling[frame.count++] = i;
		}
	unsigned updates = hierarchy_update_flags(hierarchy);
	frame.plain = true;
	for (int t = 0; t < search->shape->space_count; t++) {
		struct nest_space *space = &frame.spaces[t];
		*space = describe(&search->shape->spaces[t], search->shape);
		bool written = search->shape->spaces[t].written;
		space->silent = space->plain ? written && frame.blind && updates >> t & 1
					     : written || frame.blind;
		for (int i = 0; i < hierarchy->level_count && !frame.blind; i++)
			space->splits |= hierarchy->levels[i].no_spatial_reuse >> t & 1;
		frame.plain &= space->plain && !frame.blind;
	}
	for (int j = 0; j < frame.count; j++) {
		int row = search->space->levels[frame.tiling[j]].row;
		frame.loose |= (uint32_t)is_loose(search, &search->domain->rows[row]) << j;
	}
	add_meter(&frame, -1, 1u << NEST_READ | 1u << NEST_FILL | 1u << NEST_UPDATE,
		(struct ratio){0, 1});
	add_objectives(&frame);
	add_ports(&frame);
	frame.group_count = (frame.meter_count + METER_LANES - 1) / METER_LANES;
	return frame;
}

double nest_frame_words(const struct nest_frame *frame, int space, const double *extents)
{
	const struct shape *shape = frame->search->shape;
	const struct nest_space *known = &frame->spaces[space];
	double words = 1;
	if (known->plain) {
		for (uint32_t own = known->relevant; own; own &= own - 1)
			words *= extents[__builtin_ctz(own)];
		return words;
	}
	const struct dataspace *dataspace = &shape->spaces[space];
	for (int r = 0; r < dataspace->rank_count; r++) {
		double reach = 1;
		for (int d = 0; d < shape->dimension_count; d++)
			if (dataspace->ranks[r].coefficient[d])
				reach += (double)dataspace->ranks[r].coefficient[d] *
					 (extents[d] - 1);
		words *= reach;
	}
	return words;
}

#include "tests/support/array_arch.h"

#include "base/arena.h"
#include "base/number.h"
#include "tests/support/arch_text.h"
#include "tests/support/draws.h"
#include "tests/support/random_plan.h"

static const char *const text =
	"architecture:\n"
	"  version: 0.4\n"
	"  name: chip\n"
	"  nodes:\n"
	"  - !Container {name: system, attributes: {clock: 1GHz}}\n"
	"  - !Component {name: HBM, class: DRAM, attributes: {shared_bandwidth: 200GB/s, alignment: 128,%s\n"
	"      read_energy_per_byte: 100pJ, write_energy_per_byte: 100pJ}}\n"
	"  - !Container {name: core, spatial: {meshX: %d}, attributes: {\n"
	"      reduce_ring: {bandwidth: 32, energy_per_byte: 1pJ, reductions: [sum, max, min]}}}\n"
	"  - !Component {name: LX, class: SRAM, attributes: {size: 2MiB, reserve: 0.5,%s\n"
	"      alignment: 128, read_bandwidth: 64, write_bandwidth: 64, fill_bandwidth: 64,\n"
	"      read_energy_per_byte: 10pJ, write_energy_per_byte: 10pJ}}\n"
	"  - !Container {name: column, spatial: {meshX: 2, meshY: 2}}\n"
	"  - !Component {name: buffer, class: SRAM, attributes: {\n"
	"      read_bandwidth: 8, write_bandwidth: 8}}\n"
	"  - !Container {name: lane, spatial: {meshX: 4}}\n"
	"  - !Component {name: registers, class: regfile}\n"
	"  - !Component {name: multiplier, class: intmac, attributes: {mac_rate: 1, vector_rate: 1}}\n";

static const struct arch *read_arch(struct arena *arena, bool boxes, int cores)
{
	struct diag *diag = diag_open(arena);
	const char *stick = boxes ? " stick: 128B," : "", *box = boxes ? " transfer: box," : "";
	const struct arch *read =
		arch_of_text(arena, arena_format(arena, text, stick, cores, box), diag);
	struct arch *arch = arena_copy(arena, read, sizeof *read);
	arch->levels[arch_level(arch, "buffer")].storage.store.multiple_buffering = 2;
	return arch;
}

const struct arch *array_arch(struct arena *arena, int cores)
{
	return read_arch(arena, true, cores);
}

const struct arch *whole_arch(struct arena *arena)
{
	return read_arch(arena, false, 1);
}

/* A factor of at most `most`; the outermost loop of a dimension takes what is left. */
static uint32_t draw_factor(struct random *random, int64_t left, int64_t most)
{
	int64_t factor = 1 + draw_below(random, number_min(left, most));
	while (!draw_chance(random, 8) && left % factor)
		factor--;
	return (uint32_t)factor;
}

static void draw_spatial(struct random *random, const struct nest_level *level,
	struct mapping_row *row, int l, int64_t *left, int64_t *room)
{
	bool y = level->fanout.y > 1 && random_below(random, 2);
	if (random_below(random, 2))
		return;
	row->spatial[l] = draw_factor(random, *left, room[y]);
	if (y)
		row->spatial_y |= (uint16_t)(1u << l);
	room[y] /= row->spatial[l];
	*left = number_ceil_div(*left, row->spatial[l]);
}

static void draw_nest(struct random *random, const struct arch *arch, const struct inner_nest *nest,
	struct mapping *mapping)
{
	int loops = nest->shape->dimension_count;
	int64_t left[OP_LOOPS_MOST];
	for (int l = 0; l < loops; l++)
		left[l] = nest->shape->dimensions[l].extent;
	for (int i = 0; i < nest->hierarchy->level_count; i++) {
		const struct nest_level *level = &nest->hierarchy->levels[i];
		bool outermost = i == nest->hierarchy->level_count - 1;
		struct mapping_row *blocks = &mapping->rows[level->block_row];
		struct mapping_row *row =
			&mapping->rows[outermost && arch_moves_boxes(arch) ? arch->hbm
									   : level->row];
		int64_t room[2] = {level->fanout.x, level->fanout.y};
		for (int l = 0; l < loops; l++)
			if (level->fanout.x * level->fanout.y > 1)
				draw_spatial(random, level, blocks, l, &left[l], room);
		if (!level->storage)
			continue;
		draw_shuffle(random, row->temporal_order, loops);
		for (int l = 0; l < loops; l++) {
			row->temporal[l] = outermost ? (uint32_t)left[l]
					   : random_below(random, 2)
						   ? draw_factor(random, left[l], left[l])
						   : 1;
			left[l] = number_ceil_div(left[l], row->temporal[l]);
		}
		for (int t = 0; !outermost && t < nest->shape->space_count; t++)
			if (random_below(random, 3))
				mapping->residency[t] |= 1u << level->row;
	}
}

void array_draw_nests(struct random *random, struct plan *plan, struct arena *arena)
{
	for (int s = 0; s < plan->step_count; s++) {
		struct inner_question question = inner_nest_question(arena, plan, s);
		const char *why;
		struct inner_nest nest = inner_nest_make(&question, arena, &why);
		if (nest.hierarchy)
			draw_nest(random, plan->arch, &nest, &plan->steps[s].mapping);
	}
}

const struct workload *workload_in_rows(const struct workload *workload, struct arena *arena)
{
	struct workload *linear = arena_copy(arena, workload, sizeof *workload);
	struct tensor *tensors = arena_copy(
		arena, workload->tensors, workload->tensor_count * sizeof *workload->tensors);
	for (size_t t = 0; t < workload->tensor_count; t++) {
		const struct layout *layout = &workload->tensors[t].layout;
		layout_linear(
			layout->dtype, layout->host_size, layout->host_rank, &tensors[t].layout);
	}
	linear->tensors = tensors;
	return linear;
}

/* Returns the last step that uses a tensor; -1: none, or an opaque op uses it. */
static int last_use(const struct workload *workload, int tensor)
{
	int last = -1;
	for (size_t o = 0; o < workload->op_count; o++) {
		const struct op *op = &workload->ops[o];
		for (int i = 0; i < op_operands(op); i++) {
			if (op_operand(op, i)->tensor != tensor)
				continue;
			if (op->primitive->kind == OP_OPAQUE)
				return -1;
			last = (int)o;
		}
	}
	return last;
}

static void keep_some(struct random *random, struct plan *plan)
{
	const struct workload *workload = plan->workload;
	int64_t address = 0;
	for (int t = 0; t < (int)workload->tensor_count; t++) {
		const struct tensor *tensor = &workload->tensors[t];
		int last = last_use(workload, t);
		if (tensor->producer < 0 || last <= tensor->producer ||
			random_below(random, 4) == 0)
			continue;
		plan->residencies[plan->residency_count++] = (struct residency){.tensor = t,
			.place = PLACE_LX,
			.view = {.cores = 1},
			.address = address,
			.size = tensor->layout.bytes,
			.from = tensor->producer,
			.to = last + 1,
			.in_place_of = -1};
		address += tensor->layout.bytes;
	}
}

struct plan *whole_plan(struct random *random, const struct arch *arch, struct arena *arena)
{
	static const struct random_options options = {
		.elements_most = 3000, .legal = true, .opaque = true};
	struct plan *plan = arena_new(arena, struct plan);
	const struct workload *workload =
		workload_in_rows(random_workload(random, &options, arena), arena);
	*plan = (struct plan){.arch = arch,
		.workload = workload,
		.cores = 1,
		.step_count = (int)workload->op_count,
		.steps = arena_array(arena, struct step, workload->op_count),
		.residencies = arena_array(arena, struct residency, workload->tensor_count)};
	for (int s = 0; s < plan->step_count; s++)
		plan->steps[s] =
			(struct step){.op = s, .mapping = mapping_make(arch, &workload->ops[s])};
	keep_some(random, plan);
	array_draw_nests(random, plan, arena);
	return plan;
}

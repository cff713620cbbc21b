#include "tests/support/random_plan.h"
#include "tests/support/lookups.h"

#include "base/arena.h"
#include "base/number.h"
#include "model/graph/plan.h"
#include "model/graph/plan_check.h"
#include "model/graph/run.h"
#include "tests/support/draws.h"
#include "tests/support/random_graph.h"

#include <string.h>

/* A divisor of n that is at most `most`; 1 as likely as all others together. */
static int64_t draw_divisor(struct random *random, int64_t n, int64_t most, struct arena *arena)
{
	struct divisors divisors = number_divisors(arena, n);
	size_t count = 0;
	while (count < divisors.count && divisors.at[count] <= most)
		count++;
	if (random_below(random, 2) == 0)
		return 1;
	return divisors.at[random_below(random, count)];
}

static void draw_split(struct random *random, const struct arch *arch, int64_t cores,
	const struct workload *workload, const struct op *op, struct mapping *mapping,
	struct arena *arena)
{
	struct mapping_row *row = &mapping->rows[arch->core];
	bool reduced = false;
	draw_shuffle(random, row->spatial_order, op->loop_count);
	for (int i = 0; i < op->loop_count; i++) {
		int l = row->spatial_order[i];
		if (op->loops[l].reduction && reduced)
			continue;
		row->spatial[l] =
			(uint32_t)draw_divisor(random, op_units(workload, op, l), cores, arena);
		cores /= row->spatial[l];
		reduced = reduced || (op->loops[l].reduction && row->spatial[l] > 1);
	}
}

void random_tiles(struct random *random, const struct arch *arch, const struct workload *workload,
	const struct op *op, struct mapping *mapping, struct arena *arena)
{
	struct mapping_row *row = &mapping->rows[arch->lx];
	int inner = 0;
	uint8_t reductions[OP_LOOPS_MOST], others[OP_LOOPS_MOST];
	for (int l = 0; l < op->loop_count; l++) {
		int64_t units = op_units(workload, op, l) / mapping->rows[arch->core].spatial[l];
		row->temporal[l] = (uint32_t)draw_divisor(random, units, units, arena);
		if (op->loops[l].reduction)
			reductions[inner++] = (uint8_t)l;
		else
			others[l - inner] = (uint8_t)l;
	}
	draw_shuffle(random, reductions, inner);
	draw_shuffle(random, others, op->loop_count - inner);
	for (int i = 0; i < op->loop_count; i++)
		row->temporal_order[i] = i < inner ? reductions[i] : others[i - inner];
}

struct mapping random_mapping(struct random *random, const struct arch *arch, int cores,
	const struct workload *workload, const struct op *op, struct arena *arena)
{
	struct mapping mapping = mapping_make(arch, op);
	if (op->primitive->kind == OP_OPAQUE)
		return mapping;
	draw_split(random, arch, cores, workload, op, &mapping, arena);
	random_tiles(random, arch, workload, op, &mapping, arena);
	return mapping;
}

/* The loop that alone walks a host dimension of an access, by steps of 1 from 0; -1. */
static int plain_loop(const struct op *op, const struct access *access, int h)
{
	int found = -1;
	for (int l = 0; l < op->loop_count; l++) {
		if (!access->host[h].coefficient[l])
			continue;
		if (found >= 0 || access->host[h].coefficient[l] != 1)
			return -1;
		found = l;
	}
	return access->host[h].offset ? -1 : found;
}

void random_follow(const struct plan *plan, const struct op *other, const struct access *from,
	const struct mapping *model, const struct op *op, const struct access *to,
	struct mapping *mapping)
{
	const struct workload *workload = plan->workload;
	const struct mapping_row *theirs = &model->rows[plan->arch->core];
	struct mapping_row *ours = &mapping->rows[plan->arch->core];
	int count = 0;
	uint32_t placed = 0;
	*mapping = mapping_make(plan->arch, op);
	for (int i = 0; i < other->loop_count; i++) {
		int l = theirs->spatial_order[i];
		for (int h = 0; h < workload->tensors[to->tensor].layout.host_rank; h++) {
			int own = plain_loop(op, to, h);
			if (own < 0 || plain_loop(other, from, h) != l || placed >> own & 1 ||
				op_units(workload, op, own) % theirs->spatial[l])
				continue;
			ours->spatial[own] = theirs->spatial[l];
			ours->spatial_order[count++] = (uint8_t)own;
			placed |= 1u << own;
		}
	}
	for (int l = 0; l < op->loop_count; l++)
		if (!(placed >> l & 1))
			ours->spatial_order[count++] = (uint8_t)l;
}

bool view_of_step(const struct plan *plan, int step, int operand, const struct layout *layout,
	struct arena *arena, struct view *view)
{
	const struct workload *workload = plan->workload;
	const struct op *op = plan_step_op(arena, plan, step);
	const struct mapping *mapping = &plan->steps[step].mapping;
	const struct access *access = op_operand(op, operand);
	*view = (struct view){.cores = mapping_cores(plan->arch, mapping)};
	for (int l = 0; l < op->loop_count && operand == op->read_count; l++) {
		if (!op->loops[l].reduction || mapping_split(plan->arch, mapping, l) == 1)
			continue;
		view->only = mapping_split(plan->arch, mapping, l);
		view->only_divisor = mapping_divisor(plan->arch, mapping, l);
	}
	for (int d = 0; d + 1 < layout->rank; d++) {
		int l = layout->host_dim[d] < 0 ? -1 : plain_loop(op, access, layout->host_dim[d]);
		int64_t split = l < 0 ? 1 : mapping_split(plan->arch, mapping, l);
		if (split == 1)
			continue;
		int64_t per = layout->part[d] == PART_STICK_OUTER ? layout->per_stick : 1;
		int64_t share = op_units(workload, op, l) / split * op_grain(workload, op, l) / per;
		if (share * split != layout->size[d])
			return false;
		view->parts[view->part_count++] =
			(struct view_part){d, split, mapping_divisor(plan->arch, mapping, l)};
	}
	return true;
}

/* True if what core c uses of the tensor in the first iteration lies in its slice. */
static bool holds(const struct plan *plan, int step, const struct op *op,
	const struct access *access, const struct layout *layout, const struct view *view,
	int64_t core)
{
	const struct workload *workload = plan->workload;
	if (core >= view->cores)
		return false;
	for (int d = 0; d + 1 < layout->rank; d++) {
		if (layout->host_dim[d] < 0)
			continue;
		const struct affine *host = &access->host[layout->host_dim[d]];
		int64_t low = host->offset, high = host->offset;
		for (int l = 0; l < op->loop_count; l++) {
			const struct mapping *mapping = &plan->steps[step].mapping;
			int64_t split = mapping_split(plan->arch, mapping, l);
			int64_t share =
				op_units(workload, op, l) / split * op_grain(workload, op, l);
			int64_t slot = mapping_slot(plan->arch, mapping, l, core);
			low += host->coefficient[l] * slot * share;
			high += host->coefficient[l] *
				(number_min(op->loops[l].extent, (slot + 1) * share) - 1);
		}
		int64_t per = layout->part[d] == PART_STICK_OUTER ? layout->per_stick : 1;
		int64_t first = view_first(layout, view, d, core);
		if (low / per < first || high / per >= first + view_size(layout, view, d))
			return false;
	}
	return true;
}

static bool held_everywhere(const struct plan *plan, int tensor, const struct layout *layout,
	const struct view *view, struct arena *arena)
{
	for (int step = 0; step < plan->step_count; step++) {
		const struct op *op = plan_step_op(arena, plan, step);
		for (int i = 0; i < op_operands(op); i++) {
			if (op_operand(op, i)->tensor != tensor)
				continue;
			if (op->primitive->kind == OP_OPAQUE)
				return false;
			int64_t cores = mapping_cores(plan->arch, &plan->steps[step].mapping);
			for (int64_t c = 0; c < cores; c++)
				if (!holds(plan, step, op, op_operand(op, i), layout, view, c))
					return false;
		}
	}
	return true;
}

static bool crosses_opaque(const struct plan *plan, const struct residency *stay)
{
	for (int step = stay->from; step < stay->to; step++)
		if (plan->workload->ops[step].primitive->kind == OP_OPAQUE)
			return true;
	return false;
}

/* In place of a tensor that the op reads for the last time, if there is one. */
static void draw_parent(const struct plan *plan, struct residency *stay)
{
	const struct op *op = &plan->workload->ops[stay->from];
	for (int i = 0; i < op->read_count; i++) {
		const struct residency *parent = plan_lx(plan, op->reads[i].tensor, stay->from);
		if (!parent || parent->to != stay->from + 1 || parent->size != stay->size)
			continue;
		struct residency child = *stay;
		child.in_place_of = parent->tensor;
		child.address = parent->address;
		struct plan tried = *plan;
		struct arena *arena = arena_open();
		tried.residencies = arena_array(arena, struct residency, plan->residency_count + 1);
		memcpy(tried.residencies, plan->residencies,
			(size_t)plan->residency_count * sizeof child);
		tried.residencies[tried.residency_count++] = child;
		if (plan_check(&tried, arena).count == 0)
			*stay = child;
		arena_close(arena);
	}
}

/* Finds the view that the producer leaves on all its cores; false if it is not an even cut of the
 * tensor. */
static bool view_of_writer(const struct plan *plan, int step, const struct layout *layout,
	struct arena *arena, struct view *view)
{
	const struct op *op = &plan->workload->ops[step];
	return mapping_reduction_split(plan->arch, op, &plan->steps[step].mapping) == 1 &&
	       view_of_step(plan, step, op->read_count, layout, arena, view);
}

/* Intermediate tensors go to LX one above the other, where that is possible. */
static void draw_residencies(struct random *random, const struct random_options *options,
	struct plan *plan, struct arena *arena)
{
	const struct workload *workload = plan->workload;
	int64_t alignment = arch_lx(plan->arch)->alignment, top = 0;
	struct users users = users_make(arena, workload);
	plan->residencies = arena_array(arena, struct residency, workload->tensor_count);
	for (int t = 0; t < (int)workload->tensor_count; t++) {
		const struct tensor *tensor = &workload->tensors[t];
		struct residency stay = {.tensor = t, .place = PLACE_LX, .in_place_of = -1};
		plan_life(plan, &users, t, &stay.from, &stay.to);
		stay.view.cores = 1;
		struct layout layout = plan_stay_layout(plan, &stay);
		bool legal = tensor->role == TENSOR_INTERMEDIATE &&
			     view_of_writer(plan, tensor->producer, &layout, arena, &stay.view) &&
			     held_everywhere(plan, t, &layout, &stay.view, arena) &&
			     !crosses_opaque(plan, &stay);
		if (!options->legal)
			legal = random_below(random, 2) == 0;
		if (!legal || random_below(random, 4) == 0)
			continue;
		stay.size = options->legal ? view_bytes(&layout, &stay.view) : tensor->layout.bytes;
		stay.address = number_align_up(top, alignment);
		if (stay.address + stay.size > arch_lx_capacity(plan->arch))
			continue;
		top = stay.address + stay.size;
		if (options->runs && random_below(random, 2))
			draw_parent(plan, &stay);
		plan->residencies[plan->residency_count++] = stay;
	}
}

/* The first step from `step` on that uses a tensor; -1. */
static int find_use(const struct plan *plan, int tensor, int step)
{
	for (; step < plan->step_count; step++) {
		const struct op *op = &plan->workload->ops[plan->steps[step].op];
		for (int i = 0; i < op_operands(op); i++)
			if (op_operand(op, i)->tensor == tensor)
				return step;
	}
	return -1;
}

struct plan *random_evictions(struct random *random, const struct plan *given, struct arena *arena)
{
	int count = given->residency_count;
	struct plan *plan = plan_with_moves(arena, given, NULL, 0);
	int64_t alignment = arch_lx(plan->arch)->alignment, top = 0;
	for (int i = 0; i < count; i++) {
		struct residency stay = plan->residencies[i];
		top = number_max(top, number_align_up(stay.address + stay.size, alignment));
	}
	for (int i = 0; i < count; i++) {
		for (int turn = 0; turn < 2 && random_below(random, 3) == 0; turn++) {
			struct residency stay =
				plan->residencies[turn ? plan->residency_count - 1 : i];
			if (stay.place == PLACE_HBM)
				break;
			int use = find_use(plan, stay.tensor, stay.from + 1);
			if (use < 0)
				break;
			struct plan_wish wish = {
				.kind = MOVE_EVICT, .tensor = stay.tensor, .before = use};
			plan = plan_with_moves(arena, plan, &wish, 1);
			if (top + stay.size <= arch_lx_capacity(plan->arch)) {
				stay.address = top;
				top = number_align_up(top + stay.size, alignment);
			}
			if (random_below(random, 4) == 0)
				break;
			int away = (int)plan->workload->tensor_count - 1;
			wish = (struct plan_wish){.kind = MOVE_RELOAD,
				.tensor = away,
				.before = use + 1,
				.stay = stay};
			plan = plan_with_moves(arena, plan, &wish, 1);
		}
	}
	return plan;
}

/* A clone or tail is mostly divided as the step `drawn` is, whose tensors it makes or reads. */
static void follow_neighbour(
	struct random *random, struct plan *plan, int step, int drawn, struct arena *arena)
{
	const struct op *op = &plan->workload->ops[step], *main_op = &plan->workload->ops[drawn];
	struct mapping *mapping = &plan->steps[step].mapping;
	const struct mapping *model = &plan->steps[drawn].mapping;
	if (op->primitive->kind == OP_OPAQUE || random_below(random, 4) == 0)
		return;
	if (step > drawn)
		random_follow(
			plan, main_op, &main_op->writes[0], model, op, &op->reads[0], mapping);
	for (int i = 0; step < drawn && i < main_op->read_count; i++)
		if (main_op->reads[i].tensor == op->writes[0].tensor)
			random_follow(plan, main_op, &main_op->reads[i], model, op, &op->writes[0],
				mapping);
	random_tiles(random, plan->arch, plan->workload, op, mapping, arena);
}

/* One or two loops of the first op of a run, in parts of whole units. */
static void draw_loops(
	struct random *random, const struct plan *plan, struct tile_run *run, struct arena *arena)
{
	const struct op *op = &plan->workload->ops[run->first];
	int count = 1 + (random_below(random, 3) == 0), first = (int)random_below(random, 8);
	for (int i = 0; i < count && i < op->loop_count; i++) {
		int l = (first + i) % op->loop_count;
		int64_t units = op_units(plan->workload, op, l);
		run->loops[run->loop_count++] = (struct run_loop){
			op->loops[l].name, draw_divisor(random, units, units, arena)};
	}
}

/* Runs that the checker lets pass, as long as they can be of what is drawn. */
static void draw_runs(struct random *random, struct plan *plan, struct arena *arena)
{
	plan->runs = arena_array(arena, struct tile_run, plan->step_count);
	for (int first = 0, step; first < plan->step_count; first++) {
		struct tile_run *run = &plan->runs[plan->run_count];
		int most = first + 1 + (int)random_below(random, 6);
		*run = (struct tile_run){
			.first = first, .end = (int)number_min(most, plan->step_count)};
		draw_loops(random, plan, run, arena);
		plan->run_count++;
		while (run->first < run->end &&
			plan_run_misfit(arena, plan, plan->run_count - 1, &step))
			run->end--;
		if (run->first == run->end)
			plan->run_count--;
		else
			first = run->end - 1;
	}
}

/* A step of a graph is mostly divided as the step before it that made what it reads. */
static void follow_producer(struct random *random, struct plan *plan, int step, struct arena *arena)
{
	const struct op *op = plan_step_op(arena, plan, step);
	struct mapping *mapping = &plan->steps[step].mapping;
	int i = (int)random_below(random, (uint64_t)op->read_count);
	int from = plan->workload->tensors[op->reads[i].tensor].producer;
	if (from < 0 || random_below(random, 4) == 0)
		return;
	const struct op *other = plan_step_op(arena, plan, from);
	random_follow(plan, other, &other->writes[0], &plan->steps[from].mapping, op, &op->reads[i],
		mapping);
	random_tiles(random, plan->arch, plan->workload, op, mapping, arena);
}

struct plan *random_plan(struct random *random, const struct random_options *options,
	const struct arch *arch, int cores, struct arena *arena)
{
	const struct workload *workload = options->runs ? random_graph(random, arena)
							: random_workload(random, options, arena);
	struct plan *plan = arena_new(arena, struct plan);
	*plan = (struct plan){
		.arch = arch,
		.workload = workload,
		.cores = cores,
		.step_count = (int)workload->op_count,
		.steps = arena_array(arena, struct step, workload->op_count),
	};
	int bundle = 0;
	if (options->runs)
		draw_runs(random, plan, arena);
	for (int i = 0; i < plan->step_count; i++) {
		const struct tile_run *run = plan_run(plan, i);
		const struct op *op = run_op(arena, workload, &workload->ops[i], run, 0);
		plan->steps[i] = (struct step){
			.op = i,
			.bundle = bundle,
			.mapping = random_mapping(random, arch, cores, workload, op, arena),
		};
		if (run && i + 1 < run->end)
			continue;
		if (op->primitive->kind == OP_OPAQUE || (!op->move && random_below(random, 3) == 0))
			bundle++;
	}
	int drawn = 0;
	while (workload->ops[drawn].move)
		drawn++;
	for (int i = 0; i < plan->step_count; i++)
		if (options->runs)
			follow_producer(random, plan, i, arena);
		else if (i != drawn)
			follow_neighbour(random, plan, i, drawn, arena);
	draw_residencies(random, options, plan, arena);
	return options->legal && !options->runs ? random_evictions(random, plan, arena) : plan;
}

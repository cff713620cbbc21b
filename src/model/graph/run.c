#include "model/graph/run.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/fatal.h"
#include "base/number.h"
#include "base/text.h"
#include "model/graph/plan_file.h"

#include <inttypes.h>

static bool is_one_phase(const struct plan *plan, int first, int end)
{
	while (first + 1 < end && plan_joins_next(plan, first))
		first++;
	return first + 1 >= end;
}

/* The first step with which the bundle has too many tensors; -1. */
static int find_excess(
	const struct plan *plan, struct plan_arguments *arguments, int first, int end)
{
	int64_t most = plan->arch->bundle_tensors;
	plan_arguments_clear(arguments);
	for (int step = first; most > 0 && step < end; step++) {
		plan_arguments_add(arguments, step, step + 1);
		if (arguments->count > most && !is_one_phase(plan, first, end))
			return step;
	}
	return -1;
}

const char *plan_bundle_misfit(struct arena *arena, const struct plan *plan, int *step)
{
	struct plan_arguments arguments = plan_arguments_open(plan, arena);
	for (int first = 0, end; first < plan->step_count; first = end) {
		int bundle = plan->steps[first].bundle;
		for (end = first; end < plan->step_count && plan->steps[end].bundle == bundle;
			end++) {
			const struct op *before =
				end > first ? &plan->workload->ops[plan->steps[end - 1].op] : NULL;
			*step = end;
			if (before && before->primitive->kind == OP_OPAQUE)
				return arena_format(arena,
					"it is in bundle %d, which ends with the opaque op '%s'",
					bundle, before->name);
		}
		*step = find_excess(plan, &arguments, first, end);
		if (*step >= 0)
			return arena_format(arena,
				"with it bundle %d has %d tensors in HBM; the machine takes %" PRId64,
				bundle, arguments.count, plan->arch->bundle_tensors);
	}
	return NULL;
}

/* The device dimension that loop l of a clone cuts: whole, or in sticks; -1. */
static int find_dimension(const struct layout *layout, const struct access *access, int l)
{
	for (int d = 0; d < layout->rank; d++) {
		int host = layout->host_dim[d];
		if ((layout->part[d] == PART_WHOLE || layout->part[d] == PART_STICK_OUTER) &&
			access->host[host].coefficient[l] != 0)
			return d;
	}
	return -1;
}

/* The part whose slots change slower than by `divisor`, but fastest of those. */
static const struct view_part *find_next(const struct view *view, int64_t divisor)
{
	const struct view_part *next = NULL;
	for (int i = 0; i < view->part_count; i++) {
		const struct view_part *part = &view->parts[i];
		if (part->split > 1 && part->divisor > divisor &&
			(!next || part->divisor < next->divisor))
			next = part;
	}
	return next;
}

/* Cores are numbered so that every combination of parts lies on equally many of them. */
static bool is_uniform(const struct view *view)
{
	int64_t inner = 1;
	const struct view_part *part = NULL;
	while ((part = find_next(view, part ? part->divisor : 0))) {
		if (part->divisor % inner)
			return false;
		inner = part->divisor * part->split;
	}
	return view->cores % inner == 0;
}

static bool follow_view(
	const struct plan *plan, int step, const struct view *view, struct move *move)
{
	const struct op *op = &plan->workload->ops[plan->steps[step].op];
	const struct access *write = &op->writes[0];
	const struct layout *layout = &plan->workload->tensors[write->tensor].layout;
	int64_t slices = 1, parts = 1;
	for (int i = 0; i < view->part_count; i++)
		parts *= view->parts[i].split;
	for (int l = 0; l < op->loop_count; l++) {
		int64_t split = mapping_split(plan->arch, &plan->steps[step].mapping, l);
		int d = find_dimension(layout, write, l);
		const struct view_part *part = d < 0 ? NULL : view_part_of(view, d);
		if (split != (part ? part->split : 1))
			return false;
		move->divisor[l] = part ? part->divisor : 1;
		slices *= split;
	}
	move->cores = view->cores;
	move->copies = view->cores / slices;
	return slices == parts && is_uniform(view);
}

struct move move_find(const struct plan *plan, int step)
{
	const struct op *op = &plan->workload->ops[plan->steps[step].op];
	const struct mapping *mapping = &plan->steps[step].mapping;
	bool leaves = plan_is_evict(plan, step);
	const struct residency *stay = plan_lx(plan, op_operand(op, !leaves)->tensor, step);
	struct move move = {0};
	if (!stay)
		BUG("step %d is not a move", step);
	bool skips = !leaves && stay->view.only > 1;
	if (!skips && follow_view(plan, step, &stay->view, &move))
		return move;
	move.cores = mapping_cores(plan->arch, mapping);
	move.copies = 1;
	for (int l = 0; l < op->loop_count; l++)
		move.divisor[l] = mapping_divisor(plan->arch, mapping, l);
	return move;
}

/* The loop that walks a device dimension; -1. */
static int find_loop(const struct op *copy, const struct layout *layout, int d)
{
	for (int l = 0; l < copy->loop_count; l++)
		if (copy->writes[0].host[layout->host_dim[d]].coefficient[l])
			return l;
	return -1;
}

struct mapping move_mapping(const struct arch *arch, const struct workload *workload,
	const struct op *copy, const struct view *view)
{
	const struct layout *layout = &workload->tensors[copy->writes[0].tensor].layout;
	struct mapping mapping = mapping_make(arch, copy);
	if (arch->core < 0)
		return mapping;
	struct mapping_row *row = &mapping.rows[arch->core];
	int order = 0;
	bool listed[OP_LOOPS_MOST] = {0};
	const struct view_part *part = NULL;
	while ((part = find_next(view, part ? part->divisor : 0))) {
		int l = find_loop(copy, layout, part->dim);
		if (l < 0 || listed[l])
			BUG("'%s' has no loop of its own for dimension %d", copy->name, part->dim);
		row->spatial[l] = (uint32_t)part->split;
		row->spatial_order[order++] = (uint8_t)l;
		listed[l] = true;
	}
	for (int l = 0; l < copy->loop_count; l++)
		if (!listed[l])
			row->spatial_order[order++] = (uint8_t)l;
	return mapping;
}

const struct tile_run *plan_run(const struct plan *plan, int step)
{
	for (int r = 0; r < plan->run_count; r++)
		if (plan->runs[r].first <= step && step < plan->runs[r].end)
			return &plan->runs[r];
	return NULL;
}

int64_t run_iterations(const struct tile_run *run)
{
	int64_t iterations = 1;
	for (int k = 0; run && k < run->loop_count; k++)
		iterations *= run->loops[k].tiles;
	return iterations;
}

int run_loop(const struct op *op, const struct tile_run *run, int k)
{
	return loop_named(op->loops, op->loop_count, run->loops[k].name);
}

/* Which part of the run's loop k an iteration has. */
static int64_t position(const struct tile_run *run, int64_t iteration, int k)
{
	for (int inner = run->loop_count - 1; inner > k; inner--)
		iteration /= run->loops[inner].tiles;
	return iteration % run->loops[k].tiles;
}

/* The run's loop that an op's loop is; -1. */
static int shared_loop(const struct op *op, const struct tile_run *run, int l)
{
	for (int k = 0; run && k < run->loop_count; k++)
		if (run_loop(op, run, k) == l)
			return k;
	return -1;
}

/* Elements of a part that is not cut short. */
static int64_t full_part(const struct workload *workload, const struct op *op, int l, int64_t tiles)
{
	int64_t units = op_units(workload, op, l) / tiles;
	return tiles == 1 ? op->loops[l].extent : units * op_grain(workload, op, l);
}

struct run_part run_part(const struct workload *workload, const struct op *op,
	const struct tile_run *run, int64_t iteration, int l)
{
	int k = shared_loop(op, run, l);
	if (k < 0)
		return (struct run_part){0, op->loops[l].extent};
	int64_t full = full_part(workload, op, l, run->loops[k].tiles);
	int64_t first = position(run, iteration, k) * full;
	return (struct run_part){first, number_min(full, op->loops[l].extent - first)};
}

static void shift(struct affine *affine, const struct run_part *parts, int loop_count)
{
	for (int l = 0; l < loop_count; l++)
		affine->offset += affine->coefficient[l] * parts[l].first;
}

static void shift_access(struct access *access, const struct run_part *parts, int loop_count)
{
	shift(&access->linear, parts, loop_count);
	for (int h = 0; h < LAYOUT_HOST_RANK_MOST; h++)
		shift(&access->host[h], parts, loop_count);
}

const struct op *run_op(struct arena *arena, const struct workload *workload, const struct op *op,
	const struct tile_run *run, int64_t iteration)
{
	struct run_part parts[OP_LOOPS_MOST];
	if (!run)
		return op;
	struct op *part = arena_copy(arena, op, sizeof *op);
	part->writes = arena_copy(arena, op->writes, (size_t)op->write_count * sizeof *op->writes);
	for (int l = 0; l < op->loop_count; l++) {
		parts[l] = run_part(workload, op, run, iteration, l);
		part->loops[l].extent = parts[l].count;
	}
	for (int i = 0; i < op->read_count; i++)
		shift_access(&part->reads[i], parts, op->loop_count);
	for (int i = 0; i < op->write_count; i++)
		shift_access(&part->writes[i], parts, op->loop_count);
	return part;
}

bool run_adds_up(const struct op *op, const struct tile_run *run)
{
	for (int k = 0; run && k < run->loop_count; k++)
		if (op->loops[run_loop(op, run, k)].reduction)
			return true;
	return false;
}

bool run_resumes(const struct op *op, const struct tile_run *run, int64_t iteration)
{
	for (int k = 0; run && k < run->loop_count; k++)
		if (op->loops[run_loop(op, run, k)].reduction && position(run, iteration, k) > 0)
			return true;
	return false;
}

bool run_goes_on(const struct op *op, const struct tile_run *run, int64_t iteration)
{
	for (int k = 0; run && k < run->loop_count; k++)
		if (op->loops[run_loop(op, run, k)].reduction &&
			position(run, iteration, k) + 1 < run->loops[k].tiles)
			return true;
	return false;
}

const struct op *plan_step_op(struct arena *arena, const struct plan *plan, int step)
{
	const struct op *op = &plan->workload->ops[plan->steps[step].op];
	return run_op(arena, plan->workload, op, plan_run(plan, step), 0);
}

/* True if a box moves by whole sticks from each part to the next. */
static bool moves_evenly(
	const struct workload *workload, const struct op *op, int operand, int l, int64_t elements)
{
	const struct access *access = op_operand(op, operand);
	const struct layout *layout = &workload->tensors[access->tensor].layout;
	int h = layout->stick_dim;
	return h < 0 || access->host[h].coefficient[l] * elements % layout->per_stick == 0;
}

static bool are_alike(
	const struct workload *workload, const struct op *op, const struct tile_run *run)
{
	for (int k = 0; k < run->loop_count; k++) {
		int l = run_loop(op, run, k);
		int64_t elements = full_part(workload, op, l, run->loops[k].tiles);
		for (int i = 0; run->loops[k].tiles > 1 && i < op_operands(op); i++)
			if (!moves_evenly(workload, op, i, l, elements))
				return false;
	}
	return true;
}

struct run_classes run_classes(struct arena *arena, const struct workload *workload,
	const struct op *op, const struct tile_run *run)
{
	struct array(struct run_class) classes = {0};
	*array_add(arena, &classes) = (struct run_class){0, 1};
	bool alike = run && are_alike(workload, op, run);
	for (int k = 0; run && k < run->loop_count; k++) {
		int l = run_loop(op, run, k);
		int64_t tiles = run->loops[k].tiles;
		int64_t full = full_part(workload, op, l, tiles);
		bool ragged = op->loops[l].extent % full != 0;
		size_t before = classes.count;
		for (size_t c = 0; c < before; c++)
			classes.at[c].iteration *= tiles;
		for (size_t c = 0; c < before; c++) {
			struct run_class of = classes.at[c];
			for (int64_t tile = 0, next; tile < tiles; tile = next) {
				bool first = tile == 0 && op->loops[l].reduction;
				next = !alike || first              ? tile + 1
				       : ragged && tile + 1 < tiles ? tiles - 1
								    : tiles;
				struct run_class part = {
					of.iteration + tile, of.count * (next - tile)};
				if (tile == 0)
					classes.at[c] = part;
				else
					*array_add(arena, &classes) = part;
			}
		}
	}
	return (struct run_classes){classes.count, classes.at};
}

int run_walks(const struct workload *workload, const struct op *op, int operand, int h)
{
	const struct access *access = op_operand(op, operand);
	const struct layout *layout = &workload->tensors[access->tensor].layout;
	const struct affine *walk = &access->host[h];
	int alone = affine_walker(walk, op->loop_count);
	if (alone < 0 || walk->offset != 0 || op->loops[alone].extent != layout->host_size[h])
		return -1;
	for (int other = 0; other < layout->host_rank; other++)
		if (other != h && access->host[other].coefficient[alone] != 0)
			return -1;
	return alone;
}

const struct tile_run *plan_inside(const struct plan *plan, const struct users *users, int tensor)
{
	int from, to;
	if (plan->workload->tensors[tensor].role != TENSOR_INTERMEDIATE)
		return NULL;
	const struct op *producer = &plan->workload->ops[plan->workload->tensors[tensor].producer];
	users_life(users, tensor, &from, &to);
	const struct tile_run *run = from < to ? plan_run(plan, from) : NULL;
	bool inside = run && to <= run->end && !run_adds_up(producer, run);
	return inside ? run : NULL;
}

void plan_life(const struct plan *plan, const struct users *users, int tensor, int *from, int *to)
{
	users_life(users, tensor, from, to);
	if (*from == *to || plan_inside(plan, users, tensor))
		return;
	const struct tile_run *first = plan_run(plan, *from), *last = plan_run(plan, *to - 1);
	if (first)
		*from = first->first;
	if (last)
		*to = last->end;
}

/* The run of which a stay holds parts; NULL. */
static const struct tile_run *stay_run(const struct plan *plan, const struct residency *stay)
{
	const struct tile_run *run = plan_run(plan, stay->from);
	int producer = plan->workload->tensors[stay->tensor].producer;
	bool inside = run && stay->to <= run->end && producer >= run->first &&
		      producer < run->end && !run_adds_up(&plan->workload->ops[producer], run);
	return stay->place == PLACE_LX && inside ? run : NULL;
}

/* The part of host dimension h that an iteration has of a tensor. */
static struct run_part host_part(
	const struct plan *plan, const struct residency *stay, int64_t iteration, int h)
{
	const struct tensor *tensor = &plan->workload->tensors[stay->tensor];
	const struct tile_run *run = stay_run(plan, stay);
	const struct op *op = run ? &plan->workload->ops[tensor->producer] : NULL;
	int l = run ? run_walks(plan->workload, op, op->read_count, h) : -1;
	return l < 0 ? (struct run_part){0, tensor->layout.host_size[h]}
		     : run_part(plan->workload, op, run, iteration, l);
}

struct layout plan_stay_layout(const struct plan *plan, const struct residency *stay)
{
	struct layout layout = plan->workload->tensors[stay->tensor].layout;
	layout.sticks = 1;
	for (int d = 0; d + 1 < layout.rank; d++) {
		int h = layout.host_dim[d];
		int64_t per = layout.part[d] == PART_STICK_OUTER ? layout.per_stick : 1;
		if (layout.part[d] != PART_SYNTHETIC)
			layout.size[d] = number_ceil_div(host_part(plan, stay, 0, h).count, per);
		layout.sticks *= layout.size[d];
	}
	layout.bytes = layout.sticks * layout.stick_bytes;
	return layout;
}

int64_t plan_stay_first(
	const struct plan *plan, const struct residency *stay, int64_t iteration, int d)
{
	const struct layout *layout = &plan->workload->tensors[stay->tensor].layout;
	int h = layout->host_dim[d];
	int64_t per = layout->part[d] == PART_STICK_OUTER ? layout->per_stick : 1;
	return h < 0 ? 0 : host_part(plan, stay, iteration, h).first / per;
}

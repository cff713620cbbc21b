#include "model/graph/move.h"

#include "base/fatal.h"

/* The device dimension that loop l of a clone cuts: whole, or in sticks; -1. */
static int find_dimension(const struct layout *layout, const struct access *access, int l)
{
	for (int d = 0; d < layout->rank; d++) {
		int host = layout->host_dim[d];
		if ((layout->part[d] == PART_WHOLE || layout->part[d] == PART_STICK_OUTER) &&
			access->host[host].loop[l] != 0)
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
		BUG("step %d is no move", step);
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
		if (copy->writes[0].host[layout->host_dim[d]].loop[l])
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

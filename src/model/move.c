#include "model/move.h"

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

static const struct view_part *find_part(const struct view *view, int d)
{
	for (int i = 0; i < view->part_count; i++)
		if (view->parts[i].dim == d && view->parts[i].split > 1)
			return &view->parts[i];
	return NULL;
}

/* Cores are numbered so that every combination of parts lies on equally many of them. */
static bool is_uniform(const struct view *view)
{
	int64_t inner = 1;
	for (int64_t last = 0;;) {
		const struct view_part *next = NULL;
		for (int i = 0; i < view->part_count; i++) {
			const struct view_part *part = &view->parts[i];
			if (part->split > 1 && part->divisor > last &&
				(!next || part->divisor < next->divisor))
				next = part;
		}
		if (!next)
			return view->cores % inner == 0;
		if (next->divisor % inner)
			return false;
		inner = next->divisor * next->split;
		last = next->divisor;
	}
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
		const struct view_part *part = d < 0 ? NULL : find_part(view, d);
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
	const struct residency *stay = plan_lx(plan, op->writes[0].tensor, step);
	struct move move = {0};
	if (!stay)
		BUG("step %d is no move", step);
	if (follow_view(plan, step, &stay->view, &move))
		return move;
	move.cores = mapping_cores(plan->arch, mapping);
	move.copies = 1;
	for (int l = 0; l < op->loop_count; l++)
		move.divisor[l] = mapping_divisor(plan->arch, mapping, l);
	return move;
}

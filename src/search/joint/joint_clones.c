#include "search/joint/joint_clones.h"

#include "base/number.h"
#include "model/graph/run.h"

#include <stdlib.h>

bool joint_may_clone(const struct joint_making *making, int o)
{
	const struct workload *workload = making->question->workload;
	if (o < 0 || o >= (int)workload->op_count)
		return false;
	const struct op *op = &workload->ops[o];
	return op_is_tiled(op) && op_copies_sticks(workload, op) &&
	       making->views[op->writes[0].tensor].count > 0 &&
	       making->stays[op->reads[0].tensor] != STAY_LX;
}

/* How many such ops follow each other there. */
static int count_clones(const struct joint_making *making, int o)
{
	int first = o, end = o;
	while (joint_may_clone(making, first - 1))
		first--;
	while (joint_may_clone(making, end))
		end++;
	return end - first;
}

bool joint_stands_alone(struct joint_making *making, int o)
{
	const struct workload *workload = making->question->workload;
	const struct op *next = &workload->ops[o + 1];
	bool last = o + 1 == (int)workload->op_count, before_run = false;
	if (!making->question->aim.cycles)
		return true;
	for (size_t r = 0; r < making->runs.count; r++)
		before_run |= making->runs.at[r].loops.first == o + 1;
	bool alone = last || before_run || !op_is_tiled(next);
	bool many = count_clones(making, o) > CLONES_MOST;
	making->unproven |= many || (!last && next->primitive->kind == OP_OPAQUE);
	return alone || many;
}

int joint_clone_of(const struct joint_choosing *choosing, int tensor)
{
	int producer = choosing->making->question->workload->tensors[tensor].producer;
	return producer >= choosing->first && producer < choosing->number
		       ? producer - choosing->first
		       : -1;
}

int joint_cloned(const struct joint_choosing *choosing, int clone)
{
	return choosing->making->question->workload->ops[choosing->first + clone].writes[0].tensor;
}

bool joint_op_reads(const struct joint_choosing *choosing, int tensor)
{
	for (int r = 0; r < choosing->read_count; r++)
		if (choosing->reads[r].tensor == tensor)
			return true;
	return false;
}

bool joint_clone_uses(const struct joint_choosing *choosing, struct joint_draft *draft)
{
	const struct workload *workload = choosing->making->question->workload;
	struct joint_use *uses = arena_array(choosing->making->scratch, struct joint_use,
		choosing->read_count + CLONES_MOST + EARLY_MOST);
	int count = 0;
	for (int r = 0; r < choosing->read_count; r++)
		if (joint_clone_of(choosing, choosing->reads[r].tensor) < 0)
			uses[count++] = choosing->uses[r];
	for (int o = choosing->first; o < choosing->number; o++) {
		int source = workload->ops[o].reads[0].tensor, u = 0;
		while (u < count && uses[u].tensor != source)
			u++;
		if (joint_clone_of(choosing, source) >= 0 ||
			(u < count && uses[u].mode != JOINT_HBM))
			return false;
		uses[u] = (struct joint_use){source, JOINT_HBM, -1};
		count = (int)number_max(count, u + 1);
	}
	for (int e = 0; e < choosing->early_count; e++) {
		for (int u = 0; u < count; u++)
			if (uses[u].tensor == choosing->early[e].tensor)
				return false;
		uses[count++] = choosing->early[e];
	}
	if (count)
		qsort(uses, (size_t)count, sizeof *uses, joint_by_tensor);
	for (int u = 0; u < count; u++)
		for (int r = 0; r < choosing->read_count; r++)
			if (uses[u].mode == JOINT_MOVED && choosing->reads[r].dies &&
				choosing->reads[r].tensor == uses[u].tensor)
				draft->dying |= 1u << u;
	draft->option.uses = uses;
	draft->option.use_count = count;
	return true;
}

void joint_clone_outs(const struct joint_choosing *choosing, struct joint_draft *draft)
{
	struct joint_making *making = choosing->making;
	struct joint_out *outs = arena_array(making->scratch, struct joint_out, CLONES_MOST + 1);
	struct joint_inside *inside = arena_array(making->arena, struct joint_inside, CLONES_MOST);
	const struct arch *arch = making->question->arch;
	int out_count = 1, from, to;
	outs[0] = choosing->out;
	for (int u = 0; choosing->out.in_place >= 0 && u < draft->option.use_count; u++)
		if (draft->option.uses[u].tensor == choosing->uses[choosing->out.in_place].tensor)
			outs[0].in_place = u;
	for (int c = 0; c < choosing->number - choosing->first; c++) {
		int tensor = joint_cloned(choosing, c);
		const struct view *view = &making->views[tensor].at[choosing->views[c]];
		users_life(&making->users, tensor, &from, &to);
		if (to > choosing->number + 1) {
			outs[out_count++] = (struct joint_out){tensor, choosing->views[c], -1};
			continue;
		}
		inside[draft->inside_count++] = (struct joint_inside){
			.tensor = tensor, .view = *view, .offset = draft->option.room};
		draft->option.room += number_align_up(
			view_bytes(&making->question->workload->tensors[tensor].layout, view),
			arch->levels[arch->lx].alignment);
	}
	qsort(outs, (size_t)out_count, sizeof *outs, joint_by_tensor);
	draft->option.outs = outs;
	draft->option.out_count = out_count;
	draft->inside = inside;
}

void joint_clone_parts(const struct joint_choosing *choosing, const struct op_option *tiles,
	struct joint_draft *draft)
{
	struct joint_making *making = choosing->making;
	const struct workload *workload = making->question->workload;
	struct joint_part *parts = arena_array(making->scratch, struct joint_part, CLONES_MOST + 1);
	int clones = choosing->number - choosing->first;
	for (int c = 0; c < clones; c++) {
		struct mapping mapping = move_mapping(making->question->arch, workload,
			&workload->ops[choosing->first + c],
			&making->views[joint_cloned(choosing, c)].at[choosing->views[c]]);
		parts[c].mapping = arena_copy(making->arena, &mapping, sizeof mapping);
	}
	parts[clones] = (struct joint_part){choosing->division->mapping,
		arena_copy(making->scratch, tiles, sizeof *tiles), NULL};
	draft->parts = parts;
}

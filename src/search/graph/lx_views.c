#include "search/graph/lx.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/text.h"
#include "model/graph/op_mapping.h"

#include <string.h>

/* The device dimension that loop l walks, whole or in sticks; -1 and *why if it is not just one. */
static int find_dimension(const struct layout *layout, const struct op *op,
	const struct access *access, int l, const char **why)
{
	int host = -1;
	*why = "does not walk one dimension alone";
	for (int h = 0; h < layout->host_rank; h++) {
		if (!access->host[h].coefficient[l])
			continue;
		if (host >= 0)
			return -1;
		host = h;
	}
	if (host < 0)
		return -1;
	for (int other = 0; other < op->loop_count; other++)
		if (access->host[host].coefficient[other] != (other == l))
			return -1;
	*why = "reads from an offset";
	if (access->host[host].offset || access->pad)
		return -1;
	*why = "would cut a stick";
	for (int d = 0; d < layout->rank; d++)
		if (layout->host_dim[d] == host &&
			(layout->part[d] == PART_WHOLE || layout->part[d] == PART_STICK_OUTER))
			return d;
	return -1;
}

/* Do equal shares of the loop's units make equal parts of the dimension, end to end? */
static bool cuts_evenly(const struct workload *workload, const struct op *op,
	const struct layout *layout, int l, int d, int64_t split)
{
	int64_t grain = op_grain(workload, op, l), units = op_units(workload, op, l);
	int64_t step = layout->part[d] == PART_STICK_OUTER ? layout->per_stick : 1;
	return units % split == 0 && grain % step == 0 && layout->size[d] == units * (grain / step);
}

static void view_add_part(struct view *view, struct view_part part)
{
	int at = view->part_count++;
	for (; at > 0 && view->parts[at - 1].dim > part.dim; at--)
		view->parts[at] = view->parts[at - 1];
	view->parts[at] = part;
}

/* Adds what loop l cuts, if it indexes the tensor at all. */
static const char *workload_cut(const struct workload *workload, const struct op *op,
	const struct access *access, int l, int64_t split, int64_t divisor, struct view *view)
{
	const struct layout *layout = &workload->tensors[access->tensor].layout;
	const char *why;
	if (!access->linear.coefficient[l])
		return NULL;
	int d = find_dimension(layout, op, access, l, &why);
	if (d < 0)
		return why;
	if (!cuts_evenly(workload, op, layout, l, d, split))
		return "does not cut it into equal parts of whole sticks";
	view_add_part(view, (struct view_part){d, split, divisor});
	return NULL;
}

bool lx_view(const struct arch *arch, const struct workload *workload, const struct op *op,
	const struct mapping *mapping, int operand, struct arena *arena, struct view *out,
	const char **why)
{
	const struct access *access = op_operand(op, operand);
	*out = (struct view){.cores = mapping_cores(arch, mapping)};
	if (arch->core < 0 || out->cores == 1)
		return true;
	const struct mapping_row *row = &mapping->rows[arch->core];
	int64_t divisor = 1;
	for (int i = 0; i < op->loop_count; i++) {
		int l = row->spatial_order[i];
		int64_t split = row->spatial[l];
		if (split <= 1)
			continue;
		const char *wrong = workload_cut(workload, op, access, l, split, divisor, out);
		divisor *= split;
		if (wrong) {
			*why = arena_format(arena, "loop %s/%lld of '%s' %s", op->loops[l].name,
				(long long)split, op->name, wrong);
			return false;
		}
	}
	return true;
}

void lx_leave_to_owners(const struct arch *arch, const struct op *op, const struct mapping *mapping,
	struct view *view)
{
	for (int l = 0; l < op->loop_count; l++) {
		if (!op->loops[l].reduction || mapping_split(arch, mapping, l) <= 1)
			continue;
		view->only = mapping_split(arch, mapping, l);
		view->only_divisor = mapping_divisor(arch, mapping, l);
	}
}

static struct lx_use find_use(const struct arch *arch, const struct workload *workload,
	const struct mapping *mappings, int op, int operand, struct arena *arena)
{
	const struct op *user = &workload->ops[op];
	struct lx_use use = {.op = op, .operand = operand};
	use.write = operand >= user->read_count;
	use.opaque = user->primitive->kind == OP_OPAQUE;
	use.broadcast = user->primitive->kind == OP_BROADCAST;
	if (!op_is_tiled(user)) {
		use.cores = use.view.cores = 1;
		return use;
	}
	use.cores = mapping_cores(arch, &mappings[op]);
	use.partial = mapping_reduction_split(arch, user, &mappings[op]) > 1;
	lx_view(arch, workload, user, &mappings[op], operand, arena, &use.view, &use.why);
	return use;
}

struct lx_uses lx_uses(const struct arch *arch, const struct workload *workload,
	const struct users *users, const struct mapping *mappings, int tensor, struct arena *arena)
{
	const struct user *at = &users->at[users->first[tensor]];
	size_t count = users->first[tensor + 1] - users->first[tensor];
	struct lx_use *uses = arena_array(arena, struct lx_use, count);
	for (size_t i = 0; i < count; i++)
		uses[i] = find_use(arch, workload, mappings, at[i].op, at[i].operand, arena);
	return (struct lx_uses){count, uses};
}

bool lx_same_slices(const struct view *a, const struct view *b)
{
	if (a->part_count != b->part_count)
		return false;
	for (int i = 0; i < a->part_count; i++)
		if (a->parts[i].dim != b->parts[i].dim || a->parts[i].split != b->parts[i].split ||
			a->parts[i].divisor != b->parts[i].divisor)
			return false;
	return true;
}

int64_t lx_core_count(const struct lx_uses *uses, int cores)
{
	if (cores == 1)
		return 1;
	int64_t most = 1;
	for (size_t i = 0; i < uses->count; i++) {
		const struct lx_use *use = &uses->at[i];
		if (use->cores > most)
			most = use->cores;
		if (uses->count == 1)
			break;
		if (use->why || (use->write && use->partial) ||
			!lx_same_slices(&use->view, &uses->at[0].view))
			return LX_MISMATCH;
	}
	return most;
}

const char *lx_division(struct arena *arena, const struct arch *arch, const struct op *op,
	const struct mapping *mapping)
{
	struct text text = text_open(arena);
	for (int l = 0; l < op->loop_count; l++)
		if (mapping_split(arch, mapping, l) > 1)
			text_add(&text, "%s/%lld ", op->loops[l].name,
				(long long)mapping_split(arch, mapping, l));
	int64_t cores = mapping_cores(arch, mapping);
	if (cores == 1)
		text_add(&text, "whole on 1 core");
	else
		text_add(&text, "on %lld cores", (long long)cores);
	return text_read(&text);
}

/* Returns the use that decides where the slices lie: the writer, or the reader on the most cores. */
static const struct lx_use *find_owner(const struct lx_uses *uses, bool moved)
{
	const struct lx_use *owner = NULL;
	for (size_t i = 0; i < uses->count; i++) {
		const struct lx_use *use = &uses->at[i];
		if (use->write != moved && (!owner || use->cores > owner->cores))
			owner = use;
	}
	return owner;
}

bool lx_residence(const struct arch *arch, const struct workload *workload,
	const struct mapping *mappings, const struct lx_uses *uses, bool moved, struct arena *arena,
	struct view *out, const char **why)
{
	const struct lx_use *owner = find_owner(uses, moved);
	if (!owner) {
		*why = moved ? "nothing reads it" : "it is a graph input";
		return false;
	}
	const struct op *ours = &workload->ops[owner->op];
	for (size_t i = 0; i < uses->count; i++) {
		const struct lx_use *use = &uses->at[i];
		const struct op *user = &workload->ops[use->op];
		if (use->opaque)
			*why = arena_format(arena, "the opaque op '%s' uses it", user->name);
		else if (use->broadcast)
			*why = arena_format(arena,
				use->write ? "the broadcast '%s' leaves it in HBM"
					   : "the broadcast '%s' reads it in HBM",
				user->name);
		else if (use->write && moved)
			continue;
		else if (use->why)
			*why = use->why;
		else if (use->write && use->partial)
			*why = arena_format(arena, "'%s' (%s) leaves partial results", user->name,
				lx_division(arena, arch, user, &mappings[use->op]));
		else if (!lx_same_slices(&use->view, &owner->view) || use->cores > owner->cores)
			*why = arena_format(arena, "mismatch: '%s' %s it %s, '%s' reads it %s",
				ours->name, owner->write ? "writes" : "reads",
				lx_division(arena, arch, ours, &mappings[owner->op]), user->name,
				lx_division(arena, arch, user, &mappings[use->op]));
		else
			continue;
		return false;
	}
	*out = owner->view;
	return true;
}

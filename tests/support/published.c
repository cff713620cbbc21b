#include "tests/support/published.h"

#include "base/arena.h"
#include "model/graph/op_mapping.h"
#include "model/packing/buffer.h"
#include "solvers/place/packing.h"

#include <inttypes.h>
#include <stdio.h>

static int find_stride(const struct layout *layout, int64_t coefficient)
{
	int with_sticks = -1, with_coefficient = -1;
	for (int d = 0; d < layout->rank; d++) {
		if (layout->stride_map[d] == layout->per_stick)
			with_sticks = d;
		if (layout->stride_map[d] == coefficient)
			with_coefficient = d;
	}
	return coefficient == 1 && with_sticks >= 0 ? with_sticks : with_coefficient;
}

static void add_part(struct view *view, struct view_part part)
{
	int at = view->part_count++;
	for (; at > 0 && view->parts[at - 1].dim > part.dim; at--)
		view->parts[at] = view->parts[at - 1];
	view->parts[at] = part;
}

static bool look_up(const struct arch *arch, const struct workload *workload, const struct op *op,
	const struct mapping *mapping, int operand, struct view *out)
{
	const struct access *access = op_operand(op, operand);
	const struct layout *layout = &workload->tensors[access->tensor].layout;
	const struct mapping_row *row = &mapping->rows[arch->core];
	uint32_t taken = 0;
	int64_t divisor = 1;
	*out = (struct view){.cores = mapping_cores(arch, mapping)};
	for (int i = 0; i < op->loop_count; i++) {
		int l = row->spatial_order[i];
		int64_t split = row->spatial[l];
		if (split > 1 && access->linear.coefficient[l]) {
			int d = find_stride(layout, access->linear.coefficient[l]);
			if (d < 0 || taken >> d & 1 || layout->size[d] % split)
				return false;
			taken |= UINT32_C(1) << d;
			add_part(out, (struct view_part){d, split, divisor});
		}
		divisor *= split;
	}
	return true;
}

static json_t *slot_json(const struct view_part *part)
{
	char text[64];
	if (part->divisor == 1)
		snprintf(text, sizeof text, "Mod(core_id, %" PRId64 ")", part->split);
	else
		snprintf(text, sizeof text, "Mod(floor(core_id/%" PRId64 "), %" PRId64 ")",
			part->divisor, part->split);
	return json_pack("[i, s]", part->dim, text);
}

static json_t *use_json(
	const struct workload *workload, const struct lx_use *use, const struct view *view)
{
	const char *name = workload->ops[use->op].name, *access = use->write ? "write" : "read";
	if (!view)
		return json_pack("[s, s, s]", name, access, "no view");
	json_t *dims = json_array(), *slots = json_array();
	for (int i = 0; i < view->part_count; i++) {
		const struct view_part *part = &view->parts[i];
		json_array_append_new(
			dims, json_pack("[i, I]", part->dim, (json_int_t)part->split));
		json_array_append_new(slots, slot_json(part));
	}
	return json_pack("[s, s, o, o, b]", name, access, dims, slots, use->partial);
}

json_t *views_json(
	const struct lx_layout *layout, const struct lx_uses *uses, const json_t *expected)
{
	const struct lx_graph *made = &layout->graph;
	json_t *list = json_array();
	for (size_t i = 0; i < uses->count; i++) {
		const struct lx_use *use = &uses->at[i];
		struct view looked_up;
		bool found = look_up(made->arch, made->workload, &made->workload->ops[use->op],
			&made->mappings[use->op], use->operand, &looked_up);
		json_t *ours = use_json(made->workload, use, use->why ? NULL : &use->view);
		json_t *theirs = found ? use_json(made->workload, use, &looked_up) : NULL;
		json_t *wanted = json_array_get(expected, i);
		bool stopped = !found && json_is_string(json_array_get(wanted, 2));
		bool same = !json_equal(ours, wanted) && (stopped || json_equal(theirs, wanted));
		json_array_append(list, same ? wanted : ours);
		json_decref(ours);
		json_decref(theirs);
	}
	return list;
}

/* More cores read it than have written it, and still it is cut into as many parts. */
static bool is_overshared(const struct lx_layout *ours, const char *name)
{
	const struct lx_graph *graph = &ours->graph;
	int t = name ? workload_tensor(graph->workload, name) : -1;
	if (t < 0 || graph->workload->tensors[t].producer < 0 || graph->planning->cores == 1)
		return false;
	const struct mapping *writer = &graph->mappings[graph->workload->tensors[t].producer];
	struct lx_uses uses = lx_uses(
		graph->arch, graph->workload, &graph->users, graph->mappings, t, graph->arena);
	return lx_core_count(&uses, graph->planning->cores) > mapping_cores(graph->arch, writer);
}

bool published_overshares(const struct lx_layout *ours, const json_t *solver_input)
{
	size_t i;
	const json_t *buffer;
	json_array_foreach(solver_input, i, buffer)
		if (is_overshared(ours, json_string_value(json_object_get(buffer, "name"))))
			return true;
	return false;
}

bool published_overlaps(const struct lx_layout *ours, const json_t *pinned)
{
	const struct packing *packing = &ours->buffers.packing;
	struct arena *arena = arena_open();
	struct placement placement = {
		.count = packing->count,
		.addresses = arena_array(arena, int64_t, packing->count),
		.in_place_of = arena_array(arena, int, packing->count),
	};
	for (size_t b = 0; b < packing->count; b++) {
		const json_t *address = json_object_get(pinned, packing->buffers[b].name);
		placement.addresses[b] = address ? json_integer_value(address) : UNPLACED;
	}
	for (size_t b = 0; b < packing->count; b++)
		placement.in_place_of[b] =
			placement.addresses[b] == UNPLACED
				? -1
				: packing_parent_at(packing, &placement, b, placement.addresses[b]);
	bool overlaps = packing_check(packing, &placement).a >= 0;
	arena_close(arena);
	return overlaps;
}

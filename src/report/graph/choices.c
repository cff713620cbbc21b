#include "report/graph/choices.h"

#include "base/arena.h"
#include "base/text.h"
#include "model/machine/mapping_notation.h"
#include "model/nest/domain.h"

#include <inttypes.h>

struct listed_choices {
	struct arena *arena;
	const struct arch *arch;
	const struct shape *shape;
	const struct mapping *mapping, *other;
};

static int64_t bound_of(const struct mapping *mapping, int r, bool spatial, int d)
{
	const struct mapping_row *row = &mapping->rows[r];
	return spatial ? row->spatial[d] : row->temporal[d];
}

static bool runs_along_y(const struct mapping *mapping, int r, int d)
{
	return mapping->rows[r].spatial_y >> d & 1;
}

static bool loops_in_both(const struct listed_choices *of, int r, bool spatial, int d)
{
	return bound_of(of->mapping, r, spatial, d) > 1 && bound_of(of->other, r, spatial, d) > 1;
}

static json_t *make_bound(const struct listed_choices *of, int r, bool spatial, int d)
{
	int64_t bound = bound_of(of->mapping, r, spatial, d);
	int64_t last =
		mapping_last_round(of->mapping, r, spatial, d, of->shape->dimensions[d].extent);
	if (last == bound)
		return json_integer(bound);
	return json_string(arena_format(of->arena, "%" PRId64 ",%" PRId64, bound, last));
}

/* Spatial loops are listed along one axis at a time: between axes there is no order. */
static void add_order(
	struct text *text, const struct listed_choices *of, int r, bool spatial, bool y)
{
	const struct mapping_row *row = &of->mapping->rows[r];
	for (int i = of->mapping->loop_count - 1; i >= 0; i--) {
		int d = spatial ? row->spatial_order[i] : row->temporal_order[i];
		if (!loops_in_both(of, r, spatial, d))
			continue;
		if (spatial && (runs_along_y(of->mapping, r, d) != y ||
				       runs_along_y(of->other, r, d) != y))
			continue;
		text_add(text, "%s%s", text->length ? " " : "", of->shape->dimensions[d].name);
	}
}

static json_t *make_loops(const struct listed_choices *of, int r, bool spatial)
{
	json_t *object = json_object();
	struct text order = text_open(of->arena);
	for (int d = 0; d < of->shape->dimension_count; d++)
		json_object_set_new(
			object, of->shape->dimensions[d].name, make_bound(of, r, spatial, d));
	for (int d = 0; d < of->shape->dimension_count && spatial; d++)
		if (loops_in_both(of, r, spatial, d))
			json_object_set_new(object,
				arena_format(of->arena, "%s along", of->shape->dimensions[d].name),
				json_string(runs_along_y(of->mapping, r, d) ? "Y" : "X"));
	add_order(&order, of, r, spatial, false);
	if (spatial)
		add_order(&order, of, r, spatial, true);
	if (order.length)
		json_object_set_new(object, "order of loops", json_string(text_read(&order)));
	return object;
}

static json_t *make_kept(const struct listed_choices *of, int r)
{
	struct text text = text_open(of->arena);
	for (int t = 0; t < of->shape->space_count; t++)
		if (of->mapping->residency[t] >> r & 1)
			text_add(&text, "%s%s", text.length ? " " : "", of->shape->spaces[t].name);
	return json_string(text.length ? text_read(&text) : "nothing");
}

static bool has_loops(const struct mapping *mapping, int r)
{
	bool any = false;
	for (int d = 0; d < mapping->loop_count; d++)
		any |= mapping->rows[r].temporal[d] > 1;
	return any;
}

json_t *nest_choices(struct arena *arena, const struct arch *arch, const struct shape *shape,
	const struct mapping *mapping, const struct mapping *other)
{
	const struct listed_choices of = {arena, arch, shape, mapping, other};
	json_t *root = json_object();
	for (int r = 0; r < mapping->level_count; r++) {
		const struct level *level = &arch->levels[r];
		bool stores = level->kind == LEVEL_STORAGE;
		if (level->fanout_x > 1 || level->fanout_y > 1)
			json_object_set_new(root,
				domain_iterates(arch, r)
					? arena_format(arena, "%s spatial", level->name)
					: level->name,
				make_loops(&of, r, true));
		if (!stores && !has_loops(mapping, r) && !has_loops(other, r))
			continue;
		json_t *loops = make_loops(&of, r, false);
		if (stores)
			json_object_set_new(loops, "keeps words of", make_kept(&of, r));
		json_object_set_new(root, level->name, loops);
	}
	return root;
}

static json_t *make_ops(struct arena *arena, const struct plan *plan)
{
	json_t *object = json_object();
	for (int s = 0; s < plan->step_count; s++) {
		const struct op *op = &plan->workload->ops[plan->steps[s].op];
		json_object_set_new(object, op->name,
			json_pack("{s:i, s:i, s:s}", "step", s, "bundle", plan->steps[s].bundle,
				"mapping",
				mapping_print(arena, plan->arch, op, &plan->steps[s].mapping)));
	}
	return object;
}

static void add_stay(struct text *text, const struct plan *plan, const struct residency *stay)
{
	text_add(text, "%s%s %d..%d", text->length ? "; " : "",
		stay->place == PLACE_LX ? "LX" : "HBM", stay->from, stay->to);
	if (stay->place != PLACE_LX)
		return;
	text_add(text, " at %" PRId64 " size %" PRId64 ", %s", stay->address, stay->size,
		view_print(text->arena, &stay->view));
	if (stay->in_place_of >= 0)
		text_add(text, ", in place of %s", plan->workload->tensors[stay->in_place_of].name);
}

static json_t *make_tensors(struct arena *arena, const struct plan *plan)
{
	json_t *object = json_object();
	for (int r = 0; r < plan->residency_count;) {
		struct text text = text_open(arena);
		int tensor = plan->residencies[r].tensor;
		for (; r < plan->residency_count && plan->residencies[r].tensor == tensor; r++)
			add_stay(&text, plan, &plan->residencies[r]);
		json_object_set_new(object, plan->workload->tensors[tensor].name,
			json_pack("{s:s}", "stays", text_read(&text)));
	}
	return object;
}

/* By the first op of each: "q 4 up to P". */
static json_t *make_runs(struct arena *arena, const struct plan *plan)
{
	json_t *object = json_object();
	const struct op *ops = plan->workload->ops;
	for (int r = 0; r < plan->run_count; r++) {
		const struct tile_run *run = &plan->runs[r];
		struct text text = text_open(arena);
		for (int k = 0; k < run->loop_count; k++)
			text_add(&text, "%s %" PRId64 " ", run->loops[k].name, run->loops[k].tiles);
		text_add(&text, "up to %s", ops[plan->steps[run->end - 1].op].name);
		json_object_set_new(object, ops[plan->steps[run->first].op].name,
			json_string(text_read(&text)));
	}
	return object;
}

json_t *plan_choices(struct arena *arena, const struct plan *plan)
{
	json_t *root = json_pack("{s:i, s:o, s:o}", "cores", plan->cores, "ops",
		make_ops(arena, plan), "tensors", make_tensors(arena, plan));
	if (plan->run_count)
		json_object_set_new(root, "runs", make_runs(arena, plan));
	return root;
}

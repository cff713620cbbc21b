#include "report/packing/place_report.h"
#include "report/run/json_text.h"

static void set_integer(json_t *object, const char *key, int64_t value)
{
	json_object_set_new(object, key, json_integer((json_int_t)value));
}

static json_t *buffer_value(const struct place_report *report, size_t i, size_t *part)
{
	const struct placement *placement = report->placement;
	const struct buffer *buffer = &report->packing->buffers[i];
	json_t *value = json_object(), *parts = NULL;
	json_object_set_new(value, "id", json_string(buffer->name));
	set_integer(value, "lower", buffer->start);
	set_integer(value, "upper", buffer->end);
	set_integer(value, "size", buffer->size);
	json_object_set_new(value, "offset",
		placement->addresses[i] == UNPLACED ? json_null()
						    : json_integer(placement->addresses[i]));
	if (placement->in_place_of[i] >= 0)
		json_object_set_new(value, "in_place_of",
			json_string(report->packing->buffers[placement->in_place_of[i]].name));
	for (; *part < placement->part_count && (size_t)placement->parts[*part].buffer == i;
		++*part) {
		json_t *piece = json_object();
		set_integer(piece, "from", placement->parts[*part].from);
		set_integer(piece, "to", placement->parts[*part].to);
		set_integer(piece, "offset", placement->parts[*part].address);
		parts = parts ? parts : json_array();
		json_array_append_new(parts, piece);
	}
	if (parts)
		json_object_set_new(value, "parts", parts);
	return value;
}

static void add_found(json_t *root, const struct place_report *report)
{
	const struct packing *packing = report->packing;
	static const char *const proofs[] = {[PROOF_NONE] = "none",
		[PROOF_OPTIMAL] = "optimal",
		[PROOF_BOUND] = "bound",
		[PROOF_INFEASIBLE] = "none",
		[PROOF_BUDGET] = "none"};
	int64_t peak = placement_peak(packing, report->placement), value = peak;
	set_integer(root, "peak", peak);
	set_integer(root, "placed", (int64_t)placement_count(report->placement));
	if (packing->goal == PACKING_SPILL) {
		value = placement_saved(packing, report->placement);
		set_integer(root, "saved", value);
		set_integer(root, "weights", packing_weights(packing));
	}
	if (packing->goal == PACKING_FIT)
		return;
	json_object_set_new(root, "proof", json_string(proofs[report->proof]));
	if (report->proof != PROOF_OPTIMAL && report->proof != PROOF_BOUND)
		return;
	set_integer(root, "bound", report->bound);
	set_integer(root, "gap",
		packing->goal == PACKING_SPILL ? report->bound - value : value - report->bound);
}

static json_t *core_value(const struct place_report *report)
{
	json_t *core = json_object(), *ids = json_array();
	for (size_t i = 0; i < report->core_count; i++)
		json_array_append_new(
			ids, json_string(report->packing->buffers[report->core[i]].name));
	if (report->core_by_load) {
		set_integer(core, "from", report->core_from);
		set_integer(core, "to", report->core_to);
	}
	json_object_set_new(core, "buffers", ids);
	return core;
}

const char *place_report_json(struct arena *arena, const struct place_report *report)
{
	static const char *const goals[] = {
		[PACKING_SPILL] = "spill", [PACKING_FIT] = "fit", [PACKING_PEAK] = "minimize"};
	static const char *const outcomes[] = {[VERDICT_YES] = "found",
		[VERDICT_NO] = "does not fit",
		[VERDICT_OPEN] = "undecided"};
	json_t *root = json_object();
	json_object_set_new(root, "goal", json_string(goals[report->packing->goal]));
	json_object_set_new(root, "status", json_string(outcomes[report->outcome]));
	json_object_set_new(root, "capacity",
		report->has_capacity ? json_integer(report->packing->capacity) : json_null());
	set_integer(root, "alignment", report->packing->alignment);
	set_integer(root, "load", place_report_load(report));
	if (report->placement)
		add_found(root, report);
	json_object_set_new(root, "solver", json_string(report->method));
	set_integer(root, "nodes", (int64_t)report->nodes);
	json_object_set_new(
		root, "limit", report->limit ? json_string(report->limit) : json_null());
	if (report->core_count)
		json_object_set_new(root, "core", core_value(report));
	if (report->placement) {
		json_t *buffers = json_array();
		size_t part = 0;
		for (size_t i = 0; i < report->packing->count; i++)
			json_array_append_new(buffers, buffer_value(report, i, &part));
		json_object_set_new(root, "buffers", buffers);
	}
	return json_text(arena, root);
}

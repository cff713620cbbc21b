#include "report/packing/place_report.h"
#include "report/run/json_text.h"

static json_t *buffer_value(const struct place_report *report, size_t i, size_t *part)
{
	const struct placement *placement = report->placement;
	const struct buffer *buffers = report->packing->buffers, *buffer = &buffers[i];
	int parent = placement->in_place_of[i];
	json_t *value = json_pack("{s:s, s:I, s:I, s:I, s:o, s:s*}", "id", buffer->name, "lower",
		(json_int_t)buffer->start, "upper", (json_int_t)buffer->end, "size",
		(json_int_t)buffer->size, "offset",
		placement->addresses[i] == UNPLACED ? json_null()
						    : json_integer(placement->addresses[i]),
		"in_place_of", parent >= 0 ? buffers[parent].name : NULL);
	json_t *parts = json_array();
	for (; *part < placement->part_count && (size_t)placement->parts[*part].buffer == i;
		++*part) {
		const struct residence_part *at = &placement->parts[*part];
		json_array_append_new(
			parts, json_pack("{s:I, s:I, s:I}", "from", (json_int_t)at->from, "to",
				       (json_int_t)at->to, "offset", (json_int_t)at->address));
	}
	if (json_array_size(parts))
		json_object_set(value, "parts", parts);
	json_decref(parts);
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
	json_object_update_new(root, json_pack("{s:I, s:I}", "peak", (json_int_t)peak, "placed",
					     (json_int_t)placement_count(report->placement)));
	if (packing->goal == PACKING_SPILL) {
		value = placement_saved(packing, report->placement);
		json_object_update_new(
			root, json_pack("{s:I, s:I}", "saved", (json_int_t)value, "weights",
				      (json_int_t)packing_weights(packing)));
	}
	if (packing->goal == PACKING_FIT)
		return;
	json_object_set_new(root, "proof", json_string(proofs[report->proof]));
	if (report->proof != PROOF_OPTIMAL && report->proof != PROOF_BOUND)
		return;
	int64_t gap =
		packing->goal == PACKING_SPILL ? report->bound - value : value - report->bound;
	json_object_update_new(root, json_pack("{s:I, s:I}", "bound", (json_int_t)report->bound,
					     "gap", (json_int_t)gap));
}

static json_t *core_value(const struct place_report *report)
{
	json_t *ids = json_array();
	for (size_t i = 0; i < report->core_count; i++)
		json_array_append_new(
			ids, json_string(report->packing->buffers[report->core[i]].name));
	return report->core_by_load
		       ? json_pack("{s:I, s:I, s:o}", "from", (json_int_t)report->core_from, "to",
				 (json_int_t)report->core_to, "buffers", ids)
		       : json_pack("{s:o}", "buffers", ids);
}

const char *place_report_json(struct arena *arena, const struct place_report *report)
{
	static const char *const goals[] = {
		[PACKING_SPILL] = "spill", [PACKING_FIT] = "fit", [PACKING_PEAK] = "minimize"};
	static const char *const outcomes[] = {[VERDICT_YES] = "found",
		[VERDICT_NO] = "does not fit",
		[VERDICT_OPEN] = "undecided"};
	const struct packing *packing = report->packing;
	json_t *root = json_pack("{s:s, s:s, s:o, s:I, s:I}", "goal", goals[packing->goal],
		"status", outcomes[report->outcome], "capacity",
		report->has_capacity ? json_integer(packing->capacity) : json_null(), "alignment",
		(json_int_t)packing->alignment, "load", (json_int_t)place_report_load(report));
	if (report->placement)
		add_found(root, report);
	json_object_update_new(
		root, json_pack("{s:s, s:I, s:s?}", "solver", report->method, "nodes",
			      (json_int_t)report->nodes, "limit", report->limit));
	if (report->core_count)
		json_object_set_new(root, "core", core_value(report));
	if (report->placement) {
		json_t *buffers = json_array();
		size_t part = 0;
		for (size_t i = 0; i < packing->count; i++)
			json_array_append_new(buffers, buffer_value(report, i, &part));
		json_object_set_new(root, "buffers", buffers);
	}
	return json_text(arena, root);
}

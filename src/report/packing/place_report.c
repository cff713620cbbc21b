#include "report/packing/place_report.h"

#include "base/arena.h"
#include "base/text.h"
#include "report/run/json_text.h"
#include "search/packing/unfit.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

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

enum { CORE_SHOWN = 40 };

int64_t place_report_load(const struct place_report *report)
{
	const struct load_curve *load = &report->load;
	return load->most < load->count ? load->steps[load->most].bytes : 0;
}

static const char *plural(size_t count)
{
	return count == 1 ? "" : "s";
}

static double percent(int64_t more, int64_t of)
{
	return of ? 100.0 * (double)more / (double)of : 0;
}

static void add_fit(struct text *text, const struct place_report *report)
{
	size_t count = report->packing->count;
	const char *subject = count == 1 ? "1 buffer fits" : "buffers fit";
	if (count != 1)
		text_add(text, "%zu ", count);
	text_add(text, "%s", subject);
	if (report->has_capacity)
		text_add(text, " into %" PRId64 " bytes", report->packing->capacity);
	text_add(text, ", peak %" PRId64 ", load %" PRId64,
		placement_peak(report->packing, report->placement), place_report_load(report));
}

static void add_peak(struct text *text, const struct place_report *report)
{
	int64_t peak = placement_peak(report->packing, report->placement);
	text_add(text, "%zu buffer%s, peak %" PRId64 ", load %" PRId64, report->packing->count,
		plural(report->packing->count), peak, place_report_load(report));
	if (report->proof == PROOF_OPTIMAL)
		text_add(text, ", proven least");
	else if (report->proof == PROOF_BOUND)
		text_add(text, ", none is below %" PRId64 ": gap %.2f %%", report->bound,
			percent(peak - report->bound, peak));
}

static void add_spill(struct text *text, const struct place_report *report)
{
	int64_t saved = placement_saved(report->packing, report->placement);
	int64_t all = packing_weights(report->packing);
	text_add(text,
		"%zu of %zu buffer%s kept in %" PRId64 " bytes, saved %" PRId64 " of %" PRId64,
		placement_count(report->placement), report->packing->count,
		plural(report->packing->count), report->packing->capacity, saved, all);
	if (report->proof == PROOF_OPTIMAL)
		text_add(text, ", proven most");
	else if (report->proof == PROOF_BOUND)
		text_add(text, ", at most %" PRId64 " can be", report->bound);
	if (report->proof == PROOF_BOUND && saved)
		text_add(text, ": gap %.3f %%", percent(report->bound - saved, saved));
	text_add(text, ", peak %" PRId64 ", load of all %" PRId64,
		placement_peak(report->packing, report->placement), place_report_load(report));
}

/* No layout: what the solver says of one. */
static void add_none(struct text *text, const struct place_report *report)
{
	size_t count = report->packing->count;
	text_add(text, "%zu buffer%s ", count, plural(count));
	if (report->packing->goal == PACKING_SPILL)
		text_add(text, "and nothing yet to keep of them");
	else if (report->outcome == VERDICT_OPEN)
		text_add(text, "may or may not fit");
	else
		text_add(text, "%s not fit", count == 1 ? "does" : "do");
	if (report->has_capacity)
		text_add(text, " %s %" PRId64 " bytes",
			report->packing->goal == PACKING_SPILL ? "in" : "into",
			report->packing->capacity);
	text_add(text, ", load %" PRId64, place_report_load(report));
}

const char *place_report_line(struct arena *arena, const struct place_report *report)
{
	static void (*const lines[])(struct text *, const struct place_report *) = {
		[PACKING_SPILL] = add_spill, [PACKING_FIT] = add_fit, [PACKING_PEAK] = add_peak};
	struct text text = text_open(arena);
	if (report->outcome == VERDICT_YES)
		lines[report->packing->goal](&text, report);
	else
		add_none(&text, report);
	text_add(&text, "; %s, %" PRIu64 " node%s", report->method, report->nodes,
		report->nodes == 1 ? "" : "s");
	if (report->limit)
		text_add(&text, ", cut short by: %s", report->limit);
	return text_read(&text);
}

static void add_core_head(struct text *text, const struct place_report *report)
{
	const struct packing *packing = report->packing;
	int64_t bytes = 0;
	for (size_t i = 0; i < report->core_count; i++)
		bytes += packing->buffers[report->core[i]].size;
	if (report->core_by_load)
		text_add(text,
			"from step %" PRId64 " to %" PRId64 " %zu buffer%s of together %" PRId64
			" bytes live%s",
			report->core_from, report->core_to, report->core_count,
			plural(report->core_count), bytes, report->core_count == 1 ? "s" : "");
	else if (report->core_count == 1)
		text_add(text, "this buffer does not fit even alone");
	else
		text_add(text, "these %zu buffers do not fit even alone", report->core_count);
	if (report->has_capacity)
		text_add(text, "; there are %" PRId64 " bytes%s",
			packing_room(text->arena, packing),
			packing->reserved_count ? " that are not reserved" : "");
	text_add(text, "\n");
}

const char *place_report_core(struct arena *arena, const struct place_report *report)
{
	struct text text = text_open(arena);
	if (!report->core_count)
		return "";
	add_core_head(&text, report);
	for (size_t i = 0; i < report->core_count && i < CORE_SHOWN; i++) {
		const struct buffer *buffer = &report->packing->buffers[report->core[i]];
		text_add(&text,
			"  %s:%d: '%s' of %" PRId64 " byte%s lives in [%" PRId64 ", %" PRId64 ")",
			report->file->source->name, report->file->rows[report->core[i] + 1].line,
			buffer->name, buffer->size, buffer->size == 1 ? "" : "s", buffer->start,
			buffer->end);
		if (buffer->is_fixed)
			text_add(&text, ", fixed at %" PRId64, buffer->address);
		text_add(&text, "\n");
	}
	if (report->core_count > CORE_SHOWN)
		text_add(&text, "  and %zu more\n", report->core_count - CORE_SHOWN);
	return text_read(&text);
}

static void add_row(
	struct text *text, const struct place_report *report, size_t i, int width, size_t *part)
{
	const struct buffer *buffer = &report->packing->buffers[i];
	struct text offset = text_open(text->arena);
	packing_write_offset(&offset, report->placement, i, part);
	const char *where = text_read(&offset);
	int parent = report->placement->in_place_of[i];
	text_add(text, "%-*s %12" PRId64 " %12" PRId64 " %14" PRId64 "  %s%s%s\n", width,
		buffer->name, buffer->start, buffer->end, buffer->size, *where ? where : "-",
		parent >= 0 ? "  in place of " : "",
		parent >= 0 ? report->packing->buffers[parent].name : "");
}

const char *place_report_text(struct arena *arena, const struct place_report *report)
{
	struct text text = text_open(arena);
	text_add(&text, "%s\n", place_report_line(arena, report));
	text_add(&text, "%s", place_report_core(arena, report));
	if (!report->placement)
		return text_read(&text);
	int width = 8;
	size_t part = 0;
	for (size_t i = 0; i < report->packing->count; i++) {
		size_t length = strlen(report->packing->buffers[i].name);
		width = length > (size_t)width && length <= 40 ? (int)length : width;
	}
	text_add(&text, "\n%-*s %12s %12s %14s  %s\n", width, "id", "lower", "upper", "size",
		"offset");
	for (size_t i = 0; i < report->packing->count; i++)
		add_row(&text, report, i, width, &part);
	return text_read(&text);
}

enum { LINE_MOST = 90 };

static void add_buffer(struct text *text, const struct buffer *buffer)
{
	const char *word = json_dump(text->arena, json_string(buffer->name), JSON_ENCODE_ANY);
	text_add(text, "  - {id: %s, lower: %" PRId64 ", upper: %" PRId64 ", size: %" PRId64 "}\n",
		word, buffer->start, buffer->end, buffer->size);
}

static void add_tree(struct text *text, const struct unfit_proof *proof)
{
	size_t line = 0;
	text_add(text, "  proof:");
	for (size_t i = 0; i < proof->count; i++) {
		const struct unfit_node *node = &proof->nodes[i];
		if (i == 0 || text->length - line > LINE_MOST) {
			text_add(text, "\n  -");
			line = text->length;
		}
		if (node->a < 0)
			text_add(text, " x");
		else
			text_add(text, " %d/%d", node->a, node->b);
	}
	text_add(text, "\n");
}

const char *unfit_yaml(
	struct arena *arena, const struct packing *packing, const struct unfit_proof *proof)
{
	struct text text = text_open(arena);
	size_t leaves = 0;
	for (size_t i = 0; i < proof->count; i++)
		leaves += proof->nodes[i].a < 0;
	text_add(&text,
		"certificate:\n  version: 1\n  claim: does not fit\n  capacity: %" PRId64
		"\n  alignment: %" PRId64 "\n  reserved: [",
		packing->capacity, packing->alignment);
	for (size_t i = 0; i < packing->reserved_count; i++)
		text_add(&text, "%s[%" PRId64 ", %" PRId64 "]", i ? ", " : "",
			packing->reserved[i].from, packing->reserved[i].to);
	text_add(&text, "]\n  buffers:\n");
	for (size_t i = 0; i < packing->count; i++)
		add_buffer(&text, &packing->buffers[i]);
	text_add(&text, "  forks: %zu\n  leaves: %zu\n", proof->count - leaves, leaves);
	add_tree(&text, proof);
	return text_read(&text);
}

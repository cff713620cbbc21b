#include "report/packing/capture_report.h"

#include "base/arena.h"
#include "base/text.h"
#include "report/run/json_text.h"
#include "report/run/listing.h"

#include <inttypes.h>
#include <string.h>

static size_t count_kept(const struct capture *capture, const struct capture_answer *answer)
{
	size_t kept = 0;
	for (size_t b = 0; b < capture->count; b++)
		kept += answer->addresses[b] != UNPLACED;
	return kept;
}

static const char *proof_text(struct arena *arena, const struct capture_row *row)
{
	const struct capture_found *found = &row->found;
	if (found->is_proven)
		return "proven";
	if (found->answer->cost.spilled == found->bound)
		return "bytes proven";
	return arena_format(arena, ">= %" PRId64, found->bound);
}

/* The published answer's cost, or that it is illegal. */
static const char *published_text(struct arena *arena, const struct capture_row *row)
{
	if (!row->question.capture->published)
		return "";
	if (row->published_fault)
		return "illegal";
	return arena_format(arena, "%" PRId64 "/%" PRId64 "/%" PRId64, row->published.spilled,
		-row->published.idle, row->published.squares);
}

static void add_row(struct arena *arena, struct listing *listing, const struct capture_row *row)
{
	const struct capture *capture = row->question.capture;
	const struct capture_answer *answer = row->found.answer;
	listing_cell(listing, "%s", capture->name);
	listing_cell(listing, "%" PRId64, row->question.capacity);
	listing_cell(listing, "%s%zu",
		answer ? arena_format(arena, "%zu/", count_kept(capture, answer)) : "",
		capture->count);
	if (answer) {
		listing_cell(listing, "%" PRId64, answer->cost.spilled);
		listing_cell(listing, "%" PRId64, -answer->cost.idle);
		listing_cell(listing, "%" PRId64, answer->cost.squares);
		listing_cell(listing, "%s", proof_text(arena, row));
	}
	for (int i = 0; !answer && i < 4; i++)
		listing_cell(listing, "%s", "");
	listing_cell(listing, "%s", published_text(arena, row));
}

const char *capture_report_text(struct arena *arena, const struct capture_row *rows, size_t count)
{
	static const char *const titles[] = {"<case", "capacity", "in LX", "spilled", "cores",
		"squares", "<proof", "<in the file", NULL};
	struct listing *listing = listing_open(arena, titles);
	struct text text = text_open(arena);
	for (size_t i = 0; i < count; i++)
		add_row(arena, listing, &rows[i]);
	text_add(&text, "%s", listing_text(listing));
	for (size_t i = 0; i < count; i++) {
		if (rows[i].published_fault)
			text_add(&text, "%s: the file's answer is illegal: %s\n",
				rows[i].question.capture->name, rows[i].published_fault);
		if (rows[i].found.reason)
			text_add(&text, "%s: not proven: %s\n", rows[i].question.capture->name,
				rows[i].found.reason);
	}
	return text_read(&text);
}

/* One buffer in the format of "solved"; `input` is the buffer as the file has it. */
static json_t *solved_value(const struct capture_row *row, size_t b, const json_t *input)
{
	const struct capture_answer *answer = row->found.answer;
	int division = answer->divisions[b];
	int64_t address = answer->addresses[b];
	json_t *menu = json_object_get(input, "core_divisions");
	return json_pack("{s:s, s:i, s:o, s:b, s:O*}", "name",
		row->question.capture->buffers[b].name, "chosen_division", division, "address",
		address == UNPLACED ? json_null() : json_integer(address), "resident",
		address != UNPLACED, "chosen_splits", json_array_get(menu, (size_t)division));
}

/* What is said about an answer beside it. */
static json_t *claim_value(const struct capture_row *row)
{
	const struct capture_cost *cost = &row->found.answer->cost;
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:s, s:I, s:s*}", "capacity",
		(json_int_t)row->question.capacity, "alignment",
		(json_int_t)row->question.alignment, "spilled_bytes", (json_int_t)cost->spilled,
		"cores", (json_int_t)-cost->idle, "squares", (json_int_t)cost->squares, "proof",
		row->found.is_proven ? "optimal" : "bound", "bound", (json_int_t)row->found.bound,
		"reason", row->found.reason);
}

static json_t *case_value(const struct capture_row *row, json_t *item)
{
	json_t *inputs = json_object_get(item, "inputs"), *solved = json_array();
	for (size_t b = 0; b < row->question.capture->count; b++)
		json_array_append_new(solved, solved_value(row, b, json_array_get(inputs, b)));
	return json_pack(
		"{s:O, s:o, s:o}", "inputs", inputs, "solved", solved, "lxplore", claim_value(row));
}

const char *capture_report_json(struct arena *arena, const struct source *source,
	const struct capture_row *rows, size_t count)
{
	json_t *file = json_loadb(source->bytes, source->length, 0, NULL);
	json_t *root = json_object();
	for (size_t i = 0; file && i < count; i++) {
		const struct capture *capture = rows[i].question.capture;
		json_t *cases = json_object_get(root, capture->key);
		if (!cases) {
			cases = json_array();
			json_object_set_new(root, capture->key, cases);
		}
		json_t *item =
			json_array_get(json_object_get(file, capture->key), capture->position);
		json_array_append_new(cases, case_value(&rows[i], item));
	}
	json_decref(file);
	return json_dump(arena, root, JSON_COMPACT);
}

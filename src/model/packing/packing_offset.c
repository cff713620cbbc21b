#include "base/scan.h"
#include "base/text.h"
#include "model/packing/packing_read.h"
#include "model/packing/packing_sums.h"

#include <inttypes.h>
#include <string.h>

/* Where buffers lie, read from the column `offset` and written into it. */

static bool scan_step(const char **at, int64_t *out)
{
	bool negative = scan_text(at, "-");
	if (!scan_integer(at, out))
		return false;
	*out = negative ? -*out : *out;
	return true;
}

/* FROM-TO@ADDRESS */
static bool parse_part(const char *word, struct residence_part *out)
{
	return scan_step(&word, &out->from) && scan_text(&word, "-") &&
	       scan_step(&word, &out->to) && scan_text(&word, "@") &&
	       scan_integer(&word, &out->address) && scan_end(&word);
}

static void read_parts(struct packing_reading *r, int buffer, const char *list)
{
	char *word = arena_alloc(r->reading.arena, strlen(list) + 1);
	while (packing_next_word(&list, word)) {
		struct residence_part part = {.buffer = buffer};
		if (!parse_part(word, &part)) {
			diag_error(r->reading.diag, packing_cell_span(r, COLUMN_OFFSET),
				"'offset' of buffer '%s': '%s' is no FROM-TO@ADDRESS",
				r->buffers.at[buffer].name, word);
			return;
		}
		*array_add(r->reading.arena, &r->parts) = part;
	}
}

void packing_read_offset(struct packing_reading *r, int buffer)
{
	const char *text = packing_cell(r, COLUMN_OFFSET), *at = text;
	int64_t *address = array_add(r->reading.arena, &r->addresses);
	*address = UNPLACED;
	if (!text || (scan_integer(&at, address) && scan_end(&at)))
		return;
	*address = UNPLACED;
	if (strchr(text, '@'))
		read_parts(r, buffer, text);
	else
		diag_error(r->reading.diag, packing_cell_span(r, COLUMN_OFFSET),
			"'offset' of buffer '%s' is '%s'; it can be an address from 0 to %" PRId64
			", empty, or FROM-TO@ADDRESS;..",
			r->buffers.at[buffer].name, text, INT64_MAX);
}

struct placement *packing_placed(struct packing_reading *r, const struct packing *packing)
{
	size_t count = r->buffers.count;
	struct placement *placement = arena_new(r->reading.arena, struct placement);
	*placement = (struct placement){.count = count,
		.addresses = r->addresses.at,
		.in_place_of = arena_array(r->reading.arena, int, count),
		.part_count = r->parts.count,
		.parts = r->parts.at};
	placement_note(packing, placement);
	return placement;
}

void packing_write_offset(
	struct text *text, const struct placement *placement, size_t buffer, size_t *part)
{
	if (placement->addresses[buffer] != UNPLACED)
		text_add(text, "%" PRId64, placement->addresses[buffer]);
	const char *before = "";
	for (; *part < placement->part_count; ++*part) {
		const struct residence_part *at = &placement->parts[*part];
		if ((size_t)at->buffer != buffer)
			return;
		text_add(text, "%s%" PRId64 "-%" PRId64 "@%" PRId64, before, at->from, at->to,
			at->address);
		before = ";";
	}
}

const char *packing_write(
	struct arena *arena, const struct packing_file *file, const struct placement *placement)
{
	struct text text = text_open(arena);
	const char *bytes = file->source->bytes;
	size_t part = 0;
	for (size_t i = 0; i <= file->packing.count; i++) {
		struct packing_row row = file->rows[i];
		text_bytes(&text, bytes + row.from, row.offset_from - row.from);
		if (!file->has_offsets)
			text_bytes(&text, ",", 1);
		if (i == 0)
			text_bytes(&text, "offset", 6);
		else
			packing_write_offset(&text, placement, i - 1, &part);
		text_bytes(&text, bytes + row.offset_to, row.to - row.offset_to);
		text_bytes(&text, "\n", 1);
	}
	return text_read(&text);
}

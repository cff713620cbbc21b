#include "report/packing/place_report.h"

#include "base/amount.h"
#include "base/arena.h"
#include "base/array.h"
#include "base/number.h"
#include "base/text.h"
#include "report/run/json.h"
#include "report/run/listing.h"
#include "report/run/svg.h"
#include "search/packing/unfit.h"

#include <inttypes.h>
#include <math.h>
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

/* Everything but the buffers. */
static json_t *make_head(const struct place_report *report)
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
	return root;
}

json_t *place_report_json(const struct place_report *report)
{
	json_t *root = make_head(report);
	if (!report->placement)
		return root;
	json_t *buffers = json_array();
	size_t part = 0;
	for (size_t i = 0; i < report->packing->count; i++)
		json_array_append_new(buffers, buffer_value(report, i, &part));
	json_object_set_new(root, "buffers", buffers);
	return root;
}

enum { CORE_SHOWN = 40 };

int64_t place_report_load(const struct place_report *report)
{
	const struct load_curve *load = &report->load;
	return load->most < load->count ? load->steps[load->most].bytes : 0;
}

/* A result as `place_report_line` shows it, by goal. */
static const char *const found_lines[] = {
	[PACKING_SPILL] = "{placed} of {count} buffer{several?s} kept in {capacity} bytes, "
			  "saved {saved} of {weights}{is_proven?, proven most}"
			  "{is_bounded?, at most {bound} can be{share?: gap {share}}}, "
			  "peak {peak}, load of all {load}",
	[PACKING_FIT] = "{several?{count} buffers fit|1 buffer fits}"
			"{capacity? into {capacity} bytes}, peak {peak}, load {load}",
	[PACKING_PEAK] = "{count} buffer{several?s}, peak {peak}, load {load}"
			 "{is_proven?, proven least}"
			 "{is_bounded?, none is below {bound}{share?: gap {share}}}",
};

/* The same without a layout. */
static const char *none_line(const struct place_report *report)
{
	if (report->packing->goal == PACKING_SPILL)
		return "{count} buffer{several?s} and nothing yet to keep of them"
		       "{capacity? in {capacity} bytes}, load {load}";
	if (report->outcome == VERDICT_OPEN)
		return "{count} buffer{several?s} may or may not fit"
		       "{capacity? into {capacity} bytes}, load {load}";
	return "{several?{count} buffers do|1 buffer does} not fit"
	       "{capacity? into {capacity} bytes}, load {load}";
}

/* The gap in parts of the value that was found; NULL of none. */
static json_t *gap_share(const struct place_report *report, const json_t *tree)
{
	bool spills = report->packing->goal == PACKING_SPILL;
	double gap = json_number_value(json_object_get(tree, "gap"));
	double of = json_number_value(json_object_get(tree, spills ? "saved" : "peak"));
	return of > 0 ? json_sprintf(spills ? "%.3f %%" : "%.2f %%", 100 * gap / of) : NULL;
}

const char *place_report_line(struct arena *arena, const struct place_report *report)
{
	json_t *shown = make_head(report);
	bool found = report->outcome == VERDICT_YES;
	json_object_update_new(shown,
		json_pack("{s:I, s:b, s:b, s:b, s:b, s:o*}", "count",
			(json_int_t)report->packing->count, "several", report->packing->count != 1,
			"is_proven", report->proof == PROOF_OPTIMAL, "is_bounded",
			report->proof == PROOF_BOUND, "several_nodes", report->nodes != 1, "share",
			gap_share(report, shown)));
	const char *line = arena_format(arena, "%s%s",
		result_line(arena, shown,
			found ? found_lines[report->packing->goal] : none_line(report)),
		result_line(arena, shown,
			"; {solver}, {nodes} node{several_nodes?s}{limit?, cut short by: {limit}}"));
	json_decref(shown);
	return line;
}

static void add_core_head(struct text *text, const struct place_report *report)
{
	const struct packing *packing = report->packing;
	int64_t bytes = 0;
	for (size_t i = 0; i < report->core_count; i++)
		bytes += packing->buffers[report->core[i]].size;
	if (report->core_by_load)
		text_add(text,
			"in steps [%" PRId64 ", %" PRId64 ") %zu buffer%s live, %" PRId64
			" bytes in all",
			report->core_from, report->core_to, report->core_count,
			report->core_count == 1 ? " is" : "s are", bytes);
	else if (report->core_count == 1)
		text_add(text, "this buffer does not fit even alone");
	else
		text_add(text, "these %zu buffers do not fit even alone", report->core_count);
	if (report->has_capacity)
		text_add(text, "; the scratchpad has %" PRId64 " bytes%s",
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

const char *place_report_text(
	struct arena *arena, const struct place_report *report, const json_t *tree)
{
	static const struct result_column columns[] = {
		{"<id", "{id}", NULL},
		{"lower", "{lower}", NULL},
		{"upper", "{upper}", NULL},
		{"size", "{size}", NULL},
		{"<offset", "{stays}", NULL},
		{"<", "{in_place_of?in place of {in_place_of}}", NULL},
		{NULL, NULL, NULL},
	};
	struct text text = text_open(arena);
	json_t *shown = json_array(), *buffer;
	size_t i, part = 0;
	json_array_foreach(json_object_get(tree, "buffers"), i, buffer) {
		json_t *row = json_copy(buffer);
		struct text stays = text_open(arena);
		packing_write_offset(&stays, report->placement, i, &part);
		json_object_set_new(row, "stays", json_string(stays.length ? stays.at : "-"));
		json_array_append_new(shown, row);
	}
	text_add(&text, "%s\n%s%s", place_report_line(arena, report),
		place_report_core(arena, report), json_array_size(shown) ? "\n" : "");
	result_table(&text, shown, columns, NULL);
	json_decref(shown);
	return text_read(&text);
}

enum {
	WIDTH = 1240,
	LEFT = 100,
	RIGHT = 20,
	TOP = 76,
	PLOT_HEIGHT = 600,
	LOAD_HEIGHT = 110,
	LANES_HEIGHT = 110, /* at most */
	LANE = 8,           /* pixels of a bar, at most */
	GAP = 34,           /* between panels, with the labels of steps */
	LETTER = 6,         /* pixels of a letter of a name, about */
	NAME = 9,           /* its height */
	SHADES = 6,
};

/* A box of addresses, or a bar of what is spilled. */
struct svg_shape {
	int buffer;
	int64_t from, to, address; /* UNPLACED: a bar */
	int64_t seen;              /* where a box that takes its place begins, or `to` */
	size_t lane;
};

struct drawing {
	struct text text;
	const struct place_report *report;
	const struct place_svg_words *words;
	struct array(struct svg_shape) shapes;
	size_t left_out, lane_count;
	int64_t first, last;       /* steps shown, half-open */
	int64_t top;               /* addresses shown */
	int64_t smallest, largest; /* sizes */
	double lane;               /* pixels */
	int load_y, lanes_y, height;
};

static double x_of(const struct drawing *d, int64_t step)
{
	return LEFT +
	       (double)(step - d->first) / (double)(d->last - d->first) * (WIDTH - LEFT - RIGHT);
}

static double y_of(const struct drawing *d, int64_t address)
{
	return TOP + PLOT_HEIGHT * (1 - (double)address / (double)d->top);
}

/* --- what is drawn */

static void add_shape(struct drawing *d, int buffer, int64_t from, int64_t to, int64_t address)
{
	if (from < to)
		*array_add(d->text.arena, &d->shapes) =
			(struct svg_shape){buffer, from, to, address, to, 0};
}

/* The stays of a buffer, and the steps between them. */
static void add_stays(struct drawing *d, const struct placement *placement, size_t i, size_t *part)
{
	const struct buffer *buffer = &d->report->packing->buffers[i];
	int64_t since = buffer->start;
	if (placement->addresses[i] != UNPLACED) {
		add_shape(d, (int)i, buffer->start, buffer->end, placement->addresses[i]);
		return;
	}
	for (; *part < placement->part_count && (size_t)placement->parts[*part].buffer == i;
		++*part) {
		const struct residence_part *at = &placement->parts[*part];
		add_shape(d, (int)i, since, at->from, UNPLACED);
		add_shape(d, (int)i, at->from, at->to, at->address);
		since = at->to;
	}
	add_shape(d, (int)i, since, buffer->end, UNPLACED);
}

struct svg_order {
	const struct buffer *buffers;
	const struct svg_shape *shapes;
};

static double area_of(const struct svg_order *ordering, size_t i)
{
	const struct svg_shape *shape = &ordering->shapes[i];
	return (double)ordering->buffers[shape->buffer].size * (double)(shape->to - shape->from);
}

static int by_area(const void *left, const void *right, void *ordering)
{
	size_t i = *(const size_t *)left, j = *(const size_t *)right;
	double a = area_of(ordering, i), b = area_of(ordering, j);
	if (a != b)
		return a > b ? -1 : 1;
	return (i > j) - (i < j);
}

/* Leaves the smallest out if there are too many; the others keep their order. */
static void limit_shapes(struct drawing *d)
{
	size_t count = d->shapes.count, kept = 0;
	if (count <= PLACE_SVG_BOXES_MOST)
		return;
	struct svg_order ordering = {d->report->packing->buffers, d->shapes.at};
	size_t *order = arena_array(d->text.arena, size_t, count);
	bool *stays = arena_array(d->text.arena, bool, count);
	for (size_t i = 0; i < count; i++)
		order[i] = i;
	qsort_r(order, count, sizeof *order, by_area, &ordering);
	for (size_t i = 0; i < PLACE_SVG_BOXES_MOST; i++)
		stays[order[i]] = true;
	for (size_t i = 0; i < count; i++)
		if (stays[i])
			d->shapes.at[kept++] = d->shapes.at[i];
	d->left_out = count - kept;
	d->shapes.count = kept;
}

static int by_from(const void *left, const void *right)
{
	const struct svg_shape *a = *(struct svg_shape *const *)left,
			       *b = *(struct svg_shape *const *)right;
	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	return (a->buffer > b->buffer) - (a->buffer < b->buffer);
}

/* A box that takes the place of its parent hides the end of it. */
static void find_seen(struct drawing *d)
{
	const struct packing *packing = d->report->packing;
	const struct placement *placement = d->report->placement;
	struct svg_shape **of = arena_array(d->text.arena, struct svg_shape *, packing->count);
	for (size_t i = 0; i < d->shapes.count; i++)
		if (d->shapes.at[i].address != UNPLACED)
			of[d->shapes.at[i].buffer] = &d->shapes.at[i];
	for (size_t i = 0; i < d->shapes.count; i++) {
		const struct svg_shape *shape = &d->shapes.at[i];
		int parent = placement->in_place_of[shape->buffer];
		struct svg_shape *under = parent >= 0 ? of[parent] : NULL;
		if (under && shape->address != UNPLACED && shape->from > under->from)
			under->seen = number_min(under->seen, shape->from);
	}
}

/* Every bar takes the first lane that is free: no more lanes than bars at once. */
static void choose_lanes(struct drawing *d)
{
	struct arena *arena = d->text.arena;
	struct array(struct svg_shape *) bars = {0};
	for (size_t i = 0; i < d->shapes.count; i++)
		if (d->shapes.at[i].address == UNPLACED)
			*array_add(arena, &bars) = &d->shapes.at[i];
	if (!bars.count)
		return;
	int64_t *ends = arena_array(arena, int64_t, bars.count); /* of lanes */
	qsort(bars.at, bars.count, sizeof *bars.at, by_from);
	for (size_t i = 0; i < bars.count; i++) {
		size_t lane = 0;
		while (lane < d->lane_count && ends[lane] > bars.at[i]->from)
			lane++;
		bars.at[i]->lane = lane;
		ends[lane] = bars.at[i]->to;
		d->lane_count += lane == d->lane_count;
	}
	d->lane = fmin(LANE, (double)LANES_HEIGHT / (double)d->lane_count);
}

/* The capacity if the picture would not be mostly empty, or all of it is asked for; else the peak. */
static int64_t find_top(const struct place_report *report, bool whole)
{
	int64_t peak = report->placement ? placement_peak(report->packing, report->placement)
					 : place_report_load(report);
	int64_t capacity = report->packing->capacity;
	if (!report->placement && report->has_capacity)
		peak = number_max(peak, capacity);
	if (report->has_capacity && (whole || capacity / 4 <= peak))
		peak = number_max(peak, capacity);
	return number_max(peak, 1);
}

static void drawing_plan(struct drawing *d)
{
	const struct packing *packing = d->report->packing;
	const struct placement *placement = d->report->placement;
	size_t part = 0;
	d->smallest = INT64_MAX;
	d->first = packing->count ? INT64_MAX : 0;
	d->last = packing->count ? INT64_MIN : 1;
	for (size_t i = 0; i < packing->count; i++) {
		d->first = number_min(d->first, packing->buffers[i].start);
		d->last = number_max(d->last, packing->buffers[i].end);
		d->smallest = number_min(d->smallest, packing->buffers[i].size);
		d->largest = number_max(d->largest, packing->buffers[i].size);
		if (placement)
			add_stays(d, placement, i, &part);
	}
	d->top = find_top(d->report, d->words->whole);
	limit_shapes(d);
	if (placement)
		find_seen(d);
	choose_lanes(d);
	d->load_y = TOP + PLOT_HEIGHT + GAP;
	d->lanes_y = d->load_y + LOAD_HEIGHT + GAP;
	d->height =
		d->lanes_y + (d->lane_count ? (int)ceil(d->lane * (double)d->lane_count) + 16 : 0);
}

/* --- the drawing */

/* Adds a legend of the colours that occur. */
static void add_legend(struct drawing *d)
{
	const struct placement *placement = d->report->placement;
	bool moved = false;
	for (size_t i = 0; placement && i < placement->count; i++)
		moved |= placement->in_place_of[i] >= 0;
	const struct {
		const char *class, *text;
		int width;
		bool there;
	} entries[] = {{"k3", "kept (darker: larger)", 150, true},
		{"p3", "in a parent's place", 140, moved}, {"s", "spilled", 80, d->lane_count > 0},
		{"r", "reserved", 100, d->report->packing->reserved_count > 0}};
	int x = LEFT;
	for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
		if (!entries[i].there)
			continue;
		text_add(&d->text,
			"<rect class=\"%s\" x=\"%d\" y=\"46\" width=\"12\" height=\"12\"/>",
			entries[i].class, x);
		svg_label(&d->text, x + 16, 56, "", entries[i].text);
		x += entries[i].width;
	}
	if (d->left_out)
		svg_label(&d->text, x, 56, "",
			arena_format(d->text.arena, "%zu smaller boxes are left out", d->left_out));
}

static void add_head(struct drawing *d)
{
	static const char style[] =
		"rect{stroke:#fff;stroke-width:.4}.n{font-size:9px;pointer-events:none}"
		".c{stroke:#c22;stroke-width:1;stroke-dasharray:4 3}.r{fill:#999;fill-opacity:.5}"
		".k0{fill:#dbe9f6}.k1{fill:#bad6eb}.k2{fill:#89bedc}.k3{fill:#539ecd}"
		".k4{fill:#2b7bba}.k5{fill:#0b559f}.p0{fill:#e5f5e0}.p1{fill:#c7e9c0}"
		".p2{fill:#a1d99b}.p3{fill:#74c476}.p4{fill:#41ab5d}.p5{fill:#238b45}"
		".s{fill:#e6842a}.k4n,.k5n,.p4n,.p5n{fill:#fff}";
	svg_head(&d->text, WIDTH, d->height, style);
	svg_label(&d->text, LEFT, 18, " font-size=\"13\"", d->words->title);
	svg_label(&d->text, LEFT, 36, "", d->words->line);
	add_legend(d);
}

/* Lines of addresses in a panel whose `bytes` are `height` pixels, lowest at y. */
static void add_bytes_axis(struct drawing *d, double y, double height, int64_t bytes, int most)
{
	int64_t step = svg_step(bytes, most, true);
	for (int64_t at = 0; at <= bytes; at += step) {
		double line = y - height * (double)at / (double)bytes;
		text_add(&d->text,
			"<line class=\"g\" x1=\"%d\" y1=\"%.2f\" x2=\"%d\" y2=\"%.2f\"/>"
			"<text x=\"%d\" y=\"%.2f\" text-anchor=\"end\">%s</text>\n",
			LEFT, line, WIDTH - RIGHT, line, LEFT - 6, line + 4,
			amount_text(d->text.arena, AMOUNT_BYTES, (double)at));
	}
}

/* Adds ticks at the beginnings of steps, or names in their middle, numbers if names do not fit. */
static void add_steps_axis(struct drawing *d, int y)
{
	static const char middle[] = " text-anchor=\"middle\"";
	int64_t step = svg_step(d->last - d->first, 10, false);
	int64_t at = d->first / step * step;
	double wide = x_of(d, d->first + 1) - x_of(d, d->first);
	for (at += at < d->first ? step : 0; !d->words->steps && at <= d->last; at += step)
		svg_label(&d->text, x_of(d, at), y, middle,
			arena_format(d->text.arena, "%" PRId64, at));
	for (at = d->first; d->words->steps && at < d->last; at++) {
		const char *name = d->words->steps[at];
		if ((double)(LETTER * utf8_count(name, strlen(name))) >= wide)
			name = at % step ? "" : arena_format(d->text.arena, "%" PRId64, at);
		if (*name)
			svg_label(&d->text, x_of(d, at) + wide / 2, y, middle, name);
	}
}

static int shade_of(const struct drawing *d, int64_t size)
{
	if (d->smallest == d->largest)
		return SHADES / 2;
	double least = log2((double)d->smallest + 1), most = log2((double)d->largest + 1);
	int shade = (int)(SHADES * (log2((double)size + 1) - least) / (most - least));
	return shade < SHADES ? shade : SHADES - 1;
}

static void add_tooltip(struct drawing *d, const struct svg_shape *shape)
{
	const struct buffer *buffer = &d->report->packing->buffers[shape->buffer];
	int parent = d->report->placement->in_place_of[shape->buffer];
	text_add(&d->text, "<title>");
	xml_text(&d->text, buffer->name);
	text_add(&d->text, ": %" PRId64 " bytes", buffer->size);
	if (shape->address == UNPLACED)
		text_add(&d->text, " spilled");
	else
		text_add(&d->text, " at %" PRId64, shape->address);
	text_add(&d->text, ", steps [%" PRId64 ", %" PRId64 ")", shape->from, shape->to);
	if (parent >= 0) {
		text_add(&d->text, ", in place of ");
		xml_text(&d->text, d->report->packing->buffers[parent].name);
	}
	text_add(&d->text, "</title></rect>\n");
}

static void add_box(struct drawing *d, const struct svg_shape *shape)
{
	const struct buffer *buffer = &d->report->packing->buffers[shape->buffer];
	double x = x_of(d, shape->from), width = x_of(d, shape->to) - x;
	double seen = x_of(d, shape->seen) - x;
	double y = y_of(d, shape->address + buffer->size), height = y_of(d, shape->address) - y;
	char kind = d->report->placement->in_place_of[shape->buffer] >= 0 ? 'p' : 'k';
	int shade = shade_of(d, buffer->size);
	text_add(&d->text,
		"<rect class=\"%c%d\" x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\">", kind,
		shade, x, y, width, height);
	add_tooltip(d, shape);
	size_t letters = utf8_count(buffer->name, strlen(buffer->name));
	if (height < NAME + 1 || seen < (double)(letters * LETTER + 4))
		return;
	text_add(&d->text, "<text class=\"n %c%dn\" x=\"%.2f\" y=\"%.2f\" text-anchor=\"middle\">",
		kind, shade, x + seen / 2, y + height / 2 + 3);
	xml_text(&d->text, buffer->name);
	text_add(&d->text, "</text>\n");
}

static void add_bar(struct drawing *d, const struct svg_shape *shape)
{
	double x = x_of(d, shape->from);
	text_add(&d->text,
		"<rect class=\"s\" x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\">", x,
		d->lanes_y + d->lane * (double)shape->lane, x_of(d, shape->to) - x, d->lane);
	add_tooltip(d, shape);
}

static void add_reserved(struct drawing *d)
{
	const struct packing *packing = d->report->packing;
	for (size_t i = 0; i < packing->reserved_count; i++) {
		int64_t from = number_min(packing->reserved[i].from, d->top);
		int64_t to = number_min(packing->reserved[i].to, d->top);
		if (from < to)
			text_add(&d->text,
				"<rect class=\"r\" x=\"%d\" y=\"%.2f\" width=\"%d\" "
				"height=\"%.2f\"><title>reserved: [%" PRId64 ", %" PRId64
				")</title></rect>\n",
				LEFT, y_of(d, to), WIDTH - LEFT - RIGHT,
				y_of(d, from) - y_of(d, to), packing->reserved[i].from,
				packing->reserved[i].to);
	}
}

static void add_capacity(struct drawing *d, double y)
{
	text_add(&d->text,
		"<line class=\"c\" x1=\"%d\" y1=\"%.2f\" x2=\"%d\" y2=\"%.2f\"><title>capacity %" PRId64
		"</title></line>\n",
		LEFT, y, WIDTH - RIGHT, y, d->report->packing->capacity);
}

/* A curve as one area: in each column of pixels the highest load of its steps. */
static void add_curve(struct drawing *d, struct load_curve curve, const char *colour, int64_t bytes)
{
	enum { COLUMNS = WIDTH - LEFT - RIGHT };
	int64_t *most = arena_array(d->text.arena, int64_t, COLUMNS);
	for (size_t i = 0; i + 1 < curve.count; i++) {
		int column = (int)(x_of(d, curve.steps[i].from) - LEFT);
		int end = (int)ceil(x_of(d, curve.steps[i + 1].from) - LEFT);
		for (; column < end && column < COLUMNS; column++)
			most[column] = number_max(most[column], curve.steps[i].bytes);
	}
	text_add(&d->text, "<path fill=\"%s\" d=\"M%d %d", colour, LEFT, d->load_y + LOAD_HEIGHT);
	for (int column = 0; column < COLUMNS; column++)
		if (column == 0 || most[column] != most[column - 1])
			text_add(&d->text, "H%dV%.2f", LEFT + column,
				d->load_y +
					LOAD_HEIGHT * (1 - (double)most[column] / (double)bytes));
	text_add(&d->text, "H%dV%dZ\"/>\n", WIDTH - RIGHT, d->load_y + LOAD_HEIGHT);
}

static void add_load(struct drawing *d)
{
	const struct place_report *report = d->report;
	int64_t bytes = number_max(place_report_load(report), 1),
		capacity = report->packing->capacity;
	if (report->has_capacity && capacity / 4 <= bytes)
		bytes = number_max(bytes, capacity);
	add_curve(d, report->load, "#bbb", bytes);
	if (report->placement)
		add_curve(d, load_curve(d->text.arena, report->packing, report->placement),
			"#539ecd", bytes);
	add_bytes_axis(d, d->load_y + LOAD_HEIGHT, LOAD_HEIGHT, bytes, 4);
	if (report->has_capacity && capacity <= bytes)
		add_capacity(d, d->load_y + LOAD_HEIGHT * (1 - (double)capacity / (double)bytes));
	text_add(&d->text, "<text x=\"%d\" y=\"%d\">load</text>\n", LEFT + 2, d->load_y - 4);
	add_steps_axis(d, d->load_y + LOAD_HEIGHT + 14);
}

const char *place_svg(
	struct arena *arena, const struct place_report *report, const struct place_svg_words *words)
{
	struct drawing d = {.text = text_open(arena), .report = report, .words = words};
	drawing_plan(&d);
	add_head(&d);
	add_bytes_axis(&d, TOP + PLOT_HEIGHT, PLOT_HEIGHT, d.top, 16);
	add_reserved(&d);
	for (size_t i = 0; i < d.shapes.count; i++)
		if (d.shapes.at[i].address != UNPLACED)
			add_box(&d, &d.shapes.at[i]);
	if (report->has_capacity && report->packing->capacity <= d.top)
		add_capacity(&d, y_of(&d, report->packing->capacity));
	add_steps_axis(&d, TOP + PLOT_HEIGHT + 14);
	add_load(&d);
	if (d.lane_count)
		text_add(&d.text, "<text x=\"%d\" y=\"%d\">spilled</text>\n", LEFT + 2,
			d.lanes_y - 4);
	for (size_t i = 0; i < d.shapes.count; i++)
		if (d.shapes.at[i].address == UNPLACED)
			add_bar(&d, &d.shapes.at[i]);
	text_add(&d.text, "</svg>\n");
	return text_read(&d.text);
}

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

static void add_row_captures(
	struct arena *arena, struct listing *listing, const struct capture_row *row)
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
		add_row_captures(arena, listing, &rows[i]);
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

/* Returns the proof of an answer as JSON. */
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

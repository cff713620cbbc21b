#include "report/nest/nest_array_report.h"

#include "base/text.h"

#include <inttypes.h>

static const char *const axes[] = {"X", "Y"};

static json_t *make_loops(const struct nest_report *report)
{
	const struct nest_projection *projection = report->projection;
	json_t *list = json_array();
	for (int k = 0; k < projection->loop_count; k++) {
		const struct nest_projected_loop *loop = &projection->loops[k];
		json_array_append_new(list,
			json_pack("{s:s, s:s, s:I, s:[I, I], s:I}", "dimension",
				report->shape->dimensions[loop->dimension].name, "level",
				report->arch->levels[loop->row].name, "bound",
				(json_int_t)loop->bound, "allocation", (json_int_t)loop->space[0],
				(json_int_t)loop->space[1], "schedule", (json_int_t)loop->time));
	}
	return list;
}

static json_t *make_channels(const struct nest_report *report)
{
	json_t *object = json_object();
	for (int t = 0; t < report->shape->space_count; t++) {
		json_t *along = json_array();
		for (int y = 0; y < 2; y++)
			if (report->projection->spaces[t].along[y])
				json_array_append_new(along, json_string(axes[y]));
		json_object_set_new(object, report->shape->spaces[t].name,
			json_pack("{s:s, s:o}", "kind",
				nest_channel_names[report->projection->spaces[t].channel], "along",
				along));
	}
	return object;
}

json_t *nest_array_json(const struct nest_report *report)
{
	const struct nest_projection *projection = report->projection;
	return json_pack("{s:[I, I], s:I, s:b, s:I, s:I, s:I, s:I, s:o, s:o}", "pes",
		(json_int_t)projection->extent[0], (json_int_t)projection->extent[1], "passes",
		(json_int_t)projection->passes, "overlap", projection->overlap, "steps",
		(json_int_t)projection->steps, "cycles_per_step", (json_int_t)projection->rate,
		"skew_cycles", (json_int_t)projection->skew_cycles, "load_cycles",
		(json_int_t)projection->load_cycles, "loops", make_loops(report), "channels",
		make_channels(report));
}

/* Whether the loop is in a sum: of an axis (0, 1), else of time. */
static bool is_of(const struct nest_projected_loop *loop, int axis)
{
	return axis < 2 ? loop->space[axis] > 0 : !loop->space[0] && !loop->space[1];
}

/* Loops of the same dimension that its name could mean: anything in space, if it is of time. */
static int count_named(const struct nest_projection *projection, int k)
{
	const struct nest_projected_loop *loop = &projection->loops[k];
	int count = 0;
	for (int i = 0; i < projection->loop_count; i++)
		count += projection->loops[i].dimension == loop->dimension &&
			 (is_of(loop, 2) || !is_of(&projection->loops[i], 2));
	return count;
}

static void add_term(struct text *text, bool *any, int64_t factor)
{
	text_add(text, *any ? " + " : " ");
	if (factor != 1)
		text_add(text, "%" PRId64 " ", factor);
	*any = true;
}

/* "X = N", "t = 4 K@buffer + K@register + X". */
static void add_sum(struct text *text, const struct nest_report *report, int axis)
{
	const struct nest_projection *projection = report->projection;
	bool any = false, skewed[2] = {false, false};
	text_add(text, "%s =", axis < 2 ? axes[axis] : "t");
	for (int k = projection->loop_count - 1; k >= 0; k--) {
		const struct nest_projected_loop *loop = &projection->loops[k];
		for (int y = 0; y < 2; y++)
			skewed[y] |= loop->space[y] > 0 && loop->time > 0;
		if (!is_of(loop, axis))
			continue;
		add_term(text, &any, axis < 2 ? loop->space[axis] : loop->time);
		text_add(text, "%s", report->shape->dimensions[loop->dimension].name);
		if (count_named(projection, k) > 1)
			text_add(text, "@%s", report->arch->levels[loop->row].name);
	}
	for (int y = 0; axis == 2 && y < 2; y++)
		if (skewed[y]) {
			add_term(text, &any, 1);
			text_add(text, "%s", axes[y]);
		}
	if (!any)
		text_add(text, " 0");
}

static void add_channel(struct text *text, const struct nest_report *report, int t)
{
	static const char *const ways[] = {"", " along X", " along Y", " along X and Y"};
	const bool *along = report->projection->spaces[t].along;
	enum nest_channel channel = report->projection->spaces[t].channel;
	text_add(text, "%s%s %s%s", t ? ", " : "", report->shape->spaces[t].name,
		nest_channel_names[channel],
		channel == NEST_SYSTOLIC ? ways[along[0] + 2 * along[1]] : "");
}

void nest_array_text(struct text *text, const struct nest_report *report)
{
	const struct nest_projection *projection = report->projection;
	text_add(text, "projection   ");
	for (int axis = 0; axis < 3; axis++) {
		add_sum(text, report, axis);
		text_add(text, axis < 2 ? "; " : "");
	}
	text_add(text, "\n             ");
	for (int t = 0; t < report->shape->space_count; t++)
		add_channel(text, report, t);
	text_add(text,
		"\n             %" PRId64 " x %" PRId64 " PEs; passes: %" PRId64 " of %" PRId64
		" steps",
		projection->extent[0], projection->extent[1], projection->passes,
		projection->steps);
	if (projection->rate > 1)
		text_add(text, " of %" PRId64 " cycles", projection->rate);
	text_add(text, projection->overlap ? ", overlapping; " : " and ");
	text_add(text, "%" PRId64 " cycles of skew%s; %" PRId64 " cycles of loading in all\n",
		projection->skew_cycles, projection->overlap ? " once" : "",
		projection->load_cycles);
}

#include "calibrate/accuracy.h"

#include "base/arena.h"
#include "base/text.h"
#include "model/graph/workload_read.h"
#include "report/run/svg.h"
#include "search/drive/solver.h"
#include "search/graph/evaluate.h"
#include "search/graph/recipe.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* NaN: there is no plan. */
static double predict_row(
	const struct measured *row, const struct arch *arch, struct arena *arena, struct diag *diag)
{
	struct reading reading = {.arena = arena, .diag = diag};
	const struct workload *workload = workload_read(&reading, row->workload, arch_home(arch));
	if (!workload)
		return NAN;
	struct planning planning = planning_default(arch);
	if (row->cores && row->cores < planning.cores)
		planning.cores = (int)row->cores;
	planning.lx_planning = row->lx;
	struct recipe recipe = {
		.arch = planning_arch(arena, arch, &planning),
		.workload = workload,
		.planning = planning,
		.divide = solver_for(STAGE_DIVIDE, FOR_GRAPHS),
		.place = solver_for(STAGE_PLACE, FOR_GRAPHS),
		.seed = 1,
	};
	struct recipe_result made = recipe_plan(&recipe, arena);
	if (!made.plan)
		return NAN;
	struct outcome outcome = evaluate_cost(made.plan, arena);
	if (outcome.why || !outcome.cost.score.feasible)
		return NAN;
	double ns = arch_nanoseconds(arch, outcome.cost.score.estimate_cycles);
	return ns / 1000 * (double)row->repeats;
}

void accuracy_predict(
	const struct measured_set *set, const struct arch *arch, double *us, struct diag *diag)
{
	for (size_t i = 0; i < set->count; i++) {
		struct arena *arena = arena_open();
		us[i] = predict_row(&set->rows[i], arch, arena, diag);
		arena_close(arena);
	}
}

struct ranked {
	double value;
	size_t row;
};

static int compare_ranked(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;
	if (x->value != y->value)
		return x->value < y->value ? -1 : 1;
	return x->row < y->row ? -1 : x->row > y->row;
}

/* Ranks from 0, equal values share the mean of theirs. */
static void find_ranks(const double *values, size_t count, double *ranks, struct arena *arena)
{
	struct ranked *order = arena_array(arena, struct ranked, count);
	for (size_t i = 0; i < count; i++)
		order[i] = (struct ranked){values[i], i};
	qsort(order, count, sizeof *order, compare_ranked);
	for (size_t i = 0, end; i < count; i = end) {
		for (end = i + 1; end < count && order[end].value == order[i].value; end++)
			;
		for (size_t k = i; k < end; k++)
			ranks[order[k].row] = (double)(i + end - 1) / 2;
	}
}

static double rank_correlation(const double *a, const double *b, size_t count, struct arena *arena)
{
	double *x = arena_array(arena, double, count), *y = arena_array(arena, double, count);
	double mean = ((double)count - 1) / 2, xy = 0, xx = 0, yy = 0;
	find_ranks(a, count, x, arena);
	find_ranks(b, count, y, arena);
	for (size_t i = 0; i < count; i++) {
		xy += (x[i] - mean) * (y[i] - mean);
		xx += (x[i] - mean) * (x[i] - mean);
		yy += (y[i] - mean) * (y[i] - mean);
	}
	return count < 3 || xx == 0 || yy == 0 ? NAN : xy / sqrt(xx * yy);
}

/* Error of one prediction over rows given by number. */
static void find_errors(const struct measured_set *set, const double *predicted, const size_t *rows,
	size_t count, double *rms, double *bias, double *rank, struct arena *arena)
{
	double *a = arena_array(arena, double, count), *b = arena_array(arena, double, count);
	double sum = 0, squares = 0;
	for (size_t i = 0; i < count; i++) {
		double error = predicted[rows[i]] / set->rows[rows[i]].us - 1;
		a[i] = predicted[rows[i]];
		b[i] = set->rows[rows[i]].us;
		sum += error;
		squares += error * error;
	}
	*rms = sqrt(squares / (double)count);
	*bias = sum / (double)count;
	*rank = rank_correlation(a, b, count, arena);
}

static struct accuracy find_accuracy(
	const struct measured_set *set, const double *us, const char *category, struct arena *arena)
{
	struct accuracy out = {.category = category ? category : "all"};
	size_t *rows = arena_array(arena, size_t, set->count);
	double *peer = arena_array(arena, double, set->count);
	bool known = true;
	for (size_t i = 0; i < set->count; i++) {
		peer[i] = set->rows[i].peer_us;
		if ((category && !text_equal(category, set->rows[i].category)) || isnan(us[i]))
			continue;
		known &= peer[i] > 0;
		rows[out.rows++] = i;
	}
	out.peer_rms = out.peer_bias = out.peer_rank = NAN;
	find_errors(set, us, rows, out.rows, &out.rms, &out.bias, &out.rank, arena);
	if (known)
		find_errors(set, peer, rows, out.rows, &out.peer_rms, &out.peer_bias,
			&out.peer_rank, arena);
	return out;
}

size_t accuracy_table(const struct measured_set *set, const double *us, struct arena *arena,
	const struct accuracy **out)
{
	struct accuracy *table = arena_array(arena, struct accuracy, set->count + 1);
	size_t count = 0;
	for (size_t i = 0; i < set->count; i++) {
		bool seen = false;
		for (size_t k = 0; k < count; k++)
			seen |= text_equal(table[k].category, set->rows[i].category);
		if (!seen)
			table[count++] = find_accuracy(set, us, set->rows[i].category, arena);
	}
	table[count++] = find_accuracy(set, us, NULL, arena);
	*out = table;
	return count;
}

static void add_number(struct text *text, const char *form, double value, int width, bool markdown)
{
	if (isnan(value))
		text_add(text, markdown ? " -" : " %*s", width, "-");
	else
		text_add(text, form, width, value);
	if (markdown)
		text_add(text, " |");
}

const char *accuracy_text(
	struct arena *arena, const struct accuracy *table, size_t count, bool markdown)
{
	struct text text = text_open(arena);
	text_add(&text,
		markdown ? "| category | rows | RMS %% | bias %% | rank | peer RMS %% | peer "
			   "bias %% | peer rank |\n|---|---|---|---|---|---|---|---|\n"
			 : "category             rows  RMS %%  bias %%   rank   peer: RMS %%  bias "
			   "%%   rank\n");
	for (size_t i = 0; i < count; i++) {
		const struct accuracy *row = &table[i];
		text_add(&text, markdown ? "| %s | %zu |" : "%-19s %5zu", row->category, row->rows);
		add_number(&text, " %*.1f", 100 * row->rms, markdown ? 0 : 6, markdown);
		add_number(&text, " %*.1f", 100 * row->bias, markdown ? 0 : 7, markdown);
		add_number(&text, " %*.3f", row->rank, markdown ? 0 : 6, markdown);
		add_number(&text, " %*.1f", 100 * row->peer_rms, markdown ? 0 : 12, markdown);
		add_number(&text, " %*.1f", 100 * row->peer_bias, markdown ? 0 : 7, markdown);
		add_number(&text, " %*.3f", row->peer_rank, markdown ? 0 : 6, markdown);
		text_add(&text, "\n");
	}
	return text_read(&text);
}

enum { SIDE = 520, LEFT = 60, TOP = 20, LEGEND = 170 };

/* Powers of ten around all times. */
static void find_range(const struct measured_set *set, const double *us, int *least, int *most)
{
	*least = 9;
	*most = -9;
	for (size_t i = 0; i < set->count; i++) {
		double low = fmin(us[i], set->rows[i].us), high = fmax(us[i], set->rows[i].us);
		if (isnan(us[i]))
			continue;
		*least = (int)fmin(*least, floor(log10(low)));
		*most = (int)fmax(*most, ceil(log10(high)));
	}
}

static void draw_axes(struct text *text, struct arena *arena, int least, int most)
{
	for (int p = least; p <= most; p++) {
		double at = (double)SIDE * (p - least) / (most - least);
		const char *label = arena_format(arena, "%g us", pow(10, p));
		text_add(text, "<path class=\"g\" d=\"M%.1f %d V%d M%d %.1f H%d\"/>\n", LEFT + at,
			TOP, TOP + SIDE, LEFT, TOP + SIDE - at, LEFT + SIDE);
		svg_label(text, LEFT + at, TOP + SIDE + 16, " class=\"s\" text-anchor=\"middle\"",
			label);
		svg_label(text, LEFT - 4, TOP + SIDE - at + 4, " class=\"s\" text-anchor=\"end\"",
			label);
	}
	text_add(text, "<path d=\"M%d %d L%d %d\" stroke=\"#000\" fill=\"none\"/>\n", LEFT,
		TOP + SIDE, LEFT + SIDE, TOP);
	svg_label(text, LEFT + SIDE / 2.0, TOP + SIDE + 34, " text-anchor=\"middle\"",
		"measured time (line: predicted = measured)");
	svg_label(text, LEFT, TOP - 6, "", "predicted time");
}

const char *accuracy_svg(struct arena *arena, const struct measured_set *set, const double *us)
{
	const struct accuracy *table;
	size_t count = accuracy_table(set, us, arena, &table) - 1;
	struct text text = text_open(arena);
	int least, most;
	find_range(set, us, &least, &most);
	svg_head(&text, LEFT + SIDE + LEGEND, TOP + SIDE + 50, "");
	draw_axes(&text, arena, least, most);
	for (size_t c = 0; c < count; c++) {
		const char *colour = svg_colour((int64_t)c);
		for (size_t i = 0; i < set->count; i++) {
			if (isnan(us[i]) || !text_equal(set->rows[i].category, table[c].category))
				continue;
			double x = (log10(set->rows[i].us) - least) / (most - least);
			double y = (log10(us[i]) - least) / (most - least);
			text_add(&text,
				"<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2.5\" fill=\"%s\" "
				"fill-opacity=\"0.7\"/>\n",
				LEFT + SIDE * x, TOP + SIDE * (1 - y), colour);
		}
		double at = TOP + 8 + 15 * (double)c;
		text_add(&text, "<circle cx=\"%d\" cy=\"%.1f\" r=\"4\" fill=\"%s\"/>\n",
			LEFT + SIDE + 16, at, colour);
		svg_label(&text, LEFT + SIDE + 26, at + 4, " class=\"s\"", table[c].category);
	}
	text_add(&text, "</svg>\n");
	return text_read(&text);
}

#include "calibrate/fit.h"

#include "base/arena.h"
#include "base/text.h"
#include "model/machine/arch_read.h"
#include "spec/expr.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FIT_SCALE 0.1     /* of a log, for all rows at first: 10 % */
#define FIT_LEAST 0.03    /* a category is not taken for more exact */
#define FIT_ROBUST 2      /* errors above so many scales count by their size, not its square */
#define FIT_NORMAL 1.4826 /* standard deviation of a normal distribution over its median size */
#define FIT_CAUCHY 2.385  /* scales; 95 % as efficient as least squares if errors are normal */
#define FIT_STEP 0.02     /* of a difference: part of the value, at least of a tenth of the range */
#define FIT_CONFIDENCE 1.959964 /* standard deviations of 95 % of a normal distribution */
#define FIT_WIDEST 0.25         /* half an interval that determines something, in ranges */
#define FIT_GAIN 1e-4           /* a round that gains less, as a part, is the last one */
enum {
	FIT_MANY = 10,
	FIT_STAGES = 3,
	FIT_ROUNDS_MOST = 12,
	FIT_TRIES_MOST = 6,
	FIT_NAMED_MOST = 3
};

/* A fit at work; all arrays by attribute at work or by row. */
struct fitting {
	const struct machine_file *file;
	const struct measured_set *set;
	struct arena *arena;
	struct diag *diag;
	size_t rows, count; /* count: attributes that move */
	size_t moving[FREE_MOST];
	double *values;                  /* of all free attributes */
	double *logs, *weights, *scales; /* by row; NaN: no plan */
	double *slopes; /* d log / d (value / range), by attribute at work, then row */
	double covariance[FREE_MOST][FREE_MOST];
	int rounds;
	const char *left_out;
	bool cauchy; /* the loss, else Huber's */
	bool failed;
};

static double range_of(const struct fitting *fitting, size_t attribute)
{
	const struct free_attribute *free = &fitting->file->free[attribute];
	return free->most - free->least;
}

/* True if the category of a row is one of the names between commas. */
static bool is_left_out(const struct fitting *fitting, size_t row)
{
	const char *category = fitting->set->rows[row].category, *at = fitting->left_out;
	size_t length = strlen(category);
	for (; at && *at; at += strcspn(at, ","), at += *at == ',')
		if (strcspn(at, ",") == length && strncmp(at, category, length) == 0)
			return true;
	return false;
}

static void fitting_predict(struct fitting *fitting, const double *values, double *logs)
{
	struct arena *arena = arena_open();
	struct diag *diag = diag_open(fitting->arena);
	const struct arch *arch = machine_file_make(arena, fitting->file, values, diag);
	if (arch)
		accuracy_predict(fitting->set, arch, logs, diag);
	else if (!fitting->failed) {
		diag_take(fitting->diag, diag);
		fitting->failed = true;
	}
	for (size_t i = 0; i < fitting->rows; i++)
		logs[i] = arch && !is_left_out(fitting, i) ? log(logs[i] / fitting->set->rows[i].us)
							   : NAN;
	arena_close(arena);
}

/* Loss of one row whose error is `size` scales: Huber's, or Cauchy's. */
static double fitting_loss(const struct fitting *fitting, double size)
{
	if (isnan(size))
		return 0;
	if (fitting->cauchy)
		return FIT_CAUCHY * FIT_CAUCHY * log1p(size * size / (FIT_CAUCHY * FIT_CAUCHY));
	return size <= FIT_ROBUST ? size * size : FIT_ROBUST * (2 * size - FIT_ROBUST);
}

/* Weight of a row in least squares that have the same derivative as the loss. */
static double fitting_weight(const struct fitting *fitting, double size)
{
	if (isnan(size))
		return 0;
	if (fitting->cauchy)
		return 1 / (1 + size * size / (FIT_CAUCHY * FIT_CAUCHY));
	return size <= FIT_ROBUST ? 1 : FIT_ROBUST / size;
}

static double sum_losses(const struct fitting *fitting, const double *logs)
{
	double sum = 0;
	for (size_t i = 0; i < fitting->rows; i++)
		sum += fitting_loss(fitting, fabs(logs[i]) / fitting->scales[i]);
	return sum;
}

static int compare_sizes(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return x < y ? -1 : x > y;
}

/* Returns the median size of the errors of a category (NULL: of all rows), as a standard deviation; 0 if
 * there are too few rows. */
static double typical_size(const struct fitting *fitting, const char *category, double *sizes)
{
	size_t count = 0;
	for (size_t j = 0; j < fitting->rows; j++)
		if ((!category || text_equal(category, fitting->set->rows[j].category)) &&
			!isnan(fitting->logs[j]))
			sizes[count++] = fabs(fitting->logs[j]);
	qsort(sizes, count, sizeof *sizes, compare_sizes);
	return count && (!category || count >= FIT_MANY)
		       ? fmax(FIT_LEAST, FIT_NORMAL * sizes[count / 2])
		       : 0;
}

static void find_scales(struct fitting *fitting)
{
	double *sizes = arena_array(fitting->arena, double, fitting->rows);
	double all = typical_size(fitting, NULL, sizes);
	for (size_t i = 0; i < fitting->rows; i++) {
		double own = typical_size(fitting, fitting->set->rows[i].category, sizes);
		fitting->scales[i] = own > 0 ? own : all > 0 ? all : FIT_SCALE;
	}
}

static double *slope_at(const struct fitting *fitting, size_t k)
{
	return fitting->slopes + k * fitting->rows;
}

/* Slopes at the values: differences to one side, or half of those to both. */
static void find_slopes(struct fitting *fitting, bool both_sides)
{
	double *back = arena_array(fitting->arena, double, fitting->rows);
	double *moved = arena_array(fitting->arena, double, fitting->file->count + 1);
	for (size_t i = 0; i < fitting->rows; i++) {
		double scale = fitting->scales[i], size = fabs(fitting->logs[i]) / scale;
		fitting->weights[i] = fitting_weight(fitting, size) / (scale * scale);
	}
	for (size_t k = 0; k < fitting->count && !fitting->failed; k++) {
		size_t a = fitting->moving[k];
		const struct free_attribute *free = &fitting->file->free[a];
		double *slope = slope_at(fitting, k);
		double step = FIT_STEP * fmax(fabs(fitting->values[a]), range_of(fitting, a) / 10);
		if (free->whole)
			step = fmax(1, nearbyint(step));
		if (fitting->values[a] + step > free->most)
			step = -step;
		memcpy(moved, fitting->values, fitting->file->count * sizeof *moved);
		moved[a] += step;
		fitting_predict(fitting, moved, slope);
		double width = step;
		const double *from = fitting->logs;
		moved[a] = fitting->values[a] - step;
		if (both_sides && moved[a] >= free->least && moved[a] <= free->most) {
			fitting_predict(fitting, moved, back);
			from = back;
			width = 2 * step;
		}
		for (size_t i = 0; i < fitting->rows; i++) {
			slope[i] = (slope[i] - from[i]) / width * range_of(fitting, a);
			if (isnan(slope[i]))
				slope[i] = 0;
		}
	}
}

/* Weighted products of slopes; `damping` of the diagonal is added. */
static void find_normal(
	const struct fitting *fitting, double damping, double matrix[FREE_MOST][FREE_MOST])
{
	for (size_t k = 0; k < fitting->count; k++)
		for (size_t l = 0; l < fitting->count; l++) {
			double sum = 0;
			for (size_t i = 0; i < fitting->rows; i++)
				sum += fitting->weights[i] * slope_at(fitting, k)[i] *
				       slope_at(fitting, l)[i];
			matrix[k][l] = k == l ? sum * (1 + damping) + 1e-12 : sum;
		}
}

/* Solves a system of a symmetric positive definite matrix in place, by Gauss. */
static void fit_solve(double matrix[FREE_MOST][FREE_MOST], double *right, size_t count)
{
	for (size_t k = 0; k < count; k++)
		for (size_t r = k + 1; r < count; r++) {
			double factor = matrix[r][k] / matrix[k][k];
			for (size_t c = k; c < count; c++)
				matrix[r][c] -= factor * matrix[k][c];
			right[r] -= factor * right[k];
		}
	for (size_t k = count; k-- > 0;) {
		for (size_t c = k + 1; c < count; c++)
			right[k] -= matrix[k][c] * right[c];
		right[k] /= matrix[k][k];
	}
}

/* Steps in ranges, of which some are set already: those are put into the right sides of the others. */
static void solve_others(
	const struct fitting *fitting, double damping, const bool *set, double *steps)
{
	double matrix[FREE_MOST][FREE_MOST], right[FREE_MOST];
	find_normal(fitting, damping, matrix);
	for (size_t k = 0; k < fitting->count; k++) {
		right[k] = 0;
		for (size_t i = 0; i < fitting->rows; i++)
			if (fitting->weights[i] > 0)
				right[k] -= fitting->weights[i] * slope_at(fitting, k)[i] *
					    fitting->logs[i];
	}
	for (size_t k = 0; k < fitting->count; k++)
		for (size_t l = 0; set[k] && l < fitting->count; l++) {
			if (!set[l])
				right[l] -= matrix[l][k] * steps[k];
			matrix[k][l] = matrix[l][k] = k == l;
			right[k] = steps[k];
		}
	fit_solve(matrix, right, fitting->count);
	memcpy(steps, right, fitting->count * sizeof *steps);
}

/* Values after a step.  One that would leave its range stops at the end, and the others take the best step
 * beside that. */
static void fitting_find_step(const struct fitting *fitting, double damping, double *values)
{
	bool set[FREE_MOST] = {false}, more = true;
	double steps[FREE_MOST] = {0};
	while (more) {
		more = false;
		solve_others(fitting, damping, set, steps);
		for (size_t k = 0; k < fitting->count; k++) {
			size_t a = fitting->moving[k];
			const struct free_attribute *free = &fitting->file->free[a];
			double range = free->most - free->least, at = fitting->values[a];
			double low = (free->least - at) / range, high = (free->most - at) / range;
			if (set[k] || (steps[k] >= low && steps[k] <= high))
				continue;
			steps[k] = steps[k] < low ? low : high;
			set[k] = more = true;
		}
	}
	memcpy(values, fitting->values, fitting->file->count * sizeof *values);
	for (size_t k = 0; k < fitting->count; k++) {
		size_t a = fitting->moving[k];
		const struct free_attribute *free = &fitting->file->free[a];
		values[a] += steps[k] * range_of(fitting, a);
		if (free->whole)
			values[a] = nearbyint(values[a]);
		values[a] = fmin(free->most, fmax(free->least, values[a]));
	}
}

static void run_stage(struct fitting *fitting)
{
	double *values = arena_array(fitting->arena, double, fitting->file->count + 1);
	double *logs = arena_array(fitting->arena, double, fitting->rows);
	double damping = 1e-3, best = sum_losses(fitting, fitting->logs);
	for (int round = 0; round < FIT_ROUNDS_MOST && !fitting->failed; round++) {
		double before = best;
		find_slopes(fitting, false);
		fitting->rounds++;
		for (int t = 0; t < FIT_TRIES_MOST && best == before && !fitting->failed; t++) {
			fitting_find_step(fitting, damping, values);
			fitting_predict(fitting, values, logs);
			double sum = sum_losses(fitting, logs);
			damping *= sum < best ? 0.2 : 8;
			if (sum >= best)
				continue;
			best = sum;
			memcpy(fitting->values, values, fitting->file->count * sizeof *values);
			memcpy(fitting->logs, logs, fitting->rows * sizeof *logs);
		}
		if (before - best <= FIT_GAIN * before)
			break;
	}
}

/* Fits from the start, or, after an attribute was left, once more with the scales of the fit before. */
static void fitting_run(struct fitting *fitting, bool anew)
{
	for (size_t i = 0; i < fitting->rows && anew; i++)
		fitting->scales[i] = FIT_SCALE;
	for (int stage = anew ? 0 : FIT_STAGES - 1; stage < FIT_STAGES && !fitting->failed;
		stage++) {
		fitting->cauchy = stage > 0;
		if (stage)
			find_scales(fitting);
		run_stage(fitting);
	}
}

/* Rows that say something less attributes that move: at least 1. */
static double fitting_freedom(const struct fitting *fitting)
{
	double rows = 0;
	for (size_t i = 0; i < fitting->rows; i++)
		rows += fitting->weights[i] > 0;
	return fmax(1, rows - (double)fitting->count);
}

/*
 * Standard deviations squared, in ranges, of a robust fit (Huber and Ronchetti, Robust Statistics, 7.6): errors
 * count by the derivative of their loss, each with the weight of a small one, and what that takes from
 * their variance is given back by the mean of the second derivative.
 */
static void find_covariance(struct fitting *fitting)
{
	double sum = 0, rows = 0, uncut = 0;
	find_slopes(fitting, true);
	for (size_t i = 0; i < fitting->rows; i++)
		if (fitting->weights[i] > 0) {
			double scale = fitting->scales[i], size = fabs(fitting->logs[i]) / scale;
			double own = fitting_weight(fitting, size);
			sum += own * size * own * size;
			uncut += own * (2 * own - 1); /* the derivative of own x size */
			rows++;
			fitting->weights[i] = 1 / (scale * scale);
		}
	double share = rows > 0 ? fmax(uncut / rows, 0.5) : 1;
	double correction = rows > 0 ? 1 + (double)fitting->count / rows * (1 - share) / share : 1;
	double variance =
		sum / fitting_freedom(fitting) / (share * share) * correction * correction;
	for (size_t k = 0; k < fitting->count; k++) {
		double matrix[FREE_MOST][FREE_MOST], right[FREE_MOST] = {0};
		find_normal(fitting, 0, matrix);
		right[k] = variance;
		fit_solve(matrix, right, fitting->count);
		for (size_t l = 0; l < fitting->count; l++)
			fitting->covariance[l][k] = right[l];
	}
}

/* The categories that an attribute moves most: sums of squared slopes. */
static const char *find_rows(const struct fitting *fitting, size_t k)
{
	const struct measured *rows = fitting->set->rows;
	struct text text = text_open(fitting->arena);
	double all = 0, told = 0;
	const char *named[FIT_NAMED_MOST] = {0};
	for (size_t i = 0; i < fitting->rows; i++)
		all += slope_at(fitting, k)[i] * slope_at(fitting, k)[i];
	for (int n = 0; n < FIT_NAMED_MOST && told < 0.9 * all; n++) {
		const char *best = NULL;
		double most = 0;
		for (size_t i = 0; i < fitting->rows; i++) {
			double sum = 0;
			bool seen = false;
			for (int m = 0; m < n; m++)
				seen |= text_equal(named[m], rows[i].category);
			for (size_t j = i; !seen && j < fitting->rows; j++)
				if (text_equal(rows[j].category, rows[i].category))
					sum += slope_at(fitting, k)[j] * slope_at(fitting, k)[j];
			if (sum > most) {
				most = sum;
				best = rows[i].category;
			}
		}
		if (!best)
			break;
		named[n] = best;
		told += most;
		text_add(&text, "%s%s", n ? ", " : "", best);
	}
	return text_read(&text);
}

/*
 * The quantile of Student's t that has as much outside as the normal quantile z, by the expansion in 1 / degrees
 * of freedom of Abramowitz and Stegun, 26.7.5; of one and two degrees it is 12.71 and 4.303 for z = 1.96.
 */
static double student_quantile(double z, double degrees)
{
	if (degrees < 2.5) {
		double tail = erfc(z / sqrt(2)); /* both sides */
		return degrees < 1.5 ? tan(acos(-1) * (1 - tail) / 2)
				     : (1 - tail) * sqrt(2 / (tail * (2 - tail)));
	}
	double z2 = z * z, n = degrees;
	return z + z * (z2 + 1) / (4 * n) + z * ((5 * z2 + 16) * z2 + 3) / (96 * n * n) +
	       z * (((3 * z2 + 19) * z2 + 17) * z2 - 15) / (384 * n * n * n) +
	       z * ((((79 * z2 + 776) * z2 + 1482) * z2 - 1920) * z2 - 945) /
		       (92160 * n * n * n * n);
}

/* Half the interval of attribute k, in ranges. */
static double half_of(const struct fitting *fitting, size_t k)
{
	return student_quantile(FIT_CONFIDENCE, fitting_freedom(fitting)) *
	       sqrt(fmax(0, fitting->covariance[k][k]));
}

/* Takes an attribute away, at this value from now on. */
static void fitting_leave(
	struct fitting *fitting, struct fitted *attributes, size_t k, double value)
{
	size_t a = fitting->moving[k];
	attributes[a].determined = false;
	attributes[a].half = NAN;
	attributes[a].rows = "";
	fitting->values[a] = value;
	for (; k + 1 < fitting->count; k++)
		fitting->moving[k] = fitting->moving[k + 1];
	fitting->count--;
	fitting_predict(fitting, fitting->values, fitting->logs);
}

/* Takes the attribute with the widest interval away, if that is too wide; false: none is. */
static bool leave_widest(struct fitting *fitting, struct fitted *attributes)
{
	size_t widest = 0;
	for (size_t k = 1; k < fitting->count; k++)
		if (half_of(fitting, k) > half_of(fitting, widest))
			widest = k;
	if (!fitting->count || half_of(fitting, widest) <= FIT_WIDEST)
		return false;
	fitting_leave(
		fitting, attributes, widest, fitting->file->free[fitting->moving[widest]].value);
	return true;
}

/* Takes away the attributes that ran to an end of their range; false: none did.  At 0 the mechanism is off. */
static bool leave_ends(struct fitting *fitting, struct fitted *attributes)
{
	bool any = false;
	for (size_t k = fitting->count; k-- > 0;) {
		size_t a = fitting->moving[k];
		const struct free_attribute *free = &fitting->file->free[a];
		double value = fitting->values[a];
		if (value > free->least && value < free->most)
			continue;
		attributes[a].at_end = any = true;
		attributes[a].end = value;
		fitting_leave(fitting, attributes, k, value == 0 ? 0 : free->value);
	}
	return any;
}

static double root_mean(const struct fitting *fitting)
{
	double sum = 0, rows = 0;
	for (size_t i = 0; i < fitting->rows; i++)
		if (!isnan(fitting->logs[i])) {
			sum += fitting->logs[i] * fitting->logs[i];
			rows++;
		}
	return rows > 0 ? sqrt(sum / rows) : NAN;
}

bool fit_machine(const struct machine_file *file, const struct measured_set *set,
	const char *left_out, struct arena *arena, struct diag *diag, struct fit *out)
{
	struct fitting fitting = {.file = file,
		.set = set,
		.left_out = left_out,
		.arena = arena,
		.diag = diag,
		.rows = set->count,
		.count = file->count};
	struct fitted *attributes = arena_array(arena, struct fitted, file->count + 1);
	fitting.values = arena_array(arena, double, file->count + 1);
	fitting.logs = arena_array(arena, double, set->count);
	fitting.scales = arena_array(arena, double, set->count);
	fitting.weights = arena_array(arena, double, set->count);
	fitting.slopes = arena_array(arena, double, set->count *(file->count + 1));
	for (size_t a = 0; a < file->count; a++) {
		fitting.moving[a] = a;
		fitting.values[a] = file->free[a].value;
		attributes[a].determined = true;
	}
	fitting_predict(&fitting, fitting.values, fitting.logs);
	*out = (struct fit){.attributes = attributes, .values = fitting.values};
	out->before = root_mean(&fitting);
	if (isnan(out->before) && !fitting.failed)
		diag_error(diag, (struct span){0}, "no row has a plan on this machine");
	if (diag_failed(diag))
		return false;
	bool more = true;
	for (bool anew = true; more && !fitting.failed; anew = false) {
		fitting_run(&fitting, anew);
		more = leave_ends(&fitting, attributes);
		if (more)
			continue;
		find_covariance(&fitting);
		more = !fitting.failed && leave_widest(&fitting, attributes);
	}
	for (size_t k = 0; k < fitting.count; k++) {
		size_t a = fitting.moving[k];
		attributes[a].half = half_of(&fitting, k) * range_of(&fitting, a);
		attributes[a].rows = find_rows(&fitting, k);
	}
	for (size_t a = 0; a < file->count; a++)
		attributes[a].value = fitting.values[a];
	out->rounds = fitting.rounds;
	out->after = root_mean(&fitting);
	return !diag_failed(diag);
}

bool fit_folds(const struct machine_file *file, const struct measured_set *set, size_t folds,
	const char *left_out, struct arena *arena, struct diag *diag, double *us)
{
	double *part_us = arena_array(arena, double, set->count + 1);
	for (size_t fold = 0; fold < folds; fold++) {
		struct measured_set part = measured_part(arena, set, folds, fold, false);
		struct measured_set others = measured_part(arena, set, folds, fold, true);
		struct fit fit;
		if (!part.count || !others.count) {
			diag_error(diag, (struct span){0}, "the rows have fewer than %zu shapes",
				folds);
			return false;
		}
		if (!fit_machine(file, &others, left_out, arena, diag, &fit))
			return false;
		const struct arch *arch = machine_file_make(arena, file, fit.values, diag);
		if (!arch)
			return false;
		accuracy_predict(&part, arch, part_us, diag);
		for (size_t i = 0, k = 0; i < set->count; i++)
			if (set->rows[i].shape % folds == fold)
				us[i] = part_us[k++];
	}
	return true;
}

struct file_reading {
	struct arena *arena;
	struct diag *diag;
	const struct source *source;
	struct free_attribute *free;
	size_t count;
};

/* A number and its unit. */
static bool fit_split_node(const struct node *node, double *value, const char **unit)
{
	char *end;
	if (node->kind != NODE_SCALAR)
		return false;
	*value = strtod(node->text, &end);
	*unit = end;
	return end != node->text && isfinite(*value);
}

/* One end of a range, in the unit of the attribute. */
static bool read_end(struct file_reading *reading, const struct node *node,
	const struct free_attribute *attribute, double *out)
{
	const char *unit;
	if (fit_split_node(node, out, &unit) && text_equal(unit, attribute->unit))
		return true;
	diag_error(reading->diag, node->span,
		"the range of '%s' is in another unit; write a number%s%s", attribute->key,
		*attribute->unit ? " and " : " alone", attribute->unit);
	return false;
}

static void file_reading_read_attribute(struct file_reading *reading, const char *level,
	const struct node_entry *entry, const struct node *attributes)
{
	struct diag *diag = reading->diag;
	struct free_attribute *out = &reading->free[reading->count];
	const struct node *given = attributes && attributes->kind == NODE_MAP
					   ? node_find(attributes, entry->key)
					   : NULL;
	*out = (struct free_attribute){.level = level, .key = entry->key};
	if (!given || !fit_split_node(given, &out->value, &out->unit)) {
		diag_error(diag, entry->key_span, "'%s' is free, and '%s' gives no number for it",
			entry->key, level);
		return;
	}
	if (entry->value->kind != NODE_LIST || entry->value->count != 2) {
		diag_error(diag, entry->value->span, "the range of '%s' is a list: [least, most]",
			entry->key);
		return;
	}
	if (!read_end(reading, entry->value->items[0], out, &out->least) ||
		!read_end(reading, entry->value->items[1], out, &out->most))
		return;
	if (out->least >= out->most || out->value < out->least || out->value > out->most) {
		diag_error(diag, entry->value->span, "the range of '%s' does not contain its value",
			entry->key);
		return;
	}
	out->whole = !*out->unit && !strchr(given->text, '.') &&
		     !strchr(entry->value->items[0]->text, '.') &&
		     !strchr(entry->value->items[1]->text, '.');
	out->from = source_offset(reading->source, given->span.line, given->span.column);
	out->to = source_offset(reading->source, given->span.end_line, given->span.end_column);
	if (reading->count + 1 < FREE_MOST)
		reading->count++;
	else
		diag_error(
			diag, entry->key_span, "at most %d attributes can be free", FREE_MOST - 1);
}

/* Every map with `attributes` and `free`, wherever it is. */
static void file_visit(struct file_reading *reading, const struct node *node)
{
	for (size_t i = 0; node->kind == NODE_LIST && i < node->count; i++)
		file_visit(reading, node->items[i]);
	if (node->kind != NODE_MAP)
		return;
	const struct node *name = node_find(node, "name"), *free = node_find(node, "free");
	if (free && name && name->kind == NODE_SCALAR && free->kind == NODE_MAP)
		for (size_t i = 0; i < free->count; i++)
			file_reading_read_attribute(reading, name->text, &free->entries[i],
				node_find(node, "attributes"));
	for (size_t i = 0; i < node->count; i++)
		if (node->entries[i].value != free)
			file_visit(reading, node->entries[i].value);
}

static int fit_compare_places(const void *a, const void *b)
{
	const struct free_attribute *x = a, *y = b;
	return x->from < y->from ? -1 : x->from > y->from;
}

bool machine_file_read(struct arena *arena, const struct source *source, struct diag *diag,
	struct machine_file *out)
{
	const struct node *root =
		node_read_text(arena, source->name, source->bytes, source->length, diag);
	struct file_reading reading = {.arena = arena,
		.diag = diag,
		.source = source,
		.free = arena_array(arena, struct free_attribute, FREE_MOST)};
	if (!root)
		return false;
	file_visit(&reading, root);
	qsort(reading.free, reading.count, sizeof *reading.free, fit_compare_places);
	*out = (struct machine_file){source, reading.count, reading.free};
	return !diag_failed(diag);
}

const char *machine_file_text(
	struct arena *arena, const struct machine_file *file, const double *values)
{
	struct text text = text_open(arena);
	size_t at = 0;
	for (size_t i = 0; i < file->count; i++) {
		const struct free_attribute *attribute = &file->free[i];
		double value = attribute->whole ? nearbyint(values[i]) : values[i];
		text_add(&text, "%.*s", (int)(attribute->from - at), file->source->bytes + at);
		text_add(&text, "%.6g%s", value, attribute->unit);
		at = attribute->to;
	}
	text_add(&text, "%.*s", (int)(file->source->length - at), file->source->bytes + at);
	return text_read(&text);
}

const struct arch *machine_file_make(struct arena *arena, const struct machine_file *file,
	const double *values, struct diag *diag)
{
	const char *text = machine_file_text(arena, file, values);
	const struct node *root =
		node_read_text(arena, file->source->name, text, strlen(text), diag);
	const struct node *node =
		root && root->kind == NODE_MAP ? node_find(root, "architecture") : NULL;
	const struct node *variables = node ? node_find(root, "variables") : NULL;
	struct reading reading = {.arena = arena,
		.diag = diag,
		.variables = variables ? variables_read(arena, diag, variables) : NULL};
	if (root && !node)
		diag_error(diag, root->span, "'architecture:' is missing");
	const struct arch *arch = node ? arch_read(&reading, node) : NULL;
	return arch && arch_fits_graphs(arch, diag) && !diag_failed(diag) ? arch : NULL;
}

#include "calibrate/measured.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/number.h"
#include "base/text.h"
#include "model/graph/workload_read.h"
#include "report/run/svg.h"
#include "search/drive/solver.h"
#include "search/graph/evaluate.h"
#include "search/graph/recipe.h"
#include "spec/table.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Rule by which a size without a column follows from io_hbm_bytes. */
enum sizes {
	SIZES_PLAIN, /* there are none */
	SIZES_OUTER, /* B: a dimension between rows and cols */
	SIZES_PRODUCT,
	SIZES_BATCHED, /* B products, B and N powers of 2 */
	SIZES_SHARED,  /* the same, of one second operand */
};

/* $R, $C: rows, cols; $T: rows of a tile; $N, $B: see above. */
struct measured_op {
	const char *name;
	enum sizes sizes;
	const char *dimensions, *tensors, *ops;
	bool tiles;   /* may run in tiles of its rows */
	bool fastest; /* its division over the cores is not known: the fastest row counts */
};

#define PAIR "m: $R, n: $C"
#define OPS_CHAIN2 "y[m,n] = a[m,n] + b[m,n]"
#define OPS_CHAIN3 "y[m,n] = a[m,n] + b[m,n]\n- z[m,n] = y[m,n] + c[m,n]"
#define OPS_CHAIN4 OPS_CHAIN3 "\n- u[m,n] = z[m,n] + d[m,n]"
#define OPS_CHAIN5 OPS_CHAIN4 "\n- v[m,n] = u[m,n] + e[m,n]"
#define OPS_CHAIN6 OPS_CHAIN5 "\n- w[m,n] = v[m,n] + f[m,n]"
#define OPS_SOFTMAX                                                                                \
	"mx[m] = max(n) x[m,n]\n- s[m,n] = x[m,n] - mx[m]\n- e[m,n] = exp(s[m,n])\n"               \
	"- d[m] = sum(n) e[m,n]\n- y[m,n] = e[m,n] / d[m]"
#define OPS_PRODUCT "y[m,n] = sum(k) a[m,k] * b[k,n]"
#define OPS_BATCHED "y[h,m,n] = sum(k) a[h,m,k] * b[h,k,n]"
#define OPS_SHARED "y[h,m,n] = sum(k) a[h,m,k] * b[k,n]"
#define DIMS_PRODUCT "m: $R, k: $C, n: $N"
#define DIMS_BATCHED "h: $B, m: $R, k: $C, n: $N"

static const struct measured_op measured_ops[] = {
	{"neg", SIZES_PLAIN, PAIR, "", "y[m,n] = neg(x[m,n])", false, false},
	{"gelu", SIZES_PLAIN, PAIR, "", "y[m,n] = gelu(x[m,n])", false, false},
	{"copy", SIZES_PLAIN, PAIR, "c: {shape: [1]}", "y[m,n] = x[m,n] + c[0]", false, false},
	{"add", SIZES_PLAIN, PAIR, "", OPS_CHAIN2, false, false},
	{"add3", SIZES_PLAIN, PAIR, "", OPS_CHAIN3, false, false},
	{"add4", SIZES_PLAIN, PAIR, "", OPS_CHAIN4, false, false},
	{"add5", SIZES_PLAIN, PAIR, "", OPS_CHAIN5, false, false},
	{"add6", SIZES_PLAIN, PAIR, "", OPS_CHAIN6, false, false},
	{"add3_sep", SIZES_PLAIN, PAIR, "", OPS_CHAIN3, false, false},
	{"add4_sep", SIZES_PLAIN, PAIR, "", OPS_CHAIN4, false, false},
	{"add5_sep", SIZES_PLAIN, PAIR, "", OPS_CHAIN5, false, false},
	{"add6_sep", SIZES_PLAIN, PAIR, "", OPS_CHAIN6, false, false},
	{"add_indep2", SIZES_PLAIN, PAIR, "", OPS_CHAIN2 "\n- z[m,n] = c[m,n] + d[m,n]", false,
		false},
	{"bcast", SIZES_PLAIN, PAIR, "", "y[m,n] = a[m,n] + b[n]", false, false},
	{"mulbcast", SIZES_PLAIN, PAIR, "", "y[m,n] = a[m,n] * b[n]", false, false},
	{"bcastcol", SIZES_PLAIN, PAIR, "b: {layout: [m, sparse]}", "y[m,n] = a[m,n] + b[m]", false,
		false},
	{"write", SIZES_PLAIN, PAIR, "c: {layout: [m, sparse]}", "y[m,n] = b[n] + c[m]", false,
		false},
	{"read", SIZES_PLAIN, PAIR, "", "y[m] = sum(n) x[m,n]", false, false},
	{"sumrow", SIZES_PLAIN, PAIR, "", "y[m] = sum(n) x[m,n]", false, false},
	{"amax", SIZES_PLAIN, PAIR, "", "y[m] = max(n) x[m,n]", false, false},
	{"mean", SIZES_PLAIN, PAIR, "", "y[m] = mean(n) x[m,n]", false, false},
	{"ctsum", SIZES_PLAIN, "m: $T, n: $C", "", "y[n] = sum(m) x[m,n]", true, false},
	{"transpose", SIZES_PLAIN, PAIR, "y: {layout: [n, m]}", "y[n,m] = restickify x[m,n]", false,
		false},
	{"transpose_outer", SIZES_OUTER, "m: $R, h: $B, n: $C", "", "y[h,m,n] = clone(x[m,h,n])",
		false, false},
	{"cat0", SIZES_PLAIN, "t: 2, m: $R, n: $C", "", "y[t,m,n] = clone(x[m,n])", false, false},
	{"cat1", SIZES_PLAIN, "t: 2, m: $R, n: $C", "", "y[m,t,n] = clone(x[m,n])", false, false},
	{"softmax_row_tiling", SIZES_PLAIN, "m: $T, n: $C", "", OPS_SOFTMAX, true, false},
	{"softmax", SIZES_PLAIN, "m: $T, n: $C", "", OPS_SOFTMAX, true, false},
	{"mm", SIZES_PRODUCT, DIMS_PRODUCT, "", OPS_PRODUCT, false, false},
	{"mm_nested_m_k", SIZES_PRODUCT, DIMS_PRODUCT, "", OPS_PRODUCT, false, false},
	{"matmul_row_tiling", SIZES_PRODUCT, DIMS_PRODUCT, "", OPS_PRODUCT, false, false},
	{"matmul_k_tiling", SIZES_PRODUCT, DIMS_PRODUCT, "", OPS_PRODUCT, false, false},
	{"mmwd", SIZES_PRODUCT, DIMS_PRODUCT, "", OPS_PRODUCT, false, true},
	{"bmm", SIZES_BATCHED, DIMS_BATCHED, "", OPS_BATCHED, false, false},
	{"bmm_wd", SIZES_BATCHED, DIMS_BATCHED, "", OPS_BATCHED, false, true},
	{"bmm_layout", SIZES_BATCHED, DIMS_BATCHED,
		"a: {layout: [m, h, k]}, b: {layout: [k, h, n]}, y: {layout: [m, h, n]}",
		OPS_BATCHED, false, true},
	{"bmm_k_tiling", SIZES_BATCHED, DIMS_BATCHED, "", OPS_BATCHED, false, false},
	{"bmm_wd_3d2d", SIZES_SHARED, DIMS_BATCHED, "", OPS_SHARED, false, true},
	{"bmm_3d2d_k_tiling", SIZES_SHARED, DIMS_BATCHED, "", OPS_SHARED, false, false},
};
enum {
	MEASURED_OPS = sizeof measured_ops / sizeof *measured_ops,
	SIZE_MOST = 1 << 20,
	BATCHES_MOST = 256,
	STICK_ELEMENTS = 64,
};

struct sizes_found {
	int64_t rows, cols, tile_rows, n, b;
};

enum measured_column {
	COLUMN_OP,
	COLUMN_WORKLOAD,
	COLUMN_ROWS,
	COLUMN_COLS,
	COLUMN_M,
	COLUMN_K,
	COLUMN_N,
	COLUMN_BATCH,
	COLUMN_IO,
	COLUMN_TILES,
	COLUMN_LX,
	COLUMN_CORES,
	COLUMN_US,
	COLUMN_TIME,
	COLUMN_PEER,
	COLUMN_PROBLEM,
	COLUMN_MAPPING,
	COLUMNS
};
static const char *const column_names[] = {"op", "workload", "rows", "cols", "M", "K", "N", "batch",
	"io_hbm_bytes", "tiles", "lx", "cores", "kernel_us_median", "time_us", "pred_us", "problem",
	"mapping"};

struct measured_reading {
	struct arena *arena;
	struct diag *diag;
	struct table table;
	int at[COLUMNS]; /* -1: the table has no such column */
	struct array(struct measured) rows;
	struct array(int) skipped; /* lines */
	struct measured_set *set;
};

static const char *measured_reading_cell(
	const struct measured_reading *reading, enum measured_column column)
{
	return reading->at[column] < 0 ? "" : reading->table.cells[reading->at[column]].text;
}

static struct span cell_span(const struct measured_reading *reading, enum measured_column column)
{
	return reading->at[column] < 0 ? table_row_span(&reading->table)
				       : table_span(&reading->table, (size_t)reading->at[column]);
}

/* Returns the number in a cell; `usual` if it is empty, NaN if it is not a number. */
static double number_in(
	const struct measured_reading *reading, enum measured_column column, double usual)
{
	const char *text = measured_reading_cell(reading, column);
	char *end;
	if (!*text)
		return usual;
	double value = strtod(text, &end);
	return *end ? NAN : value;
}

static int64_t size_in(
	const struct measured_reading *reading, enum measured_column column, int64_t usual)
{
	double value = number_in(reading, column, (double)usual);
	return value >= 0 && value <= 1e15 && value == floor(value) ? (int64_t)value : -1;
}

static bool is_power(int64_t value)
{
	return value > 0 && !(value & (value - 1));
}

/* Rows of a product's first operand x its columns, whole sticks of them. */
static int64_t first_elements(const struct sizes_found *s)
{
	return s->rows * number_align_up(s->cols, STICK_ELEMENTS);
}

/* Finds N of one product from the elements of all three tensors; false if there is none. */
static bool find_columns(int64_t elements, struct sizes_found *s)
{
	int64_t per = s->rows + s->cols, rest = elements - first_elements(s);
	if (rest <= 0 || rest % (per * STICK_ELEMENTS))
		rest = elements - s->rows * s->cols; /* not padded */
	if (rest <= 0 || rest % per || rest / per > SIZE_MOST)
		return false;
	s->n = rest / per;
	return true;
}

/* N of B products whose operands have so many elements together; 0: there is none. */
static int64_t batch_columns(const struct sizes_found *s, int64_t elements, int64_t b, bool shared)
{
	int64_t rest = elements - b * first_elements(s);
	int64_t per = b * s->rows + (shared ? s->cols : b * s->cols);
	int64_t n = rest > 0 && rest % per == 0 ? rest / per : 0;
	return n % STICK_ELEMENTS == 0 && n <= SIZE_MOST ? n : 0;
}

/*
 * Finds the batch and N of products, those that are given or the only ones that give the bytes: among powers of two,
 * else with N a power of two, else among all.
 */
static const char *find_batch(int64_t elements, bool shared, struct sizes_found *s)
{
	struct sizes_found out = *s;
	int found = 0;
	for (int tier = 0; tier < 3 && !found; tier++)
		for (int64_t b = s->b ? s->b : 2; b <= (s->b ? s->b : BATCHES_MOST); b++) {
			int64_t n = batch_columns(s, elements, b, shared);
			if (!n || (s->n && n != s->n) || (tier < 2 && !is_power(n)) ||
				(tier < 1 && !is_power(b)))
				continue;
			found++;
			out.b = b;
			out.n = n;
		}
	if (s->b && s->n)
		return NULL;
	*s = out;
	return found == 1 ? NULL
	       : found    ? "several batches and N give these bytes; add columns 'batch' and 'N'"
			  : "no batch and N give these bytes; add columns 'batch' and 'N'";
}

/* Finds the sizes of a row that no column gives; returns NULL, or why they are unknown. */
static const char *find_sizes(enum sizes sizes, int64_t io, struct sizes_found *s)
{
	int64_t elements = io / 2;
	switch (sizes) {
	case SIZES_PLAIN:
		return NULL;
	case SIZES_OUTER:
		s->b = s->b ? s->b : elements / (2 * first_elements(s));
		return s->b > 0 && s->b <= SIZE_MOST
			       ? NULL
			       : "these bytes leave no dimension between its two; add a column "
				 "'batch'";
	case SIZES_PRODUCT:
		return s->n || find_columns(elements, s)
			       ? NULL
			       : "no N gives these bytes; add a column 'N'";
	case SIZES_BATCHED:
	case SIZES_SHARED:
		return find_batch(elements, sizes == SIZES_SHARED, s);
	}
	return NULL;
}

static void add_filled(struct text *text, const char *form, const struct sizes_found *s)
{
	for (; *form; form++) {
		if (*form != '$') {
			text_add(text, "%c%s", *form, *form == '\n' ? "    " : "");
			continue;
		}
		form++;
		int64_t value = *form == 'R'   ? s->rows
				: *form == 'C' ? s->cols
				: *form == 'T' ? s->tile_rows
				: *form == 'N' ? s->n
					       : s->b;
		text_add(text, "%" PRId64, value);
	}
}

static const char *write_workload(
	struct arena *arena, const struct measured_op *op, const struct sizes_found *sizes)
{
	struct text text = text_open(arena);
	text_add(&text, "workload:\n  name: %s\n  dtype: fp16\n  dimensions: {", op->name);
	add_filled(&text, op->dimensions, sizes);
	text_add(&text, "}\n  tensors: {%s}\n  ops:\n    - ", op->tensors);
	add_filled(&text, op->ops, sizes);
	text_add(&text, "\n");
	return text_read(&text);
}

static void measured_reading_skip(
	struct measured_reading *reading, struct span span, const char *why)
{
	diag_warning(reading->diag, span, "%s; the row is skipped", why);
	reading->set->skipped++;
	*array_add(reading->arena, &reading->skipped) = reading->table.line;
}

/* The lines of the rows that were skipped, those that follow each other as one range, in lines of 80 columns. */
static const char *skipped_lines(const struct measured_reading *reading)
{
	struct text text = text_open(reading->arena);
	const int *lines = reading->skipped.at;
	size_t column = sizeof "skipped lines:";
	for (size_t i = 0, end; i < reading->skipped.count; i = end + 1) {
		for (end = i; end + 1 < reading->skipped.count && lines[end + 1] == lines[end] + 1;)
			end++;
		bool last = end + 1 == reading->skipped.count;
		const char *to = end > i ? arena_format(reading->arena, "-%d", lines[end]) : "";
		const char *range =
			arena_format(reading->arena, "%d%s%s", lines[i], to, last ? "" : ",");
		if (column + strlen(range) > 78) {
			text_add(&text, "\n ");
			column = 1;
		}
		text_add(&text, " %s", range);
		column += strlen(range) + 1;
	}
	return text_read(&text);
}

/* The workload of the row's op and sizes; NULL after a warning. */
static const char *workload_of_op(
	struct measured_reading *reading, struct measured *row, bool *fastest)
{
	struct arena *arena = reading->arena;
	const struct measured_op *op = NULL;
	for (int i = 0; i < MEASURED_OPS; i++)
		if (text_equal(measured_ops[i].name, row->category))
			op = &measured_ops[i];
	struct sizes_found sizes = {.rows = (int64_t)row->sizes[0],
		.cols = (int64_t)row->sizes[1],
		.n = size_in(reading, COLUMN_N, 0),
		.b = size_in(reading, COLUMN_BATCH, 0)};
	int64_t given = size_in(reading, COLUMN_TILES, 1), tiles = number_max(1, given);
	const char *why = NULL;
	if (!op)
		why = arena_format(arena, "unknown op '%s'", row->category);
	else if (sizes.rows < 1 || sizes.cols < 1 || sizes.rows > SIZE_MOST ||
		 sizes.cols > SIZE_MOST)
		why = "'rows' and 'cols' must be whole numbers from 1 to 1048576";
	else if (sizes.n < 0 || sizes.n > SIZE_MOST || sizes.b < 0 || sizes.b > SIZE_MOST)
		why = "'N' and 'batch' must be whole numbers from 1 to 1048576";
	else if (given < 0)
		why = "'tiles' must be a whole number";
	else if (tiles > 1 && !op->tiles)
		why = arena_format(
			arena, "'%s' in %" PRId64 " tiles is not modelled", op->name, tiles);
	else if (sizes.rows % tiles)
		why = "the tiles do not divide the rows";
	else
		why = find_sizes(op->sizes, size_in(reading, COLUMN_IO, 0), &sizes);
	if (why) {
		measured_reading_skip(reading, cell_span(reading, COLUMN_OP), why);
		return NULL;
	}
	sizes.tile_rows = sizes.rows / tiles;
	row->repeats = tiles;
	*fastest = op->fastest;
	return write_workload(arena, op, &sizes);
}

/* Reads a loop nest; false after a warning. */
static bool read_nest(struct measured_reading *reading, struct measured *row)
{
	const char *problem =
		arena_format(reading->arena, "%s", measured_reading_cell(reading, COLUMN_PROBLEM));
	row->mapping =
		arena_format(reading->arena, "%s", measured_reading_cell(reading, COLUMN_MAPPING));
	row->text = arena_format(reading->arena, "%s\n%s", problem, row->mapping);
	if (*problem && *row->mapping)
		row->problem = node_read_text(
			reading->arena, "problem", problem, strlen(problem), reading->diag);
	else
		measured_reading_skip(reading, cell_span(reading, COLUMN_MAPPING),
			"a loop nest has a 'problem' and a 'mapping'");
	return row->problem;
}

static bool read_workload(struct measured_reading *reading, struct measured *row, bool *fastest)
{
	const char *path = measured_reading_cell(reading, COLUMN_WORKLOAD);
	const struct node *root;
	if (*measured_reading_cell(reading, COLUMN_PROBLEM) ||
		*measured_reading_cell(reading, COLUMN_MAPPING))
		return read_nest(reading, row);
	if (*path) {
		row->text = arena_format(reading->arena, "%s", path);
		root = node_read_file(reading->arena, row->text, reading->diag);
	} else {
		row->text = workload_of_op(reading, row, fastest);
		if (!row->text)
			return false;
		root = node_read_text(
			reading->arena, row->category, row->text, strlen(row->text), reading->diag);
	}
	row->workload = root && root->kind == NODE_MAP ? node_find(root, "workload") : NULL;
	if (!row->workload)
		measured_reading_skip(
			reading, cell_span(reading, COLUMN_WORKLOAD), "the file has no workload");
	return row->workload;
}

/* Keeps the faster of two rows of the same sizes and cores whose division is unknown. */
static bool measured_reading_joins(struct measured_reading *reading, const struct measured *row)
{
	for (size_t i = 0; i < reading->rows.count; i++) {
		struct measured *other = &reading->rows.at[i];
		if (!text_equal(other->text, row->text) || other->cores != row->cores ||
			!text_equal(other->category, row->category))
			continue;
		if (row->us < other->us)
			*other = *row;
		reading->set->slower++;
		return true;
	}
	return false;
}

static void measured_reading_read_row(struct measured_reading *reading)
{
	struct measured row = {
		.line = reading->table.line, .at = cell_span(reading, COLUMN_OP), .repeats = 1};
	bool fastest = false;
	enum measured_column timed = reading->at[COLUMN_US] >= 0 ? COLUMN_US : COLUMN_TIME;
	row.us = number_in(reading, timed, NAN);
	row.category =
		arena_format(reading->arena, "%s", measured_reading_cell(reading, COLUMN_OP));
	row.cores = size_in(reading, COLUMN_CORES, 0);
	row.lx = size_in(reading, COLUMN_LX, 1) != 0;
	row.sizes[0] = (double)size_in(reading, COLUMN_ROWS, size_in(reading, COLUMN_M, 0));
	row.sizes[1] = (double)size_in(reading, COLUMN_COLS, size_in(reading, COLUMN_K, 0));
	row.sizes[2] = (double)size_in(reading, COLUMN_IO, 0);
	double peer = number_in(reading, COLUMN_PEER, 0);
	row.peer_us = peer > 0 && isfinite(peer) ? peer : 0;
	if (!(row.us > 0) || !isfinite(row.us)) {
		measured_reading_skip(reading, cell_span(reading, timed),
			arena_format(reading->arena, "'%s' is not a time above 0",
				measured_reading_cell(reading, timed)));
		return;
	}
	if (row.cores < 0 || row.cores > INT32_MAX) {
		measured_reading_skip(reading, cell_span(reading, COLUMN_CORES),
			"'cores' is not a number of cores");
		return;
	}
	if (!read_workload(reading, &row, &fastest))
		return;
	if (!fastest || !measured_reading_joins(reading, &row))
		*array_add(reading->arena, &reading->rows) = row;
}

static int compare_shapes(const void *a, const void *b)
{
	const struct measured *x = *(struct measured *const *)a, *y = *(struct measured *const *)b;
	for (int i = 0; i < 3; i++)
		if (x->sizes[i] != y->sizes[i])
			return x->sizes[i] < y->sizes[i] ? -1 : 1;
	return x->sizes[0] > 0 ? 0 : strcmp(x->text, y->text);
}

static void find_shapes(struct measured *rows, size_t count, struct arena *arena)
{
	struct measured **order = arena_array(arena, struct measured *, count + 1);
	size_t shape = 0;
	for (size_t i = 0; i < count; i++)
		order[i] = &rows[i];
	qsort(order, count, sizeof *order, compare_shapes);
	for (size_t i = 0; i < count; i++) {
		shape += i > 0 && compare_shapes(&order[i - 1], &order[i]) != 0;
		order[i]->shape = shape;
	}
}

static void find_likes(struct measured *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		size_t k = 0;
		while (k < i && (rows[k].cores != rows[i].cores || rows[k].lx != rows[i].lx ||
					!text_equal(rows[k].text, rows[i].text)))
			k++;
		rows[i].like = k;
	}
}

struct measured_set measured_part(
	struct arena *arena, const struct measured_set *set, size_t folds, size_t fold, bool others)
{
	struct measured *rows = arena_array(arena, struct measured, set->count + 1);
	struct measured_set out = {.rows = rows};
	for (size_t i = 0; i < set->count; i++)
		if ((set->rows[i].shape % folds == fold) != others)
			rows[out.count++] = set->rows[i];
	find_likes(rows, out.count);
	return out;
}

bool measured_read(struct arena *arena, const struct source *source, struct diag *diag,
	struct measured_set *out)
{
	struct measured_reading reading = {.arena = arena, .diag = diag, .set = out};
	*out = (struct measured_set){0};
	if (!table_open(&reading.table, arena, source, diag))
		return false;
	for (int c = 0; c < COLUMNS; c++) {
		reading.at[c] = -1;
		for (size_t i = 0; i < reading.table.column_count; i++)
			if (text_equal(reading.table.cells[i].text, column_names[c]))
				reading.at[c] = (int)i;
	}
	if (reading.at[COLUMN_OP] < 0 ||
		(reading.at[COLUMN_US] < 0 && reading.at[COLUMN_TIME] < 0)) {
		diag_error(diag, table_row_span(&reading.table),
			"a table of measured kernels has columns 'op' and 'kernel_us_median' or "
			"'time_us'");
		return false;
	}
	reading.table.skips = true;
	while (table_next(&reading.table))
		if (reading.table.wrong)
			measured_reading_skip(
				&reading, reading.table.wrong_at, reading.table.wrong);
		else
			measured_reading_read_row(&reading);
	out->skipped_lines = skipped_lines(&reading);
	find_likes(reading.rows.at, reading.rows.count);
	find_shapes(reading.rows.at, reading.rows.count, arena);
	out->count = reading.rows.count;
	out->rows = reading.rows.at;
	if (!out->count)
		diag_error(diag, (struct span){.source = source}, "no row can be used");
	return out->count > 0;
}

/* Returns the predicted time of one run of a row's workload in microseconds; NaN without a plan. */
static double predict_row(
	const struct measured *row, const struct arch *arch, struct arena *arena, struct diag *diag)
{
	struct reading reading = {.arena = arena, .diag = diag};
	if (row->mapping)
		return mapped_predict(row, arch, arena, diag);
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
	struct outcome outcome = {.why = "the published passes find no plan"};
	if (made.plan)
		outcome = evaluate_cost(made.plan, arena);
	if (outcome.why || !outcome.cost.score.feasible) {
		diag_warning(diag, row->at, "no prediction: %s",
			outcome.why ? outcome.why : "its plan does not fit the machine");
		return NAN;
	}
	double ns = arch_nanoseconds(arch, outcome.cost.score.estimate_cycles);
	return ns / 1000;
}

void accuracy_predict(
	const struct measured_set *set, const struct arch *arch, double *us, struct diag *diag)
{
	for (size_t i = 0; i < set->count; i++) {
		struct arena *arena = arena_open();
		size_t like = set->rows[i].like;
		us[i] = like < i ? us[like] : predict_row(&set->rows[i], arch, arena, diag);
		arena_close(arena);
	}
	for (size_t i = 0; i < set->count; i++)
		us[i] *= (double)set->rows[i].repeats;
}

struct ranked_row {
	double value;
	size_t row;
};

static int compare_ranked(const void *a, const void *b)
{
	const struct ranked_row *x = a, *y = b;
	if (x->value != y->value)
		return x->value < y->value ? -1 : 1;
	return x->row < y->row ? -1 : x->row > y->row;
}

/* Ranks from 0, equal values share the mean of theirs. */
static void find_ranks(const double *values, size_t count, double *ranks, struct arena *arena)
{
	struct ranked_row *order = arena_array(arena, struct ranked_row, count);
	for (size_t i = 0; i < count; i++)
		order[i] = (struct ranked_row){values[i], i};
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

static void measured_add_number(
	struct text *text, const char *form, double value, int width, bool markdown)
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
		measured_add_number(&text, " %*.1f", 100 * row->rms, markdown ? 0 : 6, markdown);
		measured_add_number(&text, " %*.1f", 100 * row->bias, markdown ? 0 : 7, markdown);
		measured_add_number(&text, " %*.3f", row->rank, markdown ? 0 : 6, markdown);
		measured_add_number(
			&text, " %*.1f", 100 * row->peer_rms, markdown ? 0 : 12, markdown);
		measured_add_number(
			&text, " %*.1f", 100 * row->peer_bias, markdown ? 0 : 7, markdown);
		measured_add_number(&text, " %*.3f", row->peer_rank, markdown ? 0 : 6, markdown);
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

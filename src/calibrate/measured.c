#include "calibrate/measured.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/number.h"
#include "base/text.h"
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
	{"mm", SIZES_PRODUCT, DIMS_PRODUCT, "", OPS_PRODUCT, false, false},
	{"mm_nested_m_k", SIZES_PRODUCT, DIMS_PRODUCT, "", OPS_PRODUCT, false, false},
	{"matmul_row_tiling", SIZES_PRODUCT, DIMS_PRODUCT, "", OPS_PRODUCT, false, false},
	{"mmwd", SIZES_PRODUCT, DIMS_PRODUCT, "", OPS_PRODUCT, false, true},
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

enum column {
	COLUMN_OP,
	COLUMN_WORKLOAD,
	COLUMN_ROWS,
	COLUMN_COLS,
	COLUMN_IO,
	COLUMN_TILES,
	COLUMN_LX,
	COLUMN_CORES,
	COLUMN_US,
	COLUMN_TIME,
	COLUMN_PEER,
	COLUMNS
};
static const char *const column_names[] = {"op", "workload", "rows", "cols", "io_hbm_bytes",
	"tiles", "lx", "cores", "kernel_us_median", "time_us", "pred_us"};

struct measured_reading {
	struct arena *arena;
	struct diag *diag;
	struct table table;
	int at[COLUMNS]; /* -1: the table has no such column */
	struct array(struct measured) rows;
	struct measured_set *set;
};

static const char *cell(const struct measured_reading *reading, enum column column)
{
	return reading->at[column] < 0 ? "" : reading->table.cells[reading->at[column]].text;
}

static struct span cell_span(const struct measured_reading *reading, enum column column)
{
	return reading->at[column] < 0 ? table_row_span(&reading->table)
				       : table_span(&reading->table, (size_t)reading->at[column]);
}

/* A number of a cell; `usual` where it is empty; NaN: it is no number. */
static double number_in(const struct measured_reading *reading, enum column column, double usual)
{
	const char *text = cell(reading, column);
	char *end;
	if (!*text)
		return usual;
	double value = strtod(text, &end);
	return *end ? NAN : value;
}

static int64_t size_in(const struct measured_reading *reading, enum column column, int64_t usual)
{
	double value = number_in(reading, column, (double)usual);
	return value >= 0 && value <= 1e15 && value == floor(value) ? (int64_t)value : -1;
}

/* N of B products whose operands have so many elements together; 0: there is none. */
static int64_t batch_columns(const struct sizes_found *s, int64_t elements, int64_t b, bool shared)
{
	int64_t rest = elements - b * s->rows * s->cols;
	int64_t per = b * s->rows + (shared ? s->cols : b * s->cols);
	int64_t n = rest > 0 && rest % per == 0 ? rest / per : 0;
	return n % STICK_ELEMENTS == 0 && n <= SIZE_MOST && !(n & (n - 1)) ? n : 0;
}

/* NULL, or why the sizes cannot be told. */
static const char *find_sizes(enum sizes sizes, int64_t io, struct sizes_found *s)
{
	int64_t elements = io / 2, plain = s->rows * s->cols, found = 0;
	switch (sizes) {
	case SIZES_PLAIN:
		return NULL;
	case SIZES_OUTER:
		s->b = elements / (2 * plain);
		return s->b > 0 && s->b <= SIZE_MOST ? NULL
						     : "no dimension is left between its two";
	case SIZES_PRODUCT:
		s->n = (elements - plain) / (s->rows + s->cols);
		return s->n > 0 && s->n <= SIZE_MOST &&
				       plain + s->n * (s->rows + s->cols) == elements
			       ? NULL
			       : "no N gives these bytes";
	case SIZES_BATCHED:
	case SIZES_SHARED:
		for (int64_t b = 2; b <= BATCHES_MOST; b *= 2) {
			int64_t n = batch_columns(s, elements, b, sizes == SIZES_SHARED);
			if (!n)
				continue;
			found++;
			s->b = b;
			s->n = n;
		}
		return found == 1 ? NULL : "more than one batch and N, or none, gives these bytes";
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

static void skip(struct measured_reading *reading, struct span span, const char *why)
{
	diag_warning(reading->diag, span, "%s; the row is skipped", why);
	reading->set->skipped++;
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
	struct sizes_found sizes = {
		.rows = size_in(reading, COLUMN_ROWS, 0), .cols = size_in(reading, COLUMN_COLS, 0)};
	int64_t tiles = number_max(1, size_in(reading, COLUMN_TILES, 1));
	const char *why = NULL;
	if (!op)
		why = arena_format(arena, "unknown op '%s'", row->category);
	else if (sizes.rows < 1 || sizes.cols < 1 || sizes.rows > SIZE_MOST ||
		 sizes.cols > SIZE_MOST)
		why = "'rows' and 'cols' must be whole numbers from 1 to 1048576";
	else if (tiles > 1 && !op->tiles)
		why = arena_format(
			arena, "'%s' in %" PRId64 " tiles is not modelled", op->name, tiles);
	else if (sizes.rows % tiles)
		why = "the tiles do not divide the rows";
	else
		why = find_sizes(op->sizes, size_in(reading, COLUMN_IO, 0), &sizes);
	if (why) {
		skip(reading, cell_span(reading, COLUMN_OP), why);
		return NULL;
	}
	sizes.tile_rows = sizes.rows / tiles;
	row->repeats = tiles;
	*fastest = op->fastest;
	return write_workload(arena, op, &sizes);
}

static bool read_workload(struct measured_reading *reading, struct measured *row, bool *fastest)
{
	const char *path = cell(reading, COLUMN_WORKLOAD);
	const struct node *root;
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
		skip(reading, cell_span(reading, COLUMN_WORKLOAD), "there is no workload");
	return row->workload;
}

/* Keeps the faster of two rows of the same sizes and cores whose division is unknown. */
static bool joins(struct measured_reading *reading, const struct measured *row)
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

static void read_row(struct measured_reading *reading)
{
	struct measured row = {.line = reading->table.line, .repeats = 1};
	bool fastest = false;
	enum column timed = reading->at[COLUMN_US] >= 0 ? COLUMN_US : COLUMN_TIME;
	row.us = number_in(reading, timed, NAN);
	row.category = arena_format(reading->arena, "%s", cell(reading, COLUMN_OP));
	row.cores = size_in(reading, COLUMN_CORES, 0);
	row.lx = size_in(reading, COLUMN_LX, 1) != 0;
	double peer = number_in(reading, COLUMN_PEER, 0);
	row.peer_us = peer > 0 && isfinite(peer) ? peer : 0;
	if (!(row.us > 0) || !isfinite(row.us)) {
		skip(reading, cell_span(reading, timed),
			arena_format(reading->arena, "'%s' is not a time above 0",
				cell(reading, timed)));
		return;
	}
	if (row.cores < 0 || row.cores > INT32_MAX) {
		skip(reading, cell_span(reading, COLUMN_CORES), "'cores' is not a number of cores");
		return;
	}
	if (!read_workload(reading, &row, &fastest))
		return;
	if (!fastest || !joins(reading, &row))
		*array_add(reading->arena, &reading->rows) = row;
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
	while (table_next(&reading.table))
		read_row(&reading);
	out->count = reading.rows.count;
	out->rows = reading.rows.at;
	if (!out->count)
		diag_error(diag, (struct span){.source = source}, "no row can be used");
	return out->count > 0;
}

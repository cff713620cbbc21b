#include "base/lattice.h"

#include "base/arena.h"
#include "base/number.h"
#include "base/wide.h"

#include <stdlib.h>
#include <string.h>

int lattice_compare(const int64_t *a, const int64_t *b, int columns)
{
	for (int i = 0; i < columns; i++)
		if (a[i] != b[i])
			return a[i] < b[i] ? -1 : 1;
	return 0;
}

int lattice_unit(const int64_t *row, int columns)
{
	int found = -1;
	for (int i = 0; i < columns; i++) {
		if (!row[i])
			continue;
		if (row[i] != 1 || found >= 0)
			return -1;
		found = i;
	}
	return found;
}

/* Row a += by * row b. */
static bool lattice_add_row(int64_t *a, const int64_t *b, int64_t by, int count)
{
	for (int i = 0; i < count; i++) {
		int64_t product;
		if (!number_mul(b[i], by, &product) || !number_add(a[i], product, &a[i]) ||
			a[i] == INT64_MIN)
			return false;
	}
	return true;
}

static int64_t floor_div(int64_t a, int64_t b)
{
	return a / b - (a % b < 0);
}

static void swap_rows(int64_t *a, int64_t *b, int count)
{
	for (int i = 0; i < count; i++) {
		int64_t kept = a[i];
		a[i] = b[i];
		b[i] = kept;
	}
}

/*
 * Brings the first `columns` columns of rows [0, row_count) into echelon form by steps that can be
 * taken back; all `width` columns take part.  Answers the rank, pivots positive; -1 if numbers do
 * not fit.
 */
static int make_echelon(
	int64_t (*rows)[2 * LATTICE_MOST], int row_count, int columns, int width, int *pivot)
{
	int rank = 0;
	for (int c = 0; c < columns && rank < row_count; c++) {
		for (;;) {
			int least = -1, others = 0;
			for (int r = rank; r < row_count; r++) {
				if (!rows[r][c])
					continue;
				if (least < 0 || llabs(rows[r][c]) < llabs(rows[least][c]))
					least = r;
				others++;
			}
			if (least < 0)
				break;
			swap_rows(rows[rank], rows[least], width);
			if (rows[rank][c] < 0)
				for (int i = 0; i < width; i++)
					rows[rank][i] = -rows[rank][i];
			if (others == 1) {
				pivot[rank++] = c;
				break;
			}
			for (int r = rank + 1; r < row_count; r++)
				if (!lattice_add_row(rows[r], rows[rank],
					    -(rows[r][c] / rows[rank][c]), width))
					return -1;
		}
	}
	return rank;
}

bool lattice_kernel(
	int row_count, int columns, int64_t (*matrix)[LATTICE_MOST], struct lattice *out)
{
	/* A row for each column of the matrix: that column, then a unit vector.  Where the column
	 * part becomes zero, the other part is a combination that vanishes. */
	int64_t rows[LATTICE_MOST][2 * LATTICE_MOST] = {{0}};
	int pivot[LATTICE_MOST];
	for (int c = 0; c < columns; c++) {
		for (int r = 0; r < row_count; r++)
			rows[c][r] = matrix[r][c];
		rows[c][row_count + c] = 1;
	}
	int rank = make_echelon(rows, columns, row_count, row_count + columns, pivot);
	if (rank < 0)
		return false;
	*out = (struct lattice){.rank = columns - rank, .columns = columns};
	int64_t kernel[LATTICE_MOST][2 * LATTICE_MOST] = {{0}};
	for (int i = 0; i < out->rank; i++)
		memcpy(kernel[i], rows[rank + i] + row_count, sizeof(int64_t) * (size_t)columns);
	if (make_echelon(kernel, out->rank, columns, columns, out->pivot) < 0)
		return false;
	/* Above a pivot stands what is left after division by it: equal lattices look equal. */
	for (int i = 1; i < out->rank; i++)
		for (int k = 0; k < i; k++) {
			int64_t by = floor_div(kernel[k][out->pivot[i]], kernel[i][out->pivot[i]]);
			if (!lattice_add_row(kernel[k], kernel[i], -by, columns))
				return false;
		}
	for (int i = 0; i < out->rank; i++)
		memcpy(out->rows[i], kernel[i], sizeof(int64_t) * (size_t)columns);
	return true;
}

/* True if a row determines all coordinates that are not known yet; adds them to *known, smallest digit first. */
static bool lattice_determines(
	const int64_t *row, int columns, const int64_t *extents, uint32_t *known)
{
	uint32_t found = *known;
	int64_t below = 0; /* what all smaller digits come to at most */
	for (;;) {
		int least = -1;
		int64_t most;
		for (int i = 0; i < columns; i++)
			if (!(found >> i & 1) && row[i] &&
				(least < 0 || llabs(row[i]) < llabs(row[least])))
				least = i;
		if (least < 0)
			break;
		if (row[least] == INT64_MIN || llabs(row[least]) <= below ||
			!number_mul(llabs(row[least]), extents[least] - 1, &most) ||
			!number_add(below, most, &below))
			return false;
		found |= UINT32_C(1) << least;
	}
	bool more = found != *known;
	*known = found;
	return more;
}

bool lattice_has_digits(
	int row_count, int columns, int64_t (*matrix)[LATTICE_MOST], const int64_t *extents)
{
	uint32_t known = 0, all = (UINT32_C(1) << columns) - 1;
	for (int i = 0; i < columns; i++)
		if (extents[i] == 1)
			known |= UINT32_C(1) << i;
	for (bool more = true; more && known != all;) {
		more = false;
		for (int r = 0; r < row_count; r++)
			more |= lattice_determines(matrix[r], columns, extents, &known);
	}
	return known == all;
}

struct lattice_search {
	const struct lattice *lattice;
	const int64_t *most;
	int64_t steps;
	bool (*visit)(void *user, const int64_t *g);
	void *user;
};

static bool visit_inside(struct lattice_search *walk, const int64_t *g, bool positive)
{
	if (!positive)
		return true;
	for (int i = 0; i < walk->lattice->columns; i++)
		if (g[i] > walk->most[i] || g[i] < -walk->most[i])
			return true;
	return walk->visit(walk->user, g);
}

/* `positive`: some earlier coefficient is positive and none before that is not zero. */
static bool walk_row(struct lattice_search *walk, int row, const int64_t *g, bool positive)
{
	const struct lattice *lattice = walk->lattice;
	if (row == lattice->rank)
		return visit_inside(walk, g, positive);
	int at = lattice->pivot[row];
	int64_t step = lattice->rows[row][at], most = walk->most[at], above, below;
	if (!number_add(most, g[at], &below) || !number_add(most, -g[at], &above))
		return false;
	int64_t from = positive ? -floor_div(below, step) : 0, to = floor_div(above, step);
	for (int64_t c = from; c <= to; c++) {
		int64_t next[LATTICE_MOST];
		memcpy(next, g, sizeof next);
		if (walk->steps-- <= 0)
			return false;
		if (!lattice_add_row(next, lattice->rows[row], c, lattice->columns) ||
			!walk_row(walk, row + 1, next, positive || c > 0))
			return false;
	}
	return true;
}

bool lattice_walk(const struct lattice *lattice, const int64_t *most, int64_t steps,
	bool (*visit)(void *user, const int64_t *g), void *user)
{
	struct lattice_search walk = {lattice, most, steps, visit, user};
	int64_t zero[LATTICE_MOST] = {0};
	return walk_row(&walk, 0, zero, false);
}

/* Points of the box whose successor along g is outside. */
static int64_t count_chains(int columns, const int64_t *g, const int64_t *extents)
{
	int64_t all = 1, followed = 1;
	for (int i = 0; i < columns; i++) {
		int64_t step = llabs(g[i]);
		if (!number_mul(all, extents[i], &all))
			return -1;
		followed = step < extents[i] ? followed * (extents[i] - step) : 0;
	}
	return all - followed;
}

/* words |= words shifted by `by` bits, up if positive. */
static void merge_shifted(uint64_t *words, int64_t count, int64_t by)
{
	int64_t words_by = llabs(by) / 64, bits = llabs(by) % 64;
	if (by >= 0) {
		for (int64_t i = count - 1; i >= words_by; i--) {
			uint64_t moved = words[i - words_by] << bits;
			if (bits && i > words_by)
				moved |= words[i - words_by - 1] >> (64 - bits);
			words[i] |= moved;
		}
		return;
	}
	for (int64_t i = 0; i + words_by < count; i++) {
		uint64_t moved = words[i + words_by] >> bits;
		if (bits && i + words_by + 1 < count)
			moved |= words[i + words_by + 1] << (64 - bits);
		words[i] |= moved;
	}
}

static int64_t count_cells(
	int row_count, int columns, int64_t (*matrix)[LATTICE_MOST], const int64_t *extents)
{
	int64_t cells = 1, origin = 0, by[LATTICE_MOST] = {0};
	for (int r = 0; r < row_count; r++) {
		int64_t range = 1, below = 0;
		for (int i = 0; i < columns; i++) {
			int64_t reach;
			if (!number_mul(llabs(matrix[r][i]), extents[i] - 1, &reach) ||
				!number_add(range, reach, &range))
				return -1;
			below += matrix[r][i] < 0 ? reach : 0;
			by[i] += extents[i] > 1 ? matrix[r][i] * cells : 0;
		}
		if (range > LATTICE_CELLS_MOST / cells)
			return -1;
		origin += below * cells;
		cells *= range;
	}
	struct arena *arena = arena_open();
	int64_t words = cells / 64 + 1, count = 0;
	uint64_t *bits = arena_array(arena, uint64_t, words);
	bits[origin / 64] |= UINT64_C(1) << (origin % 64);
	for (int i = 0; i < columns; i++)
		for (int64_t done = 1; by[i] && done < extents[i];) {
			int64_t more = number_min(done, extents[i] - done);
			merge_shifted(bits, words, more * by[i]);
			done += more;
		}
	for (int64_t i = 0; i < words; i++)
		count += __builtin_popcountll(bits[i]);
	arena_close(arena);
	return count;
}

int64_t lattice_images(
	int row_count, int columns, int64_t (*matrix)[LATTICE_MOST], const int64_t *extents)
{
	struct lattice kernel;
	if (!lattice_kernel(row_count, columns, matrix, &kernel))
		return -1;
	if (kernel.rank == 1)
		return count_chains(columns, kernel.rows[0], extents);
	if (kernel.rank == 0) {
		int64_t none[LATTICE_MOST];
		memcpy(none, extents, sizeof(int64_t) * (size_t)columns);
		return count_chains(columns, none, extents);
	}
	return count_cells(row_count, columns, matrix, extents);
}

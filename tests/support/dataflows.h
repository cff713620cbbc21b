#ifndef SUPPORT_DATAFLOWS_H
#define SUPPORT_DATAFLOWS_H

#include "base/number.h"
#include "base/random.h"

/*
 * Published cycles of a matrix product M x K x N on an array of R x C, fold by fold (A. Samajdar and
 * others, SCALE-Sim, ISPASS 2020, as its code counts them).  Along rows and columns lie M and N
 * where outputs stay, K and N where weights do, K and M where inputs do.
 */
enum dataflow { OUTPUT_STATIONARY, WEIGHT_STATIONARY, INPUT_STATIONARY, DATAFLOWS };

struct product {
	int64_t m, n, k, r, c;
};

static inline int64_t dataflow_folds(enum dataflow dataflow, const struct product *s)
{
	const int64_t rows[] = {s->m, s->k, s->k}, columns[] = {s->n, s->n, s->m};
	return number_ceil_div(rows[dataflow], s->r) * number_ceil_div(columns[dataflow], s->c);
}

static inline int64_t dataflow_cycles(enum dataflow dataflow, const struct product *s)
{
	const int64_t fold[] = {
		s->k + s->r + s->c - 2, 2 * s->r + s->c + s->m - 2, 2 * s->r + s->c + s->n - 2};
	return dataflow_folds(dataflow, s) * fold[dataflow];
}

/* Small ones, many of which do not fill their array. */
static inline struct product product_draw(struct random *random)
{
	int64_t sizes[5];
	for (int i = 0; i < 5; i++)
		sizes[i] = 1 + (int64_t)random_below(random, i < 3 ? 9 : 4);
	return (struct product){sizes[0], sizes[1], sizes[2], sizes[3], sizes[4]};
}

#endif

#include "solvers/divide/k_fast.h"

#include "base/number.h"

enum {
	ARRAY_ROWS = 8,
	ROWS_MOST = 2 * ARRAY_ROWS, /* more fill the array without help */
	ROWS_SOME = ARRAY_ROWS / 2, /* more are fine when N is wide */
};

struct product {
	int m, n, k;
};

static bool read_product(const struct iteration *iteration, struct product *out)
{
	const struct op *op = iteration->op;
	if (op->primitive->kind != OP_EINSUM || op->read_count != 2 || op->loop_count != 3)
		return false;
	*out = (struct product){-1, -1, -1};
	for (int l = 0; l < op->loop_count; l++) {
		if (!(iteration->all_output_loops >> l & 1))
			out->k = l;
		else if (out->n < 0)
			out->n = l;
		else if (iteration->range[l] > iteration->range[out->n])
			out->m = out->n, out->n = l;
		else
			out->m = l;
	}
	return out->k >= 0 && out->n >= 0 && out->m >= 0;
}

static bool is_worth_it(int64_t m, int64_t n_sticks, int64_t k_sticks, int64_t cores)
{
	if (m < cores || m > ROWS_MOST * cores)
		return false;
	if (m > ROWS_SOME * cores && n_sticks >= cores)
		return false;
	return k_sticks >= cores;
}

bool k_fast_divide(
	const struct iteration *iteration, const int64_t *least, int64_t cores, int64_t *splits)
{
	struct product product;
	if (!read_product(iteration, &product) || least[product.k] > 1 || least[product.m] > 1)
		return false;
	int64_t per_stick = iteration->layouts[iteration->operand_count - 1]->per_stick;
	int64_t n = iteration->range[product.n], k = iteration->range[product.k];
	if (n % per_stick || k % per_stick ||
		!is_worth_it(iteration->range[product.m], n / per_stick, k / per_stick, cores))
		return false;
	for (int64_t n_split = cores - 1; n_split > 1; n_split--) {
		if (cores % n_split || n / per_stick % n_split || k / per_stick % (cores / n_split))
			continue;
		splits[product.m] = 1;
		splits[product.n] = n_split;
		splits[product.k] = cores / n_split;
		return true;
	}
	return false;
}

int k_fast_first(const struct op *op, const int64_t *splits)
{
	if (op->primitive->kind != OP_EINSUM || op->loop_count < 3)
		return -1;
	for (int l = 0; l < op->loop_count; l++)
		if (op->loops[l].reduction && splits[l] > 1)
			return l;
	return -1;
}

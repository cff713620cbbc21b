#include "model/transfer/broadcast.h"

#include "base/number.h"

const char *const tensor_layout_names[] = {"ND", "DN", "NZ", NULL};
const char *const chunk_order_names[] = {"sliding", "johnson", "gilmore_gomory", NULL};
const char *const compat_names[] = {"doc", "code", NULL};
const char *const broadcast_path_names[] = {"empty", "single_rank", "single_tile", "chunked", NULL};

static bool product(const int64_t *extents, int count, int64_t *out)
{
	int64_t all = 1;
	for (int d = 0; d < count; d++)
		if (extents[d] == 0) {
			*out = 0;
			return true;
		}
	for (int d = 0; d < count; d++)
		if (!number_mul(all, extents[d], &all))
			return false;
	*out = all;
	return true;
}

bool broadcast_elements(const int64_t shape[BROADCAST_RANK], int64_t *out)
{
	return product(shape, BROADCAST_RANK, out);
}

bool broadcast_rows(const int64_t shape[BROADCAST_RANK], int64_t *out)
{
	return product(shape, BROADCAST_RANK - 1, out);
}

void broadcast_dense(const int64_t shape[BROADCAST_RANK], int64_t stride[BROADCAST_RANK])
{
	int64_t below = 1;
	for (int d = BROADCAST_RANK - 1; d >= 0; d--) {
		stride[d] = below;
		if (shape[d] > 0 && !number_mul(below, shape[d], &below))
			below = INT64_MAX;
	}
}

const int64_t *broadcast_block(const struct broadcast *broadcast)
{
	return broadcast->operation == OPERATION_SCATTER ? broadcast->destinations[0].shape
							 : broadcast->source.shape;
}

const struct rank_tensor *broadcast_group(const struct broadcast *broadcast, size_t *count)
{
	bool pulls = operation_pulls(broadcast->operation);
	*count = pulls ? broadcast->source_count : broadcast->destination_count;
	return pulls ? broadcast->sources : broadcast->destinations;
}

const struct rank_tensor *broadcast_own(const struct broadcast *broadcast)
{
	return operation_pulls(broadcast->operation) ? &broadcast->destinations[0]
						     : &broadcast->source;
}

int64_t broadcast_tiles(const struct broadcast *broadcast)
{
	return broadcast->staging + (broadcast->operation == OPERATION_REDUCE);
}

int64_t broadcast_notifiers(const struct broadcast *broadcast)
{
	if (operation_is_pair(broadcast->operation))
		return broadcast->peer != broadcast->root;
	return operation_pulls(broadcast->operation) ? broadcast->ranks - 1 : broadcast->ranks > 1;
}

int64_t broadcast_tile_bytes(const struct broadcast *broadcast)
{
	const struct staging_tile *tile = &broadcast->tile;
	int64_t bytes = 0;
	if (!number_mul(tile->rows, tile->cols, &bytes) ||
		!number_mul(bytes, element_bytes(tile->element), &bytes))
		return INT64_MAX;
	return bytes;
}

/* The code takes a single rank's tensor as a whole; of the document only what fits. */
enum broadcast_path broadcast_path(const struct broadcast *broadcast)
{
	const int64_t *shape = broadcast_block(broadcast);
	int64_t rows = INT64_MAX, elements = 1;
	if (broadcast_elements(shape, &elements) && elements == 0)
		return PATH_EMPTY;
	broadcast_rows(shape, &rows);
	bool fits = rows <= broadcast->tile.valid_rows && shape[4] <= broadcast->tile.valid_cols;
	if (broadcast->operation == OPERATION_BROADCAST && broadcast->ranks == 1 &&
		(fits || broadcast->compat == COMPAT_CODE))
		return PATH_SINGLE_RANK;
	return fits ? PATH_SINGLE_TILE : PATH_CHUNKED;
}

#include "model/broadcast.h"

#include "base/arena.h"
#include "base/text.h"

#include <inttypes.h>

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
	const int64_t *shape = broadcast->source.shape;
	int64_t rows = INT64_MAX, elements = 1;
	if (broadcast_elements(shape, &elements) && elements == 0)
		return PATH_EMPTY;
	broadcast_rows(shape, &rows);
	bool fits = rows <= broadcast->tile.valid_rows && shape[4] <= broadcast->tile.valid_cols;
	if (broadcast->ranks == 1 && (fits || broadcast->compat == COMPAT_CODE))
		return PATH_SINGLE_RANK;
	return fits ? PATH_SINGLE_TILE : PATH_CHUNKED;
}

const char *broadcast_mode_name(struct arena *arena, int64_t staging)
{
	if (staging == 1)
		return "single";
	return staging == 2 ? "ping-pong" : arena_format(arena, "%" PRId64 " tiles", staging);
}

static void add_type(struct text *text, const int64_t *shape, enum element element)
{
	for (int d = 0; d < BROADCAST_RANK; d++)
		text_add(text, "%" PRId64 "x", shape[d]);
	text_add(text, "%s>", element_short_name(element));
}

const char *broadcast_line(struct arena *arena, const struct broadcast *broadcast)
{
	const struct rank_tensor *destination = &broadcast->destinations[0];
	struct text text = text_open(arena);
	text_add(&text, "tbroadcast %%group, %%src : (!pto.group<%" PRId64 ", ", broadcast->ranks);
	add_type(&text, destination->shape, destination->element);
	text_add(&text, ", !pto.memref<");
	add_type(&text, broadcast->source.shape, broadcast->source.element);
	text_add(&text, ")");
	return text_read(&text);
}

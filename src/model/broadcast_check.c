#include "model/broadcast_check.h"

#include "base/arena.h"
#include "base/array.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>

const char *const broadcast_error_names[] = {
	"E_DTYPE_TILE",
	"E_DTYPE_GROUP",
	"E_LAYOUT",
	"E_TILE_VALID",
	"E_TILE_ALIGN",
	"E_UB_SIZE",
	"E_UB_RANGE",
	"E_UB_ALIGN",
	"E_UB_OVERLAP",
	"E_STAGING",
	"E_SRC_REMOTE",
	"E_NRANKS",
	"E_ROOT",
	"E_CALLER",
	"E_DST_COUNT",
	"E_DST_SHAPE",
	"E_DST_STRIDE",
	"E_DST_LIVE",
	"E_DST_SHARED",
	"E_VROW",
	"E_VCOL",
	"E_DIV_ROW",
	"E_DIV_COL",
	"E_TLOAD_ROW",
	"E_TLOAD_COL",
	NULL,
};

const char *const broadcast_error_messages[] = {
	"TBROADCAST: TileData element type must match source element type",
	"TBROADCAST: ParallelGroup element type must match source element type",
	"TBROADCAST: src/dst layout mismatch",
	"Tile valid extents must not exceed its storage extents",
	"Tile row bytes must be a multiple of the unified buffer's alignment",
	"[SA-0352] TASSIGN: Tile storage size exceeds memory space capacity",
	"[SA-0353] TASSIGN: addr + tile_size exceeds memory space capacity",
	"[SA-0354] TASSIGN: addr is not aligned",
	"ping/pong tiles must reside at non-overlapping UB offsets (doc only, not checked by the "
	"code)",
	"staging tile is not allocated in the unified buffer",
	"source is not in the local memory of the calling rank",
	"ParallelGroup size must be greater than 0!",
	"rootIdx must be in range [0, nranks)!",
	"only the root calls TBROADCAST; a call on another rank is undefined",
	"the group does not have one destination for each rank",
	"destinations are of unlike shape",
	"destinations are of unlike strides",
	"destination is not allocated and writable throughout the operation",
	"strides give two elements of a destination one place",
	"TBROADCAST: tileValidRow must be greater than 0",
	"TBROADCAST: tileValidCol must be greater than 0",
	"TBROADCAST chunked: shape3 must be divisible by tile ValidRow when ValidRow is static. "
	"Use a Tile with DYNAMIC ValidRow for partial row chunk support.",
	"TBROADCAST chunked: shape4 must be divisible by tile ValidCol when ValidCol is static. "
	"Use a Tile with DYNAMIC ValidCol for partial column chunk support.",
	"The validRow of TileData must be equal to (Shape0 * Shape1 * Shape2 * Shape3) of ND "
	"shape!",
	"The validCol of TileData must be equal to the 5th dim(Shape4) of ND shape!",
	NULL,
};

struct check {
	const struct broadcast *broadcast;
	struct arena *arena;
	struct array(struct broadcast_fault) faults;
};

__attribute__((format(printf, 4, 5))) static void add(
	struct check *check, enum broadcast_error error, struct span span, const char *format, ...)
{
	char detail[256];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(detail, sizeof detail, format, arguments);
	va_end(arguments);
	*array_add(check->arena, &check->faults) =
		(struct broadcast_fault){error, span, arena_text(check->arena, detail)};
}

static void check_types(struct check *check)
{
	const struct broadcast *b = check->broadcast;
	const char *source = element_names[b->source.element];
	if (b->tile.element != b->source.element)
		add(check, E_DTYPE_TILE, b->tile.span, "the tile is of %s, the source of %s",
			element_names[b->tile.element], source);
	for (size_t i = 0; i < b->destination_count; i++)
		if (b->destinations[i].element != b->source.element) {
			add(check, E_DTYPE_GROUP, b->destinations[i].span,
				"the group is of %s, the source of %s",
				element_names[b->destinations[i].element], source);
			break;
		}
	for (size_t i = 0; i < b->destination_count; i++)
		if (b->destinations[i].layout != b->source.layout) {
			add(check, E_LAYOUT, b->destinations[i].span,
				"the group is %s, the source %s",
				tensor_layout_names[b->destinations[i].layout],
				tensor_layout_names[b->source.layout]);
			break;
		}
}

static void check_tile(struct check *check)
{
	const struct broadcast *b = check->broadcast;
	const struct staging_tile *tile = &b->tile;
	int64_t row = tile->cols * element_bytes(tile->element);
	if (tile->valid_rows > tile->rows || tile->valid_cols > tile->cols)
		add(check, E_TILE_VALID, tile->span,
			"%" PRId64 " x %" PRId64 " of %" PRId64 " x %" PRId64, tile->valid_rows,
			tile->valid_cols, tile->rows, tile->cols);
	if (row % b->scratchpad_alignment)
		add(check, E_TILE_ALIGN, tile->span,
			"a row of %" PRId64 " bytes, where %" PRId64 " are a unit", row,
			b->scratchpad_alignment);
}

static bool overlap(int64_t a, int64_t b, int64_t bytes)
{
	return llabs(a - b) < bytes;
}

static void check_places(struct check *check)
{
	const struct broadcast *b = check->broadcast;
	int64_t bytes = broadcast_tile_bytes(b);
	bool limited = b->scratchpad_bytes > 0, shared = false;
	if (limited && bytes > b->scratchpad_bytes) {
		add(check, E_UB_SIZE, b->tile.span, "%" PRId64 " bytes of %" PRId64, bytes,
			b->scratchpad_bytes);
		return;
	}
	for (size_t i = 0; i < b->offset_count; i++)
		if (limited && b->offsets[i] > b->scratchpad_bytes - bytes) {
			add(check, E_UB_RANGE, b->spans.offsets,
				"tile %zu at %" PRId64 " is of %" PRId64 " bytes, of %" PRId64, i,
				b->offsets[i], bytes, b->scratchpad_bytes);
			break;
		}
	for (size_t i = 0; i < b->offset_count; i++)
		if (b->offsets[i] % b->scratchpad_alignment) {
			add(check, E_UB_ALIGN, b->spans.offsets,
				"tile %zu at %" PRId64 ", not a multiple of %" PRId64, i,
				b->offsets[i], b->scratchpad_alignment);
			break;
		}
	for (size_t i = 0; i < b->offset_count; i++)
		for (size_t j = i + 1; j < b->offset_count && !shared; j++)
			if ((shared = overlap(b->offsets[i], b->offsets[j], bytes)))
				add(check, E_UB_OVERLAP, b->spans.offsets,
					"tiles %zu and %zu of %" PRId64 " bytes at %" PRId64
					" and %" PRId64,
					i, j, bytes, b->offsets[i], b->offsets[j]);
	if (b->offset_count < (size_t)b->staging)
		add(check, E_STAGING, b->spans.offsets, "%zu of %" PRId64 " tiles have a place",
			b->offset_count, b->staging);
}

static void check_call(struct check *check)
{
	const struct broadcast *b = check->broadcast;
	if (b->source_rank != b->caller)
		add(check, E_SRC_REMOTE, b->spans.source,
			"it lies on rank %" PRId64 ", the caller is rank %" PRId64, b->source_rank,
			b->caller);
	if (b->ranks <= 0)
		add(check, E_NRANKS, b->spans.ranks, "%" PRId64 " ranks", b->ranks);
	else if (b->root < 0 || b->root >= b->ranks)
		add(check, E_ROOT, b->spans.root, "rank %" PRId64 " of %" PRId64, b->root,
			b->ranks);
	if (b->caller != b->root)
		add(check, E_CALLER, b->spans.caller,
			"rank %" PRId64 " calls, the root is rank %" PRId64, b->caller, b->root);
}

static bool same(const int64_t a[BROADCAST_RANK], const int64_t b[BROADCAST_RANK])
{
	for (int d = 0; d < BROADCAST_RANK; d++)
		if (a[d] != b[d])
			return false;
	return true;
}

/* Sorted by stride, each dimension's must step over all of those below it. */
static bool shares_places(const struct rank_tensor *tensor)
{
	int order[BROADCAST_RANK], count = 0;
	int64_t span = 0;
	for (int d = 0; d < BROADCAST_RANK; d++) {
		int at = count;
		if (tensor->shape[d] == 0)
			return false;
		if (tensor->shape[d] == 1)
			continue;
		for (; at > 0 && tensor->stride[order[at - 1]] > tensor->stride[d]; at--)
			order[at] = order[at - 1];
		order[at] = d;
		count++;
	}
	for (int i = 0; i < count; i++) {
		int64_t reach;
		if (tensor->stride[order[i]] <= span)
			return true;
		if (!number_mul(tensor->shape[order[i]] - 1, tensor->stride[order[i]], &reach) ||
			!number_add(span, reach, &span))
			return false;
	}
	return false;
}

/* The first destination that differs from the first or, alone, from the source. */
static void check_destinations(struct check *check)
{
	const struct broadcast *b = check->broadcast;
	const struct rank_tensor *first = &b->destinations[0];
	if (b->destination_count != 1 && b->destination_count != (size_t)b->ranks) {
		add(check, E_DST_COUNT, b->destination_count ? first->span : b->spans.all,
			"%zu destinations for %" PRId64 " ranks", b->destination_count, b->ranks);
		return;
	}
	for (size_t i = 0; i < b->destination_count; i++)
		if (!same(b->destinations[i].shape, b->source.shape)) {
			add(check, E_DST_SHAPE, b->destinations[i].span,
				"that of rank %zu is not the source's", i);
			break;
		}
	for (size_t i = 1; i < b->destination_count; i++)
		if (!same(b->destinations[i].stride, first->stride)) {
			add(check, E_DST_STRIDE, b->destinations[i].span,
				"those of rank %zu are not those of rank 0", i);
			break;
		}
	for (size_t i = 0; i < b->destination_count; i++)
		if (!b->destinations[i].live) {
			add(check, E_DST_LIVE, b->destinations[i].span, "rank %zu", i);
			break;
		}
	if (shares_places(first))
		add(check, E_DST_SHARED, first->span, "of rank 0");
}

static void check_path(struct check *check)
{
	const struct broadcast *b = check->broadcast;
	const struct staging_tile *tile = &b->tile;
	const int64_t *shape = b->source.shape;
	int64_t rows = INT64_MAX;
	if (tile->valid_rows <= 0)
		add(check, E_VROW, b->spans.valid_rows, "%" PRId64, tile->valid_rows);
	if (tile->valid_cols <= 0)
		add(check, E_VCOL, b->spans.valid_cols, "%" PRId64, tile->valid_cols);
	if (tile->valid_rows <= 0 || tile->valid_cols <= 0)
		return;
	enum broadcast_path path = broadcast_path(b);
	if (path == PATH_CHUNKED && tile->static_rows && shape[3] % tile->valid_rows)
		add(check, E_DIV_ROW, b->spans.valid_rows, "%" PRId64 " rows in tiles of %" PRId64,
			shape[3], tile->valid_rows);
	if (path == PATH_CHUNKED && tile->static_cols && shape[4] % tile->valid_cols)
		add(check, E_DIV_COL, b->spans.valid_cols,
			"%" PRId64 " columns in tiles of %" PRId64, shape[4], tile->valid_cols);
	if (b->compat == COMPAT_DOC || path == PATH_EMPTY || path == PATH_CHUNKED)
		return;
	broadcast_rows(shape, &rows);
	if (rows != tile->valid_rows)
		add(check, E_TLOAD_ROW, b->spans.valid_rows,
			"%" PRId64 " rows in a tile of %" PRId64, rows, tile->valid_rows);
	if (shape[4] != tile->valid_cols)
		add(check, E_TLOAD_COL, b->spans.valid_cols,
			"%" PRId64 " columns in a tile of %" PRId64, shape[4], tile->valid_cols);
}

const struct broadcast_fault *broadcast_check(
	const struct broadcast *broadcast, struct arena *arena, size_t *count)
{
	struct check check = {.broadcast = broadcast, .arena = arena};
	check_types(&check);
	check_tile(&check);
	check_places(&check);
	check_call(&check);
	check_destinations(&check);
	check_path(&check);
	*count = check.faults.count;
	return check.faults.at;
}

bool broadcast_legal(const struct broadcast *broadcast, struct arena *arena, struct diag *diag)
{
	size_t count;
	const struct broadcast_fault *faults = broadcast_check(broadcast, arena, &count);
	for (size_t i = 0; i < count; i++)
		diag_error(diag, faults[i].span, "%s: %s (%s)",
			broadcast_error_names[faults[i].error],
			broadcast_error_messages[faults[i].error], faults[i].detail);
	return count == 0;
}

#include "model/transfer/broadcast.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/number.h"
#include "model/machine/topology.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

const struct send_schedule *schedule_make(
	struct arena *arena, const struct synthesis *synthesis, const struct messages *messages)
{
	const struct topology *topology = synthesis->topology;
	struct send_schedule *schedule = arena_new(arena, struct send_schedule);
	struct message *sorted = arena_array(arena, struct message, messages->count + 1);
	*schedule = (struct send_schedule){.ranks = topology->ranks,
		.root = topology->root,
		.chunks = synthesis->chunks,
		.message_count = messages->count,
		.messages = sorted};
	for (size_t i = 0; i < messages->count; i++)
		if (messages->at[i].round >= schedule->rounds)
			schedule->rounds = messages->at[i].round + 1;
	size_t *next = arena_array(arena, size_t, schedule->rounds + 1);
	for (size_t i = 0; i < messages->count; i++)
		next[messages->at[i].round + 1]++;
	for (int r = 0; r < schedule->rounds; r++)
		next[r + 1] += next[r];
	for (size_t i = 0; i < messages->count; i++)
		sorted[next[messages->at[i].round]++] = messages->at[i];
	return schedule;
}

const struct send_schedule *schedule_reverse(
	struct arena *arena, const struct send_schedule *schedule)
{
	struct send_schedule *reverse = arena_copy(arena, schedule, sizeof *reverse);
	size_t count = schedule->message_count;
	struct message *messages = arena_array(arena, struct message, count + 1);
	reverse->operation =
		schedule->operation == OPERATION_SCATTER ? OPERATION_GATHER : OPERATION_REDUCE;
	for (size_t i = 0; i < count; i++) {
		const struct message *message = &schedule->messages[count - 1 - i];
		messages[i] = (struct message){schedule->rounds - 1 - message->round, message->to,
			message->from, message->first, message->count};
	}
	reverse->messages = messages;
	return reverse;
}

int64_t schedule_bytes(int64_t bytes, int element, int64_t chunks, int64_t first)
{
	int64_t elements = bytes / element, longer = elements % chunks;
	return element * (first * (elements / chunks) + number_min(first, longer));
}

const char *const element_names[] = {
	"fp32", "int32", "uint32", "fp16", "bf16", "int16", "uint16", "int8", "uint8", NULL};

static const struct {
	const char *name;
	int bytes;
} element_types[ELEMENT_COUNT] = {
	{"f32", 4},
	{"i32", 4},
	{"ui32", 4},
	{"f16", 2},
	{"bf16", 2},
	{"i16", 2},
	{"ui16", 2},
	{"i8", 1},
	{"ui8", 1},
};

static bool is_word(const char *name, const char *word, size_t length)
{
	return strlen(name) == length && memcmp(name, word, length) == 0;
}

bool element_parse(const char *word, size_t length, enum element *out)
{
	for (int e = 0; e < ELEMENT_COUNT; e++)
		if (is_word(element_names[e], word, length) ||
			is_word(element_types[e].name, word, length)) {
			*out = (enum element)e;
			return true;
		}
	return false;
}

const char *element_short_name(enum element element)
{
	return element_types[element].name;
}

int element_bytes(enum element element)
{
	return element_types[element].bytes;
}

const char *const operation_names[] = {
	"broadcast", "gather", "scatter", "reduce", "put", "get", NULL};
const char *const reduction_names[] = {"sum", "max", "min", NULL};
const char *const notify_op_names[] = {"set", "add", NULL};
const char *const wait_cmp_names[] = {"eq", "ne", "gt", "ge", "lt", "le", NULL};

bool operation_pulls(enum operation operation)
{
	return operation == OPERATION_GATHER || operation == OPERATION_REDUCE ||
	       operation == OPERATION_GET;
}

bool operation_splits(enum operation operation)
{
	return operation == OPERATION_GATHER || operation == OPERATION_SCATTER;
}

bool operation_is_pair(enum operation operation)
{
	return operation == OPERATION_PUT || operation == OPERATION_GET;
}

bool handshake_passes(const struct handshake *handshake, int64_t notified)
{
	int64_t wanted = handshake->wanted, is = notified ? handshake->value : 0;
	if (handshake->op == NOTIFY_ADD)
		is = notified * handshake->value;
	switch (handshake->cmp) {
	case WAIT_EQ:
		return is == wanted;
	case WAIT_NE:
		return is != wanted;
	case WAIT_GT:
		return is > wanted;
	case WAIT_GE:
		return is >= wanted;
	case WAIT_LT:
		return is < wanted;
	case WAIT_LE:
		return is <= wanted;
	}
	return false;
}

int64_t handshake_least(const struct handshake *handshake, int64_t most)
{
	int64_t least = 0;
	while (least <= most && !handshake_passes(handshake, least))
		least++;
	for (int64_t more = least; more <= most; more++)
		if (!handshake_passes(handshake, more))
			return -1;
	return least <= most ? least : -1;
}

const char *const tensor_layout_names[] = {"ND", "DN", "NZ", NULL};
const char *const chunk_order_names[] = {"sliding", "johnson", "gilmore_gomory", NULL};
const char *const compat_names[] = {"doc", "code", NULL};
const char *const broadcast_path_names[] = {"empty", "single_rank", "single_tile", "chunked", NULL};

static bool extents_product(const int64_t *extents, int count, int64_t *out)
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
	return extents_product(shape, BROADCAST_RANK, out);
}

bool broadcast_rows(const int64_t shape[BROADCAST_RANK], int64_t *out)
{
	return extents_product(shape, BROADCAST_RANK - 1, out);
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

#define TEXT_OF_NAME(name, message) #name,
#define TEXT_OF_MESSAGE(name, message) message,
const char *const broadcast_error_names[] = {BROADCAST_RULES(TEXT_OF_NAME) NULL};
const char *const broadcast_error_messages[] = {BROADCAST_RULES(TEXT_OF_MESSAGE) NULL};

struct rule_check {
	const struct broadcast *broadcast;
	struct arena *arena;
	struct array(struct broadcast_fault) faults;
};

__attribute__((format(printf, 4, 5))) static void add(struct rule_check *check,
	enum broadcast_error error, struct span span, const char *format, ...)
{
	char detail[256];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(detail, sizeof detail, format, arguments);
	va_end(arguments);
	*array_add(check->arena, &check->faults) =
		(struct broadcast_fault){error, span, arena_text(check->arena, detail)};
}

static void check_types(struct rule_check *check)
{
	const struct broadcast *b = check->broadcast;
	const struct rank_tensor *own = broadcast_own(b);
	const char *role = operation_pulls(b->operation) ? "destination" : "source";
	size_t count;
	const struct rank_tensor *group = broadcast_group(b, &count);
	if (b->tile.element != own->element)
		add(check, E_DTYPE_TILE, b->tile.span, "the tile is of %s, the %s of %s",
			element_names[b->tile.element], role, element_names[own->element]);
	for (size_t i = 0; i < count; i++)
		if (group[i].element != own->element) {
			add(check, E_DTYPE_GROUP, group[i].span, "the group is of %s, the %s of %s",
				element_names[group[i].element], role, element_names[own->element]);
			break;
		}
	for (size_t i = 0; i < count; i++)
		if (group[i].layout != own->layout) {
			add(check, E_LAYOUT, group[i].span, "the group is %s, the %s %s",
				tensor_layout_names[group[i].layout], role,
				tensor_layout_names[own->layout]);
			break;
		}
}

static void check_tile(struct rule_check *check)
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

static bool bytes_overlap(int64_t a, int64_t b, int64_t bytes)
{
	return llabs(a - b) < bytes;
}

static void check_places(struct rule_check *check)
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
			if ((shared = bytes_overlap(b->offsets[i], b->offsets[j], bytes)))
				add(check, E_UB_OVERLAP, b->spans.offsets,
					"tiles %zu and %zu of %" PRId64 " bytes at %" PRId64
					" and %" PRId64,
					i, j, bytes, b->offsets[i], b->offsets[j]);
	if (b->offset_count < (size_t)broadcast_tiles(b))
		add(check, E_STAGING, b->spans.offsets, "%zu of %" PRId64 " tiles have a place",
			b->offset_count, broadcast_tiles(b));
}

static void check_call(struct rule_check *check)
{
	const struct broadcast *b = check->broadcast;
	if (b->source_rank != b->caller && !operation_pulls(b->operation))
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
	if (operation_is_pair(b->operation) && b->ranks > 0 && (b->peer < 0 || b->peer >= b->ranks))
		add(check, E_PEER, b->spans.peer, "rank %" PRId64 " of %" PRId64, b->peer,
			b->ranks);
}

static bool coordinates_equal(const int64_t a[BROADCAST_RANK], const int64_t b[BROADCAST_RANK])
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

/* True if one tensor of the root has rows for all ranks. */
static bool has_room(const struct broadcast *b, const struct rank_tensor *own)
{
	const int64_t *block = broadcast_block(b);
	int64_t rows = 0;
	if (!number_mul(block[3], b->ranks, &rows) || own->shape[3] < rows)
		return false;
	for (int d = 0; d < BROADCAST_RANK; d++)
		if (d != 3 && own->shape[d] != block[d])
			return false;
	return true;
}

/* The first of the group that differs from the first, or from the tensor of the root. */
static void check_tensors(struct rule_check *check)
{
	const struct broadcast *b = check->broadcast;
	bool wide = operation_splits(b->operation);
	const struct rank_tensor *own = broadcast_own(b), *written = &b->destinations[0];
	size_t count;
	const struct rank_tensor *group = broadcast_group(b, &count), *like = wide ? group : own;
	if (count != 1 && (count != (size_t)b->ranks || operation_is_pair(b->operation))) {
		add(check, E_DST_COUNT, count ? group->span : b->spans.all,
			"%zu tensors for %" PRId64 " ranks", count,
			operation_is_pair(b->operation) ? 1 : b->ranks);
		return;
	}
	if (operation_pulls(b->operation) && b->destination_count != 1)
		add(check, E_DST_COUNT, b->destination_count ? written->span : b->spans.all,
			"%zu tensors for the root alone", b->destination_count);
	for (size_t i = 0; i < count; i++)
		if (!coordinates_equal(group[i].shape, like->shape)) {
			add(check, E_DST_SHAPE, group[i].span, "that of rank %zu is not %s", i,
				wide ? "that of rank 0" : "the root's");
			break;
		}
	for (size_t i = 1; i < count; i++)
		if (!coordinates_equal(group[i].stride, group->stride)) {
			add(check, E_DST_STRIDE, group[i].span,
				"those of rank %zu are not those of rank 0", i);
			break;
		}
	for (size_t i = 0; i < count; i++)
		if (!group[i].live) {
			add(check, E_DST_LIVE, group[i].span, "rank %zu", i);
			break;
		}
	if (operation_pulls(b->operation) && !written->live)
		add(check, E_DST_LIVE, written->span, "the root's");
	if (shares_places(written))
		add(check, E_DST_SHARED, written->span, "of rank %" PRId64,
			operation_pulls(b->operation) ? b->root : 0);
	if (wide && !has_room(b, own))
		add(check, E_ROWS, own->span, "%" PRId64 " rows for %" PRId64 " times %" PRId64,
			own->shape[3], b->ranks, broadcast_block(b)[3]);
}

/* All that are read from must be waited for, and no more can be. */
static void check_handshake(struct rule_check *check)
{
	const struct broadcast *b = check->broadcast;
	const struct handshake *handshake = &b->handshake;
	int64_t all = broadcast_notifiers(b), coming = handshake->notifies ? all : 0;
	if ((!handshake->notifies && !handshake->waits) || all <= 0 || all >= RANKS_MOST)
		return;
	int64_t least = handshake->waits ? handshake_least(handshake, coming) : 0;
	if (least < 0)
		add(check, E_WAIT_NEVER, handshake->wait_span,
			"%" PRId64 " notify it; it is for a value %s %" PRId64, coming,
			wait_cmp_names[handshake->cmp], handshake->wanted);
	else if (least < all)
		add(check, E_WAIT_EARLY,
			handshake->waits ? handshake->wait_span : handshake->notify_span,
			"%" PRId64 " of %" PRId64 " are waited for", least, all);
}

static void check_path(struct rule_check *check)
{
	const struct broadcast *b = check->broadcast;
	const struct staging_tile *tile = &b->tile;
	const int64_t *shape = broadcast_block(b);
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
	if (b->operation != OPERATION_BROADCAST || b->compat == COMPAT_DOC || path == PATH_EMPTY ||
		path == PATH_CHUNKED)
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
	struct rule_check check = {.broadcast = broadcast, .arena = arena};
	check_types(&check);
	check_tile(&check);
	check_places(&check);
	check_call(&check);
	check_tensors(&check);
	check_path(&check);
	check_handshake(&check);
	*count = check.faults.count;
	return check.faults.at;
}

/* The text with the first such words in it replaced, if it has them. */
static const char *first_words_replaced(
	struct arena *arena, const char *text, const char *words, const char *by)
{
	const char *at = strstr(text, words);
	if (!at)
		return text;
	return arena_format(arena, "%.*s%s%s", (int)(at - text), text, by, at + strlen(words));
}

/* "TBROADCAST: .." of a gather is "TGATHER: ..", and its tensors are not all destinations. */
static const char *message_of(const struct rule_check *check, enum broadcast_error error)
{
	static const char *const names[] = {
		"TBROADCAST", "TGATHER", "TSCATTER", "TREDUCE", "TPUT", "TGET"};
	enum operation operation = check->broadcast->operation;
	const char *message = broadcast_error_messages[error];
	if (operation == OPERATION_BROADCAST)
		return message;
	message = first_words_replaced(check->arena, message, names[0], names[operation]);
	message =
		first_words_replaced(check->arena, message, "source element", "GlobalData element");
	return first_words_replaced(check->arena, message, "destination", "tensor");
}

bool broadcast_legal(const struct broadcast *broadcast, struct arena *arena, struct diag *diag)
{
	struct rule_check check = {.broadcast = broadcast, .arena = arena};
	size_t count;
	const struct broadcast_fault *faults = broadcast_check(broadcast, arena, &count);
	for (size_t i = 0; i < count; i++)
		diag_error(diag, faults[i].span, "%s: %s (%s)",
			broadcast_error_names[faults[i].error], message_of(&check, faults[i].error),
			faults[i].detail);
	return count == 0;
}

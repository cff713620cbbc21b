#include "model/transfer/broadcast.h"

#include "base/number.h"

#include <stddef.h>
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

#include "base/arena.h"
#include "model/machine/arch.h"
#include "model/machine/topology.h"
#include "model/transfer/broadcast.h"
#include "spec/reader.h"

#include <inttypes.h>
#include <string.h>

/* What reading one broadcast knows so far. */
struct broadcast_draft {
	const struct reading *reading;
	struct broadcast *broadcast;
	struct reader map;
	const struct node *op; /* NULL: there is none */
	struct assembly line;
	bool parsed; /* all of it */
	int64_t block[BROADCAST_RANK], rows_of_all[BROADCAST_RANK];
};

static struct span span_of(struct broadcast_draft *draft, struct reader *map, const char *key)
{
	const struct node *node = read_node(map, key, OPTIONAL);
	return node ? node->span : draft->broadcast->spans.all;
}

/* One to five numbers from 0 up, the last ones; false without or after complaining. */
static bool read_extents(
	struct reader *map, const char *key, int64_t most, int64_t out[BROADCAST_RANK], int *given)
{
	const struct node *list = read_list(map, key, OPTIONAL);
	if (!list)
		return false;
	if (!list->count || list->count > BROADCAST_RANK)
		return reading_refuse(map->reading, list, "%s has %zu numbers; it can be 1 to %d",
			reader_place(map, key), list->count, BROADCAST_RANK);
	*given = (int)list->count;
	for (int i = 0; i < *given; i++)
		if (!node_integer(map->reading, list->items[i], reader_place(map, key), 0, most,
			    &out[BROADCAST_RANK - *given + i]))
			return false;
	return true;
}

static void read_element(struct reader *map, const char *key, enum element *out)
{
	const char *word;
	if (!read_text(map, key, OPTIONAL, &word) || element_parse(word, strlen(word), out))
		return;
	diag_error(map->reading->diag, node_find(map->map, key)->span,
		"unknown element type '%s'%s", word,
		suggestion(map->reading->arena, suggest(word, element_names), "; fp32 is one"));
}

static void read_strides(struct reader *map, struct rank_tensor *tensor)
{
	int given = 0;
	broadcast_dense(tensor->shape, tensor->stride);
	if (!read_extents(map, "strides", INT64_MAX, tensor->stride, &given))
		return;
	for (int d = BROADCAST_RANK - given - 1; d >= 0; d--)
		if (!number_mul(tensor->stride[d + 1],
			    tensor->shape[d + 1] ? tensor->shape[d + 1] : 1, &tensor->stride[d]))
			tensor->stride[d] = INT64_MAX;
}

static void read_layout(struct reader *map, struct rank_tensor *tensor)
{
	int layout = (int)tensor->layout;
	read_word(map, "layout", OPTIONAL, tensor_layout_names, &layout);
	tensor->layout = (enum tensor_layout)layout;
}

static void read_shape(struct reader *map, int64_t shape[BROADCAST_RANK])
{
	int given = 0;
	int64_t read[BROADCAST_RANK] = {1, 1, 1, 1, 1};
	if (read_extents(map, "shape", INT32_MAX, read, &given))
		memcpy(shape, read, sizeof read);
}

/* The types of the line, by role: the line of a pull names what is read first. */
static const struct assembly_type *line_type(const struct broadcast_draft *draft, bool source)
{
	enum operation operation = draft->line.operation;
	bool first = operation == OPERATION_GATHER || operation == OPERATION_REDUCE;
	return &draft->line.types[source != first];
}

static bool is_typed(const struct broadcast_draft *draft, bool source)
{
	return draft->op && line_type(draft, source)->given;
}

/* What the line says already must not be said otherwise. */
static void check_line(struct broadcast_draft *draft)
{
	const struct broadcast *broadcast = draft->broadcast;
	const struct assembly_type *type =
		line_type(draft, broadcast->operation != OPERATION_SCATTER);
	const struct node *shape = node_find(draft->map.map, "shape");
	const struct node *dtype = node_find(draft->map.map, "dtype");
	const struct node *ranks = node_find(draft->map.map, "ranks");
	const struct node *operation = node_find(draft->map.map, "operation");
	struct diag *diag = draft->reading->diag;
	if (!draft->op)
		return;
	if (type->given && shape && memcmp(type->shape, draft->block, sizeof type->shape) != 0)
		diag_error(diag, shape->span, "'shape' is not that of the operand in 'op'");
	if (type->given && dtype && type->element != broadcast->source.element)
		diag_error(diag, dtype->span, "'dtype' is not that of the operand in 'op'");
	if (draft->line.ranks && ranks && draft->line.ranks != broadcast->ranks)
		diag_error(diag, ranks->span, "'ranks' is not that of the group in 'op'");
	if (operation && draft->parsed && draft->line.operation != broadcast->operation)
		diag_error(diag, operation->span, "'operation' is not that of 'op'");
}

static void read_operation(struct broadcast_draft *draft)
{
	struct broadcast *broadcast = draft->broadcast;
	struct reader *map = &draft->map;
	const char *line;
	int operation, reduction;
	draft->op = read_node(map, "op", OPTIONAL);
	draft->parsed = read_text(map, "op", OPTIONAL, &line) &&
			broadcast_parse(draft->reading, draft->op, &draft->line);
	operation = (int)draft->line.operation;
	reduction = (int)draft->line.reduction;
	read_word(map, "operation", OPTIONAL, operation_names, &operation);
	broadcast->operation = (enum operation)operation;
	if (read_word(map, "reduction", OPTIONAL, reduction_names, &reduction) &&
		broadcast->operation != OPERATION_REDUCE)
		diag_error(draft->reading->diag, node_find(map->map, "reduction")->span,
			"a %s combines nothing", operation_names[operation]);
	broadcast->reduction = (enum reduction)reduction;
}

/* A line that cannot be read may say what is missing: one complaint is enough. */
static enum need unless_typed(const struct broadcast_draft *draft)
{
	return draft->op && !draft->parsed ? OPTIONAL : REQUIRED;
}

/* The block of each rank; where all of them lie in one tensor, that has their rows. */
static void read_tensor(struct broadcast_draft *draft)
{
	struct broadcast *broadcast = draft->broadcast;
	struct rank_tensor *source = &broadcast->source;
	struct reader *map = &draft->map;
	bool scatters = broadcast->operation == OPERATION_SCATTER;
	bool typed = is_typed(draft, !scatters);
	if (typed) {
		memcpy(draft->block, line_type(draft, !scatters)->shape, sizeof draft->block);
		source->element = line_type(draft, true)->element;
	}
	if (is_typed(draft, true))
		source->element = line_type(draft, true)->element;
	read_node(map, "shape", typed ? OPTIONAL : unless_typed(draft));
	read_node(map, "dtype", typed ? OPTIONAL : unless_typed(draft));
	read_shape(map, draft->block);
	read_element(map, "dtype", &source->element);
	memcpy(draft->rows_of_all, draft->block, sizeof draft->block);
	if (!number_mul(draft->block[3], broadcast->ranks, &draft->rows_of_all[3]))
		draft->rows_of_all[3] = INT64_MAX;
	memcpy(source->shape, scatters ? draft->rows_of_all : draft->block, sizeof source->shape);
	if (is_typed(draft, true))
		memcpy(source->shape, line_type(draft, true)->shape, sizeof source->shape);
	source->span = broadcast->spans.all;
	source->live = true;
}

static void read_tensor_map(struct broadcast_draft *draft, const struct node *node,
	const char *what, struct rank_tensor *tensor)
{
	struct reader map;
	if (!reader_open(&map, draft->reading, node, what))
		return;
	tensor->span = node->span;
	read_shape(&map, tensor->shape);
	read_element(&map, "dtype", &tensor->element);
	read_layout(&map, tensor);
	read_strides(&map, tensor);
	read_bool(&map, "live", OPTIONAL, &tensor->live);
	reader_done(&map);
}

/* One for all, or by rank. */
static const struct rank_tensor *read_tensors(struct broadcast_draft *draft, const char *key,
	const struct rank_tensor *given, size_t *count_out)
{
	const struct node *node = read_node(&draft->map, key, OPTIONAL);
	size_t count = node && node->kind == NODE_LIST ? node->count : 1;
	struct rank_tensor *tensors =
		arena_array(draft->reading->arena, struct rank_tensor, count ? count : 1);
	tensors[0] = *given;
	for (size_t i = 1; i < count; i++)
		tensors[i] = *given;
	for (size_t i = 0; node && i < count; i++)
		read_tensor_map(
			draft, node->kind == NODE_LIST ? node->items[i] : node, key, &tensors[i]);
	*count_out = count;
	return tensors;
}

/* The one of a push lies on a rank of its own, the others are those of the ranks. */
static void read_source(struct broadcast_draft *draft)
{
	struct broadcast *broadcast = draft->broadcast;
	struct rank_tensor *source = &broadcast->source;
	struct reader own;
	broadcast->source_rank = broadcast->caller;
	broadcast_dense(source->shape, source->stride);
	if (operation_pulls(broadcast->operation)) {
		broadcast->sources =
			read_tensors(draft, "source", source, &broadcast->source_count);
		*source = broadcast->sources[0];
		return;
	}
	const struct node *node = read_map(&draft->map, "source", OPTIONAL);
	broadcast->sources = source;
	broadcast->source_count = 1;
	if (!node || !reader_open(&own, draft->reading, node, "source"))
		return;
	source->span = broadcast->spans.source = node->span;
	if (read_integer(&own, "rank", OPTIONAL, INT32_MIN, INT32_MAX, &broadcast->source_rank))
		broadcast->spans.source = span_of(draft, &own, "rank");
	if (broadcast->operation == OPERATION_SCATTER)
		read_shape(&own, source->shape);
	read_layout(&own, source);
	read_strides(&own, source);
	reader_done(&own);
}

static void read_ranks(struct broadcast_draft *draft)
{
	struct broadcast *broadcast = draft->broadcast;
	struct reader *map = &draft->map;
	static const char *const atomics[] = {"none", "add", NULL};
	bool pair = operation_is_pair(broadcast->operation), typed = draft->line.ranks;
	int atomic = 0;
	broadcast->ranks = typed ? draft->line.ranks : 0;
	read_integer(map, "ranks", typed ? OPTIONAL : unless_typed(draft), 0, RANKS_MOST,
		&broadcast->ranks);
	if (broadcast->ranks > RANKS_MOST)
		diag_error(draft->reading->diag, draft->op->span, "a group has at most %d ranks",
			RANKS_MOST);
	read_integer(map, "root", OPTIONAL, INT32_MIN, INT32_MAX, &broadcast->root);
	broadcast->caller = broadcast->root;
	read_integer(map, "caller", OPTIONAL, INT32_MIN, INT32_MAX, &broadcast->caller);
	if (broadcast->operation == OPERATION_PUT &&
		read_word(map, "atomic", OPTIONAL, atomics, &atomic))
		broadcast->adds = atomic;
	if (pair)
		read_integer(map, "peer", REQUIRED, INT32_MIN, INT32_MAX, &broadcast->peer);
	broadcast->spans.ranks = span_of(draft, map, typed ? "op" : "ranks");
	broadcast->spans.root = span_of(draft, map, "root");
	broadcast->spans.caller = span_of(draft, map, "caller");
	broadcast->spans.peer = pair ? span_of(draft, map, "peer") : broadcast->spans.all;
}

static void read_destinations(struct broadcast_draft *draft)
{
	struct broadcast *broadcast = draft->broadcast;
	struct rank_tensor given = broadcast->source;
	given.live = true;
	given.span = broadcast->spans.all;
	memcpy(given.shape,
		broadcast->operation == OPERATION_GATHER ? draft->rows_of_all : draft->block,
		sizeof given.shape);
	if (is_typed(draft, false)) {
		memcpy(given.shape, line_type(draft, false)->shape, sizeof given.shape);
		given.element = line_type(draft, false)->element;
		given.span = draft->op->span;
	}
	broadcast_dense(given.shape, given.stride);
	broadcast->destinations =
		read_tensors(draft, "destinations", &given, &broadcast->destination_count);
}

/* An assembly line, or `{op, value}` and `{cmp, value}`: whether it is there. */
static bool read_signal(struct broadcast_draft *draft, bool waits, struct span *span)
{
	struct handshake *handshake = &draft->broadcast->handshake;
	const char *key = waits ? "wait" : "notify";
	const struct node *node = read_node(&draft->map, key, OPTIONAL);
	struct reader map;
	int word = 0;
	*span = node ? node->span : draft->broadcast->spans.all;
	if (node && node->kind == NODE_SCALAR) {
		broadcast_parse_signal(draft->reading, node, waits, handshake);
	} else if (node && reader_open(&map, draft->reading, node, key)) {
		read_word(&map, waits ? "cmp" : "op", OPTIONAL,
			waits ? wait_cmp_names : notify_op_names, &word);
		read_integer(&map, "value", OPTIONAL, INT32_MIN, INT32_MAX,
			waits ? &handshake->wanted : &handshake->value);
		if (waits)
			handshake->cmp = (enum wait_cmp)word;
		else
			handshake->op = (enum notify_op)word;
		reader_done(&map);
	}
	return node;
}

static void read_handshake(struct broadcast_draft *draft)
{
	struct handshake *handshake = &draft->broadcast->handshake;
	*handshake = (struct handshake){.value = 1, .wanted = 1};
	handshake->notifies = read_signal(draft, false, &handshake->notify_span);
	handshake->waits = read_signal(draft, true, &handshake->wait_span);
}

static void read_static(struct reader *map, struct staging_tile *tile)
{
	const char *const *words;
	size_t count = 0;
	if (!read_texts(map, "static", OPTIONAL, &words, &count))
		return;
	for (size_t i = 0; i < count; i++) {
		bool rows = strcmp(words[i], "rows") == 0, cols = strcmp(words[i], "cols") == 0;
		tile->static_rows |= rows;
		tile->static_cols |= cols;
		if (!rows && !cols)
			diag_error(map->reading->diag,
				node_item(node_find(map->map, "static"), i)->span,
				"'rows' and 'cols' can be static, not '%s'", words[i]);
	}
}

static void read_tile(struct broadcast_draft *draft)
{
	struct broadcast *broadcast = draft->broadcast;
	struct staging_tile *tile = &broadcast->tile;
	const struct node *node = read_map(&draft->map, "tile", REQUIRED);
	struct reader map;
	*tile = (struct staging_tile){.element = broadcast->source.element,
		.rows = 1,
		.cols = 1,
		.span = broadcast->spans.all};
	if (!node || !reader_open(&map, draft->reading, node, "tile"))
		return;
	tile->span = broadcast->spans.valid_rows = broadcast->spans.valid_cols = node->span;
	read_integer(&map, "rows", REQUIRED, 1, INT32_MAX, &tile->rows);
	read_integer(&map, "cols", REQUIRED, 1, INT32_MAX, &tile->cols);
	tile->valid_rows = tile->rows;
	tile->valid_cols = tile->cols;
	if (read_integer(&map, "valid_rows", OPTIONAL, INT32_MIN, INT32_MAX, &tile->valid_rows))
		broadcast->spans.valid_rows = span_of(draft, &map, "valid_rows");
	if (read_integer(&map, "valid_cols", OPTIONAL, INT32_MIN, INT32_MAX, &tile->valid_cols))
		broadcast->spans.valid_cols = span_of(draft, &map, "valid_cols");
	read_element(&map, "dtype", &tile->element);
	read_static(&map, tile);
	reader_done(&map);
}

/* One behind the other where nothing else is said. */
static void read_offsets(struct broadcast_draft *draft)
{
	struct broadcast *broadcast = draft->broadcast;
	const struct node *list = read_list(&draft->map, "offsets", OPTIONAL);
	int64_t bytes = number_min(broadcast_tile_bytes(broadcast), INT64_MAX / STAGING_MOST / 2);
	int64_t *offsets = arena_array(draft->reading->arena, int64_t, STAGING_MOST + 1);
	int64_t tiles = broadcast_tiles(broadcast);
	broadcast->spans.offsets = list ? list->span : broadcast->tile.span;
	broadcast->offsets = offsets;
	broadcast->offset_count = (size_t)tiles;
	for (int64_t i = 0; i < tiles; i++)
		offsets[i] = i * number_align_up(bytes, broadcast->scratchpad_alignment);
	if (!list)
		return;
	if (list->count > broadcast->offset_count) {
		diag_error(draft->reading->diag, list->span,
			"%zu offsets for %" PRId64 " staging tile%s", list->count, tiles,
			tiles == 1 ? "" : "s");
		return;
	}
	broadcast->offset_count = list->count;
	for (size_t i = 0; i < list->count; i++)
		node_size(
			draft->reading, list->items[i], "an offset", 0, INT64_MAX / 2, &offsets[i]);
}

static void read_staging(struct broadcast_draft *draft)
{
	static const char *const modes[] = {"single", "ping-pong", NULL};
	struct broadcast *broadcast = draft->broadcast;
	const struct node *mode = read_node(&draft->map, "mode", OPTIONAL);
	int word = 0;
	if (read_word(&draft->map, "mode", OPTIONAL, modes, &word))
		broadcast->staging = word + 1;
	if (read_integer(&draft->map, "staging", OPTIONAL, 1, STAGING_MOST, &broadcast->staging) &&
		mode)
		diag_error(draft->reading->diag, mode->span,
			"'mode' and 'staging' both say how many staging tiles there are");
	broadcast->spans.staging = span_of(draft, &draft->map, mode ? "mode" : "staging");
}

static void read_algorithm(struct broadcast_draft *draft)
{
	struct broadcast *broadcast = draft->broadcast;
	int order = ORDER_SLIDING;
	read_word(&draft->map, "order", OPTIONAL, chunk_order_names, &order);
	broadcast->order = (enum chunk_order)order;
	if (order != ORDER_SLIDING && broadcast->operation != OPERATION_BROADCAST)
		diag_error(draft->reading->diag, node_find(draft->map.map, "order")->span,
			"the chunks of a %s slide", operation_names[broadcast->operation]);
	read_text(&draft->map, "algorithm", OPTIONAL, &broadcast->algorithm);
	if (read_integer(&draft->map, "segments", OPTIONAL, 1, 1 << 20, &broadcast->segments) &&
		!broadcast->algorithm)
		diag_error(draft->reading->diag, node_find(draft->map.map, "segments")->span,
			"'segments' are those of an 'algorithm'; the published operation has "
			"tiles");
}

static void read_columns(struct broadcast_draft *draft, const struct node *dims)
{
	struct broadcast *broadcast = draft->broadcast;
	const struct reading *reading = draft->reading;
	int64_t ranks = 1, extent = 0;
	bool mesh = broadcast->copying.topology == TOPOLOGY_MESH;
	if (mesh && !dims) {
		diag_error(reading->diag, broadcast->spans.all,
			"a mesh needs 'dims', such as 'links: {topology: mesh, dims: [2, 4]}'");
		return;
	}
	if (!dims)
		return;
	if (dims->count != (mesh ? 2U : 1U)) {
		diag_error(reading->diag, dims->span, "a %s has %d dimension%s, not %zu",
			topology_names[broadcast->copying.topology], mesh ? 2 : 1, mesh ? "s" : "",
			dims->count);
		return;
	}
	for (size_t i = 0; i < dims->count; i++) {
		if (!node_integer(reading, dims->items[i], "an extent of the links", 1, RANKS_MOST,
			    &extent))
			return;
		ranks *= extent;
	}
	if (ranks != broadcast->ranks)
		diag_error(reading->diag, dims->span,
			"the links join %" PRId64 " ranks, the group has %" PRId64, ranks,
			broadcast->ranks);
	else if (mesh)
		broadcast->columns = (int)extent;
}

static void read_machine(struct broadcast_draft *draft, const struct arch *arch)
{
	struct broadcast *broadcast = draft->broadcast;
	struct ratio clock = {1000000000, 1};
	const struct node *dims = NULL;
	broadcast->scratchpad_alignment = 32;
	if (arch) {
		clock = arch->clock_hz;
		broadcast->copying = arch->copying;
	}
	if (arch && arch->lx >= 0) {
		broadcast->scratchpad_bytes = arch->levels[arch->lx].capacity;
		broadcast->scratchpad_alignment = arch->levels[arch->lx].alignment;
	}
	copying_read_pipes(&draft->map, clock, &broadcast->copying);
	copying_read_links(&draft->map, clock, &broadcast->copying, &dims);
	read_columns(draft, dims);
}

const struct broadcast *broadcast_read(
	const struct reading *reading, const struct node *node, const struct arch *arch)
{
	struct broadcast *broadcast = arena_new(reading->arena, struct broadcast);
	struct broadcast_draft draft = {.reading = reading, .broadcast = broadcast};
	size_t errors = diag_errors(reading->diag);
	*broadcast = (struct broadcast){.name = "broadcast", .staging = 1, .segments = 1};
	if (!reader_open(&draft.map, reading, node, "broadcast"))
		return NULL;
	broadcast->spans.all = broadcast->spans.source = node->span;
	int compat = COMPAT_DOC;
	read_text(&draft.map, "name", OPTIONAL, &broadcast->name);
	read_word(&draft.map, "compat", OPTIONAL, compat_names, &compat);
	broadcast->compat = (enum compat)compat;
	read_operation(&draft);
	read_ranks(&draft);
	read_tensor(&draft);
	read_source(&draft);
	check_line(&draft);
	read_destinations(&draft);
	read_handshake(&draft);
	read_machine(&draft, arch);
	read_tile(&draft);
	read_staging(&draft);
	read_offsets(&draft);
	read_algorithm(&draft);
	reader_done(&draft.map);
	return diag_errors(reading->diag) == errors ? broadcast : NULL;
}

#include "cli/unfit_file.h"

#include "base/array.h"
#include "base/names.h"
#include "base/scan.h"
#include "base/text.h"
#include "spec/reader.h"

#include <inttypes.h>

struct unfit_reader {
	struct reading reading;
	struct reader map;
	const struct packing *packing;
	struct names ids;
	bool rejected;
	int64_t capacity;
	struct array(int) buffers;
	struct array(struct unfit_node) nodes;
	size_t leaves;
};

static void reject(struct unfit_reader *r, struct span span, const char *why)
{
	r->rejected = true;
	diag_error(r->reading.diag, span, "rejected: %s", why);
}

static struct span span_of(const struct unfit_reader *r, const char *key)
{
	const struct node *node = node_find(r->map.map, key);
	return node ? node->span : r->map.map->span;
}

static bool is_same_range(
	const struct unfit_reader *r, const struct node *range, const struct byte_range *reserved)
{
	int64_t from, to;
	return node_integer(&r->reading, node_item(range, 0), "the begin of a reserved range", 0,
		       INT64_MAX, &from) &&
	       node_integer(&r->reading, node_item(range, 1), "the end of a reserved range", 0,
		       INT64_MAX, &to) &&
	       from == reserved->from && to == reserved->to;
}

/* What holds of a capacity holds of every smaller one; the rest has to be the same. */
static void read_room(struct unfit_reader *r)
{
	struct arena *arena = r->reading.arena;
	const struct packing *packing = r->packing;
	int64_t alignment = 0;
	bool good =
		read_integer(&r->map, "capacity", REQUIRED, 0, PACKING_BYTES_MOST, &r->capacity);
	if (good && r->capacity < packing->capacity)
		reject(r, span_of(r, "capacity"),
			arena_format(arena, "it is about %" PRId64 " bytes, and there are %" PRId64,
				r->capacity, packing->capacity));
	good = read_integer(&r->map, "alignment", REQUIRED, 1, PACKING_BYTES_MOST, &alignment);
	if (good && alignment != packing->alignment)
		reject(r, span_of(r, "alignment"),
			arena_format(arena,
				"it is about an alignment of %" PRId64 " and not of %" PRId64,
				alignment, packing->alignment));
	const struct node *reserved = read_list(&r->map, "reserved", REQUIRED);
	bool same = reserved && reserved->count == packing->reserved_count;
	for (size_t i = 0; same && i < reserved->count; i++) {
		const struct node *range = reserved->items[i];
		same = range->kind == NODE_LIST && range->count == 2 &&
		       is_same_range(r, range, &packing->reserved[i]);
	}
	if (reserved && !same && !diag_failed(r->reading.diag))
		reject(r, reserved->span, "it is about other reserved ranges");
}

static void read_buffer(struct unfit_reader *r, const struct node *node, bool *taken)
{
	struct reader map;
	const char *id = NULL;
	int64_t lower = 0, upper = 0, size = 0;
	if (!reader_open(&map, &r->reading, node, "buffer"))
		return;
	bool good = read_text(&map, "id", REQUIRED, &id);
	good &= read_integer(&map, "lower", REQUIRED, INT64_MIN, INT64_MAX, &lower);
	good &= read_integer(&map, "upper", REQUIRED, INT64_MIN, INT64_MAX, &upper);
	good &= read_integer(&map, "size", REQUIRED, 0, PACKING_BYTES_MOST, &size);
	reader_done(&map);
	int i = good ? names_find(&r->ids, id) : -1;
	if (good && i < 0) {
		reject(r, node->span,
			arena_format(r->reading.arena, "the table has no buffer '%s'", id));
	} else if (good && taken[i]) {
		reject(r, node->span,
			arena_format(r->reading.arena, "buffer '%s' is listed twice", id));
	} else if (good) {
		const struct buffer *buffer = &r->packing->buffers[i];
		taken[i] = true;
		if (buffer->start != lower || buffer->end != upper || buffer->size != size)
			reject(r, node->span,
				arena_format(r->reading.arena,
					"in the table, buffer '%s' has %" PRId64
					" bytes and lives in [%" PRId64 ", %" PRId64 ")",
					id, buffer->size, buffer->start, buffer->end));
	}
	*array_add(r->reading.arena, &r->buffers) = i;
}

static void read_buffers(struct unfit_reader *r)
{
	bool *taken = arena_array(r->reading.arena, bool, r->packing->count);
	const struct node *list = read_list(&r->map, "buffers", REQUIRED);
	for (size_t i = 0; i < r->packing->count; i++)
		names_add(r->reading.arena, &r->ids, r->packing->buffers[i].name, (int)i);
	for (size_t i = 0; list && i < list->count; i++)
		read_buffer(r, list->items[i], taken);
}

/* `0/1 x x`; false at what is none. */
static bool read_nodes(struct unfit_reader *r, const char *line)
{
	while (!scan_end(&line)) {
		struct unfit_node node = {-1, -1};
		int64_t a = 0, b = 0;
		if (scan_text(&line, "x")) {
			r->leaves++;
		} else {
			if (!scan_integer(&line, &a) || !scan_text(&line, "/") ||
				!scan_integer(&line, &b) || a > INT32_MAX || b > INT32_MAX)
				return false;
			node = (struct unfit_node){(int)a, (int)b};
		}
		*array_add(r->reading.arena, &r->nodes) = node;
	}
	return true;
}

static void read_proof(struct unfit_reader *r)
{
	int64_t forks = 0, leaves = 0;
	size_t errors = diag_errors(r->reading.diag);
	const struct node *list = read_list(&r->map, "proof", REQUIRED);
	for (size_t i = 0; list && i < list->count; i++)
		if (list->items[i]->kind != NODE_SCALAR || !read_nodes(r, list->items[i]->text))
			reading_refuse(&r->reading, list->items[i],
				"a line of the proof has forks such as 0/1, and leaves x");
	bool good = read_integer(&r->map, "forks", REQUIRED, 0, INT64_MAX, &forks);
	good &= read_integer(&r->map, "leaves", REQUIRED, 0, INT64_MAX, &leaves);
	if (good && diag_errors(r->reading.diag) == errors &&
		((size_t)leaves != r->leaves || (size_t)(forks + leaves) != r->nodes.count))
		reject(r, list->span,
			arena_format(r->reading.arena,
				"it has %zu forks and %zu leaves, not as many as it says",
				r->nodes.count - r->leaves, r->leaves));
}

static void read_head(struct unfit_reader *r)
{
	static const char *const claims[] = {"does not fit", NULL};
	int64_t version = 0;
	int claim;
	read_integer(&r->map, "version", REQUIRED, 1, 1, &version);
	read_word(&r->map, "claim", REQUIRED, claims, &claim);
}

enum unfit_reading unfit_file_read(struct arena *arena, const struct place_request *request,
	struct diag *diag, struct unfit_file *out)
{
	struct unfit_reader r = {
		.reading = {.arena = arena, .diag = diag}, .packing = &request->file.packing};
	const struct node *root = node_read_file(arena, request->check_certificate, diag);
	const struct node *certificate = root ? node_find(root, "certificate") : NULL;
	if (root && !certificate)
		diag_error(diag, root->span, "a key 'certificate' is expected");
	if (!certificate || !reader_open(&r.map, &r.reading, certificate, "certificate"))
		return UNFIT_WRONG;
	read_head(&r);
	read_room(&r);
	read_buffers(&r);
	read_proof(&r);
	reader_done(&r.map);
	*out = (struct unfit_file){.capacity = r.capacity,
		.count = r.buffers.count,
		.buffers = r.buffers.at,
		.proof = {r.nodes.count, r.nodes.at},
		.proof_span = span_of(&r, "proof")};
	if (!diag_failed(diag))
		return UNFIT_READ;
	return r.rejected ? UNFIT_REJECTED : UNFIT_WRONG;
}

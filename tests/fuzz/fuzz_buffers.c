#include "base/arena.h"
#include "base/random.h"
#include "model/packing/buffer.h"
#include "model/packing/capture.h"
#include "model/packing/packing_file.h"
#include "search/packing/packing_search.h"
#include "spec/node.h"
#include "spec/reader.h"
#include "tests/support/draws.h"
#include "tests/support/mutated_text.h"

#include <string.h>

#include "tests/test.h"

/*
 * Tables of buffers with something changed: read or refused with a complaint; what is read
 * keeps its promises, and is read again from what is written of it.
 */
static const char *const tables[] = {
	"id,lower,upper,size\na,0,3,256\nb,1,5,64KiB\nc,3,5,0x200\nd,4,8,2*(3+4)\n",
	"size ,id,upper,alignment,in_place_parents,in_place,weight,uses,address,offset,lower\r\n"
	"8,\"a, \"\"b\"\"\",5,,,,7,w1;r3;r4,64,0,0\r\n"
	"8,c,9,32,\"a, \"\"b\"\"\",must,,,,0,4\r\n"
	"4,d,9,,c;\"a,,\",may,1,w5;r8,,5-9@16,4\r\n",
	"buffer_id,begin,end,size,offset\nx,-4,-1,8,3\ny,-3,7,9,\nz,0,1,1,12\n",
};
enum { TABLES = sizeof tables / sizeof *tables };

static const struct source *source_of(struct arena *arena, const char *text, size_t length)
{
	struct source *source = arena_new(arena, struct source);
	*source = (struct source){
		.name = "b.csv", .bytes = arena_copy(arena, text, length + 1), .length = length};
	return source;
}

static void check_buffers(const struct packing *packing)
{
	int64_t bytes = 0;
	for (size_t i = 0; i < packing->count; i++) {
		const struct buffer *buffer = &packing->buffers[i];
		assert_true(buffer->name[0] && buffer->start < buffer->end);
		assert_true(buffer->size >= 0 && buffer->alignment >= 0 && buffer->weight >= 0);
		bytes += buffer->size;
		assert_true(bytes <= PACKING_BYTES_MOST);
		assert_true(!buffer->must_take_over || buffer->parent_count);
		for (size_t k = 0; k < buffer->parent_count; k++)
			assert_true(packing_may_take(packing, i, (size_t)buffer->parents[k]));
		for (size_t u = 0; u < buffer->use_count; u++) {
			assert_true(buffer->uses[u].at >= buffer->start);
			assert_true(buffer->uses[u].at < buffer->end);
			assert_true(!u || buffer->uses[u - 1].at < buffer->uses[u].at);
		}
	}
	assert_true(packing_weights(packing) >= 0);
}

/* Checks that the written file has the same buffers, and the offsets of the input. */
static void check_again(struct arena *arena, const struct packing_file *file)
{
	struct packing_file again;
	struct diag *diag = diag_open(arena);
	const char *text = packing_write(arena, file, file->placement);
	assert_true(packing_read(arena, source_of(arena, text, strlen(text)),
		file->packing.alignment, true, diag, &again));
	assert_int_equal(again.packing.count, file->packing.count);
	for (size_t i = 0; i < again.packing.count; i++) {
		const struct buffer *a = &file->packing.buffers[i], *b = &again.packing.buffers[i];
		assert_string_equal(a->name, b->name);
		assert_true(a->size == b->size && a->start == b->start && a->end == b->end);
		assert_true(file->placement->addresses[i] == again.placement->addresses[i]);
	}
	assert_int_equal(file->placement->part_count, again.placement->part_count);
}

BARE_TEST(changed_tables_are_read_or_refused)
{
	uint64_t seed = draws_seed(1);
	long count = draws(6000), read = 0;
	for (long i = 0; i < count; i++) {
		struct arena *arena = arena_open();
		struct random random = random_open(seed, (uint64_t)i);
		const char *text = mutated_text(arena, &random, tables[i % TABLES]);
		struct diag *diag = diag_open(arena);
		struct packing_file file;
		bool good = packing_read(
			arena, source_of(arena, text, strlen(text)), 1, true, diag, &file);
		if (good == diag_failed(diag))
			fail_msg("draw %ld is %s:\n%s", i,
				good ? "read with errors" : "refused in silence", text);
		if (good) {
			check_buffers(&file.packing);
			if (file.placement) {
				packing_check(&file.packing, file.placement);
				check_again(arena, &file);
			}
		}
		read += good;
		arena_close(arena);
	}
	mutated_tell(count, read);
	assert_true(!draws_are_many(count) || (read > count / 20 && read < count));
}

static const char *const captures[] = {
	"{\"g\": [{\"inputs\": [{\"name\": \"a\", \"size\": 64, \"uses\": [0, 1, 2], "
	"\"core_divisions\": [{\"output_splits\": {\"1\": 2}, \"reduction_splits\": {}}]}, {\"name\": "
	"\"b\", \"size\": 64, \"uses\": [1, 2], \"parents\": [\"a\"], \"in_place_parents\": [\"a\"], "
	"\"cd_parent_matches\": {\"a\": [[0, 0]]}, \"core_divisions\": [{\"output_splits\": {\"1\": 2}, "
	"\"reduction_splits\": {\"4\": 2}}], \"residency_reason\": null}], \"solved\": [{\"name\": "
	"\"a\", \"chosen_division\": 0, \"address\": 0}]}]}",
	"{g: [{inputs: [{name: a, size: -1, uses: [7], core_divisions: [{output_splits: {}, "
	"reduction_splits: {}}]}]}], h: [{inputs: []}]}",
};

/* The same of captures; what is read is solved, and its answer passes the checker. */
BARE_TEST(changed_captures_are_read_or_refused)
{
	uint64_t seed = draws_seed(2);
	long count = draws(4000), read = 0;
	for (long i = 0; i < count; i++) {
		struct arena *arena = arena_open();
		struct random random = random_open(seed, (uint64_t)i);
		const char *text = mutated_text(arena, &random, captures[i % 2]);
		struct diag *diag = diag_open(arena);
		struct unread unread = {0};
		struct reading reading = {.arena = arena, .diag = diag, .unread = &unread};
		struct captures all = {0};
		const struct node *root =
			node_read_source(arena, source_of(arena, text, strlen(text)), diag);
		bool good = root && captures_read(&reading, root, &all);
		if (good == diag_failed(diag))
			fail_msg("draw %ld is %s:\n%s", i,
				good ? "read with errors" : "refused in silence", text);
		for (size_t c = 0; c < all.count && good; c++) {
			struct capture_question question = {&all.at[c], 64, 16};
			struct asker asker = {0};
			assert_non_null(capture_explore(&asker, &question, 1000, arena).answer);
		}
		read += good;
		arena_close(arena);
	}
	mutated_tell(count, read);
	assert_true(!draws_are_many(count) || (read > count / 20 && read < count));
}

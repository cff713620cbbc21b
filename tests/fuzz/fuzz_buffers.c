#include "base/arena.h"
#include "base/random.h"
#include "model/packing/packing_file.h"
#include "model/packing/packing_sums.h"
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

/* What is written has the same buffers, and the offsets that were. */
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

static void changed_tables_are_read_or_refused(void **state)
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(changed_tables_are_read_or_refused),
	};
	return cmocka_run_group_tests_name("fuzz_buffers", tests, NULL, NULL);
}

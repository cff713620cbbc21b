#include "base/arena.h"
#include "base/number.h"
#include "base/random.h"
#include "model/graph/box_nest.h"
#include "tests/support/draws.h"
#include "tests/support/lookups.h"
#include "tests/support/sample.h"

#include "tests/test.h"

/*
 * The closed form of the span against a walk: every element that one core
 * touches is placed by the layout, and the device dimensions are looked at one
 * by one.
 */
struct reach {
	int64_t low[LAYOUT_RANK_MOST], high[LAYOUT_RANK_MOST];
};

static void touch(const struct layout *layout, const int64_t *host, struct reach *reach)
{
	int lane;
	int64_t stick = layout_stick(layout, host, &lane);
	for (int d = layout->rank - 2; d >= 0; d--) {
		int64_t at = stick % layout->size[d];
		stick /= layout->size[d];
		reach->low[d] = number_min(reach->low[d], at);
		reach->high[d] = number_max(reach->high[d], at);
	}
}

/* The block of a core: loop l runs over [slot[l] * count[l], (slot[l] + 1) * count[l]). */
static int64_t walked_span(const struct op *op, const struct layout *layout,
	const struct access *access, const int64_t *count, const int64_t *slot)
{
	struct reach reach;
	for (int d = 0; d < layout->rank; d++) {
		reach.low[d] = INT64_MAX;
		reach.high[d] = -1;
	}
	int64_t points = 1;
	for (int l = 0; l < op->loop_count; l++)
		points *= count[l];
	for (int64_t p = 0; p < points; p++) {
		int64_t host[LAYOUT_HOST_RANK_MOST] = {0}, rest = p;
		for (int l = 0; l < op->loop_count; l++) {
			int64_t index = slot[l] * count[l] + rest % count[l];
			rest /= count[l];
			for (int h = 0; h < layout->host_rank; h++)
				host[h] += access->host[h].coefficient[l] * index;
		}
		touch(layout, host, &reach);
	}
	int64_t bytes = dtype_host_bytes(layout->dtype);
	for (int d = 0; d < layout->rank - 1; d++) {
		if (reach.high[d] == reach.low[d])
			continue;
		bytes *= reach.high[d] - reach.low[d] + 1;
		for (int inner = d + 1; inner < layout->rank; inner++)
			bytes *= layout->size[inner];
		break;
	}
	return bytes;
}

static int below(struct random *random, int bound)
{
	return (int)random_below(random, (uint64_t)bound);
}

static void shuffle(struct random *random, int *order, int count)
{
	for (int i = 0; i < count; i++) {
		int j = below(random, i + 1);
		order[i] = order[j];
		order[j] = i;
	}
}

static const char *const shapes[] = {"n->n", "mn->mn", "mn,.n->mn", "bmn,mn->bmn", "bmn,b.n->bmn",
	"bmk,bkn->bmn", "mk,kn->mn", "bmnk->bm.k", "mn->m."};

static void check_draw(struct random *random, struct arena *arena)
{
	int64_t extents[5], splits[5], count[5], slot[5] = {0};
	for (int l = 0; l < 5; l++) {
		static const int64_t sizes[] = {2, 3, 5, 6, 64, 96, 192};
		splits[l] = 1 + below(random, 3);
		extents[l] = splits[l] * sizes[below(random, l < 4 ? 4 : 7)];
	}
	/* any loop can be the long one */
	int long_one = below(random, 5);
	int64_t swap = extents[4];
	extents[4] = extents[long_one], extents[long_one] = swap;
	swap = splits[4];
	splits[4] = splits[long_one], splits[long_one] = swap;

	static const enum dtype dtypes[] = {DTYPE_FP16, DTYPE_FP32, DTYPE_FP8, DTYPE_INT64};
	const char *shape = shapes[below(random, sizeof shapes / sizeof *shapes)];
	struct workload *workload = sample_op(arena, OP_MAP,
		dtypes[below(random, sizeof dtypes / sizeof *dtypes)], shape, "bmnkx", extents);
	((struct op *)workload->ops)->loop_count = 4;
	for (int i = 0; i < op_operands(workload->ops); i++) {
		const struct layout *layout =
			&workload->tensors[op_operand(workload->ops, i)->tensor].layout;
		int order[LAYOUT_HOST_RANK_MOST];
		shuffle(random, order, layout->host_rank);
		if (below(random, 2))
			sample_lay_out(workload, i, layout->dtype, order);
	}
	const char *why = NULL;
	const struct iteration *iteration = iteration_make(arena, workload, workload->ops, &why);
	assert_non_null(iteration);
	for (int l = 0; l < 4; l++) {
		count[l] = extents[l] / splits[l];
		if (iteration->stick[l] == 0 || count[l] % iteration->stick[l] == 0)
			slot[l] = below(random, (int)splits[l]);
	}
	for (int i = 0; i < iteration->operand_count; i++)
		assert_int_equal(iteration_span(iteration, i, splits),
			walked_span(workload->ops, iteration->layouts[i],
				op_operand(workload->ops, i), count, slot));
}

BARE_TEST(span_is_what_a_walk_over_the_block_finds)
{
	struct random random = random_open(draws_seed(20261121), 0);
	for (long n = draws(400); n > 0; n--) {
		struct arena *arena = arena_open();
		check_draw(&random, arena);
		arena_close(arena);
	}
}

#include "base/arena.h"
#include "cost/graph/footprint.h"
#include "tests/support/draws.h"
#include "tests/support/random_view.h"
#include "tests/support/spyre.h"

#include <inttypes.h>
#include <string.h>

#include "tests/test.h"

enum { CORES = 64 };
enum { UP, DOWN, WAYS };

/* Figures that the price finds in closed form, counted stick by stick. */
struct walked {
	const struct layout *layout;
	const struct view *from, *to;
	int cores;
	int64_t links[WAYS][CORES], read[CORES], written[CORES], sent[CORES], received[CORES];
	int64_t drain, fill, crossed;
	/* of the stick before, by way, sender and least receiver, and by receiver and least sender: its places
	 * in both slices, plus 1 */
	int64_t sent_at[WAYS][CORES][CORES][2], received_at[CORES][CORES][2];
};

/* The number of a stick in a core's slice, plus 1; 0: it is not there. */
static int64_t place_of(
	const struct walked *walked, const struct view *view, int core, int64_t stick)
{
	int64_t place = 0, stride = 1;
	if (!view_holds(view, core))
		return 0;
	for (int d = walked->layout->rank - 2; d >= 0; d--) {
		int64_t size = view_size(walked->layout, view, d);
		int64_t at =
			stick % walked->layout->size[d] - view_first(walked->layout, view, d, core);
		if (at < 0 || at >= size)
			return 0;
		place += at * stride;
		stride *= size;
		stick /= walked->layout->size[d];
	}
	return place + 1;
}

static int least_holder(const struct walked *walked, const struct view *view, int64_t stick)
{
	int core = 0;
	while (!place_of(walked, view, core, stick))
		core++;
	return core;
}

static int distance(const struct walked *walked, int from, int to, int *way)
{
	int up = (to - from + walked->cores) % walked->cores, down = walked->cores - up;
	*way = up <= down ? UP : DOWN;
	return up <= down ? up : down;
}

static int find_sender(const struct walked *walked, int receiver, int64_t stick)
{
	int best = -1, least = CORES, way;
	for (int s = 0; s < walked->cores; s++) {
		int far = distance(walked, s, receiver, &way);
		if (place_of(walked, walked->from, s, stick) && far < least) {
			best = s;
			least = far;
		}
	}
	return best;
}

static bool begins_run(int64_t before[2], int64_t from, int64_t to)
{
	bool begins = !before[0] || from != before[0] + 1 || to != before[1] + 1;
	before[0] = from;
	before[1] = to;
	return begins;
}

static void walk_stick(struct walked *walked, int64_t stick)
{
	int furthest[WAYS][CORES];
	int source = least_holder(walked, walked->from, stick);
	int target = least_holder(walked, walked->to, stick);
	int64_t from = place_of(walked, walked->from, source, stick);
	int64_t to = place_of(walked, walked->to, target, stick);
	memset(furthest, -1, sizeof furthest);
	for (int r = 0; r < walked->cores; r++) {
		int way;
		if (!place_of(walked, walked->to, r, stick))
			continue;
		int s = find_sender(walked, r, stick), far = distance(walked, s, r, &way);
		furthest[way][s] = far > furthest[way][s] ? far : furthest[way][s];
		walked->fill++;
		walked->written[r]++;
		walked->received[r] += begins_run(walked->received_at[r][source], from, to);
	}
	for (int way = UP; way < WAYS; way++)
		for (int s = 0; s < walked->cores; s++) {
			if (furthest[way][s] < 0)
				continue;
			walked->drain++;
			walked->read[s]++;
			walked->sent[s] += begins_run(walked->sent_at[way][s][target], from, to);
			walked->crossed += furthest[way][s];
			for (int i = 0; i < furthest[way][s]; i++) {
				int at = way == DOWN ? s - i - 1 : s + i;
				walked->links[way][(at + walked->cores) % walked->cores]++;
			}
		}
}

/* Into how many boxes the slices of one view are cut by those of the other, at most. */
static int64_t count_parts(
	const struct walked *walked, const struct view *cut, const struct view *by)
{
	int64_t most = 0;
	for (int c = 0; c < walked->cores; c++) {
		bool seen[CORES] = {false};
		int64_t parts = 0;
		for (int64_t stick = 0; stick < walked->layout->sticks; stick++) {
			if (!place_of(walked, cut, c, stick))
				continue;
			int other = least_holder(walked, by, stick);
			parts += !seen[other];
			seen[other] = true;
		}
		most = parts > most ? parts : most;
	}
	return most;
}

static int64_t most_of(const int64_t *values)
{
	int64_t most = 0;
	for (int c = 0; c < CORES; c++)
		most = values[c] > most ? values[c] : most;
	return most;
}

static int64_t cycles_of(int64_t sticks, struct ratio rate)
{
	int64_t cycles;
	assert_true(ratio_time(sticks * STICK_BYTES, rate, &cycles));
	return cycles;
}

static void compare(const struct arch *arch, struct walked *walked)
{
	struct relayout_price price;
	for (int64_t stick = 0; stick < walked->layout->sticks; stick++)
		walk_stick(walked, stick);
	assert_true(relayout_price(arch, walked->layout, walked->from, walked->to, &price));
	assert_int_equal(price.counts.bytes[0][TRAFFIC_LX_DRAIN], walked->drain * STICK_BYTES);
	assert_int_equal(price.counts.bytes[1][TRAFFIC_LX_FILL], walked->fill * STICK_BYTES);
	assert_int_equal(price.counts.bytes[1][TRAFFIC_DATA_RING], walked->crossed * STICK_BYTES);
	int64_t sent = most_of(walked->sent), received = most_of(walked->received);
	assert_int_equal(price.runs, sent > received ? sent : received);
	int64_t cut = count_parts(walked, walked->from, walked->to);
	int64_t made = count_parts(walked, walked->to, walked->from);
	assert_int_equal(price.parts, cut > made ? cut : made);
	int64_t up = most_of(walked->links[UP]), down = most_of(walked->links[DOWN]);
	assert_int_equal(price.link, cycles_of(up > down ? up : down, arch->data_ring.rate));
	int64_t read = most_of(walked->read), written = most_of(walked->written);
	assert_int_equal(price.port,
		cycles_of(read > written ? read : written,
			storage_ports(&level_storage(&arch->levels[arch->lx])->store).read));
	struct ratio run = ring_run(&arch->data_ring, price.parts);
	assert_int_equal(price.setup, (price.runs * run.num + run.den - 1) / run.den);
	assert_int_equal(
		price.cycles, (price.link > price.port ? price.link : price.port) + price.setup);
}

static struct layout random_layout(struct random *random)
{
	static const int64_t sizes[] = {1, 2, 3, 4, 6, 8, 12, 16, 64, 128, 256};
	int64_t size[3];
	struct layout layout;
	int rank = 1 + (int)draw_below(random, 3);
	for (int h = 0; h < rank; h++)
		size[h] = sizes[draw_below(random, h + 1 == rank ? 11 : 8)];
	assert_true(layout_make(DTYPE_FP16, size, rank, NULL, 0, &layout));
	return layout;
}

BARE_TEST(prices_are_those_of_every_stick)
{
	uint64_t seed = draws_seed(24);
	long count = draws(300);
	for (long i = 0; i < count; i++) {
		struct arena *arena = arena_open();
		struct random random = random_open(seed, (uint64_t)i);
		int cores = 1 << draw_below(&random, 7);
		const struct arch *arch = spyre_arch(arena, cores);
		struct layout layout = random_layout(&random);
		struct view from = random_view(&random, &layout, cores);
		struct view to = random_view(&random, &layout, cores);
		assert_null(view_check(arena, &layout, &from));
		struct walked *walked = arena_new(arena, struct walked);
		walked->layout = &layout;
		walked->from = &from;
		walked->to = &to;
		walked->cores = cores;
		compare(arch, walked);
		arena_close(arena);
	}
}

/* The fitted measurement: `split` neighbours shuffle slices of this number of bytes. With two, the
 * ports of LX, which also move the bytes that stay, are slower than the links. */
TEST(shuffles_of_neighbours_cost_what_was_fitted)
{
	static const struct {
		const char *from, *to;
		int64_t split;
	} rows[] = {
		{"cores 32: dim 1 / 32 by 1", "cores 32: dim 0 / 2 by 1, dim 1 / 16 by 2", 2},
		{"cores 32: dim 1 / 32 by 1", "cores 32: dim 0 / 4 by 1, dim 1 / 8 by 4", 4},
		{"cores 32: dim 1 / 32 by 1", "cores 32: dim 0 / 8 by 1, dim 1 / 4 by 8", 8},
	};
	static const double per_run[] = {[2] = 2.78, [4] = 6.70, [8] = 10.62};
	const struct arch *arch = spyre_arch(arena, 32);
	const int64_t size[] = {1024, 1024};
	struct layout layout;
	assert_true(layout_make(DTYPE_FP16, size, 2, NULL, 0, &layout));
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct view from, to;
		struct relayout_price price;
		assert_null(view_parse(rows[i].from, &from));
		assert_null(view_parse(rows[i].to, &to));
		assert_true(relayout_price(arch, &layout, &from, &to, &price));
		double bytes = 65536, split = (double)rows[i].split;
		double runs = 16; /* of 32 rows of 128 bytes each, times those of a box */
		assert_int_equal(price.parts, rows[i].split);
		assert_int_equal(price.runs, (int64_t)runs);
		double fitted = runs * per_run[rows[i].split] + bytes * split / 547;
		double priced = arch_nanoseconds(arch, price.cycles);
		print_message(
			"split %d: fitted %.0f ns, priced %.0f ns\n", (int)split, fitted, priced);
		assert_true(
			priced > fitted - 2 && priced < (split > 2 ? fitted + 2 : 1.4 * fitted));
	}
}

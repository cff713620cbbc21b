#include "solvers/place/spill_grow.h"

#include "base/arena.h"
#include "base/number.h"
#include "solvers/place/sections.h"

/* Sections at first. */
enum { SECTIONS_FIRST = 16 };

/* Sections before the new one: what begins in so many may move, and so many before those are still
 * looked at. */
enum { REACH_LEAST = 4, REACH_MOST = 32, MARGIN = 16 };

/* What is packed anew begins in so many sections, so far back at most. */
enum { SHAKEN_LEAST = 2, SHAKEN_MOST = 17, SHAKEN_BACK = 32 };

/* Nodes of a try, as many more after so many tries; of all tries for a section. */
enum { TRY_NODES = 1000, PATIENCE = 8, SECTION_NODES = 150000 };

/* Sections that are given up, so many times, unless fewer than the least would be left. */
enum { GIVEN_UP_LEAST = 2, GIVEN_UP_MOST = 16, GIVEN_UP_TIMES = 3, SECTIONS_LEAST = 8 };

struct growing {
	struct run *run;
	const struct spill_question *question;
	size_t count;          /* of residences */
	struct stay *stays[2]; /* by residence; the second as seen from the end */
	int64_t *times;        /* of sections: the last start in each */
	int section_count;
	int from, to;       /* known are sections [from, to) */
	int64_t *addresses; /* of what lives there, otherwise UNPLACED */
	int64_t *order;     /* the same of what may not move */
	bool *chosen;
	int oldest; /* the first section in which something begins that may move */
	uint64_t nodes, nodes_most;
};

/* Where it goes on, and where it began, as seen from either end. */
static int front(const struct growing *growing, bool back)
{
	return back ? growing->section_count - growing->from : growing->to;
}

static int rear(const struct growing *growing, bool back)
{
	return back ? growing->section_count - growing->to : growing->from;
}

static void set_front(struct growing *growing, bool back, int section)
{
	if (back)
		growing->from = growing->section_count - section;
	else
		growing->to = section;
	for (size_t r = 0; r < growing->count; r++)
		if (growing->stays[0][r].first >= growing->to ||
			growing->stays[0][r].end <= growing->from)
			growing->addresses[r] = UNPLACED;
}

static bool is_over(const struct growing *growing)
{
	return growing->nodes >= growing->nodes_most || !run_spend(growing->run, 0);
}

static int draw(const struct growing *growing, int least, int most)
{
	return least + (int)run_random(growing->run, (uint64_t)(most - least + 1));
}

/* What begins in these sections may move. */
static void release(struct growing *growing, bool back, int first, int last)
{
	growing->oldest = first;
	for (size_t r = 0; r < growing->count; r++) {
		int begin = growing->stays[back][r].first;
		bool moves = first <= begin && begin <= last;
		growing->order[r] = moves ? UNPLACED : growing->addresses[r];
	}
}

/* Packs what lives before section `end`, but for what is too far from all that may move. */
static enum pack_status pack_until(struct growing *growing, bool back, int end, uint64_t nodes)
{
	struct arena *arena = arena_open();
	struct packing packing = growing->question->packing;
	struct buffer *buffers =
		arena_copy(arena, packing.buffers, packing.count * sizeof *buffers);
	int fixed = growing->oldest - MARGIN;
	int first = (int)number_max(fixed, rear(growing, back));
	for (size_t r = 0; r < packing.count; r++) {
		const struct stay *stay = &growing->stays[back][r];
		growing->chosen[r] = stay->first < end && stay->end > first;
		if (stay->first >= fixed || growing->addresses[r] == UNPLACED)
			continue;
		buffers[r].is_fixed = true;
		buffers[r].address = growing->addresses[r];
	}
	packing.buffers = buffers;
	struct pack_question asked = {.packing = &packing,
		.chosen = growing->chosen,
		.capacity = packing.capacity,
		.nodes = nodes,
		.order = growing->order};
	struct pack_answer answer = pack(growing->run, &asked, arena);
	growing->nodes += 1 + answer.nodes;
	for (size_t r = 0; answer.status == PACK_FITS && r < packing.count; r++)
		if (growing->chosen[r])
			growing->addresses[r] = answer.placement->addresses[r];
	arena_close(arena);
	return answer.status;
}

static void shake(struct growing *growing, bool back, uint64_t nodes)
{
	int width = draw(growing, SHAKEN_LEAST, SHAKEN_MOST);
	int last = front(growing, back) - draw(growing, 0, SHAKEN_BACK - 1);
	release(growing, back, last - width + 1, last);
	pack_until(growing, back, front(growing, back), nodes);
}

static uint64_t nodes_of(uint64_t try)
{
	return TRY_NODES + TRY_NODES * (try / PATIENCE);
}

static bool begin(struct growing *growing, int64_t time)
{
	int count = growing->section_count, middle = 0;
	while (middle + 1 < count && growing->times[middle + 1] <= time)
		middle++;
	int from = (int)number_min(middle - SECTIONS_FIRST / 2, count - SECTIONS_FIRST);
	growing->from = (int)number_max(0, from);
	growing->to = (int)number_min(count, growing->from + SECTIONS_FIRST);
	for (uint64_t try = 0; growing->nodes < SECTION_NODES && !is_over(growing); try++) {
		release(growing, false, growing->from - SECTIONS_FIRST - count, count);
		enum pack_status status = pack_until(growing, false, growing->to, nodes_of(try));
		if (status != PACK_UNKNOWN)
			return status == PACK_FITS;
	}
	return false;
}

static bool add_section(struct growing *growing, bool back)
{
	uint64_t most = growing->nodes + SECTION_NODES;
	int known = front(growing, back);
	for (uint64_t try = 0; growing->nodes < most && !is_over(growing); try++) {
		if (try)
			shake(growing, back, nodes_of(try - 1));
		int reach = draw(growing, REACH_LEAST, REACH_MOST);
		release(growing, back, known - reach, growing->section_count);
		if (pack_until(growing, back, known + 1, nodes_of(try)) == PACK_FITS) {
			set_front(growing, back, known + 1);
			return true;
		}
	}
	return false;
}

static bool give_up(struct growing *growing, bool back)
{
	int section = front(growing, back) - draw(growing, GIVEN_UP_LEAST, GIVEN_UP_MOST);
	if (section - rear(growing, back) < SECTIONS_LEAST)
		return false;
	set_front(growing, back, section);
	return true;
}

static void find_sections(struct growing *growing, struct arena *arena)
{
	const struct spill_residence *residences = growing->question->residences;
	size_t count = growing->count;
	struct life *lives = arena_array(arena, struct life, count);
	for (int k = 0; k < 2; k++)
		growing->stays[k] = arena_array(arena, struct stay, count);
	for (size_t r = 0; r < count; r++)
		lives[r] = (struct life){residences[r].from, residences[r].to};
	growing->section_count = sections_find(count, lives, growing->stays[0]);
	growing->times = arena_array(arena, int64_t, growing->section_count);
	for (int s = 0; s < growing->section_count; s++)
		growing->times[s] = INT64_MIN;
	for (size_t r = 0; r < count; r++) {
		struct stay *stay = &growing->stays[0][r];
		int64_t *time = &growing->times[stay->first];
		*time = number_max(*time, lives[r].start);
		stay->end = (int)number_max(stay->end, stay->first + 1); /* it may live never */
		growing->stays[1][r] = (struct stay){
			growing->section_count - stay->end, growing->section_count - stay->first};
	}
}

/* To one end and then to the other. */
static bool grow(struct growing *growing, bool back)
{
	int given_up = 0;
	for (;;) {
		if (back ? growing->from == 0 : growing->to == growing->section_count)
			back = !back;
		if (growing->from == 0 && growing->to == growing->section_count)
			return true;
		if (add_section(growing, back))
			continue;
		if (is_over(growing) || given_up++ == GIVEN_UP_TIMES || !give_up(growing, back))
			return false;
	}
}

enum pack_status spill_grow(struct run *run, const struct spill_question *question,
	struct spill_growth *growth, int64_t *at)
{
	struct arena *arena = arena_open();
	size_t count = question->packing.count;
	struct growing growing = {.run = run,
		.question = question,
		.count = count,
		.addresses = arena_array(arena, int64_t, count),
		.order = arena_array(arena, int64_t, count),
		.chosen = arena_array(arena, bool, count),
		.nodes_most = growth->nodes};
	for (size_t r = 0; r < count; r++)
		growing.addresses[r] = UNPLACED;
	bool back = run_random(run, 2), fits = count == 0;
	if (count) {
		find_sections(&growing, arena);
		fits = begin(&growing, growth->at) && grow(&growing, back);
	}
	struct placement placement = {.addresses = growing.addresses};
	if (fits)
		spill_question_answer(question, &placement, at);
	else if (growing.to < growing.section_count)
		growth->at = growing.times[growing.to];
	else
		growth->at = growing.times[number_max(0, growing.from - 1)];
	growth->nodes = growing.nodes;
	arena_close(arena);
	return fits ? PACK_FITS : PACK_UNKNOWN;
}

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

struct spill_growth {
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
	bool has_begun, is_over, fits;
	bool back; /* it goes on towards the first section */
	int given_up;
	uint64_t tries;                   /* of what comes next: the first sections, or one more */
	uint64_t nodes, last, nodes_most; /* all; before those tries; at most */
};

/* Where it goes on, and where it began, as seen from either end. */
static int front(const struct spill_growth *growth, bool back)
{
	return back ? growth->section_count - growth->from : growth->to;
}

static int rear(const struct spill_growth *growth, bool back)
{
	return back ? growth->section_count - growth->to : growth->from;
}

static void set_front(struct spill_growth *growth, bool back, int section)
{
	if (back)
		growth->from = growth->section_count - section;
	else
		growth->to = section;
	for (size_t r = 0; r < growth->count; r++)
		if (growth->stays[0][r].first >= growth->to ||
			growth->stays[0][r].end <= growth->from)
			growth->addresses[r] = UNPLACED;
}

static int draw(const struct spill_growth *growth, int least, int most)
{
	return least + (int)run_random(growth->run, (uint64_t)(most - least + 1));
}

/* What begins in these sections may move. */
static void release(struct spill_growth *growth, bool back, int first, int last)
{
	growth->oldest = first;
	for (size_t r = 0; r < growth->count; r++) {
		int begin = growth->stays[back][r].first;
		bool moves = first <= begin && begin <= last;
		growth->order[r] = moves ? UNPLACED : growth->addresses[r];
	}
}

/* Packs what lives before section `end`, but for what is too far from all that may move. */
static enum pack_status pack_until(struct spill_growth *growth, bool back, int end, uint64_t nodes)
{
	struct arena *arena = arena_open();
	struct packing packing = growth->question->packing;
	struct buffer *buffers =
		arena_copy(arena, packing.buffers, packing.count * sizeof *buffers);
	int fixed = growth->oldest - MARGIN;
	int first = (int)number_max(fixed, rear(growth, back));
	for (size_t r = 0; r < packing.count; r++) {
		const struct stay *stay = &growth->stays[back][r];
		growth->chosen[r] = stay->first < end && stay->end > first;
		if (stay->first >= fixed || growth->addresses[r] == UNPLACED)
			continue;
		buffers[r].is_fixed = true;
		buffers[r].address = growth->addresses[r];
	}
	packing.buffers = buffers;
	struct pack_question asked = {.packing = &packing,
		.chosen = growth->chosen,
		.capacity = packing.capacity,
		.nodes = nodes,
		.varied = true,
		.order = growth->order};
	struct pack_answer answer = pack(growth->run, &asked, arena);
	growth->nodes += 1 + answer.nodes;
	for (size_t r = 0; answer.status == PACK_FITS && r < packing.count; r++)
		if (growth->chosen[r])
			growth->addresses[r] = answer.placement->addresses[r];
	arena_close(arena);
	return answer.status;
}

static void shake(struct spill_growth *growth, bool back, uint64_t nodes)
{
	int width = draw(growth, SHAKEN_LEAST, SHAKEN_MOST);
	int last = front(growth, back) - draw(growth, 0, SHAKEN_BACK - 1);
	release(growth, back, last - width + 1, last);
	pack_until(growth, back, front(growth, back), nodes);
}

static uint64_t nodes_of(uint64_t try)
{
	return TRY_NODES + TRY_NODES * (try / PATIENCE);
}

/* The sections around this time are to be the first. */
static void choose_first(struct spill_growth *growth, int64_t time)
{
	int count = growth->section_count, middle = 0;
	while (middle + 1 < count && growth->times[middle + 1] <= time)
		middle++;
	int from = (int)number_min(middle - SECTIONS_FIRST / 2, count - SECTIONS_FIRST);
	growth->from = (int)number_max(0, from);
	growth->to = (int)number_min(count, growth->from + SECTIONS_FIRST);
}

/* A success: what comes next begins its tries. */
static void go_on(struct spill_growth *growth)
{
	growth->has_begun = true;
	growth->tries = 0;
	growth->last = growth->nodes;
	if (growth->back ? growth->from == 0 : growth->to == growth->section_count)
		growth->back = !growth->back;
	if (growth->from > 0 || growth->to < growth->section_count)
		return;
	growth->is_over = growth->fits = true;
}

static void try_first(struct spill_growth *growth)
{
	int count = growth->section_count;
	release(growth, false, growth->from - SECTIONS_FIRST - count, count);
	enum pack_status status = pack_until(growth, false, growth->to, nodes_of(growth->tries++));
	if (status == PACK_FITS)
		go_on(growth);
	else if (status == PACK_NEVER || growth->nodes - growth->last >= SECTION_NODES)
		growth->is_over = true;
}

/* Some sections are given up, unless that was often enough. */
static void give_up(struct spill_growth *growth)
{
	int section = front(growth, growth->back) - draw(growth, GIVEN_UP_LEAST, GIVEN_UP_MOST);
	if (growth->given_up++ == GIVEN_UP_TIMES ||
		section - rear(growth, growth->back) < SECTIONS_LEAST) {
		growth->is_over = true;
		return;
	}
	set_front(growth, growth->back, section);
	go_on(growth);
}

static void try_section(struct spill_growth *growth)
{
	bool back = growth->back;
	int known = front(growth, back);
	if (growth->tries)
		shake(growth, back, nodes_of(growth->tries - 1));
	int reach = draw(growth, REACH_LEAST, REACH_MOST);
	release(growth, back, known - reach, growth->section_count);
	if (pack_until(growth, back, known + 1, nodes_of(growth->tries++)) == PACK_FITS) {
		set_front(growth, back, known + 1);
		go_on(growth);
	} else if (growth->nodes - growth->last >= SECTION_NODES) {
		give_up(growth);
	}
}

static void find_sections(struct spill_growth *growth, struct arena *arena)
{
	const struct spill_residence *residences = growth->question->residences;
	size_t count = growth->count;
	struct life *lives = arena_array(arena, struct life, count);
	for (int k = 0; k < 2; k++)
		growth->stays[k] = arena_array(arena, struct stay, count);
	for (size_t r = 0; r < count; r++)
		lives[r] = (struct life){residences[r].from, residences[r].to};
	growth->section_count = sections_find(count, lives, growth->stays[0]);
	growth->times = arena_array(arena, int64_t, growth->section_count);
	for (int s = 0; s < growth->section_count; s++)
		growth->times[s] = INT64_MIN;
	for (size_t r = 0; r < count; r++) {
		struct stay *stay = &growth->stays[0][r];
		int64_t *time = &growth->times[stay->first];
		*time = number_max(*time, lives[r].start);
		stay->end = (int)number_max(stay->end, stay->first + 1); /* it may live never */
		growth->stays[1][r] = (struct stay){
			growth->section_count - stay->end, growth->section_count - stay->first};
	}
}

struct spill_growth *spill_growth_open(struct run *run, const struct spill_question *question,
	uint64_t nodes, int64_t at, struct arena *arena)
{
	struct spill_growth *growth = arena_new(arena, struct spill_growth);
	size_t count = question->packing.count;
	*growth = (struct spill_growth){.question = question,
		.count = count,
		.addresses = arena_array(arena, int64_t, count),
		.order = arena_array(arena, int64_t, count),
		.chosen = arena_array(arena, bool, count),
		.back = run_random(run, 2),
		.is_over = count == 0,
		.fits = count == 0,
		.nodes_most = nodes};
	for (size_t r = 0; r < count; r++)
		growth->addresses[r] = UNPLACED;
	if (count) {
		find_sections(growth, arena);
		choose_first(growth, at);
	}
	return growth;
}

uint64_t spill_growth_try(struct run *run, struct spill_growth *growth)
{
	uint64_t before = growth->nodes;
	growth->run = run;
	if (growth->is_over)
		return 0;
	if (growth->has_begun)
		try_section(growth);
	else
		try_first(growth);
	growth->is_over |= growth->nodes >= growth->nodes_most || !run_spend(run, 0);
	return growth->nodes - before;
}

bool spill_growth_is_over(const struct spill_growth *growth)
{
	return growth->is_over;
}

bool spill_growth_fits(const struct spill_growth *growth, int64_t *at)
{
	struct placement placement = {.addresses = growth->addresses};
	if (growth->fits)
		spill_question_answer(growth->question, &placement, at);
	return growth->fits;
}

int64_t spill_growth_stuck(const struct spill_growth *growth)
{
	bool is_end = growth->to < growth->section_count;
	return growth->times[is_end ? growth->to : number_max(0, growth->from - 1)];
}

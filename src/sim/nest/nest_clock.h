#ifndef SIM_NEST_CLOCK_H
#define SIM_NEST_CLOCK_H

#include "sim/nest/nest.h"

/*
 * When things happen.  All instances go in step, so one clock is enough; it runs in ticks,
 * a cycle being enough of them that every rate takes a whole number per word (rounded up where
 * that would be more than 2^20).
 *
 * - A transfer is what one level moves at one move step, in one direction.  It takes each port
 *   (read and write, or one for both) of each level ceil(words / rate) ticks, the most of its
 *   instances; it lasts as long as the slowest port, and the latency of the networks between
 *   the level and its parent.
 * - A step of the multipliers lasts a cycle, or as long as the slowest port needs for what they
 *   read and update.  It begins when all transfers of its step are done.
 * - At a level without double buffering (multiple_buffering < 2) work stops while a tile drains
 *   and while the next one fills.
 * - With it, both are in the background: the next tile fills while there is work on the present
 *   one, and the last one drains then.  The time between two move steps of the level, its window,
 *   is as long as the work in it, and as what the slowest port has to do in it altogether; what is
 *   in the background takes a port as soon as that is free.  Where the parent's own tile changes
 *   at the same step, there is nothing to fill from or drain into in advance: then it is as
 *   without double buffering.
 * - The first tiles fill one level after the other, the last ones drain so.
 *
 * Ports are never used for two things at once, so the time is never less than the words of an
 * instance over their rate.
 */
struct arena;
struct nest_clock;

/* `trace` keeps when things happen; NULL: nobody wants to know. */
struct nest_clock *nest_clock_open(const struct hierarchy *hierarchy, const int64_t *instances,
	struct nest_trace *trace, struct arena *arena);

/* Words that the transfer or step under way moves at an instance. */
void nest_clock_charge(struct nest_clock *clock, int level, int64_t instance, int space,
	enum nest_action action, int64_t words);

/* The transfer under way is that of `level`, with that latency. */
enum nest_transfer { NEST_FILLS, NEST_DRAINS };
void nest_clock_transfer(struct nest_clock *clock, int level, enum nest_transfer transfer,
	bool background, int64_t latency);

/* Level's tiles have changed: its next window begins. */
void nest_clock_turn(struct nest_clock *clock, int level);

/* Work stops for this many cycles, because of a level. */
void nest_clock_wait(struct nest_clock *clock, int level, int64_t cycles);

/* The multipliers have done a step. */
void nest_clock_step(struct nest_clock *clock);

/* What the time of further periods (sim/nest/nest_periods.h) depends on, in each of which the windows
 * of the levels `turning` begin anew; and the numbers that grow alike with each of them. */
struct nest_picture;
void nest_clock_draw(
	const struct nest_clock *clock, uint32_t turning, struct nest_picture *picture);
struct nest_numbers nest_clock_numbers(struct nest_clock *clock);

/* The end: cycles, fill, drain, stalls; false if a number does not fit. */
bool nest_clock_close(struct nest_clock *clock, struct nest_sim *out);

#endif

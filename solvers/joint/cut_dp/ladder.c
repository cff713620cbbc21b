#include "solvers/joint/cut_dp/ladder.h"

#include "solvers/joint/cut_dp/options.h"

struct ladder ladder_open(const struct frame *frame, struct arena *arena)
{
	return (struct ladder){.arena = arena,
		.relaxed = frame_with_less_room(frame, arena),
		.before.told_apart = -1,
		.states = 1};
}

static void add_rung(struct ladder *ladder)
{
	const struct blur none = {.frame = ladder->relaxed};
	int told_apart = ladder->before.told_apart;
	while (ladder->count < LADDER_MOST - 1 && ladder->before.told_apart == told_apart) {
		ladder->before = blur_make(ladder->relaxed,
			ladder->before.is_blurred ? &ladder->before : NULL, ladder->states,
			ladder->arena);
		ladder->states *= CUT_BLUR_TIMES;
	}
	ladder->is_whole = ladder->count == LADDER_MOST - 1 ||
			   ladder->before.told_apart == ladder->relaxed->space->tensor_count;
	ladder->grounds[ladder->count++] =
		ground_open(ladder->is_whole ? &none : &ladder->before, ladder->arena);
}

const struct ground *ladder_ground(struct ladder *ladder, int rung)
{
	if (rung == ladder->count)
		add_rung(ladder);
	return ladder->grounds[rung];
}

bool ladder_ends(const struct ladder *ladder, int rung)
{
	return ladder->is_whole && rung == ladder->count - 1;
}

void ladder_close(struct ladder *ladder)
{
	for (int g = 0; g < ladder->count; g++)
		ground_close(ladder->grounds[g]);
}

#include "solvers/joint/cut_dp/ladder.h"

#include "solvers/joint/cut_dp/options.h"

struct ladder ladder_open(const struct frame *frame, struct arena *arena)
{
	const struct frame *relaxed = frame_with_less_room(frame, arena);
	struct ladder ladder = {0};
	struct blur before = {.told_apart = -1}, none = {.frame = relaxed};
	double states = 1;
	while (ladder.count < LADDER_MOST - 1) {
		struct blur blur =
			blur_make(relaxed, before.is_blurred ? &before : NULL, states, arena);
		if (blur.told_apart == relaxed->space->tensor_count)
			break;
		if (blur.told_apart > before.told_apart)
			ladder.grounds[ladder.count++] = ground_open(&blur, arena);
		before = blur;
		states *= CUT_BLUR_TIMES;
	}
	ladder.grounds[ladder.count++] = ground_open(&none, arena);
	return ladder;
}

void ladder_close(struct ladder *ladder)
{
	for (int g = 0; g < ladder->count; g++)
		ground_close(ladder->grounds[g]);
}

#include "base/arena.h"
#include "search/nest/space.h"

#include <gmp.h>

static void set_wide(mpz_t out, wide value)
{
	mpz_set_ui(out, (unsigned long)(value >> 64));
	mpz_mul_2exp(out, out, 64);
	mpz_add_ui(out, out, (unsigned long)(value & (wide)UINT64_MAX));
}

static const char *digits(struct arena *arena, const mpz_t number)
{
	char *text = arena_alloc(arena, mpz_sizeinbase(number, 10) + 2);
	return mpz_get_str(text, 10, number);
}

/* Loops of tiling level i whose order Timeloop's mapspace leaves open: all that no permutation
 * gives, for all bounds.  Those of the innermost tiling level have one order there, and so
 * have those of a fan-out along one axis if none is given. */
static int open_loops(const struct space *space, int i)
{
	const struct tiling_level *level = &space->levels[i];
	const struct row_domain *row = &space->domain->rows[level->row];
	const struct nest_level *block = &space->domain->hierarchy->levels[level->level];
	int given = level->spatial ? row->spatial_inner + row->spatial_outer
				   : row->temporal_inner + row->temporal_outer;
	bool line = block->fanout_x == 1 || block->fanout_y == 1;
	if (level->spatial ? !given && line : i == 0)
		return 0;
	return space->domain->shape->dimension_count - given;
}

static void count_choice(const struct space *space, enum space_choice choice, mpz_t out)
{
	int dimensions = space->domain->shape->dimension_count;
	mpz_t part;
	mpz_init(part);
	mpz_set_ui(out, 1);
	for (int d = 0; choice == CHOICE_FACTORS && d < dimensions; d++) {
		set_wide(part, factors_count(space->factors[d]));
		mpz_mul(out, out, part);
	}
	for (int i = 0; i < space->level_count; i++) {
		const struct tiling_level *level = &space->levels[i];
		if (choice == CHOICE_ORDERS) {
			mpz_fac_ui(part, (unsigned long)open_loops(space, i));
			mpz_mul(out, out, part);
		}
		if (choice == CHOICE_SPLITS && level->spatial &&
			space->domain->rows[level->row].split < 0)
			mpz_mul_ui(out, out, (unsigned long)dimensions + 1);
	}
	if (choice == CHOICE_RESIDENCY)
		mpz_mul_2exp(out, out, (unsigned long)space->free_count);
	mpz_clear(part);
}

struct space_sizes space_sizes(const struct space *space, struct arena *arena)
{
	struct space_sizes sizes = {0};
	mpz_t all, choice;
	mpz_init_set_ui(all, 1);
	mpz_init(choice);
	for (int d = 0; d < space->domain->shape->dimension_count; d++) {
		set_wide(choice, factors_count(space->factors[d]));
		sizes.dimensions[d] = digits(arena, choice);
	}
	for (int c = 0; c < CHOICE_COUNT; c++) {
		count_choice(space, (enum space_choice)c, choice);
		sizes.choices[c] = digits(arena, choice);
		mpz_mul(all, all, choice);
	}
	sizes.all = digits(arena, all);
	mpz_clear(choice);
	mpz_clear(all);
	return sizes;
}

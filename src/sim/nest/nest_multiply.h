#ifndef SIM_NEST_NEST_MULTIPLY_H
#define SIM_NEST_NEST_MULTIPLY_H

#include "sim/nest/nest.h"

/*
 * What multipliers make of the words that they read, and how two sums become one: products and
 * sums of doubles, in which those of small integers are exact, or a primitive in fp32 as
 * machines compute it.
 */
struct nest_arithmetic {
	const struct nest_values *values; /* NULL: products and sums of doubles */
	const struct primitive *joins;    /* two sums */
	double neutral;                   /* joined with anything, it changes nothing */
};

struct nest_arithmetic nest_arithmetic_make(const struct nest_values *values);

/* What a point of the nest contributes. */
double nest_arithmetic_point(
	const struct nest_arithmetic *arithmetic, const double *words, int count);

double nest_arithmetic_join_values(const struct nest_arithmetic *arithmetic, double a, double b);

static inline double nest_arithmetic_join(
	const struct nest_arithmetic *arithmetic, double a, double b)
{
	return arithmetic->values ? nest_arithmetic_join_values(arithmetic, a, b) : a + b;
}

/*
 * The multipliers at one step: operands are read, products add up in the network and into the
 * level that they belong to.  Two multipliers whose words are the same at one step have the
 * same at every step, as all take the same steps: their groups are found once.
 */
struct nest_multipliers;
struct nest_run;

struct nest_multipliers *nest_multipliers_open(struct nest_run *run);
void nest_multipliers_step(struct nest_multipliers *multipliers);

#endif

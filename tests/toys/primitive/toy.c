#include "model/machine/primitives.h"

/* toy(x) = 2x + 1, in four steps of the array, and toyprod(k) x, the product over k. */
static float toy_kernel(float a, float b)
{
	return 2 * a + 1;
}

static double toy_reference(double a, double b)
{
	return a + a + 1;
}

const struct primitive primitive_toy = {.name = "toy",
	.summary = "twice its operand and one",
	.kind = OP_MAP,
	.arity = 1,
	.unit = UNIT_MAC,
	.work = 4,
	.kernel = toy_kernel,
	.reference = toy_reference};

static float toyprod_kernel(float a, float b)
{
	return a * b;
}

static double toyprod_reference(double a, double b)
{
	return a * b;
}

const struct primitive primitive_toyprod = {.name = "toyprod",
	.kind = OP_REDUCE,
	.arity = 1,
	.work = 1,
	.kernel = toyprod_kernel,
	.reference = toyprod_reference,
	.start = 1,
	.partial = &primitive_toyprod,
	.rounds = true};

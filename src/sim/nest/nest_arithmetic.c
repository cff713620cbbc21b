#include "sim/nest/nest_arithmetic.h"

struct nest_arithmetic nest_arithmetic_make(const struct nest_values *values)
{
	struct nest_arithmetic arithmetic = {.values = values};
	if (!values)
		return arithmetic;
	const struct primitive *primitive = values->primitive;
	arithmetic.joins = primitive->partial ? primitive->partial : primitive;
	if (primitive->kind == OP_EINSUM || primitive->kind == OP_REDUCE)
		arithmetic.neutral = (double)arithmetic.joins->start;
	return arithmetic;
}

double nest_arithmetic_point(
	const struct nest_arithmetic *arithmetic, const double *words, int count)
{
	const struct nest_values *values = arithmetic->values;
	float product = (float)words[0];
	if (!values) {
		double whole = 1;
		for (int k = 0; k < count; k++)
			whole *= words[k];
		return whole;
	}
	if (values->primitive->kind == OP_REDUCE)
		return (double)values->kernel(
			values->primitive, values->primitive->start, (float)words[0]);
	if (values->primitive->kind != OP_EINSUM)
		return (double)values->kernel(values->primitive, (float)words[0],
			count > 1 ? (float)words[1] : values->constant);
	for (int k = 1; k < count; k++)
		product *= (float)words[k];
	return (double)product;
}

/* A map makes every word once: what is joined with it is the neutral element. */
double nest_arithmetic_join_values(const struct nest_arithmetic *arithmetic, double a, double b)
{
	const struct nest_values *values = arithmetic->values;
	switch (values->primitive->kind) {
	case OP_EINSUM:
		return (double)((float)a + (float)b);
	case OP_REDUCE:
		return (double)values->kernel(arithmetic->joins, (float)a, (float)b);
	default:
		return b;
	}
}

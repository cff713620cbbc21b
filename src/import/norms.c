#include "import/build.h"

int build_softmax(struct build *b, int v, int axis, bool logarithm)
{
	uint32_t axes = UINT32_C(1) << axis;
	int shifted = build_map2(b, "sub", v, build_reduce(b, "max", v, axes, true));
	int powers = build_map(b, "exp", shifted);
	int sum = build_reduce(b, "sum", powers, axes, true);
	return logarithm ? build_map2(b, "sub", shifted, build_map(b, "log", sum))
			 : build_map2(b, "div", powers, sum);
}

int build_norm(
	struct build *b, int v, uint32_t axes, double epsilon, bool centre, int scale, int bias)
{
	if (centre)
		v = build_map2(b, "sub", v, build_reduce(b, "mean", v, axes, true));
	int squares = build_map2(b, "mul", v, v);
	int variance = build_reduce(b, "mean", squares, axes, true);
	int factor = build_map(b, "rsqrt", build_map_constant(b, "add", variance, epsilon));
	int out = build_map2(b, "mul", v, factor);
	if (scale >= 0)
		out = build_map2(b, "mul", out, scale);
	return bias >= 0 ? build_map2(b, "add", out, bias) : out;
}

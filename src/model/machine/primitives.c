#include "model/machine/primitives.h"

#include "base/number.h"
#include "base/text.h"

#include <math.h>

/* A NaN is the greater and the lesser of any two, and -0 is below 0: no order of
 * reducing changes the result. */
static float primitive_greater(float a, float b)
{
	if (a == b)
		return signbit(a) ? b : a;
	return isnan(a) || a > b ? a : b;
}

static float primitive_lesser(float a, float b)
{
	if (a == b)
		return signbit(a) ? a : b;
	return isnan(a) || a < b ? a : b;
}

/* The machine's arithmetic and the reference's.  The machine takes transcendental functions in
 * fp64 and rounds once: then the library's last bit all but never shows. */
#define ARITHMETIC(word, machine, numbers)                                                         \
	static float word##_kernel(float a, float b)                                               \
	{                                                                                          \
		return machine;                                                                    \
	}                                                                                          \
	static double word##_reference(double a, double b)                                         \
	{                                                                                          \
		return numbers;                                                                    \
	}

ARITHMETIC(add, a + b, a + b)
ARITHMETIC(sub, a - b, a - b)
ARITHMETIC(mul, a *b, a *b)
ARITHMETIC(div, a / b, a / b)
ARITHMETIC(maximum, primitive_greater(a, b), isnan(a) || isnan(b) ? NAN : fmax(a, b))
ARITHMETIC(minimum, primitive_lesser(a, b), isnan(a) || isnan(b) ? NAN : fmin(a, b))
ARITHMETIC(clone, a, a)
ARITHMETIC(exp, (float)exp((double)a), exp(a))
ARITHMETIC(log, (float)log((double)a), log(a))
ARITHMETIC(rsqrt, (float)(1 / sqrt((double)a)), 1 / sqrt(a))
ARITHMETIC(sqrt, sqrtf(a), sqrt(a))
ARITHMETIC(reciprocal, 1 / a, 1 / a)
ARITHMETIC(neg, -a, -a)
ARITHMETIC(abs, fabsf(a), fabs(a))
ARITHMETIC(relu, a <= 0 ? 0 : a, a < 0 ? 0 : a)
ARITHMETIC(sigmoid, (float)(1 / (1 + exp((double)-a))), 1 / (1 + exp(-a)))
ARITHMETIC(silu, (float)((double)a / (1 + exp((double)-a))), a / (1 + exp(-a)))
ARITHMETIC(tanh, (float)tanh((double)a), tanh(a))
ARITHMETIC(gelu, (float)(0.5 * (double)a * (1 + erf((double)a * 0.70710678118654752440))),
	a / 2 * (1 + erf(a / sqrt(2))))

ARITHMETIC(erf, (float)erf((double)a), erf(a))
ARITHMETIC(sin, (float)sin((double)a), sin(a))
ARITHMETIC(cos, (float)cos((double)a), cos(a))
ARITHMETIC(tan, (float)tan((double)a), tan(a))
ARITHMETIC(atan, (float)atan((double)a), atan(a))
ARITHMETIC(cbrt, (float)cbrt((double)a), cbrt(a))
ARITHMETIC(floor, floorf(a), floor(a))
ARITHMETIC(ceil, ceilf(a), ceil(a))
ARITHMETIC(round, rintf(a), rint(a))
ARITHMETIC(sign, a > 0 ? 1 : a < 0 ? -1 : a, a > 0 ? 1 : a < 0 ? -1 : a)
ARITHMETIC(square, a *a, a *a)
ARITHMETIC(hardsigmoid, (float)fmin(fmax((double)a / 6 + 0.5, 0), 1), fmin(fmax(a / 6 + 0.5, 0), 1))
ARITHMETIC(hardswish, (float)((double)a *fmin(fmax((double)a / 6 + 0.5, 0), 1)),
	a *fmin(fmax(a / 6 + 0.5, 0), 1))
ARITHMETIC(pow, (float)pow((double)a, (double)b), pow(a, b))
ARITHMETIC(eq, a == b, a == b)
ARITHMETIC(ne, a != b, a != b)
ARITHMETIC(lt, a < b, a < b)
ARITHMETIC(le, a <= b, a <= b)
ARITHMETIC(gt, a > b, a > b)
ARITHMETIC(ge, a >= b, a >= b)
/* Integers; what no integer holds is 0. */
static int64_t integer_of_double(double number)
{
	return number > -0x1p53 && number < 0x1p53 ? (int64_t)number : 0;
}

ARITHMETIC(bitand, (float)(integer_of_double((double)a) & integer_of_double((double)b)),
	(double)(integer_of_double(a) & integer_of_double(b)))
ARITHMETIC(bitor, (float)(integer_of_double((double)a) | integer_of_double((double)b)),
	(double)(integer_of_double(a) | integer_of_double(b)))
ARITHMETIC(bitxor, (float)(integer_of_double((double)a) ^ integer_of_double((double)b)),
	(double)(integer_of_double(a) ^ integer_of_double(b)))
ARITHMETIC(where, a != 0 ? b : 0, a != 0 ? b : 0)
ARITHMETIC(unless, a != 0 ? 0 : b, a != 0 ? 0 : b)

#define ROW(word, arithmetic)                                                                      \
	.name = #word, .work = 1, .kernel = arithmetic##_kernel, .reference = arithmetic##_reference
#define MAP(word, operands) ROW(word, word), .kind = OP_MAP, .arity = operands
#define REDUCTION(word, arithmetic) ROW(word, arithmetic), .kind = OP_REDUCE, .arity = 1

/* Of maps in which the order matters. */
#define ORDER                                                                                      \
	"the first operand is a tensor here; turn the operands round, or write the constant second"

const struct primitive primitive_einsum = {ROW(einsum, add), .kind = OP_EINSUM, .arity = 1,
	.summary = "out[..] = sum(k) a[..] * b[..]", .unit = UNIT_MAC, .partial = &primitive_sum,
	.rounds = true};

const struct primitive primitive_add = {MAP(add, 2), .sign = '+'};
const struct primitive primitive_sub = {MAP(sub, 2), .sign = '-',
	.constant_first = "nothing can be subtracted from a constant; write neg(..), and add in an "
			  "op of its own"};
const struct primitive primitive_mul = {MAP(mul, 2), .sign = '*'};
const struct primitive primitive_div = {MAP(div, 2), .sign = '/',
	.constant_first = "a constant cannot be divided; write reciprocal(..), and mul in an op of "
			  "its own"};
const struct primitive primitive_maximum = {MAP(maximum, 2)};
const struct primitive primitive_minimum = {MAP(minimum, 2)};
const struct primitive primitive_clone = {MAP(clone, 1)};
const struct primitive primitive_exp = {MAP(exp, 1)};
const struct primitive primitive_log = {MAP(log, 1)};
const struct primitive primitive_rsqrt = {MAP(rsqrt, 1)};
const struct primitive primitive_sqrt = {MAP(sqrt, 1)};
const struct primitive primitive_reciprocal = {MAP(reciprocal, 1)};
const struct primitive primitive_neg = {MAP(neg, 1)};
const struct primitive primitive_abs = {MAP(abs, 1)};
const struct primitive primitive_relu = {MAP(relu, 1)};
const struct primitive primitive_sigmoid = {MAP(sigmoid, 1)};
const struct primitive primitive_silu = {MAP(silu, 1)};
const struct primitive primitive_tanh = {MAP(tanh, 1)};
const struct primitive primitive_gelu = {MAP(gelu, 1)};

const struct primitive primitive_erf = {MAP(erf, 1)};
const struct primitive primitive_sin = {MAP(sin, 1)};
const struct primitive primitive_cos = {MAP(cos, 1)};
const struct primitive primitive_tan = {MAP(tan, 1)};
const struct primitive primitive_atan = {MAP(atan, 1)};
const struct primitive primitive_cbrt = {MAP(cbrt, 1)};
const struct primitive primitive_floor = {MAP(floor, 1)};
const struct primitive primitive_ceil = {MAP(ceil, 1)};
const struct primitive primitive_round = {MAP(round, 1)};
const struct primitive primitive_sign = {MAP(sign, 1)};
const struct primitive primitive_square = {MAP(square, 1)};
const struct primitive primitive_hardsigmoid = {MAP(hardsigmoid, 1)};
const struct primitive primitive_hardswish = {MAP(hardswish, 1)};
const struct primitive primitive_pow = {MAP(pow, 2), .constant_first = ORDER};
const struct primitive primitive_eq = {MAP(eq, 2)};
const struct primitive primitive_ne = {MAP(ne, 2)};
const struct primitive primitive_lt = {MAP(lt, 2), .constant_first = ORDER};
const struct primitive primitive_le = {MAP(le, 2), .constant_first = ORDER};
const struct primitive primitive_gt = {MAP(gt, 2), .constant_first = ORDER};
const struct primitive primitive_ge = {MAP(ge, 2), .constant_first = ORDER};
const struct primitive primitive_bitand = {MAP(bitand, 2)};
const struct primitive primitive_bitor = {MAP(bitor, 2)};
const struct primitive primitive_bitxor = {MAP(bitxor, 2)};
const struct primitive primitive_where = {MAP(where, 2), .constant_first = ORDER,
	.summary = "where(c, x): x where c is not 0, else 0"};
const struct primitive primitive_unless = {
	MAP(unless, 2), .constant_first = ORDER, .summary = "unless(c, x): x where c is 0, else 0"};

const struct primitive primitive_sum = {
	REDUCTION(sum, add), .partial = &primitive_sum, .rounds = true};
const struct primitive primitive_max = {REDUCTION(max, maximum), .type = "amax", .start = -INFINITY,
	.partial = &primitive_max, .pairwise = &primitive_maximum};
const struct primitive primitive_min = {REDUCTION(min, minimum), .type = "amin", .start = INFINITY,
	.partial = &primitive_min, .pairwise = &primitive_minimum};
const struct primitive primitive_mean = {
	REDUCTION(mean, add), .partial = &primitive_sum, .mean = true, .rounds = true};

const struct primitive primitive_restickify = {ROW(restickify, clone), .kind = OP_RESTICKIFY,
	.arity = 1, .summary = "the same elements in another device layout"};
const struct primitive primitive_broadcast = {ROW(broadcast, clone), .kind = OP_BROADCAST,
	.arity = 1, .summary = "from HBM of one rank to HBM of all, in the same layout"};
const struct primitive primitive_opaque = {ROW(opaque, clone), .kind = OP_OPAQUE, .arity = 1,
	.summary = "{opaque: name, reads: [..], writes: [..]}"};

const struct primitive *primitive_find(const char *name)
{
	for (int i = 0; primitives[i]; i++)
		if (text_equal(primitives[i]->name, name))
			return primitives[i];
	return NULL;
}

bool primitive_joins(const struct primitive *primitive)
{
	return primitive->partial == primitive;
}

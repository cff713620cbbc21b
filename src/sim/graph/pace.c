#include "sim/graph/pace.h"

#include "base/wide.h"

enum { TICKS_MOST = 1 << 16 }; /* to a cycle */

int64_t pace_refine(int64_t ticks, int64_t work, struct ratio rate)
{
	int64_t needed, joined;
	struct ratio time;
	if (rate.num == 0 || !ratio_make(rate.den, rate.num, &time))
		return ticks;
	needed = time.den / number_gcd(time.den, work);
	if (!number_mul(ticks / number_gcd(ticks, needed), needed, &joined) || joined > TICKS_MOST)
		return ticks;
	return joined;
}

struct pace pace_find(int64_t ticks, int64_t work, struct ratio rate)
{
	if (rate.num == 0)
		return (struct pace){0, 1};
	wide num = (wide)ticks * work * rate.den;
	int64_t whole = (int64_t)((num + rate.num - 1) / rate.num);
	if (num % rate.num == 0 || num > INT64_MAX)
		return (struct pace){whole, 1};
	return (struct pace){(int64_t)num, rate.num};
}

int64_t pace_refine_time(int64_t ticks, struct ratio cycles)
{
	int64_t joined;
	if (!cycles.num ||
		!number_mul(ticks / number_gcd(ticks, cycles.den), cycles.den, &joined) ||
		joined > TICKS_MOST)
		return ticks;
	return joined;
}

int64_t pace_time(struct pace pace, int64_t work, int64_t longest)
{
	int64_t time;
	if (work <= 0 || pace.num == 0)
		return 0;
	if (!number_mul(work, pace.num, &time))
		return longest;
	if (pace.den != 1)
		time = number_ceil_div(time, pace.den);
	return number_min(time, longest);
}

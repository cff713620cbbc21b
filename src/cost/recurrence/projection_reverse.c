#include "cost/recurrence/projection_reverse.h"

#include "base/number.h"

#include <stdlib.h>
#include <string.h>

enum { LOOPS = RECURRENCE_LOOPS_MOST, ROWS = 2 * RECURRENCE_LOOPS_MOST };

struct reverse_work {
	const struct recurrence *recurrence;
	int row_count;
	int64_t rows[ROWS][LOOPS]; /* of the projection: space, then time */
	uint32_t known;            /* loops */
	struct reverse *out;
};

/* Rows combined: the coefficients of loops, then by how much each row takes part. */
struct mix {
	int64_t loops[LOOPS], rows[ROWS];
};

static int count_unknown(const struct reverse_work *work, const int64_t *loops, int *last)
{
	int count = 0;
	for (int i = 0; i < work->recurrence->loop_count; i++)
		if (loops[i] && !(work->known >> i & 1)) {
			count++;
			*last = i;
		}
	return count;
}

/* a * x - b * y, over their common divisor. */
static bool combine(int64_t *a, int64_t x, const int64_t *b, int64_t y, int count)
{
	for (int i = 0; i < count; i++) {
		int64_t left, right;
		if (!number_mul(a[i], x, &left) || !number_mul(b[i], -y, &right) ||
			!number_add(left, right, &a[i]) || a[i] == INT64_MIN)
			return false;
	}
	return true;
}

/* Gauss and Jordan on the unknown columns; known ones come along. */
static bool eliminate(const struct reverse_work *work, struct mix *mixes)
{
	int done = 0;
	for (int i = 0; i < work->recurrence->loop_count; i++) {
		int at = done;
		if (work->known >> i & 1)
			continue;
		while (at < work->row_count && !mixes[at].loops[i])
			at++;
		if (at == work->row_count)
			continue;
		struct mix pivot = mixes[at];
		mixes[at] = mixes[done];
		mixes[done] = pivot;
		for (int r = 0; r < work->row_count; r++) {
			int64_t x = pivot.loops[i], y = mixes[r].loops[i], divisor;
			if (r == done || !y)
				continue;
			divisor = number_gcd(llabs(x), llabs(y));
			if (!combine(
				    mixes[r].loops, x / divisor, pivot.loops, y / divisor, LOOPS) ||
				!combine(mixes[r].rows, x / divisor, pivot.rows, y / divisor, ROWS))
				return false;
		}
		done++;
	}
	return true;
}

static struct reverse_step *add_step(struct reverse_work *work, enum reverse_kind kind, int loop)
{
	struct reverse_step *step = &work->out->steps[work->out->step_count++];
	*step = (struct reverse_step){.kind = kind, .loop = loop, .sign = 1, .divisor = 1};
	work->known |= UINT32_C(1) << loop;
	return step;
}

/* The one unknown loop of a mix. */
static void divide(struct reverse_work *work, const struct mix *mix, int loop)
{
	int64_t by = mix->loops[loop], sign = by < 0 ? -1 : 1;
	struct reverse_step *step = add_step(work, REVERSE_DIVIDE, loop);
	memcpy(step->rows, mix->rows, sizeof step->rows);
	for (int r = 0; r < ROWS; r++)
		step->rows[r] *= sign;
	for (int i = 0; i < LOOPS; i++)
		step->loops[i] = i == loop ? 0 : -sign * mix->loops[i];
	step->divisor = llabs(by);
	step->even = step->divisor != 1;
}

/* A row of its own, else any combination; prefers what divides by one. */
static bool divide_some(struct reverse_work *work, bool *fits)
{
	struct mix mixes[ROWS] = {0};
	int loop = -1;
	for (int r = 0; r < work->row_count; r++) {
		memcpy(mixes[r].loops, work->rows[r], sizeof mixes[r].loops);
		mixes[r].rows[r] = 1;
	}
	for (int r = 0; r < work->row_count; r++)
		if (count_unknown(work, mixes[r].loops, &loop) == 1 &&
			llabs(mixes[r].loops[loop]) == 1) {
			divide(work, &mixes[r], loop);
			return true;
		}
	*fits = eliminate(work, mixes);
	for (int r = 0; *fits && r < work->row_count; r++)
		if (count_unknown(work, mixes[r].loops, &loop) == 1) {
			divide(work, &mixes[r], loop);
			return true;
		}
	return false;
}

/* The unknown loops of a row, those that step farthest first; 0 if they are no digits. */
static int find_digits(const struct reverse_work *work, const int64_t *row, int *digits)
{
	int count = 0;
	for (int i = 0; i < work->recurrence->loop_count; i++) {
		if (!row[i] || work->known >> i & 1)
			continue;
		int at = count++;
		for (; at > 0 && llabs(row[digits[at - 1]]) < llabs(row[i]); at--)
			digits[at] = digits[at - 1];
		digits[at] = i;
	}
	int64_t reach = 0;
	for (int k = count - 1; k >= 0; k--) {
		int64_t step = llabs(row[digits[k]]), more;
		if (step <= reach ||
			!number_mul(step, work->recurrence->loops[digits[k]].extent - 1, &more) ||
			!number_add(reach, more, &reach))
			return 0;
	}
	return count;
}

/* Digits of a row, from zero up: those with negative steps are counted from their end. */
static bool take_digits(struct reverse_work *work, int r, const int *digits, int count)
{
	const int64_t *row = work->rows[r];
	int64_t constant = 0;
	uint32_t own = 0;
	for (int k = 0; k < count; k++) {
		const struct recurrence_loop *loop = &work->recurrence->loops[digits[k]];
		int64_t from = row[digits[k]] < 0 ? loop->least + loop->extent - 1 : loop->least;
		int64_t part;
		own |= UINT32_C(1) << digits[k];
		if (!number_mul(row[digits[k]], from, &part) ||
			!number_add(constant, -part, &constant))
			return false;
	}
	for (int k = 0; k < count; k++) {
		int i = digits[k];
		const struct recurrence_loop *loop = &work->recurrence->loops[i];
		int64_t from = row[i] < 0 ? loop->least + loop->extent - 1 : loop->least;
		struct reverse_step *step = add_step(work, REVERSE_DIGIT, i);
		step->rows[r] = 1;
		step->constant = constant;
		step->base = from;
		step->sign = row[i] < 0 ? -1 : 1;
		step->divisor = llabs(row[i]);
		for (int other = 0; other < work->recurrence->loop_count; other++)
			if (other != i && work->known >> other & 1)
				step->loops[other] = -row[other];
		/* What this digit takes away is taken from its start, as the constant is. */
		constant += row[i] * from;
	}
	return own != 0;
}

static bool take_some_digits(struct reverse_work *work, bool *fits)
{
	for (int r = 0; r < work->row_count; r++) {
		int digits[LOOPS], count = find_digits(work, work->rows[r], digits);
		if (count < 2)
			continue;
		*fits = take_digits(work, r, digits, count);
		return *fits;
	}
	return false;
}

static void scan_one(struct reverse_work *work)
{
	int best = -1;
	for (int i = 0; i < work->recurrence->loop_count; i++)
		if (!(work->known >> i & 1) &&
			(best < 0 || work->recurrence->loops[i].extent <
					     work->recurrence->loops[best].extent))
			best = i;
	add_step(work, REVERSE_SCAN, best);
}

/* A row holds of itself where one division by one was made from it alone. */
static uint32_t find_checks(const struct reverse_work *work)
{
	uint32_t checked = (UINT32_C(1) << work->row_count) - 1;
	for (int k = 0; k < work->out->step_count; k++) {
		const struct reverse_step *step = &work->out->steps[k];
		int row = -1, count = 0;
		for (int r = 0; r < work->row_count; r++)
			if (step->rows[r]) {
				row = r;
				count++;
			}
		if (step->kind == REVERSE_DIVIDE && step->divisor == 1 && count == 1)
			checked &= ~(UINT32_C(1) << row);
	}
	return checked;
}

struct reverse projection_reverse(
	const struct recurrence *recurrence, const struct projection *projection)
{
	struct reverse out = {0};
	struct reverse_work work = {.recurrence = recurrence, .out = &out};
	for (int r = 0; r < projection->space_count; r++)
		memcpy(work.rows[work.row_count++], projection->space[r], sizeof *work.rows);
	for (int r = 0; r < projection->time_count; r++)
		memcpy(work.rows[work.row_count++], projection->time[r], sizeof *work.rows);
	bool fits = true;
	while (fits && out.step_count < recurrence->loop_count)
		if (!divide_some(&work, &fits) && fits && !take_some_digits(&work, &fits) && fits)
			scan_one(&work);
	if (!fits)
		out.why = "numbers of the reverse transform do not fit";
	out.checked = find_checks(&work);
	return out;
}

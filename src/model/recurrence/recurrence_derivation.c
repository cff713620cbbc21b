#include "model/recurrence/recurrence_derivation.h"

#include "base/arena.h"
#include "base/lattice.h"

#include <stdlib.h>
#include <string.h>

bool derivation_refuse(struct derivation *to, const char *why)
{
	to->why = why;
	return false;
}

/* The tiles of a split loop that an operand sees: they alone lead to no element again, as a tile is
 * left for another element. */
static bool is_seen_tile(
	const struct derivation *to, const struct recurrence_operand *operand, int loop)
{
	bool seen = false;
	for (int i = 0; i < to->einsum->split_count; i++)
		for (int k = 0; k < operand->rank; k++)
			seen |= to->einsum->splits[i].tiles == loop && operand->place[k].at[loop];
	return seen;
}

/* Directions along which an operand stays the same, by loops that take more than one step. */
static bool find_reuse(
	struct derivation *to, const struct recurrence_operand *operand, struct lattice *out)
{
	int64_t matrix[LATTICE_MOST][LATTICE_MOST] = {0};
	int loops[RECURRENCE_LOOPS_MOST], count = 0;
	struct lattice kernel;
	for (int i = 0; i < to->recurrence->loop_count; i++)
		if (to->recurrence->loops[i].extent > 1 && !is_seen_tile(to, operand, i))
			loops[count++] = i;
	bool fits = true;
	for (int k = 0; k < operand->rank; k++) {
		int64_t constant = operand->place[k].constant;
		fits &= constant >= -LOOP_SUM_CONSTANT_MOST && constant <= LOOP_SUM_CONSTANT_MOST;
		for (int i = 0; i < count; i++) {
			int64_t at = matrix[k][i] = operand->place[k].at[loops[i]];
			fits &= at >= -LOOP_SUM_FACTOR_MOST && at <= LOOP_SUM_FACTOR_MOST;
		}
	}
	if (!fits || !lattice_kernel(operand->rank, count, matrix, &kernel))
		return derivation_refuse(
			to, arena_format(to->arena, "the coefficients of '%s' are too large",
				    operand->name));
	*out = (struct lattice){.rank = kernel.rank, .columns = to->recurrence->loop_count};
	for (int r = 0; r < kernel.rank; r++)
		for (int i = 0; i < count; i++)
			out->rows[r][loops[i]] = kernel.rows[r][i];
	return true;
}

int64_t derivation_steps(const struct derivation *to, int loop)
{
	const struct recurrence_loop *at = &to->recurrence->loops[loop];
	return at->extent - (to->least[loop] - at->least);
}

/* Whether two points of the loops lie so far from each other. */
static bool fits(const struct derivation *to, const int64_t *vector)
{
	for (int i = 0; i < to->recurrence->loop_count; i++)
		if (llabs(vector[i]) >= derivation_steps(to, i))
			return false;
	return true;
}

/* Whether a direction that is no loop leads into the padding of a last tile and out of it. */
static bool crosses_padding(const struct derivation *to, const int64_t *vector)
{
	bool crosses = false;
	for (int i = 0; i < to->einsum->split_count; i++) {
		const struct recurrence_split *split = &to->einsum->splits[i];
		crosses |= split->extent % split->size &&
			   (vector[split->loop] || vector[split->tiles]);
	}
	return crosses && lattice_unit(vector, to->recurrence->loop_count) < 0;
}

bool derivation_carriers(
	struct derivation *to, const struct recurrence_operand *from, struct lattice *reuse)
{
	int count = 0;
	if (!find_reuse(to, from, reuse))
		return false;
	for (int r = 0; r < reuse->rank; r++) {
		bool again = !fits(to, reuse->rows[r]) || crosses_padding(to, reuse->rows[r]);
		for (int i = 0; i < to->recurrence->loop_count; i++)
			again |= reuse->rows[r][i] && to->einsum->reread >> i & 1;
		if (!again)
			memmove(reuse->rows[count++], reuse->rows[r], sizeof *reuse->rows);
	}
	reuse->rank = count;
	return true;
}

/* A loop that the result does not see, once. */
static void add_unit(struct derivation *to, const struct lattice *reuse, int loop, uint32_t *done,
	struct lattice *chain)
{
	for (int r = 0; r < reuse->rank; r++)
		if (lattice_unit(reuse->rows[r], to->recurrence->loop_count) == loop &&
			!(*done >> loop & 1))
			memcpy(chain->rows[chain->rank++], reuse->rows[r], sizeof *chain->rows);
	*done |= UINT32_C(1) << loop;
}

/* Whether an element of the result says in which step of a split loop it is: one of its indices is
 * that loop alone. */
static bool is_told(const struct recurrence_operand *operand, const struct recurrence_split *split)
{
	bool seen = false, told = false;
	for (int k = 0; k < operand->rank; k++) {
		bool others = false;
		for (int i = 0; i < RECURRENCE_LOOPS_MOST; i++)
			others |= operand->place[k].at[i] && i != split->loop && i != split->tiles;
		seen |= operand->place[k].at[split->loop] != 0;
		told |= operand->place[k].at[split->loop] && !others;
	}
	return told || !seen;
}

bool derivation_chain(
	struct derivation *to, const struct recurrence_operand *operand, struct lattice *chain)
{
	struct lattice reuse;
	int others = 0;
	for (int i = 0; i < to->einsum->split_count; i++)
		if (!is_told(operand, &to->einsum->splits[i]))
			return derivation_refuse(to,
				arena_format(to->arena,
					"'%s' is summed up along '%s' and others at once, which cannot be "
					"split",
					operand->name,
					to->recurrence->loops[to->einsum->splits[i].loop].name));
	if (!find_reuse(to, operand, &reuse))
		return false;
	for (int r = 0; r < reuse.rank; r++)
		others += lattice_unit(reuse.rows[r], to->recurrence->loop_count) < 0;
	if (others > 1)
		return derivation_refuse(
			to, arena_format(to->arena,
				    "points of one element of '%s' lie along several "
				    "directions that are no loops, so that no chain sums them up",
				    operand->name));
	*chain = (struct lattice){.columns = reuse.columns};
	const struct recurrence_einsum *einsum = to->einsum;
	uint32_t done = 0;
	for (int i = einsum->order_count - 1; i >= 0; i--)
		add_unit(to, &reuse, einsum->order[i], &done, chain);
	for (int i = to->recurrence->loop_count - 1; i >= 0; i--)
		add_unit(to, &reuse, i, &done, chain);
	for (int r = 0; r < reuse.rank; r++)
		if (lattice_unit(reuse.rows[r], to->recurrence->loop_count) < 0 &&
			fits(to, reuse.rows[r]))
			memcpy(chain->rows[chain->rank++], reuse.rows[r], sizeof *chain->rows);
	return true;
}

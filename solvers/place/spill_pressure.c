#include "solvers/place/spill_pressure.h"

#include "base/arena.h"
#include "base/number.h"

/* The margin, as a part of the room; steepness at first, and what is added, in units. */
#define MARGIN 0.02
#define FIRST 1.0
#define STEP 0.5

struct spill_pressure spill_pressure_make(struct arena *arena, const struct spill_set *set)
{
	const struct spill_model *model = set->model;
	struct spill_pressure pressure = {.model = model,
		.margin = 1 + MARGIN * (double)model->room,
		.steep = arena_array(arena, double, model->row_count)};
	double load = 1;
	for (int r = 0; r < model->row_count; r++)
		load += (double)set->load[r];
	pressure.unit = (1 + (double)set->gain) / load;
	for (int r = 0; r < model->row_count; r++)
		pressure.steep[r] = FIRST * pressure.unit;
	return pressure;
}

static double cost(const struct spill_pressure *pressure, int row, int64_t load)
{
	double left = (double)number_max(0, pressure->model->room - load);
	return pressure->steep[row] * pressure->margin * pressure->margin /
	       (pressure->margin + left);
}

double spill_pressure_of(
	const struct spill_pressure *pressure, const struct spill_set *set, int row, int row_end)
{
	double all = 0;
	for (int r = row; r < row_end; r++)
		all += cost(pressure, r, set->load[r]);
	return all;
}

double spill_pressure_change(
	const struct spill_pressure *pressure, const struct spill_set *set, int item)
{
	const struct spill_item *it = &pressure->model->items[item];
	int64_t more = set->kept[item] ? -it->size : it->size;
	double change = 0;
	for (int r = it->row; r < it->row_end; r++)
		change += cost(pressure, r, set->load[r] + more) - cost(pressure, r, set->load[r]);
	return change;
}

void spill_pressure_raise(struct spill_pressure *pressure, int row)
{
	double step = STEP * pressure->unit;
	pressure->steep[row] += step;
	if (row > 0)
		pressure->steep[row - 1] += step / 2;
	if (row + 1 < pressure->model->row_count)
		pressure->steep[row + 1] += step / 2;
}

void spill_pressure_scale(struct spill_pressure *pressure, double factor)
{
	for (int r = 0; r < pressure->model->row_count; r++)
		pressure->steep[r] *= factor;
}

double spill_pressure_mean(const struct spill_pressure *pressure)
{
	double sum = 0;
	for (int r = 0; r < pressure->model->row_count; r++)
		sum += pressure->steep[r];
	return sum * pressure->margin / number_max(1, pressure->model->row_count);
}

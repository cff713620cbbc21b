#include "solvers/place/spill/price.h"

#include "base/arena.h"
#include "base/number.h"
#include "solvers/place/spill/options.h"

struct spill_prices spill_prices_make(struct arena *arena, const struct spill_set *set)
{
	const struct spill_model *model = set->model;
	struct spill_prices prices = {.model = model,
		.margin = 1 + SPILL_MARGIN_PERCENT / 100.0 * (double)model->room,
		.price = arena_array(arena, double, model->row_count)};
	double load = 1;
	for (int r = 0; r < model->row_count; r++)
		load += (double)set->load[r];
	prices.unit = (1 + (double)set->gain) / load;
	for (int r = 0; r < model->row_count; r++)
		prices.price[r] = prices.unit;
	return prices;
}

static double cost(const struct spill_prices *prices, int row, int64_t load)
{
	double left = (double)number_max(0, prices->model->room - load);
	return prices->price[row] * prices->margin * prices->margin / (prices->margin + left);
}

double spill_prices_cost(
	const struct spill_prices *prices, const struct spill_set *set, int row, int row_end)
{
	double all = 0;
	for (int r = row; r < row_end; r++)
		all += cost(prices, r, set->load[r]);
	return all;
}

double spill_prices_change(const struct spill_prices *prices, const struct spill_set *set, int item)
{
	const struct spill_item *it = &prices->model->items[item];
	int64_t more = set->kept[item] ? -it->size : it->size;
	double change = 0;
	for (int r = it->row; r < it->row_end; r++)
		change += cost(prices, r, set->load[r] + more) - cost(prices, r, set->load[r]);
	return change;
}

void spill_prices_raise(struct spill_prices *prices, int row)
{
	double step = SPILL_PRICE_STEP_PERCENT / 100.0 * prices->unit;
	prices->price[row] += step;
	if (row > 0)
		prices->price[row - 1] += step / 2;
	if (row + 1 < prices->model->row_count)
		prices->price[row + 1] += step / 2;
}

void spill_prices_scale(struct spill_prices *prices, int percent)
{
	for (int r = 0; r < prices->model->row_count; r++)
		prices->price[r] *= percent / 100.0;
}

double spill_prices_mean(const struct spill_prices *prices)
{
	double sum = 0;
	for (int r = 0; r < prices->model->row_count; r++)
		sum += prices->price[r];
	return sum * prices->margin / number_max(1, prices->model->row_count);
}

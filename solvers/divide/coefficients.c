#include "solvers/divide/coefficients.h"

static void put(struct keyed_split *list, int *count, int64_t coefficient, int64_t split)
{
	int i = 0;
	while (i < *count && list[i].coefficient != coefficient)
		i++;
	if (i == *count)
		(*count)++;
	list[i] = (struct keyed_split){coefficient, split};
}

static int64_t find(const struct keyed_split *list, int count, int64_t coefficient)
{
	for (int i = 0; i < count; i++)
		if (list[i].coefficient == coefficient)
			return list[i].split;
	return 1;
}

struct keyed_splits keyed_encode(
	int loop_count, const int64_t *write, const int64_t *read, const int64_t *splits)
{
	struct keyed_splits keyed = {0};
	for (int l = 0; l < loop_count; l++) {
		if (splits[l] == 1)
			continue;
		if (write[l])
			put(keyed.output, &keyed.output_count, write[l], splits[l]);
		else if (read[l])
			put(keyed.reduction, &keyed.reduction_count, read[l], splits[l]);
	}
	return keyed;
}

void keyed_decode(const struct keyed_splits *keyed, int loop_count, const int64_t *range,
	const int64_t *write, const int64_t *read, int64_t *splits)
{
	for (int l = 0; l < loop_count; l++) {
		splits[l] = 1;
		if (range[l] <= 1)
			continue;
		if (write[l])
			splits[l] = find(keyed->output, keyed->output_count, write[l]);
		else if (read[l])
			splits[l] = find(keyed->reduction, keyed->reduction_count, read[l]);
	}
}

#include "tests/support/spill_instances.h"

#include "base/array.h"
#include "base/random.h"

#include <inttypes.h>
#include <stdio.h>

enum { KIB = 1024, SIZE_MOST = 64, PRICE_MOST = 8 };

int64_t spill_load(const struct packing *packing)
{
	int64_t load = 0;
	for (size_t i = 0; i < packing->count; i++) {
		int64_t time = packing->buffers[i].start, here = 0;
		for (size_t k = 0; k < packing->count; k++)
			if (packing->buffers[k].start <= time && time < packing->buffers[k].end)
				here += packing->buffers[k].size;
		load = here > load ? here : load;
	}
	return load;
}

struct packing spill_random(struct arena *arena, uint64_t seed, size_t n, int percent)
{
	struct random random = random_open(seed, n);
	struct buffer *buffers = arena_array(arena, struct buffer, n);
	for (size_t i = 0; i < n; i++) {
		int64_t life = 1 + (int64_t)random_below(&random, n / 6);
		int64_t start = (int64_t)random_below(&random, n / 2 - (uint64_t)life + 1);
		int64_t size = KIB * (1 + (int64_t)random_below(&random, SIZE_MOST));
		buffers[i] = (struct buffer){.name = arena_format(arena, "b%zu", i),
			.size = size,
			.start = start,
			.end = start + life,
			.weight = size * (1 + (int64_t)random_below(&random, PRICE_MOST))};
	}
	struct packing packing = {.alignment = 1, .count = n, .buffers = buffers};
	packing.capacity = spill_load(&packing) * percent / 100;
	return packing;
}

bool spill_table(struct arena *arena, const char *path, uint64_t seed, int64_t capacity,
	int percent, struct packing *packing)
{
	FILE *file = fopen(path, "r");
	if (!file)
		return false;
	struct random random = random_open(seed, 0);
	struct array(struct buffer) buffers = {0};
	char name[64];
	int64_t start, end, size;
	bool good = fscanf(file, "%*[^\n]") == 0;
	while (good && fscanf(file, " %63[^,],%" SCNd64 ",%" SCNd64 ",%" SCNd64, name, &start, &end,
			       &size) == 4)
		*array_add(arena, &buffers) = (struct buffer){.name = arena_text(arena, name),
			.size = size,
			.start = start,
			.end = end,
			.weight = size * (1 + (int64_t)random_below(&random, PRICE_MOST))};
	fclose(file);
	*packing = (struct packing){.capacity = capacity * percent / 100,
		.alignment = 1,
		.count = buffers.count,
		.buffers = buffers.at};
	return good && buffers.count > 0;
}

#include "base/arena.h"
#include "base/text.h"
#include "cli/kind.h"
#include "cli/settings.h"
#include "report/run/json.h"

#include <inttypes.h>

/*
 * `toy: {count: N}`: numbers below N, of which the small ones have few bytes and those near N - 1 a
 * short time.  A sixth kind of input, in this file alone: its key, a setting, its search, its texts.
 */
struct toy {
	int64_t count;
	uint64_t step;
};

struct toy_found {
	struct found common;
	int64_t number;
};

static const struct option toy_settings[] = {
	{"step", 0, "N", "every Nth number alone (default 1)", .key = "step", .type = OPTION_COUNT,
		.least = 1, .kinds = "toy", .commands = OF_EXPLORE},
	{0},
};

static bool read(struct inputs *inputs, struct sheet *sheet)
{
	struct toy *toy = arena_new(inputs->arena, struct toy);
	const struct node *node = sheet_find(sheet, "toy");
	struct reader map;
	sheet_done(sheet);
	toy->step = 1;
	if (reader_open(&map, &inputs->reading, node, "toy")) {
		read_integer(&map, "count", REQUIRED, 1, 1000, &toy->count);
		reader_done(&map);
	}
	inputs_settings(inputs, NULL);
	inputs_count(inputs, "step", &toy->step);
	inputs_settings_done(inputs);
	inputs->own = toy;
	inputs->name = "toy";
	return true;
}

/* --- its search */

static bool tasks(void *self, int round, struct drive *drive, size_t *count)
{
	const struct toy *toy = self;
	*count = (size_t)toy->count / (size_t)toy->step;
	return round == 1;
}

static void run(void *self, size_t task, struct slot *slot)
{
	const struct toy *toy = self;
	struct toy_found found = {.common.solver = "toy", .number = (int64_t)(task * toy->step)};
	drive_offer(slot, &found.common);
}

static const char *price(void *self, struct found *found, struct slot *slot, struct score *score)
{
	const struct toy *toy = self;
	int64_t number = ((struct toy_found *)found)->number;
	*score = (struct score){.cycles = toy->count - number, .hbm_bytes = number};
	return NULL;
}

static const char *key(void *self, const struct found *found, struct arena *arena)
{
	return arena_format(arena, "%03" PRId64, ((const struct toy_found *)found)->number);
}

static const struct drive_kind toys = {
	.tasks = tasks,
	.run = run,
	.price = price,
	.key = key,
	.size = sizeof(struct toy_found),
	.counts_offers = true,
};

/* --- as the command line sees it */

static struct explored run_search(struct exploring *exploring)
{
	struct toy toy = *(const struct toy *)exploring->inputs->own;
	return drive_explore(&toys, &toy, &exploring->wishes, exploring->arena);
}

static const char *plan(const struct exploring *exploring, size_t i)
{
	return arena_format(
		exploring->arena, "number: %s\n", exploring->explored.frontier.points[i].key);
}

static struct result_texts texts(const struct exploring *exploring)
{
	const struct explored *explored = &exploring->explored;
	struct text csv = text_open(exploring->arena);
	json_t *root = run_head(&exploring->record, exploring->arena);
	json_object_set_new(root, "counters", run_counters(&explored->effort));
	text_add(&csv, "point,cycles,hbm_bytes\n");
	for (size_t i = 0; i < explored->frontier.count; i++)
		text_add(&csv, "%zu,%" PRId64 ",%" PRId64 "\n", i + 1,
			explored->frontier.points[i].score.cycles,
			explored->frontier.points[i].score.hbm_bytes);
	return (struct result_texts){
		.run = json_text(exploring->arena, root),
		.pareto = text_read(&csv),
		.table = text_read(&csv),
		.work = arena_format(
			exploring->arena, "%" PRIu64 " numbers", explored->effort.offered),
	};
}

const struct input_kind toy_kind = {
	.name = "toy",
	.noun = "a toy",
	.plural = "toys",
	.summary = "toy: numbers",
	.key = "toy",
	.rank = 9,
	.subject = SUBJECT_GRAPH,
	.objectives = {2, {OBJECTIVE_LATENCY, OBJECTIVE_HBM_BYTES}},
	.settings = toy_settings,
	.read = read,
	.explore = {.counted = "numbers",
		.found = "number",
		.run = run_search,
		.plan = plan,
		.texts = texts},
};

#include "search/joint/joint_claim.h"

#include "base/arena.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char *const joint_kind_names[] = {"evict", "reload", "clone", "few_cores", "reduction",
	"many_loops", "orders", "fusion", "fused_loops", "relay", "owners", "early_moves",
	"both_places", "shared_views", "small_runs", "unlike_runs", "other_moves", "cut_tiles",
	NULL};
enum { KIND_NAMES = sizeof joint_kind_names / sizeof *joint_kind_names - 1 };
_Static_assert(1 << (KIND_NAMES - 1) == KIND_CUT_TILES, "every kind has a name");

static const char *const tile_names[] = {"price", "published"};
static const char *const sum_names[] = {"cycles", "energy", "hbm_bytes"};

static void write_term(struct text *text, int64_t weight, const char *name)
{
	if (!weight)
		return;
	if (text->length)
		text_add(text, " + ");
	if (weight != 1)
		text_add(text, "%" PRId64 " ", weight);
	text_add(text, "%s", name);
}

const char *joint_claim_text(struct arena *arena, const struct joint_question *question)
{
	const struct joint_aim *aim = &question->aim;
	const struct planning *planning = question->planning;
	struct text text = text_open(arena);
	write_term(&text, aim->cycles, sum_names[0]);
	write_term(&text, aim->energy, sum_names[1]);
	write_term(&text, aim->hbm_bytes, sum_names[2]);
	text_add(&text, " by %s, tiles by %s, at most %d cores, %" PRId64 " bytes of LX, fixed:",
		price_names[planning->price], tile_names[planning->published_tiles],
		planning->cores, planning->lx_capacity);
	for (int k = 0; k < KIND_NAMES; k++)
		if (aim->fixed >> k & 1)
			text_add(&text, " %s", joint_kind_names[k]);
	if (!aim->fixed)
		text_add(&text, " nothing");
	return text_read(&text);
}

/* --- back */

struct claim_reading {
	const char *at;
	const char *why;
	struct arena *arena;
};

static bool take(struct claim_reading *reading, const char *word)
{
	size_t length = strlen(word);
	if (strncmp(reading->at, word, length) != 0)
		return false;
	reading->at += length;
	return true;
}

static void expect(struct claim_reading *reading, const char *word)
{
	if (!reading->why && !take(reading, word))
		reading->why = arena_format(
			reading->arena, "'%s' is expected before '%.40s'", word, reading->at);
}

static int take_one(struct claim_reading *reading, const char *const *names, int count)
{
	for (int i = 0; i < count; i++)
		if (take(reading, names[i]))
			return i;
	if (!reading->why)
		reading->why = arena_format(
			reading->arena, "no word that a proof uses stands at '%.40s'", reading->at);
	return 0;
}

static int64_t take_number(struct claim_reading *reading, int64_t otherwise)
{
	int64_t number;
	int length = 0;
	if (sscanf(reading->at, "%18" SCNd64 "%n", &number, &length) < 1 || number <= 0)
		return otherwise;
	reading->at += length;
	return number;
}

static void read_sum(struct claim_reading *reading, struct joint_aim *aim)
{
	do {
		int64_t weight = take_number(reading, 1);
		take(reading, " ");
		int name = take_one(reading, sum_names, 3);
		*(name == 0 ? &aim->cycles : name == 1 ? &aim->energy : &aim->hbm_bytes) = weight;
	} while (!reading->why && take(reading, " + "));
}

bool joint_claim_read(struct arena *arena, const char *text, struct joint_aim *aim,
	struct planning *planning, const char **why)
{
	struct claim_reading reading = {.at = text, .arena = arena};
	aim->cycles = aim->energy = aim->hbm_bytes = 0;
	aim->fixed = 0;
	read_sum(&reading, aim);
	expect(&reading, " by ");
	planning->price = (enum price)take_one(&reading, price_names, 2);
	expect(&reading, ", tiles by ");
	planning->published_tiles = take_one(&reading, tile_names, 2);
	expect(&reading, ", at most ");
	planning->cores = (int)take_number(&reading, 0);
	expect(&reading, " cores, ");
	planning->lx_capacity = take_number(&reading, 0);
	expect(&reading, " bytes of LX, fixed:");
	if (!take(&reading, " nothing"))
		do {
			expect(&reading, " ");
			aim->fixed |= 1u << take_one(&reading, joint_kind_names, KIND_NAMES);
		} while (!reading.why && *reading.at);
	if (!reading.why && *reading.at)
		reading.why = arena_format(arena, "'%.40s' follows its end", reading.at);
	*why = reading.why;
	return !reading.why;
}

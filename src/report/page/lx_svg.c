#include "base/amount.h"
#include "base/arena.h"
#include "base/array.h"
#include "base/number.h"
#include "base/text.h"
#include "report/packing/place_svg.h"
#include "report/page/drawings.h"

/* The stays of tensors in LX, as buffers that were placed. */
struct lx_stays {
	struct arena *arena;
	struct array(struct buffer) buffers;
	struct array(int64_t) addresses;
	struct array(int) parents;
	struct array(const char *) places; /* names of those whose places they take, or NULL */
	int64_t last;                      /* step that any of them ends before */
};

static int64_t number_of(const json_t *stay, const char *key)
{
	return json_integer_value(json_object_get(stay, key));
}

static void add_stay(struct lx_stays *stays, const char *name, const json_t *stay)
{
	const char *place = json_string_value(json_object_get(stay, "place"));
	if (!place || !text_equal(place, "LX") || !json_object_get(stay, "address"))
		return;
	*array_add(stays->arena, &stays->buffers) = (struct buffer){.name = name,
		.start = number_of(stay, "from"),
		.end = number_of(stay, "to"),
		.size = number_of(stay, "bytes_per_core")};
	*array_add(stays->arena, &stays->addresses) = number_of(stay, "address");
	*array_add(stays->arena, &stays->parents) = -1;
	*array_add(stays->arena, &stays->places) =
		json_string_value(json_object_get(stay, "in_place_of"));
	stays->last = number_max(stays->last, number_of(stay, "to"));
}

static struct lx_stays collect(struct arena *arena, json_t *tensors)
{
	struct lx_stays stays = {.arena = arena};
	const char *name;
	json_t *all, *stay;
	size_t i;
	json_object_foreach(tensors, name, all) {
		if (json_is_object(all))
			add_stay(&stays, name, all);
		json_array_foreach(all, i, stay)
			add_stay(&stays, name, stay);
	}
	return stays;
}

/* The stay whose place each takes: of the tensor's that it names, the one that ends as it begins. */
static void find_parents(struct lx_stays *stays)
{
	for (size_t i = 0; i < stays->buffers.count; i++)
		for (size_t k = 0; stays->places.at[i] && k < stays->buffers.count; k++)
			if (k != i && text_equal(stays->places.at[i], stays->buffers.at[k].name) &&
				stays->buffers.at[k].end == stays->buffers.at[i].start + 1)
				stays->parents.at[i] = (int)k;
}

/* NULL where they do not fit the stays. */
static const char *const *steps_of(struct arena *arena, const json_t *ops, int64_t last)
{
	size_t count = json_array_size(ops);
	const char **names = arena_array(arena, const char *, count);
	for (size_t i = 0; i < count; i++) {
		const char *name = json_string_value(json_object_get(json_array_get(ops, i), "op"));
		names[i] = name ? name : "";
	}
	return last <= (int64_t)count ? names : NULL;
}

const char *lx_svg(struct arena *arena, const char *title, const json_t *details)
{
	const json_t *score = json_object_get(details, "score");
	struct lx_stays stays = collect(arena, json_object_get(score, "tensors"));
	int64_t capacity = json_integer_value(
		json_object_get(json_object_get(details, "machine"), "lx_bytes"));
	find_parents(&stays);
	struct packing packing = {
		.count = stays.buffers.count, .buffers = stays.buffers.at, .capacity = capacity};
	struct placement placement = {.count = stays.buffers.count,
		.addresses = stays.addresses.at,
		.in_place_of = stays.parents.at};
	struct place_report report = {.packing = &packing,
		.placement = &placement,
		.has_capacity = capacity > 0,
		.load = load_curve(arena, &packing, &placement)};
	struct place_svg_words words = {.title = title,
		.line = capacity > 0 ? arena_format(arena,
					       "bytes of LX on each core, by steps; dashed: the %s "
					       "that are for tensors",
					       amount_text(arena, AMOUNT_BYTES, (double)capacity))
				     : "bytes of LX on each core, by steps",
		.steps = steps_of(arena, json_object_get(score, "ops"), stays.last),
		.whole = true};
	return packing.count ? place_svg(arena, &report, &words) : NULL;
}

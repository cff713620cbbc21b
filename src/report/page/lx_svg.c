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
	int64_t last; /* step that any of them ends before */
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

/* NULL where there are too many to be read. */
static const char *const *steps_of(struct arena *arena, const json_t *ops, int64_t last)
{
	enum { STEPS_MOST = 12 };
	size_t count = json_array_size(ops);
	const char **names = arena_array(arena, const char *, count);
	for (size_t i = 0; i < count; i++) {
		const char *name = json_string_value(json_object_get(json_array_get(ops, i), "op"));
		names[i] = name ? name : "";
	}
	return last <= (int64_t)count && count <= STEPS_MOST ? names : NULL;
}

const char *lx_svg(struct arena *arena, const char *title, const json_t *details)
{
	const json_t *score = json_object_get(details, "score");
	struct lx_stays stays = collect(arena, json_object_get(score, "tensors"));
	struct packing packing = {.count = stays.buffers.count, .buffers = stays.buffers.at};
	struct placement placement = {.count = stays.buffers.count,
		.addresses = stays.addresses.at,
		.in_place_of = stays.parents.at};
	struct place_report report = {.packing = &packing,
		.placement = &placement,
		.load = load_curve(arena, &packing, NULL)};
	struct place_svg_words words = {title, "bytes of LX on each core, by steps",
		steps_of(arena, json_object_get(score, "ops"), stays.last)};
	return packing.count ? place_svg(arena, &report, &words) : NULL;
}

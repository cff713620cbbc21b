#include "base/arena.h"
#include "base/text.h"
#include "campaign/outputs.h"
#include "report/run/json_text.h"

static const char *count(struct store *store, struct store_head *head, struct store_counts *counts)
{
	const struct store_part all = {0, 1};
	store_filled_head(store, head);
	return store_count(store, all, counts);
}

const char *status_text(struct arena *arena, struct store *store, const char **out)
{
	struct store_head head;
	struct store_counts counts;
	struct text text = text_open(arena);
	const char *why = count(store, &head, &counts);
	if (why)
		return why;
	text_add(&text, "%s: %zu points, %zu of them different\n", head.name, counts.points,
		counts.tasks);
	text_add(&text, "done %zu (%.1f %%), running %zu, open %zu\n", counts.done,
		100 * (double)counts.done / (double)(counts.tasks ? counts.tasks : 1),
		counts.leased, counts.tasks - counts.done - counts.leased);
	text_add(&text, "found %zu, impossible %zu, wrong %zu, nothing %zu\n", counts.found,
		counts.impossible, counts.wrong, counts.nothing);
	if (counts.crashed)
		text_add(&text, "crashed %zu\n", counts.crashed);
	text_add(&text, "%.1f s of exploring", counts.seconds);
	if (counts.has_best)
		text_add(&text, ", best %s %.6g", counts.objective, counts.best);
	text_add(&text, "; %zu process%s at work\n", counts.runners,
		counts.runners == 1 ? "" : "es");
	*out = text_read(&text);
	return NULL;
}

const char *status_json(struct arena *arena, struct store *store, const char **out)
{
	struct store_head head;
	struct store_counts counts;
	const char *why = count(store, &head, &counts);
	if (why)
		return why;
	*out = json_text(arena,
		json_pack(
			"{s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:f, s:o, "
			"s:o}",
			"campaign", head.name, "fingerprint", head.fingerprint, "version",
			head.version, "points", (json_int_t)counts.points, "different",
			(json_int_t)counts.tasks, "done", (json_int_t)counts.done, "running",
			(json_int_t)counts.leased, "found", (json_int_t)counts.found, "impossible",
			(json_int_t)counts.impossible, "wrong", (json_int_t)counts.wrong, "nothing",
			(json_int_t)counts.nothing, "crashed", (json_int_t)counts.crashed,
			"processes", (json_int_t)counts.runners, "seconds", counts.seconds,
			"objective", counts.has_best ? json_string(counts.objective) : json_null(),
			"best", counts.has_best ? json_real(counts.best) : json_null()));
	return NULL;
}

#include "base/number.h"
#include "model/graph/planning.h"
#include "model/machine/arch_read.h"
#include "spec/reader.h"

/* The name of a list, or op types. */
static void read_names(struct reader *search, const char *key, bool in_place, struct name_list *out)
{
	const char *const *names;
	size_t count;
	if (!read_texts(search, key, OPTIONAL, &names, &count))
		return;
	struct name_list by_name[2];
	if (count == 1 && planning_lists(names[0], &by_name[false], &by_name[true]))
		*out = by_name[in_place];
	else
		*out = (struct name_list){count, names, false};
}

bool planning_read(struct reader *search, struct planning *planning)
{
	static const char *const modes[] = {"strict", "compatible", NULL};
	static const char *const clones[] = {"off", "none", "readers", NULL};
	static const char *const tiles_words[] = {"price", "published", NULL};
	size_t errors = diag_errors(search->reading->diag);
	int64_t cores = planning->cores, reserve = planning->machine_lx - planning->lx_capacity;
	int64_t tiles = planning->staging_tiles;
	int word;
	read_integer(search, "cores", OPTIONAL, 1,
		number_min(PLANNING_CORES_MOST, planning->machine_cores), &cores);
	if (read_word(search, "mode", OPTIONAL, modes, &word))
		planning->strict = word == 0;
	read_bool(search, "k_fast", OPTIONAL, &planning->k_fast);
	read_bool(search, "lx_planning", OPTIONAL, &planning->lx_planning);
	read_bool(search, "co_optimize", OPTIONAL, &planning->co_optimize);
	if (read_word(search, "tiles", OPTIONAL, tiles_words, &word))
		planning->published_tiles = word == 1;
	if (read_word(search, "price", OPTIONAL, price_names, &word))
		planning->price = (enum price)word;
	if (read_word(search, "clone_split", OPTIONAL, clones, &word))
		planning->clones = (enum clone_split)word;
	arch_read_reserve(search, "lx_reserve", planning->machine_lx, &reserve);
	read_size(search, "staging", OPTIONAL, 1, INT64_MAX, &planning->staging_bytes);
	read_integer(search, "staging_tiles", OPTIONAL, 1, 3, &tiles);
	read_size(search, "span_limit", OPTIONAL, 1, INT64_MAX, &planning->span_limit);
	read_names(search, "eligible", false, &planning->eligible);
	read_names(search, "in_place", true, &planning->in_place);
	planning->cores = (int)cores;
	planning->staging_tiles = (int)tiles;
	planning->lx_capacity = planning->machine_lx - reserve;
	return diag_errors(search->reading->diag) == errors;
}

#include "model/graph/planning.h"

#include "base/number.h"
#include "base/text.h"
#include "model/machine/arch.h"
#include "model/machine/arch_read.h"
#include "spec/reader.h"

#include <stdlib.h>

static const char *const eligible_published[] = {"max", "amax", "sum", "exp", "sub", "clone"};
static const char *const eligible_extended[] = {"max", "amax", "sum", "exp", "sub", "maximum",
	"clone", "mul", "mean", "add", "rsqrt", "neg", "mm", "bmm", "batched_matmul", "div",
	"realdiv", "expand", "silu"};
static const char *const in_place_published[] = {"exp", "sub"};

#define LIST(names)                                                                                \
	{                                                                                          \
		sizeof(names) / sizeof *(names), names, false                                      \
	}

static const struct {
	const char *name;
	struct name_list eligible, in_place;
} lists[] = {
	{"published", LIST(eligible_published), LIST(in_place_published)},
	{"extended", LIST(eligible_extended), {.all = true}},
	{"all", {.all = true}, {.all = true}},
};

bool name_list_has(const struct name_list *list, const char *name)
{
	for (size_t i = 0; i < list->count; i++) {
		if (text_equal(list->names[i], name))
			return true;
	}
	return list->all;
}

bool planning_lists(const char *name, struct name_list *eligible, struct name_list *in_place)
{
	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
		if (!text_equal(lists[i].name, name))
			continue;
		*eligible = lists[i].eligible;
		*in_place = lists[i].in_place;
		return true;
	}
	return false;
}

struct planning planning_default(const struct arch *arch)
{
	int cores = (int)arch_cores(arch);
	struct name_list eligible = {0}, in_place = {0};
	planning_lists("all", &eligible, &in_place);
	return (struct planning){
		.cores = cores < PLANNING_CORES_MOST ? cores : PLANNING_CORES_MOST,
		.strict = true,
		.price = PRICE_ESTIMATE,
		.k_fast = true,
		.lx_planning = arch->lx >= 0,
		.clones = CLONE_READERS,
		.eligible = eligible,
		.in_place = in_place,
		.lx_capacity = arch->lx >= 0 ? arch_lx_capacity(arch) : 0,
		.span_limit = arch->span_limit,
		.place_ticks = PLACE_TICKS,
		.machine_cores = cores,
		.machine_lx = arch->lx >= 0 ? arch->levels[arch->lx].capacity : 0,
	};
}

const char *planning_environment_text(struct arena *arena)
{
	static const char *const names[] = {
		"SENCORES", "LX_PLANNING", "CO_OPTIMIZING_LX_PLANNING", "DXP_LX_FRAC_AVAIL"};
	struct text text = text_open(arena);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (getenv(names[i]))
			text_add(&text, "%s=%s ", names[i], getenv(names[i]));
	return text_read(&text);
}

static bool read_cores_variable(struct planning *planning, struct diag *diag)
{
	const char *value = getenv("SENCORES"), *at = value;
	int64_t cores;
	if (!value)
		return true;
	if (!scan_integer(&at, &cores) || !scan_end(&at) || cores < 1 ||
		cores > PLANNING_CORES_MOST) {
		diag_error(diag, (struct span){0},
			"invalid SENCORES value '%s': it is a number of cores, 1 to %d", value,
			PLANNING_CORES_MOST);
		return false;
	}
	if (cores > planning->machine_cores) {
		diag_error(diag, (struct span){0}, "SENCORES is %s, but the machine has %d cores",
			value, planning->machine_cores);
		return false;
	}
	planning->cores = (int)cores;
	return true;
}

static bool read_switch_variable(const char *name, bool *out, struct diag *diag)
{
	const char *value = getenv(name);
	if (!value)
		return true;
	if (!text_equal(value, "0") && !text_equal(value, "1")) {
		diag_error(diag, (struct span){0}, "%s is '%s'; it can be 0 or 1", name, value);
		return false;
	}
	*out = value[0] == '1';
	return true;
}

/* "0.2" as an exact fraction. */
static bool parse_decimal(const char *text, struct ratio *out)
{
	int64_t digits = 0, scale = 1;
	int count = 0;
	bool point = false;
	for (; *text; text++) {
		if (*text == '.' && !point) {
			point = true;
			continue;
		}
		if (*text < '0' || *text > '9' || !number_mul(digits, 10, &digits) ||
			!number_add(digits, *text - '0', &digits) ||
			(point && !number_mul(scale, 10, &scale)))
			return false;
		count++;
	}
	return count > 0 && ratio_make(digits, scale, out);
}

static bool read_reserve_variable(struct planning *planning, struct diag *diag)
{
	const char *value = getenv("DXP_LX_FRAC_AVAIL");
	struct ratio fraction;
	if (!value)
		return true;
	if (!parse_decimal(value, &fraction) || fraction.num > fraction.den) {
		diag_error(diag, (struct span){0},
			"DXP_LX_FRAC_AVAIL is '%s'; it is the fraction of LX that planners leave "
			"alone, 0 to 1",
			value);
		return false;
	}
	planning->lx_capacity = planning->machine_lx - arch_reserve(planning->machine_lx, fraction);
	return true;
}

bool planning_environment(struct planning *planning, struct diag *diag)
{
	bool cores = read_cores_variable(planning, diag);
	bool lx = read_switch_variable("LX_PLANNING", &planning->lx_planning, diag);
	bool joint =
		read_switch_variable("CO_OPTIMIZING_LX_PLANNING", &planning->co_optimize, diag);
	bool reserve = read_reserve_variable(planning, diag);
	return cores && lx && joint && reserve;
}

const struct arch *planning_arch(
	struct arena *arena, const struct arch *arch, const struct planning *planning)
{
	if (arch->lx < 0)
		return arch;
	return arch_with_reserve(arena, arch, planning->machine_lx - planning->lx_capacity);
}

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

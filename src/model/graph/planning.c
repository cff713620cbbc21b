#include "model/graph/planning.h"

#include "base/number.h"
#include "base/text.h"
#include "model/machine/arch.h"
#include "model/machine/arch_read.h"
#include "spec/field.h"

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
		.machine_lx = arch->lx >= 0 ? arch_lx(arch)->capacity : 0,
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
enum { PLANNING_IN_PLACE = 1 };

static void read_names(
	struct reader *search, const struct field *field, void *whole, const void *context)
{
	struct name_list *out = field_place(field, whole), eligible, in_place;
	const char *const *names;
	size_t count;
	if (!read_texts(search, field->key, OPTIONAL, &names, &count))
		return;
	if (count == 1 && planning_lists(names[0], &eligible, &in_place))
		*out = field->marks & PLANNING_IN_PLACE ? in_place : eligible;
	else
		*out = (struct name_list){count, names, false};
}

/* At most those of the machine. */
static void read_cores(
	struct reader *search, const struct field *field, void *whole, const void *context)
{
	struct planning *planning = whole;
	int64_t cores = planning->cores;
	read_integer(search, field->key, OPTIONAL, field->least,
		number_min(field->most, planning->machine_cores), &cores);
	planning->cores = (int)cores;
}

static void read_reserve(
	struct reader *search, const struct field *field, void *whole, const void *context)
{
	struct planning *planning = whole;
	int64_t reserve = planning->machine_lx - planning->lx_capacity;
	arch_read_reserve(search, field->key, planning->machine_lx, &reserve);
	planning->lx_capacity = planning->machine_lx - reserve;
}

const char *const planning_modes[] = {
	[PLANNING_COMPATIBLE] = "compatible", [PLANNING_STRICT] = "strict", NULL};
const char *const planning_tiles[] = {"price", "published", NULL};
static const char *const clones[] = {
	[CLONE_OFF] = "off", [CLONE_NONE] = "none", [CLONE_READERS] = "readers", NULL};

/* Their help is that of the settings (cli/settings.c). */
static const struct field planning_fields[] = {
	{"cores", FIELD_WHOLE, .read = read_cores, .least = 1, .most = PLANNING_CORES_MOST},
	{"mode", FIELD_CHOICE, .words = planning_modes, INTO(struct planning, strict)},
	{"k_fast", FIELD_FLAG, INTO(struct planning, k_fast)},
	{"lx_planning", FIELD_FLAG, INTO(struct planning, lx_planning)},
	{"co_optimize", FIELD_FLAG, INTO(struct planning, co_optimize)},
	{"tiles", FIELD_CHOICE, .words = planning_tiles, INTO(struct planning, published_tiles)},
	{"price", FIELD_CHOICE, .words = price_names, INTO(struct planning, price)},
	{"clone_split", FIELD_CHOICE, .words = clones, INTO(struct planning, clones)},
	{"lx_reserve", FIELD_SIZE, .read = read_reserve},
	{"staging", FIELD_SIZE, INTO(struct planning, staging_bytes), .least = 1,
		.most = INT64_MAX},
	{"staging_tiles", FIELD_WHOLE, INTO(struct planning, staging_tiles), .least = 1, .most = 3},
	{"span_limit", FIELD_SIZE, INTO(struct planning, span_limit), .least = 1,
		.most = INT64_MAX},
	{"eligible", FIELD_TEXT, .shape = SHAPE_SOME, .read = read_names,
		INTO(struct planning, eligible)},
	{"in_place", FIELD_TEXT, .shape = SHAPE_SOME, .read = read_names,
		INTO(struct planning, in_place), .marks = PLANNING_IN_PLACE},
	{0},
};
const struct noun planning_noun = {.name = "planning", .fields = planning_fields};

bool planning_read(struct reader *search, struct planning *planning)
{
	size_t errors = diag_errors(search->reading->diag);
	fields_read(search, &planning_noun, planning, NULL);
	return diag_errors(search->reading->diag) == errors;
}

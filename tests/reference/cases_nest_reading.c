#include "base/arena.h"
#include "model/machine/arch_read.h"
#include "model/machine/ert.h"
#include "model/nest/hierarchy.h"
#include "spec/sheet.h"
#include "tests/support/case_json.h"
#include "tests/support/complaints.h"
#include "tests/support/family.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/*
 * Family loop-nest: machines.  Every arch.yaml with its ERT.yaml makes the levels
 * that Timeloop printed; every source its users wrote is read, and is the same
 * machine, or is refused as the template that it is.
 */
static const struct {
	const char *folder, *source;
} templates[] = {{"ref-ta-fpmac", "v4.arch.yaml"}, {"ref-ta-intmac", "v4.arch.yaml"}};

/* Sources of another machine than the one that ran need to be read only: of other word sizes,
 * or with the fan-out at another place. */
static bool is_variant(const char *source)
{
	return strstr(source, "eyeriss_like-") || strstr(source, "levelspatial.arch");
}

struct reading_case {
	struct family *family;
	struct arena *arena;
	const char *folder; /* its path */
	const json_t *expected;
};

static const struct hierarchy *read_machine(
	const struct reading_case *test, const char *source, struct diag *diag)
{
	struct arena *arena = test->arena;
	struct sheet *sheet = sheet_open(arena, diag);
	sheet_add_file(sheet, arena_format(arena, "%s/%s", test->folder, source));
	sheet_add_file(sheet, arena_format(arena, "%s/ERT.yaml", test->folder));
	struct reading reading = sheet_reading(sheet);
	struct sheet *problem = sheet_open(arena, diag);
	sheet_add_file(problem, arena_format(arena, "%s/problem.yaml", test->folder));
	struct reading beside = sheet_reading(problem);
	if (diag_failed(diag))
		return NULL;
	const struct shape *shape = shape_read(&beside, sheet_find(problem, "problem"));
	const struct arch *arch = arch_read(&reading, sheet_find(sheet, "architecture"));
	if (arch)
		arch = ert_read(&reading, sheet_find(sheet, "ERT"), arch);
	struct hierarchy *hierarchy =
		arch && shape ? hierarchy_make(arena, arch, shape, diag) : NULL;
	if (hierarchy)
		hierarchy_price(hierarchy, arena, arch, COUNTING_TIMELOOP);
	return hierarchy;
}

static json_t *rate(struct ratio rate)
{
	return rate.num ? json_real(ratio_double(rate)) : json_null();
}

/* The reports have two decimals, as printf rounds them. */
static json_t *hundredths(double x)
{
	char text[64];
	snprintf(text, sizeof text, "%.2f", x);
	return json_real(strtod(text, NULL));
}

static void expect(const struct reading_case *test, const char *level, const json_t *spec,
	const char *key, json_t *got)
{
	const json_t *value = json_object_get(spec, key);
	family_expect(test->family, arena_format(test->arena, "%s %s", level, key), value, got);
}

static json_t *number_or_null(int64_t number)
{
	return number ? json_integer(number) : json_null();
}

static void compare_level(
	const struct reading_case *test, const struct nest_level *level, const json_t *spec)
{
	double most = fmax(level->energies.pj[NEST_READ],
		fmax(level->energies.pj[NEST_FILL], level->energies.pj[NEST_UPDATE]));
	expect(test, level->name, spec, "instances", json_integer(level->mesh_x * level->mesh_y));
	expect(test, level->name, spec, "mesh",
		json_pack("[I, I]", (json_int_t)level->mesh_x, (json_int_t)level->mesh_y));
	expect(test, level->name, spec, "word_bits", json_integer(level->store.word_bits));
	expect(test, level->name, spec, "size", number_or_null(level->store.entries));
	expect(test, level->name, spec, "effective_size", number_or_null(level->size));
	expect(test, level->name, spec, "block_size", json_integer(level->store.block_words));
	expect(test, level->name, spec, "cluster_size", json_integer(level->store.cluster_size));
	expect(test, level->name, spec, "multiple_buffering",
		json_real(level->store.multiple_buffering));
	expect(test, level->name, spec, "read_bandwidth", rate(level->store.read_rate));
	expect(test, level->name, spec, "write_bandwidth", rate(level->store.write_rate));
	expect(test, level->name, spec, "shared_bandwidth", rate(level->store.shared_rate));
	expect(test, level->name, spec, "vector_access_energy_pJ",
		hundredths(most / (double)level->store.cluster_size));
	expect(test, level->name, spec, "leak_pJ_per_instance_cycle",
		hundredths(level->energies.leak_pj));
}

static void compare(const struct reading_case *test, const struct hierarchy *hierarchy)
{
	size_t i;
	int next = 0;
	const json_t *record;
	json_array_foreach(json_object_get(test->expected, "levels"), i, record) {
		const char *name = case_text(record, "name");
		const json_t *spec = json_object_get(record, "spec");
		if (i == 0) {
			family_expect(test->family, "multipliers", json_object_get(record, "name"),
				json_string(hierarchy->compute_name));
			expect(test, name, spec, "mesh",
				json_pack("[I, I]", (json_int_t)hierarchy->compute_mesh_x,
					(json_int_t)hierarchy->compute_mesh_y));
			expect(test, name, spec, "compute_energy_pJ",
				hundredths(hierarchy->compute_pj));
			continue;
		}
		while (next < hierarchy->level_count && !hierarchy->levels[next].storage)
			next++;
		if (next == hierarchy->level_count) {
			family_note(test->family, name, "is missing");
			continue;
		}
		const struct nest_level *level = &hierarchy->levels[next++];
		family_expect(test->family, "name", json_object_get(record, "name"),
			json_string(level->name));
		compare_level(test, level, spec);
	}
	for (; next < hierarchy->level_count; next++)
		if (hierarchy->levels[next].storage)
			family_note(test->family, hierarchy->levels[next].name, "is not expected");
}

static bool is_template(const char *folder, const char *source)
{
	for (size_t i = 0; i < sizeof templates / sizeof *templates; i++)
		if (text_equal(templates[i].folder, folder) &&
			text_equal(templates[i].source, source))
			return true;
	return false;
}

static void check(struct family *family, const char *root, const char *folder, const char *source)
{
	char path[1024];
	snprintf(path, sizeof path, "%s/loop-nest/%s", root, folder);
	family_case(family, "%s/%s", folder, source);
	struct diag *diag = diag_open(family->arena);
	struct reading_case test = {.family = family, .arena = family->arena, .folder = path};
	json_t *expected =
		json_load_file(arena_format(family->arena, "%s/expected.json", path), 0, NULL);
	test.expected = expected;
	const struct hierarchy *hierarchy = read_machine(&test, source, diag);
	const char *complaints = complaints_text(family->arena, diag);
	if (is_template(folder, source))
		family_expect(family, "Jinja", json_true(),
			json_boolean(strstr(complaints, "Jinja") != NULL));
	else if (!hierarchy)
		family_note(family, "refused", complaints);
	else if (json_object_get(expected, "levels") && !is_variant(source))
		compare(&test, hierarchy);
	else
		family->compared++;
	json_decref(expected);
}

static bool is_source(const char *name)
{
	return text_equal(name, "arch.yaml") ||
	       (strncmp(name, "v4.", 3) == 0 &&
		       (strstr(name, "arch.") || strstr(name, "eyeriss_like")));
}

int main(int argc, char **argv)
{
	const char *root = argc > 1 ? argv[1] : "../shared/cases";
	struct family family;
	if (!family_open(&family, "loop-nest/reading", root, "loop-nest"))
		return 0;
	family_each(&family, root, "loop-nest", is_source, check);
	return family_close(&family);
}

#include "cli/inputs.h"

#include "base/arena.h"
#include "base/text.h"
#include "cli/kind.h"
#include "cli/model_file.h"
#include "model/machine/arch_read.h"
#include "model/machine/ert.h"

#include <string.h>
#include <sys/stat.h>

/* What explorations of every kind do, if nobody asks for anything else. */
static struct wishes default_wishes(void)
{
	enum { SIMULATE_BUDGET = 1000000 };
	return (struct wishes){
		.simulate = SIMULATE_ALL, .simulate_budget = SIMULATE_BUDGET, .seed = 1};
}

static bool is_same_file(const char *a, const char *b)
{
	struct stat one, other;
	return stat(a, &one) == 0 && stat(b, &other) == 0 && one.st_dev == other.st_dev &&
	       one.st_ino == other.st_ino;
}

/* Warns of files that are given as arguments and included by one of them, too. */
static void warn_included(
	const struct arguments *arguments, const struct node *file, struct diag *diag)
{
	const struct source *source = file ? file->span.source : NULL;
	for (size_t p = 0; source && p < source->piece_count; p++)
		for (size_t i = 0; i < arguments->count; i++) {
			const struct source *piece = source->pieces[p].source;
			if (!text_equal(piece->name, source->name) &&
				is_same_file(piece->name, arguments->at[i]))
				diag_warning(diag, (struct span){.source = piece},
					"is given, and included in '%s' by Jinja's include_text, "
					"too; give it once",
					source->name);
		}
}

const struct node *const *inputs_files(
	struct arena *arena, const struct arguments *arguments, struct diag *diag)
{
	const struct node **files = arena_array(arena, const struct node *, arguments->count);
	const char **folders = arena_array(arena, const char *, arguments->count + 2);
	folders[0] = ".";
	for (size_t i = 0; i < arguments->count; i++) {
		const char *path = arguments->at[i], *slash = strrchr(path, '/');
		folders[i + 1] =
			slash ? arena_format(arena, "%.*s", (int)(slash - path), path) : ".";
	}
	for (size_t i = 0; i < arguments->count; i++)
		files[i] = model_or_spec(arena, arguments, arguments->at[i], folders, diag);
	for (size_t i = 0; i < arguments->count; i++)
		warn_included(arguments, files[i], diag);
	return files;
}

/* The name of the copy of a spec in the results folder: "specs/001-arch.yaml".  A copy of a copy has no
 * second number. */
static const char *copy_name(struct arena *arena, size_t i, const char *path)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
	if (strspn(base, "0123456789") == 3 && base[3] == '-' && base[4])
		base += 4;
	return arena_format(arena, "specs/%03zu-%s", i + 1, text_equal(base, "-") ? "stdin" : base);
}

/* The sheet of all files, which are the sources, too. */
static struct sheet *open_sheet(struct inputs *inputs, const struct node *const *files)
{
	const struct arguments *arguments = inputs->arguments;
	struct sheet *sheet = sheet_open(inputs->arena, inputs->diag);
	struct run_source *sources =
		arena_array(inputs->arena, struct run_source, arguments->count);
	for (size_t k = 0; input_kinds[k]; k++)
		if (input_kinds[k]->key)
			sheet_know(sheet, input_kinds[k]->key);
	for (size_t i = 0; i < arguments->count; i++) {
		sources[i].path = arguments->at[i];
		if (!files[i])
			continue;
		const struct source *source = files[i]->span.source;
		sources[i].hash = source->hash;
		sources[i].text =
			arena_format(inputs->arena, "%.*s", (int)source->length, source->bytes);
		sources[i].copy = copy_name(inputs->arena, i, arguments->at[i]);
		sheet_add(sheet, files[i]);
	}
	inputs->sources = sources;
	inputs->source_count = arguments->count;
	return sheet;
}

/* The kind of the highest rank whose key is there; of the lowest, which complains of what is missing,
 * where none is. */
static const struct input_kind *find_kind(const struct sheet *sheet)
{
	const struct input_kind *found = NULL, *lowest = NULL;
	for (size_t k = 0; input_kinds[k]; k++) {
		const struct input_kind *kind = input_kinds[k];
		if (!kind->key)
			continue;
		if (!lowest || kind->rank < lowest->rank)
			lowest = kind;
		if (sheet_has(sheet, kind->key) && (!found || kind->rank > found->rank))
			found = kind;
	}
	return found ? found : lowest;
}

static bool read_sheet(struct inputs *inputs, struct sheet *sheet)
{
	inputs->reading = sheet_reading(sheet);
	if (diag_failed(inputs->diag))
		return false;
	inputs->kind = find_kind(sheet);
	inputs->wishes.objectives = inputs->kind->objectives;
	const struct node *search = sheet_find(sheet, "search");
	if (search && !reader_open(&inputs->search, &inputs->reading, search, "search"))
		inputs->search.map = NULL;
	return inputs->kind->read(inputs, sheet) && !diag_failed(inputs->diag);
}

bool inputs_read_files(struct arena *arena, const struct arguments *arguments,
	const struct node *const *files, struct diag *diag, struct inputs *out)
{
	*out = (struct inputs){
		.arena = arena, .diag = diag, .arguments = arguments, .wishes = default_wishes()};
	if (!arguments->count) {
		diag_error(diag, (struct span){0},
			"no spec file is given; try specs/arch/spyre32.yaml and a file of "
			"specs/workloads/");
		return false;
	}
	struct sheet *sheet = open_sheet(out, files);
	bool good = read_sheet(out, sheet);
	sheet_note(sheet);
	return good;
}

bool inputs_read(struct arena *arena, const struct arguments *arguments, struct diag *diag,
	struct inputs *out)
{
	const struct node *const *files = inputs_files(arena, arguments, diag);
	return inputs_read_files(arena, arguments, files, diag, out);
}

void inputs_refuse_keys(struct inputs *inputs, struct sheet *sheet, const char *const *keys)
{
	for (; *keys; keys++) {
		const struct node *node = sheet_find(sheet, *keys);
		if (node && (node->kind != NODE_LIST || node->count))
			diag_error(inputs->diag, node->span,
				"a '%s' stands beside a '%s'; a run is about one of them", *keys,
				inputs->kind->key);
	}
}

/* Accesses of nests have the energies of an ERT; boxes are priced by bytes. */
const struct arch *inputs_machine(
	struct sheet *sheet, const struct reading *reading, const struct node *node)
{
	const struct arch *arch = arch_read(reading, node);
	const struct node *ert = arch && !arch_moves_boxes(arch) ? sheet_find(sheet, "ERT") : NULL;
	return ert ? ert_read(reading, ert, arch) : arch;
}

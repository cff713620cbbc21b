/*
 * Every machine of specs/arch for problems, under every constraint file that is made
 * for it, takes a convolution and a matrix product: check has nothing to say, and
 * explore finds mappings that run as the model says.
 */
#include "base/arena.h"
#include "base/text.h"
#include "tests/support/draws.h"
#include "tests/support/shell.h"

#include <glob.h>
#include <string.h>

#include "tests/test.h"

#define CONVOLUTION "specs/layers/resnet50.csv conv4_1_3x3"
#define PRODUCT "specs/layers/bert_base_s128.csv context"

static const struct fit {
	const char *arch, *constraints; /* files without their ends; constraints "": none */
	const char *product;            /* how scripts/layer writes it */
} fits[] = {
	{"three_level", "", ""},
	{"three_level", "keep_all", ""},
	{"eyeriss", "", ""},
	{"eyeriss", "residency_only", ""},
	{"eyeriss", "row_stationary", "conv"},
	{"simba", "", ""},
	{"gemmini", "", ""},
	{"gemmini", "weight_stationary", ""},
	{"gemmini_rtl", "", ""},
	{"tpu", "", ""},
	{"tpu_v4i", "", ""},
	{"tpu", "weight_stationary", ""},
	{"weight_stationary", "", ""},
	{"weight_stationary", "weight_stationary", ""},
	{"output_stationary", "", ""},
	{"output_stationary", "output_stationary", ""},
	{"systolic", "", ""},
};

enum { FITS = sizeof fits / sizeof *fits };

static void check_layer(struct arena *arena, const struct fit *fit, const char *layer)
{
	const char *folder = shell_folder(arena);
	const char *specs = arena_format(arena, "specs/arch/%s.yaml %s%s%s %s/layer.yaml",
		fit->arch, *fit->constraints ? "specs/constraints/" : "", fit->constraints,
		*fit->constraints ? ".yaml" : "", folder);
	assert_int_equal(shell(arena, "scripts/layer %s > %s/layer.yaml", layer, folder).status, 0);
	struct ended ended = shell(arena, "$LXPLORE check %s", specs);
	if (ended.status != 0 || *ended.err || strncmp(ended.out, "feasible", 8) != 0)
		fail_msg("%s: status %d\n%s%s", specs, ended.status, ended.err, ended.out);
	ended = shell(arena,
		"$LXPLORE explore %s -q --solver map=random --budget 300 "
		"--simulate-budget 100000 --format csv -o %s",
		specs, folder);
	if (ended.status != 0 || *ended.err || strstr(ended.out, ",false,"))
		fail_msg("%s: status %d\n%s%s", specs, ended.status, ended.err, ended.out);
	assert_non_null(strchr(strchr(ended.out, '\n') + 1, '\n')); /* a head and a row */
	shell_remove(folder);
}

TEST(machines_take_layers)
{
	for (long i = 0; i < FITS; i += draws_apart(1)) {
		check_layer(arena, &fits[i], CONVOLUTION);
		check_layer(
			arena, &fits[i], arena_format(arena, "%s %s", PRODUCT, fits[i].product));
	}
}

static bool is_listed(const char *path, bool constraints)
{
	for (int i = 0; i < FITS; i++) {
		const char *name = constraints ? fits[i].constraints : fits[i].arch;
		const char *base = strrchr(path, '/') + 1;
		if (*name && strcspn(base, ".") == strlen(name) &&
			strncmp(base, name, strlen(name)) == 0)
			return true;
	}
	return false;
}

/* A machine with pipes between memories carries broadcasts. */
static bool copies(struct arena *arena, const char *path)
{
	const char *text = text_of_file(arena, path);
	if (!text || !strstr(text, "copy_in"))
		return false;
	struct ended ended =
		shell(arena, "\"$LXPLORE\" check %s specs/broadcasts/put_block.yaml", path);
	if (ended.status > 1) /* 1: its buffer is too small for these tiles */
		fail_msg("%s: %s", path, ended.err);
	return true;
}

/* A file that is added is listed above; those of spyre32 are for graphs, which test_shipped runs. */
TEST(no_file_is_forgotten)
{
	static const char *const folders[] = {"specs/arch/*.yaml", "specs/constraints/*.yaml"};
	for (int f = 0; f < 2; f++) {
		glob_t files;
		assert_int_equal(glob(folders[f], 0, NULL, &files), 0);
		for (size_t i = 0; i < files.gl_pathc; i++)
			if (!is_listed(files.gl_pathv[i], f) &&
				!strstr(files.gl_pathv[i], "/spyre32") &&
				!(f == 0 && copies(arena, files.gl_pathv[i])))
				fail_msg("nothing tries %s", files.gl_pathv[i]);
		globfree(&files);
	}
}

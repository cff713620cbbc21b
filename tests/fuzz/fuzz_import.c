#include "base/arena.h"
#include "base/random.h"
#include "base/text.h"
#include "import/import.h"
#include "import/onnx_strip.h"
#include "spec/node.h"
#include "tests/support/draws.h"
#include "tests/support/folder.h"
#include "tests/support/mutated_text.h"

#include <onnx.pb-c.h>
#include <stdio.h>
#include <string.h>

#include "tests/test.h"

/*
 * Models with something changed: read, or refused with a complaint that names the file; what is
 * read is a workload in YAML.
 */
static const char *const texts[] = {
	"func.func @main(%a: tensor<8x64xf32>, %b: tensor<64x64xf32>) -> tensor<8x64xf32> {\n"
	"  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<8x64xf32>, tensor<64x64xf32>) -> "
	"tensor<8x64xf32>\n"
	"  %1 = \"stablehlo.slice\"(%0) <{start_indices = array<i64: 0, 32>, limit_indices = array<i64: 8, 64>, strides = "
	"array<i64: 1, 1>}> : (tensor<8x64xf32>) -> tensor<8x32xf32>\n"
	"  %2 = stablehlo.concatenate %1, %1, dim = 1 : (tensor<8x32xf32>, tensor<8x32xf32>) -> tensor<8x64xf32>\n"
	"  return %2 : tensor<8x64xf32>\n}\n",
	"module {\n  func.func @main(%arg0: tensor<1x8x8x4xbf16> {ttir.name = \"x\"} loc(\"p0\"), %w: tensor<4x4x3x3xbf16>) {\n"
	"    %0 = \"ttir.constant\"() <{value = dense<0x3F80> : tensor<1x8x8x4xbf16>}> : () -> tensor<1x8x8x4xbf16>\n"
	"    %1 = \"ttir.conv2d\"(%arg0, %w) <{stride = array<i32: 1, 1>, padding = array<i32: 1, 1, 1, 1>, groups = 1 : "
	"i32}> : (tensor<1x8x8x4xbf16>, tensor<4x4x3x3xbf16>) -> tensor<1x8x8x4xbf16>\n"
	"    %2 = \"ttir.add\"(%1, %0) : (tensor<1x8x8x4xbf16>, tensor<1x8x8x4xbf16>) -> tensor<1x8x8x4xbf16>\n"
	"    %3 = \"ttir.reshape\"(%2) <{shape = [16 : i32, 16 : i32]}> : (tensor<1x8x8x4xbf16>) -> tensor<16x16xbf16>\n"
	"    %4 = \"ttir.permute\"(%3) <{permutation = array<i64: 1, 0>}> : (tensor<16x16xbf16>) -> tensor<16x16xbf16>\n"
	"    %5 = \"ttir.softmax\"(%4) <{dimension = 1 : si32}> : (tensor<16x16xbf16>) -> tensor<16x16xbf16>\n"
	"    return %5 : tensor<16x16xbf16>\n  }\n}\n",
};

/* True if it was read. */
static bool import_changed(const char *path, long number)
{
	struct arena *scratch = arena_open();
	struct diag *diag = diag_open(scratch);
	struct import_wishes wishes = {0};
	struct import_summary summary;
	const char *text = import_file(scratch, path, &wishes, diag, &summary);
	bool read = text != NULL;
	if (!read && !diag_failed(diag))
		fail_msg("draw %ld is refused without a reason", number);
	if (read && strlen(text) < SPEC_BYTES_MOST &&
		!node_read_text(scratch, "imported", text, strlen(text), diag)) {
		diag_print(diag, stderr);
		fail_msg("draw %ld is not YAML", number);
	}
	arena_close(scratch);
	return read;
}

FOLDER_TEST(changed_text_is_read_or_refused)
{
	uint64_t seed = draws_seed(5);
	long count = draws(1500), read = 0;
	for (long i = 0; i < count; i++) {
		struct arena *scratch = arena_open();
		struct random random = random_open(seed, (uint64_t)i);
		const char *text = mutated_text(scratch, &random, texts[i % 2]);
		read += import_changed(folder_put("m.mlir", text), i);
		arena_close(scratch);
	}
	mutated_tell(count, read);
	assert_true(!draws_are_many(count) || (read > 0 && read < count));
}

/* A convolution whose input has a symbolic dimension, in the bytes of a file. */
static size_t pack_model(uint8_t *bytes)
{
	static const unsigned char model[] = {
#include "tests/fuzz/corpus/conv.onnx.inc"
	};
	memcpy(bytes, model, sizeof model);
	return sizeof model;
}

FOLDER_TEST(changed_bytes_are_read_or_refused)
{
	uint64_t seed = draws_seed(6);
	long count = draws(1500), read = 0;
	for (long i = 0; i < count; i++) {
		uint8_t bytes[4096];
		struct random random = random_open(seed, (uint64_t)i);
		size_t length = pack_model(bytes);
		for (uint64_t k = random_below(&random, 4); k > 0; k--)
			bytes[random_below(&random, length)] = (uint8_t)random_below(&random, 256);
		if (random_below(&random, 4) == 0)
			length = random_below(&random, length) + 1;
		FILE *file = fopen(run_folder_path("m.onnx"), "wb");
		assert_non_null(file);
		assert_int_equal(fwrite(bytes, 1, length, file), length);
		assert_int_equal(fclose(file), 0);
		read += import_changed(run_folder_path("m.onnx"), i);
	}
	mutated_tell(count, read);
	assert_true(!draws_are_many(count) || (read > 0 && read < count));
}

#include "tests/support/compiled.h"

#include "base/arena.h"
#include "report/run/folder.h"
#include "tests/support/shell.h"
#include "tests/test.h"

const char *compiled_run(struct arena *arena, struct text *program, long count)
{
	for (long n = 0; n < count; n++)
		text_add(program, "void project_%ld(void);\n", n);
	text_add(program, "int main(void)\n{\n");
	for (long n = 0; n < count; n++)
		text_add(program, "\tproject_%ld();\n", n);
	text_add(program, "\treturn 0;\n}\n");
	const char *folder = shell_folder(arena);
	const char *path = arena_format(arena, "%s/all.c", folder);
	assert_null(file_write(arena, path, text_read(program), program->length));
	struct ended built = shell(arena,
		"${CC:-gcc} -std=c17 -O1 -fopenmp-simd -ffp-contract=off -Wall -Werror -o %s/all "
		"%s/all.c -lm",
		folder, folder);
	if (built.status)
		fail_msg("%s", built.err);
	struct ended run = shell(arena, "%s/all", folder);
	assert_int_equal(run.status, 0);
	shell_remove(folder);
	return run.out;
}

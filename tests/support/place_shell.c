#include "tests/support/place_shell.h"

#include "base/arena.h"

#include <string.h>

#include "tests/test.h"

static const char small[] = PLACE_HEAD "a,0,3,256\n"
				       "b,1,5,256\n"
				       "c,3,5,512\n"
				       "d,4,8,256\n";

int place_open(void **state)
{
	folder_set_up(state);
	folder_put("small.csv", small);
	return 0;
}

struct ended place_run(const char *arguments)
{
	return folder_run(arena_format(arena, "\"$program\" place %s", arguments));
}

void place_expect(const char *arguments, int status, const char *out, const char *err)
{
	struct ended ended = place_run(arguments);
	if (ended.status != status || (out && strcmp(ended.out, out) != 0) ||
		(err && strcmp(ended.err, err) != 0))
		fail_msg("place %s: status %d\n--- out\n%s--- err\n%s--- expected %d\n%s%s",
			arguments, ended.status, ended.out, ended.err, status, out ? out : "",
			err ? err : "");
}

#include "tests/support/set_up.h"

#include "base/arena.h"

struct arena *test_arena;

int set_up(void **state)
{
	*state = test_arena = arena_open();
	return 0;
}

int tear_down(void **state)
{
	arena_close(*state);
	test_arena = NULL;
	return 0;
}

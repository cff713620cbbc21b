#ifndef SUPPORT_SET_UP_H
#define SUPPORT_SET_UP_H

/*
 * A test's own arena: its state.  Helpers that are not handed the state find it as test_arena, too.
 */
extern struct arena *test_arena;

int set_up(void **state);
int tear_down(void **state);

#endif

#ifndef TEST_H
#define TEST_H

/* Includes of every test program; included last. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h> /* wants those before it */

struct arena;

/* The memory and the files of a test. */
enum test_place {
	TEST_ARENA, /* an arena of its own */
	TEST_BARE,  /* none: the test opens what it needs */
	TEST_FOLDER, /* the arena and the folder of tests/support/folder.h, or what the FIXTURE of its file makes */
};

struct test {
	const char *file, *name;
	int line;
	enum test_place place;
	void (*run)(struct arena *arena);
};

struct test_fixture {
	const char *file;
	int (*set_up)(void **state);
	int (*tear_down)(void **state);
};

/*
 * TEST(name) { .. } defines a test.  The tests of a file run in its order; a file that has no main needs nothing else.
 * The body has `arena`, which test_arena is as well.
 */
#define TEST(name) TEST_AT(name, TEST_ARENA, struct arena *arena)

/* A test that has no arena. */
#define BARE_TEST(name) TEST_AT(name, TEST_BARE, struct arena *no_arena)

/* A test in a folder: tests/support/folder.h. */
#define FOLDER_TEST(name) TEST_AT(name, TEST_FOLDER, struct arena *no_arena)

#define TEST_AT(name, place, parameter)                                                            \
	static void name(parameter);                                                               \
	static const struct test test_of_##name = {__FILE__, #name, __LINE__, place, name};        \
	static const struct test *const listed_##name __attribute__((section("tests"), used)) =    \
		&test_of_##name;                                                                   \
	static void name(parameter)

/* FIXTURE(set_up, tear_down); runs the two before the first and after the last test of the file. */
#define FIXTURE(set_up, tear_down)                                                                 \
	static const struct test_fixture fixture_of_file = {__FILE__, set_up, tear_down};          \
	static const struct test_fixture *const listed_fixture                                     \
		__attribute__((section("fixtures"), used)) = &fixture_of_file

/* The arena of the test that runs, for helpers that are not handed it. */
extern struct arena *test_arena;

/* Runs the tests of a file and returns how many fail. */
int test_file(const char *file);

/* Tests made in a loop, one for each row of a table. */
#define run_table(name, tests, count) _cmocka_run_group_tests(name, tests, count, NULL, NULL)

#endif

#ifndef TEST_H
#define TEST_H

/* Includes of every test program; included last. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h> /* wants those before it */

/* Tests made in a loop, one for each row of a table. */
#define run_table(name, tests, count) _cmocka_run_group_tests(name, tests, count, NULL, NULL)

#endif

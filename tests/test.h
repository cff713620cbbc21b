#ifndef TEST_H
#define TEST_H

/* What every test program includes, last. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#endif

#ifndef SUPPORT_SPYRE_H
#define SUPPORT_SPYRE_H

#include "model/machine/arch.h"

/*
 * The machine of specs/arch/spyre32_published.yaml with any number of cores, for tests that
 * do not read YAML.  test_arch compares the two.
 */
struct arena;
const struct arch *spyre_arch(struct arena *arena, int cores);

#endif

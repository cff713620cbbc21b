#ifndef CAMPAIGN_RANGE_H
#define CAMPAIGN_RANGE_H

#include "spec/reader.h"
#include "spec/value.h"

/*
 * Values of a parameter as a range: {from: 4, to: 32, step: 4}, and in equal ratios {from: 16KiB,
 * to: 256KiB, factor: 2} or {from: 1, to: 1000, count: 7}.  Both ends are in it where the steps
 * meet them.  With `count`, values between whole ends are rounded to whole numbers.
 */
enum { RANGE_MOST = 1000000 };

/* Whether a map is a range: it has `from`. */
bool range_is(const struct node *node);

/* The values as scalars, which stand where the range does; NULL after complaining.  The other keys
 * that the map may have are asked for by the caller, who ends the reader. */
const struct node *const *range_read(struct reader *reader, size_t *count);

/* A value as a spec writes it, and its reader takes it for the same: "12", "16384B", "1.5GHz";
 * NULL if its unit has no name. */
const char *value_text(struct arena *arena, struct value value);

#endif

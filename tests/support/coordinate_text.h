#ifndef SUPPORT_COORDINATE_TEXT_H
#define SUPPORT_COORDINATE_TEXT_H

#include "model/graph/view.h"

/*
 * Coordinates as algebra systems print them: sums, products and quotients of
 * integers, loops, floor(x) and Mod(x, m), in any order and with any
 * parentheses.  Two texts of one function are equal.
 */
bool coordinate_text_tells(
	const char *text, const struct op *op, const struct coordinate *coordinate);

#endif

#ifndef PLACE_OPTIONS_H
#define PLACE_OPTIONS_H

/*
 * Constants that tune the searches of this folder: one table for each solver, as Kissat's options.h
 * has one.  A row has the name, the default, the least and the most value, and the reason; ranges
 * are checked when the table is compiled.
 */
#define OPTION_VALUE(name, value, least, most, reason) name = (value),
#define OPTION_RANGE(name, value, least, most, reason) \
	_Static_assert((least) <= (value) && (value) <= (most), #name ": " reason);
#define OPTIONS(TABLE)               \
	enum { TABLE(OPTION_VALUE) }; \
	TABLE(OPTION_RANGE)

#endif

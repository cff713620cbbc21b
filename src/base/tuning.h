#ifndef BASE_TUNING_H
#define BASE_TUNING_H

/*
 * Tables of the constants that tune a search, one for each solver, as Kissat's options.h has one.
 * A row has the name, the default, the least and the most value, and the reason; ranges are checked
 * when the table is compiled:
 *
 *	#define EXACT_OPTIONS(OPTION) \
 *		OPTION(WARM_CHAINS, 16, 0, 1024, "chains of annealing before the proof begins")
 *	OPTIONS(EXACT_OPTIONS)
 */
#define OPTION_VALUE(name, value, least, most, reason) name = (value),
#define OPTION_RANGE(name, value, least, most, reason)                                             \
	_Static_assert((least) <= (value) && (value) <= (most), #name ": " reason);
#define OPTIONS(TABLE)                                                                             \
	enum { TABLE(OPTION_VALUE) };                                                              \
	TABLE(OPTION_RANGE)

#endif

#ifndef SUPPORT_TALLY_H
#define SUPPORT_TALLY_H

/*
 * Counts the checks of a reference family: a line for every failure, one
 * closing line "FAMILY: N passed, N failed".
 */
struct tally {
	const char *family;
	int passed, failed;
};

void tally_pass(struct tally *tally);
void tally_fail(struct tally *tally, const char *test, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* For a family whose files are not there. */
int tally_skip(const struct tally *tally);

/* Prints the closing line; the program's exit status. */
int tally_end(const struct tally *tally);

#endif

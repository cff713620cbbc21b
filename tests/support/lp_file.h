#ifndef SUPPORT_LP_FILE_H
#define SUPPORT_LP_FILE_H

#include <stdbool.h>

/* A program in the LP format, read and solved by others: by GLPK's reader, or by the program cbc. */
enum lp_by { LP_GLPK, LP_CBC };

struct lp_answer {
	bool known; /* false: the program is not there, or gave up */
	bool found; /* false: no point exists */
	double value;
};

struct lp_answer lp_solve(const char *text, enum lp_by by);

#endif

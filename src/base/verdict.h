#ifndef BASE_VERDICT_H
#define BASE_VERDICT_H

/*
 * The answer of a search that decides something: is there one, does it hold?  What a search that
 * minimises has established is an enum proof_status (model/machine/proof.h).
 */
enum verdict {
	VERDICT_YES,  /* and here it is */
	VERDICT_NO,   /* proven: there is none, or it does not hold */
	VERDICT_OPEN, /* stopped, or at a limit, before it was known */
};

#endif

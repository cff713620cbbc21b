#ifndef SUPPORT_EDITS_H
#define SUPPORT_EDITS_H

/*
 * Complaints as data: a command, the good spec that it reads, changes of that spec, and what the command says of each.
 *
 *	$ lxplore check good/workload.yaml arch.yaml
 *	> architecture:
 *	>   version: 0.4
 *
 *	# a comment
 *	s/0.4/0.7/
 *	-> arch.yaml:2:12-14: error: 'version' in architecture is 0.7; it can be 0.2 to 0.4
 *
 * The spec is the last word of the command that has no folder; unchanged it ends with status 0.  A change replaces the
 * first place that has a text, to the letter but for \n, \t, \\ and \x80; the character after "s" separates.  Changes
 * on lines in turn are made together.  Lines after "= " are a whole spec, with the same escapes.  A message is what stderr has, with the columns from the first marked character
 * to the last in place of the two lines that show them.  An exit status other than 2 follows as "[1]".
 */
struct arena;

/* Runs the commands of a file in a new folder, where `good` is tests/bad/good and `specs` is that of the checkout.  The
 * test fails if a message is another one; under sanitizers it takes one case of so many (draws_apart).  With ACCEPT in
 * the environment the file is written instead. */
void edits_check(struct arena *arena, const char *path);

#endif

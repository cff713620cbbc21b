#ifndef SUPPORT_TRANSCRIPT_H
#define SUPPORT_TRANSCRIPT_H

/*
 * Commands and what they print, as text among prose:
 *
 *	    $ lxplore check x.yaml
 *	    x.yaml: error: no such file
 *	    [2]
 *
 * A command goes on in lines that begin with "> ".  Commands and their output are indented by four blanks; the seconds
 * of a summary are written as N.  Both streams of output follow in the order of writing,
 * without blank lines at the end, then the exit status, unless it is 0.
 */
struct arena;

/* Returns the text with the outputs that its commands print now; they run one after the other in `folder`, where
 * `specs` is that of the checkout and `lxplore` the program under test. */
const char *transcript_run(struct arena *arena, const char *folder, const char *text);

/* Runs the commands of a file in a new folder.  The test fails if an output is another one; with ACCEPT in the
 * environment the file is written instead. */
void transcript_check(struct arena *arena, const char *path);

/* The test fails if a file whose text is `text` would be another one now; with ACCEPT it is written instead. */
void transcript_settle(const char *path, const char *text, const char *now);

#endif

#ifndef SPEC_PROBLEM_H
#define SPEC_PROBLEM_H

/* Complains about what stopped the YAML parser, in words for its users. */
struct stepper;
void problem_report(const struct stepper *stepper);

#endif

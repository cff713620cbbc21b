#include "tests/support/lp_file.h"

#include <glpk.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct lp_answer by_glpk(const char *path)
{
	struct lp_answer answer = {0};
	glp_prob *problem = glp_create_prob();
	glp_iocp options;
	glp_init_iocp(&options);
	options.presolve = GLP_ON;
	glp_term_out(GLP_OFF);
	if (glp_read_lp(problem, NULL, path) == 0) {
		int end = glp_intopt(problem, &options), status = glp_mip_status(problem);
		answer.found = end == 0 && status == GLP_OPT;
		answer.known = answer.found || end == GLP_ENOPFS || status == GLP_NOFEAS;
		answer.value = glp_mip_obj_val(problem);
	}
	glp_delete_prob(problem);
	glp_free_env();
	return answer;
}

static struct lp_answer by_cbc(const char *path)
{
	struct lp_answer answer = {0};
	char command[256], line[256];
	if (access("/usr/bin/cbc", X_OK) != 0)
		return answer;
	snprintf(command, sizeof command, "/usr/bin/cbc %s solve", path);
	FILE *pipe = popen(command, "r");
	while (pipe && fgets(line, sizeof line, pipe)) {
		answer.found |= sscanf(line, "Objective value: %lf", &answer.value) == 1;
		answer.known |= strstr(line, "infeasible") != NULL;
	}
	answer.known |= answer.found;
	if (pipe)
		pclose(pipe);
	return answer;
}

struct lp_answer lp_solve(const char *text, enum lp_by by)
{
	char path[] = "/tmp/lxplore_XXXXXX.lp";
	int file = mkstemps(path, 3);
	FILE *stream = file >= 0 ? fdopen(file, "w") : NULL;
	if (!stream)
		return (struct lp_answer){0};
	fputs(text, stream);
	fclose(stream);
	struct lp_answer answer = by == LP_GLPK ? by_glpk(path) : by_cbc(path);
	unlink(path);
	return answer;
}

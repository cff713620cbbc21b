#include "base/arena.h"
#include "tests/support/shell.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/*
 * Cost of proofs, from the start of the program to its results: seconds of the clock and of the
 * processors, the most memory, and the counters of the search.  Nothing is executed. JOBS= threads
 * (default 2), COUNTING= timeloop or exact.
 */
static const struct row {
	const char *name;
	const char *specs;
	const char *layer; /* of scripts/layer, among the specs; NULL: none */
	const char *objectives;
} rows[] = {
	{"ResNet-50 3x3, row stationary",
		"specs/arch/eyeriss.yaml specs/constraints/row_stationary.yaml "
		"specs/problems/resnet50_3x3.yaml",
		NULL, "edp"},
	{"  its frontier",
		"specs/arch/eyeriss.yaml specs/constraints/row_stationary.yaml "
		"specs/problems/resnet50_3x3.yaml",
		NULL, "latency,energy"},
	{"  only residency fixed",
		"specs/arch/eyeriss.yaml specs/constraints/residency_only.yaml "
		"specs/problems/resnet50_3x3.yaml",
		NULL, "edp"},
	{"  its energy",
		"specs/arch/eyeriss.yaml specs/constraints/residency_only.yaml "
		"specs/problems/resnet50_3x3.yaml",
		NULL, "energy"},
	{"  its frontier",
		"specs/arch/eyeriss.yaml specs/constraints/residency_only.yaml "
		"specs/problems/resnet50_3x3.yaml",
		NULL, "latency,energy"},
	{"  all free", "specs/arch/eyeriss.yaml specs/problems/resnet50_3x3.yaml", NULL, "edp"},
	{"GEMM 4096x1024x4096 on Gemmini", "specs/arch/gemmini.yaml",
		"specs/layers/gemm_mapper_bench.csv ff_bertL_FF1", "edp"},
	{"GEMM 4096x1024x4096 on a TPU", "specs/arch/tpu.yaml",
		"specs/layers/gemm_mapper_bench.csv ff_bertL_FF1", "edp"},
	{"ResNet-50, row stationary",
		"specs/arch/eyeriss.yaml specs/constraints/row_stationary.yaml "
		"specs/workloads/resnet50.yaml",
		NULL, "edp"},
	{"  only residency fixed",
		"specs/arch/eyeriss.yaml specs/constraints/residency_only.yaml "
		"specs/workloads/resnet50.yaml",
		NULL, "edp"},
	{"VGG-16, only residency fixed",
		"specs/arch/eyeriss.yaml specs/constraints/residency_only.yaml "
		"specs/workloads/vgg16.yaml",
		NULL, "edp"},
	{"BERT-large, only residency fixed",
		"specs/arch/eyeriss.yaml specs/constraints/residency_only.yaml "
		"specs/workloads/bert_large_s512.yaml",
		NULL, "edp"},
	{"Llama 3 8B prefill, only residency fixed",
		"specs/arch/eyeriss.yaml specs/constraints/residency_only.yaml "
		"specs/workloads/llama3_8b_prefill2048.yaml",
		NULL, "edp"},
	{"Llama 3 8B prefill on Gemmini",
		"specs/arch/gemmini.yaml specs/workloads/llama3_8b_prefill2048.yaml", NULL, "edp"},
};

static const char *setting(const char *name, const char *by_default)
{
	const char *text = getenv(name);
	return text && *text ? text : by_default;
}

static double now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static double seconds(struct timeval time)
{
	return (double)time.tv_sec + 1e-6 * (double)time.tv_usec;
}

static json_int_t counter(const json_t *run, const char *name)
{
	return json_integer_value(json_object_get(json_object_get(run, "counters"), name));
}

static void measure(const struct row *row)
{
	struct arena *arena = arena_open();
	const char *folder = shell_folder(arena), *layer = "";
	if (row->layer) {
		layer = arena_format(arena, "%s/layer.yaml", folder);
		shell(arena, "scripts/layer %s > %s", row->layer, layer);
	}
	const char *command = arena_format(arena,
		"exec \"$LXPLORE\" explore %s %s -q --solver map=exact --simulate none "
		"--budget 1000000000 --counting %s --objective %s --jobs %s -o %s/out >%s/said 2>&1",
		row->specs, layer, setting("COUNTING", "timeloop"), row->objectives,
		setting("JOBS", "2"), folder, folder);
	double start = now();
	struct rusage used = {0};
	int status = 0;
	pid_t child = fork();
	if (child == 0) {
		execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		_exit(127);
	}
	wait4(child, &status, 0, &used);
	double wall = now() - start;
	json_error_t error;
	json_t *run = json_load_file(arena_format(arena, "%s/out/run.json", folder), 0, &error);
	if (!WIFEXITED(status) || WEXITSTATUS(status) || !run)
		printf("%-42s ended with status %d: %s\n", row->name, WEXITSTATUS(status), command);
	else
		printf("%-42s %7.2f %7.2f %6ld %7s %9" JSON_INTEGER_FORMAT " %9" JSON_INTEGER_FORMAT
		       " %11" JSON_INTEGER_FORMAT " %9" JSON_INTEGER_FORMAT "\n",
			row->name, wall, seconds(used.ru_utime) + seconds(used.ru_stime),
			used.ru_maxrss / 1024,
			json_is_true(json_object_get(run, "complete")) ? "yes" : "no",
			counter(run, "evaluated"), counter(run, "states"), counter(run, "edges"),
			counter(run, "labels"));
	fflush(stdout);
	json_decref(run);
	shell_remove(folder);
	arena_close(arena);
}

int main(void)
{
	setenv("LXPLORE", "build/release/lxplore", 0);
	printf("proofs of the best energy x latency, or of the frontier (%s counting, %s threads)\n",
		setting("COUNTING", "timeloop"), setting("JOBS", "2"));
	printf("%-42s %7s %7s %6s %7s %9s %9s %11s %9s\n", "", "wall s", "CPU s", "MiB", "proven",
		"evaluated", "states", "edges", "labels");
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		measure(&rows[i]);
	return 0;
}

/*
 * The documents keep their word.  What a page shows is run as it stands there, and the program
 * writes what the page says; examples of spec files are read without a complaint; links lead to
 * files and headings; the README is short and leads to every page.
 */
#include "base/arena.h"
#include "base/text.h"
#include "constraints/kind.h"
#include "tests/support/draws.h"
#include "tests/support/shell.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/test.h"

#define ARCH "specs/arch/spyre32.yaml"

enum { README_BYTES_MOST = 10000, FOLDER_PAGE_BYTES_MOST = 2000, FIRST_SENTENCE_MOST = 300 };

static const char *const pages[] = {
	"CHANGELOG.md",
	"CONTRIBUTING.md",
	"README.md",
	"results/README.md",
	"results/accuracy.md",
	"results/devices.md",
	"results/measured.md",
	"results/models.md",
	"results/planning.md",
	"solvers/README.md",
	"solvers/broadcast/README.md",
	"solvers/divide/README.md",
	"solvers/joint/README.md",
	"solvers/map/README.md",
	"solvers/menu/README.md",
	"solvers/place/README.md",
	"solvers/project/README.md",
	"solvers/scatter/README.md",
	"specs/README.md",
	"specs/attributes.md",
	"specs/broadcasts.md",
	"specs/campaigns.md",
	"specs/counting.md",
	"specs/glossary.md",
	"specs/graphs.md",
	"specs/measured/README.md",
	"specs/models.md",
	"specs/networks.md",
	"specs/placement.md",
	"specs/problems.md",
	"specs/proofs.md",
	"specs/replay.md",
	"specs/space_time.md",
	"specs/timeloop.md",
	"src/README.md",
	"tests/README.md",
	"tests/mutants.md",
};
enum { PAGES = sizeof pages / sizeof *pages };

/*
 * Actions on the blocks of a page, run in their order, in a folder of the page's own in which
 * `specs` is the real one.
 */
enum act {
	PUT,    /* into `file` */
	RUN,    /* as a shell script; it ends with `status` */
	SAYS,   /* the last run's standard output */
	TABLE,  /* a table of the page, not a block: the last run's standard output */
	WARNS,  /* its standard error */
	SHOWS,  /* a part of its standard output */
	QUIET,  /* no block: its standard error is empty */
	ENDS,   /* its standard error, up to the number of nodes, which is not a promise */
	WRITES, /* `file`, which the last run wrote */
	LISTS,  /* `file`, which comes with the project */
	DRAWS,  /* no block: `file` is the picture of the results folder `out` */
};

struct shown_block {
	const char *page;
	enum act act;
	const char *first; /* how its first line begins */
	const char *file;
	int status;
};

static const struct shown_block blocks[] = {
	{"README.md", RUN, "lxplore explore specs/arch/spyre32.yaml", NULL, 0},
	{"README.md", SHOWS, "point   latency", NULL, 0},
	{"README.md", DRAWS, NULL, "results/overview.svg", 0},
	{"README.md", PUT, "workload:", "my_workload.yaml", 0},
	{"README.md", RUN, "lxplore check specs/arch/spyre32.yaml my_workload", NULL, 2},
	{"README.md", WARNS, "my_workload.yaml:5:36: error", NULL, 0},

	{"results/README.md", RUN,
		"lxplore explore specs/arch/spyre32.yaml specs/workloads/softmax_dim1.yaml --budget 20 -o mine",
		NULL, 0},
	{"results/README.md", SHOWS, "point   latency", NULL, 0},
	{"results/README.md", RUN, "sed 's/address", NULL, 0},
	{"results/README.md", SAYS, "latency      18.806 us", NULL, 0},
	{"results/README.md", RUN, "lxplore diff", NULL, 0},
	{"results/README.md", SAYS, "A  mine", NULL, 0},
	{"results/README.md", RUN, "lxplore simulate", NULL, 0},
	{"results/README.md", SAYS, "latency      18.808 us (20689 cycles)", NULL, 0},

	{"specs/graphs.md", PUT, "workload:", "workload.yaml", 0},
	{"specs/graphs.md", RUN, "lxplore check specs/arch/spyre32.yaml", NULL, 0},
	{"specs/graphs.md", QUIET, NULL, NULL, 0},
	{"specs/graphs.md", RUN, "lxplore explore specs/arch/spyre32.yaml", NULL, 0},
	{"specs/attributes.md", RUN, "lxplore list attributes --markdown", NULL, 0},
	{"specs/attributes.md", TABLE, "| of | attribute", NULL, 0},

	{"specs/graphs.md", WRITES, "plan:", "out/plans/point-001.yaml", 0},
	{"specs/graphs.md", RUN, "lxplore score    specs/arch/spyre32.yaml", NULL, 0},
	{"specs/graphs.md", RUN,
		"lxplore score specs/arch/spyre32_published.yaml specs/workloads/softmax_4", NULL,
		0},
	{"specs/graphs.md", SHOWS, "sub     HBM", NULL, 0},
	{"specs/graphs.md", RUN,
		"lxplore score specs/arch/spyre32_published.yaml specs/workloads/pattern_", NULL,
		0},
	{"specs/graphs.md", SHOWS, "A       HBM", NULL, 0},

	{"specs/problems.md", PUT, "problem:", "problem.yaml", 0},
	{"specs/problems.md", RUN, "lxplore simulate specs/arch/three_level.yaml", NULL, 0},
	{"specs/problems.md", QUIET, NULL, NULL, 0},
	{"specs/problems.md", RUN, "lxplore explore specs/arch/three_level.yaml", NULL, 0},
	{"specs/problems.md", SAYS, "point  cycles     energy", NULL, 0},
	{"specs/problems.md", RUN, "lxplore score specs/arch/three_level.yaml", NULL, 0},
	{"specs/problems.md", SAYS, "latency      1.024", NULL, 0},
	{"specs/problems.md", RUN, "lxplore score --explain specs/arch/three_level.yaml", NULL, 0},
	{"specs/problems.md", SHOWS, "Z[M, N], written", NULL, 0},
	{"specs/problems.md", RUN, "echo 'mapping: \"GLB: N16", NULL, 0},
	{"specs/problems.md", WARNS, "start.yaml:1:10: warning", NULL, 0},
	{"specs/problems.md", RUN, "echo 'mapping: \"DRAM: N2", NULL, 1},
	{"specs/problems.md", SAYS, "A  out/plans", NULL, 0},
	{"specs/problems.md", RUN, "lxplore explore specs/arch/systolic.yaml", NULL, 0},
	{"specs/problems.md", RUN, "lxplore score specs/arch/systolic.yaml", NULL, 0},
	{"specs/problems.md", SHOWS, "projection   X = N", NULL, 0},

	{"specs/README.md", RUN, "P=\"specs/arch/three_level.yaml", NULL, 0},
	{"specs/README.md", SAYS, "point,latency_cycles", NULL, 0},

	{"specs/proofs.md", RUN, "for c in residency_only row_stationary; do", NULL, 0},
	{"specs/proofs.md", SAYS, "mappings        9.3757e+32", NULL, 0},
	{"specs/proofs.md", RUN, "E=\"specs/arch/eyeriss.yaml", NULL, 0},
	{"specs/proofs.md", WRITES, "certificate:", "out/certificate.yaml", 0},
	{"specs/proofs.md", SHOWS, "certificate  holds", NULL, 0},

	{"specs/space_time.md", RUN, "lxplore explore specs/space_time/matmul.yaml", NULL, 0},
	{"specs/space_time.md", SAYS, "point  cycles  PEs", NULL, 0},
	{"specs/space_time.md", PUT, "variables:", "conv.yaml", 0},
	{"specs/space_time.md", RUN, "lxplore simulate conv.yaml", NULL, 0},
	{"specs/space_time.md", RUN, "lxplore explore specs/space_time/array.yaml", NULL, 0},
	{"specs/space_time.md", SAYS,
		"point  cycles  PEs  registers  ports  wire     use  executed\n"
		"        1      25",
		NULL, 0},

	{"specs/placement.md", LISTS, "id,lower,upper,size,in_place_parents,weight,uses\n",
		"specs/buffers/attention.csv", 0},
	{"specs/placement.md", RUN, "lxplore place specs/buffers/attention.csv --minimize", NULL,
		0},
	{"specs/placement.md", ENDS, "10 buffers, peak", NULL, 0},
	{"specs/placement.md", RUN, "lxplore place specs/buffers/attention.csv --capacity 512KiB",
		NULL, 1},
	{"specs/placement.md", WARNS, "in steps [2, 3)", NULL, 0},
	{"specs/placement.md", RUN, "lxplore place specs/buffers/twisted.csv", NULL, 0},
	{"specs/placement.md", SHOWS, "the certificate holds", NULL, 0},
	{"specs/placement.md", RUN, "lxplore place specs/buffers/attention.csv --capacity 400KiB",
		NULL, 0},
	{"specs/placement.md", SAYS, "id,lower,upper,size,in_place_parents,weight,uses,offset",
		NULL, 0},
	{"specs/placement.md", ENDS, "8 of 10 buffers kept", NULL, 0},

	{"src/README.md", RUN, "lxplore explore specs/arch/spyre32.yaml", NULL, 0},
	{"src/README.md", SHOWS, "  - {op: amax", NULL, 0},
	{"src/README.md", RUN, "E=\"specs/arch/eyeriss.yaml", NULL, 0},
	{"src/README.md", SHOWS, "choices      192 of 192 decided", NULL, 0},

	{"specs/models.md", RUN, "lxplore import specs/models/attention.mlir", NULL, 0},
	{"specs/models.md", WARNS, "specs/models/attention.mlir: ", NULL, 0},
	{"specs/models.md", RUN, "lxplore check specs/arch/spyre32.yaml specs/models", NULL, 0},
	{"specs/networks.md", PUT, "network:", "network.yaml", 0},
	{"specs/networks.md", RUN, "lxplore check specs/arch/gemmini.yaml network.yaml", NULL, 0},
	{"specs/networks.md", QUIET, NULL, NULL, 0},
	{"specs/networks.md", SHOWS, "two_layers: 2 layers", NULL, 0},

	{"specs/campaigns.md", PUT, "sweep:", "sweep.yaml", 0},
	{"specs/campaigns.md", RUN, "lxplore campaign run sweep.yaml -o products", NULL, 0},
	{"specs/campaigns.md", SAYS, "products: 4 points", NULL, 0},
	{"specs/campaigns.md", RUN, "for i in 1 2 3", NULL, 0},
	{"specs/campaigns.md", SAYS, "4 points are equal", NULL, 0},

	{"specs/broadcasts.md", PUT, "broadcast:", "broadcast.yaml", 0},
	{"specs/broadcasts.md", RUN, "lxplore check specs/arch/a2a3.yaml broadcast.yaml", NULL, 0},
	{"specs/broadcasts.md", QUIET, NULL, NULL, 0},
	{"specs/broadcasts.md", SHOWS, "executed (data): as the model says", NULL, 0},
	{"specs/broadcasts.md", RUN, "lxplore check specs/arch/a2a3.yaml specs/broadcasts", NULL,
		0},
	{"specs/broadcasts.md", SAYS, "tbroadcast %group", NULL, 0},
};
enum { BLOCKS = sizeof blocks / sizeof *blocks };

static const char *read_page(struct arena *arena, const char *path)
{
	const char *text = text_of_file(arena, path);
	if (!text)
		fail_msg("no file '%s'", path);
	return text;
}

/* The indented block of a page that begins so, after an empty line: "workload:". */
static const char *find_block(struct arena *arena, const char *page, const char *first)
{
	struct text block = text_open(arena);
	const char *line = strstr(read_page(arena, page), arena_format(arena, "\n\n    %s", first));
	if (!line)
		fail_msg("no block '%s' in %s", first, page);
	for (line += 2; strncmp(line, "    ", 4) == 0 || strncmp(line, "\n    ", 5) == 0;
		line += strcspn(line, "\n") + 1) {
		size_t indent = *line == '\n' ? 0 : 4;
		text_bytes(&block, line + indent, strcspn(line, "\n") + 1 - indent);
	}
	return text_read(&block);
}

/* Puts a block into a file of the folder. */
static const char *put_block(struct arena *arena, const char *folder, const char *name,
	const char *page, const char *first)
{
	const char *path = arena_format(arena, "%s/%s", folder, name);
	FILE *file = fopen(path, "wb");
	assert_non_null(file);
	fputs(find_block(arena, page, first), file);
	assert_int_equal(fclose(file), 0);
	return path;
}

static struct ended run_block(
	struct arena *arena, const char *folder, const struct shown_block *block)
{
	put_block(arena, folder, "commands", block->page, block->first);
	struct ended ended = shell(arena, "cd '%s' && PATH=\"$PWD/bin:$PATH\" sh commands", folder);
	if (ended.status != block->status)
		fail_msg("%s: '%s' ends with %d:\n%s", block->page, block->first, ended.status,
			ended.err);
	return ended;
}

/* Without the line `program` of a certificate, whose version changes with each release. */
static const char *without_program(struct arena *arena, const char *text)
{
	const char *line = strstr(text, "\n  program: ");
	return line ? arena_format(
			      arena, "%.*s%s", (int)(line - text), text, strchr(line + 1, '\n'))
		    : text;
}

/* The page has the table that the run printed; ACCEPT=1 puts it there. */
static void check_table(
	struct arena *arena, const struct shown_block *block, const struct ended *ended)
{
	const char *page = read_page(arena, block->page);
	const char *begin = strstr(page, arena_format(arena, "\n\n%s", block->first));
	if (!begin)
		fail_msg("no table '%s' in %s", block->first, block->page);
	const char *end = begin += 2;
	while (*end == '|')
		end += strcspn(end, "\n") + 1;
	bool same = strncmp(begin, ended->out, (size_t)(end - begin)) == 0 &&
		    strlen(ended->out) == (size_t)(end - begin);
	if (!same && !getenv("ACCEPT"))
		fail_msg("%s is not what the program prints; ACCEPT=1 %s writes it", block->page,
			"build/release/tests/test_docs");
	if (same)
		return;
	FILE *file = fopen(block->page, "wb");
	assert_non_null(file);
	fprintf(file, "%.*s%s%s", (int)(begin - page), page, ended->out, end);
	assert_int_equal(fclose(file), 0);
}

/* Puts what a command says into the page, in place of what the block shows: ACCEPT=1. */
static void accept_block(struct arena *arena, const struct shown_block *block, const char *said)
{
	const char *page = read_page(arena, block->page);
	const char *begin = strstr(page, arena_format(arena, "\n\n    %s", block->first)) + 2;
	const char *end = begin;
	while (strncmp(end, "    ", 4) == 0 || strncmp(end, "\n    ", 5) == 0)
		end += strcspn(end, "\n") + 1;
	FILE *file = fopen(block->page, "wb");
	assert_non_null(file);
	fwrite(page, 1, (size_t)(begin - page), file);
	for (; *said; said += strcspn(said, "\n") + 1)
		fprintf(file, "%s%.*s\n", *said == '\n' ? "" : "    ", (int)strcspn(said, "\n"),
			said);
	fputs(end, file);
	assert_int_equal(fclose(file), 0);
}

static void check_block(struct arena *arena, const char *folder, const struct shown_block *block,
	const struct ended *ended)
{
	const char *shown = find_block(arena, block->page, block->first), *said = ended->out;
	bool right = true;
	if (block->act == SAYS)
		right = text_equal(said, shown);
	else if (block->act == SHOWS)
		right = strstr(said, shown) != NULL;
	else if (block->act == WARNS)
		right = text_equal(said = ended->err, shown);
	else if (block->act == ENDS)
		right = strncmp(said = ended->err, shown, strcspn(shown, ";")) == 0;
	else
		right = text_equal(said = without_program(
					   arena, read_page(arena, arena_format(arena, "%s/%s",
									   folder, block->file))),
			shown);
	if (!right && getenv("ACCEPT") && (block->act == SAYS || block->act == WRITES))
		accept_block(arena, block, said);
	else if (!right)
		fail_msg("%s shows\n%sinstead of\n%s", block->page, shown, said);
}

/* The picture is the one that scripts/figures makes of the results that the page's run wrote. */
static void check_picture(struct arena *arena, const char *folder, const char *file)
{
	struct ended drawn =
		shell(arena, "scripts/figures \"$(realpath \"$LXPLORE\")\" '%s/out'", folder);
	assert_int_equal(drawn.status, 0);
	if (!text_equal(drawn.out, read_page(arena, file)))
		fail_msg("%s is not the picture of the run; `make figures` draws it", file);
}

static void what_a_page_shows_is_what_happens(void **state)
{
	const char *page = *state;
	struct arena *arena = arena_open();
	const char *folder = shell_folder(arena);
	struct ended ended = shell(arena,
		"mkdir '%s/bin' && ln -s \"$(realpath \"$LXPLORE\")\" '%s/bin/lxplore' && "
		"ln -s \"$PWD/specs\" '%s/specs'",
		folder, folder, folder);
	assert_int_equal(ended.status, 0);
	for (const struct shown_block *block = blocks; block < blocks + BLOCKS; block++) {
		if (!text_equal(block->page, page))
			continue;
		if (block->act == PUT)
			put_block(arena, folder, block->file, page, block->first);
		else if (block->act == RUN)
			ended = run_block(arena, folder, block);
		else if (block->act == QUIET)
			assert_string_equal(ended.err, "");
		else if (block->act == TABLE)
			check_table(arena, block, &ended);
		else if (block->act == DRAWS)
			check_picture(arena, folder, block->file);
		else
			check_block(arena, folder, block, &ended);
	}
	shell_remove(folder);
	arena_close(arena);
}

static void examples_of_the_spec_manual_are_read(void **state)
{
	struct arena *arena = arena_open();
	const char *folder = shell_folder(arena);
	const char *manual = "specs/README.md";
	const char *arch = put_block(arena, folder, "arch.yaml", manual, "architecture:\n");
	const char *workload =
		put_block(arena, folder, "workload.yaml", "specs/graphs.md", "workload:\n");
	const char *search = put_block(arena, folder, "search.yaml", manual, "search:\n");
	struct ended ended = shell(arena, "\"$LXPLORE\" check '%s' '%s'", arch, workload);
	assert_string_equal(ended.err, "");
	assert_int_equal(ended.status, 0);
	ended = shell(arena, "\"$LXPLORE\" check %s '%s' '%s'", ARCH, workload, search);
	assert_string_equal(ended.err, "");
	assert_int_equal(ended.status, 0);
	const char *kept =
		put_block(arena, folder, "graph.yaml", manual, "constraints: # of a graph\n");
	ended = shell(arena, "\"$LXPLORE\" check %s '%s' '%s'", ARCH, workload, kept);
	assert_string_equal(ended.err, "");
	assert_int_equal(ended.status, 0);
	kept = put_block(arena, folder, "problem.yaml", manual, "constraints:\n");
	ended = shell(arena,
		"\"$LXPLORE\" check specs/arch/three_level.yaml specs/problems/gemm_16.yaml '%s'",
		kept);
	assert_string_equal(ended.err, "");
	assert_int_equal(ended.status, 0);
	shell_remove(folder);
	arena_close(arena);
}

static void every_kind_of_constraint_is_in_the_manual(void **state)
{
	struct arena *arena = arena_open();
	const char *manual = read_page(arena, "specs/README.md");
	for (int i = 0; constraint_kinds[i]; i++)
		if (!strstr(manual, arena_format(arena, "`%s`", constraint_kinds[i]->key)))
			fail_msg("specs/README.md does not tell of '%s'", constraint_kinds[i]->key);
	arena_close(arena);
}

/* The anchor of a heading, as GitHub makes it: letters and digits, blanks as hyphens. */
static bool is_anchor_of(const char *heading, const char *anchor, size_t length)
{
	size_t at = 0;
	for (; *heading && *heading != '\n'; heading++) {
		unsigned char c = (unsigned char)*heading;
		if (!isalnum(c) && c != ' ' && c != '-' && c != '_')
			continue;
		if (at == length || anchor[at++] != (c == ' ' ? '-' : tolower(c)))
			return false;
	}
	return at == length;
}

static bool has_anchor(const char *text, const char *anchor, size_t length)
{
	for (const char *line = text; (line = strstr(line, "\n#"));) {
		line += 1 + strspn(line + 1, "#");
		if (*line == ' ' && is_anchor_of(line + 1, anchor, length))
			return true;
	}
	return false;
}

/* "target" of "[text](target#anchor)", as it stands on the page. */
static void check_link(struct arena *arena, const char *page, const char *target, size_t length)
{
	int folder = strrchr(page, '/') ? (int)(strrchr(page, '/') + 1 - page) : 0;
	size_t path_length = strcspn(target, "#)");
	const char *path = arena_format(arena, "%.*s%.*s", folder, page, (int)path_length, target);
	if (!path_length)
		path = page;
	if (access(path, R_OK) != 0)
		fail_msg("%s links to '%s', which does not exist", page, path);
	if (path_length < length && !has_anchor(read_page(arena, path), target + path_length + 1,
					    length - path_length - 1))
		fail_msg(
			"%s links to '%.*s', which has no such heading", page, (int)length, target);
}

static void links_lead_to_files_and_headings(void **state)
{
	struct arena *arena = arena_open();
	size_t count = 0;
	for (int i = 0; i < PAGES; i++) {
		const char *at = read_page(arena, pages[i]);
		while ((at = strstr(at, "]("))) {
			at += 2;
			if (strncmp(at, "http", 4) == 0)
				continue;
			check_link(arena, pages[i], at, strcspn(at, ")\n"));
			count++;
		}
	}
	assert_true(count > 100);
	arena_close(arena);
}

/* Such as "specs/arch/tpu.yaml", unless the name goes on with a variable. */
static void check_names(struct arena *arena, const char *page, const char *folder)
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_/.-";
	const char *text = read_page(arena, page);
	for (const char *at = text; (at = strstr(at, folder)); at++) {
		size_t length = strspn(at, letters);
		if (at == text || strchr("/.", at[-1]) || strchr("$<*", at[length]))
			continue;
		while (at[length - 1] == '.')
			length--;
		const char *path = arena_format(arena, "%.*s", (int)length, at);
		if (!strstr(path, "NAME") && access(path, R_OK) != 0)
			fail_msg("%s names '%s', which does not exist", page, path);
	}
}

static void named_files_exist(void **state)
{
	static const char *const folders[] = {"specs/", "scripts/", "src/", "solvers/", "tests/"};
	struct arena *arena = arena_open();
	for (int i = 0; i < PAGES; i++)
		for (size_t k = 0; k < sizeof folders / sizeof *folders; k++)
			check_names(arena, pages[i], folders[k]);
	arena_close(arena);
}

static bool is_of_name(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* True if a line of the source, without indent, declares or defines `name`: "struct name {", "int name(". */
static bool declares(const char *source, const char *name)
{
	size_t length = strlen(name);
	for (const char *at = source; (at = strstr(at, name)); at++) {
		const char *line = at, *after = at + length;
		while (line > source && line[-1] != '\n')
			line--;
		if (line != at && !is_of_name(at[-1]) && isalpha((unsigned char)*line) &&
			(*after == '(' || *after == '[' || strncmp(after, " {", 2) == 0 ||
				strncmp(after, " =", 2) == 0))
			return true;
	}
	return false;
}

/* Links such as [`cost_plan`](cost/graph/cost.h) on a page; how many there are. */
static size_t check_declarations(struct arena *arena, const char *page)
{
	int folder = strrchr(page, '/') ? (int)(strrchr(page, '/') + 1 - page) : 0;
	size_t count = 0;
	for (const char *at = read_page(arena, page); (at = strstr(at, "[`")); at++) {
		size_t length = 0;
		while (is_of_name(at[2 + length]))
			length++;
		const char *target = at + 2 + length + 3;
		size_t end = strcspn(target, ")");
		if (strncmp(at + 2 + length, "`](", 3) != 0 || end < 2 || target[end - 2] != '.')
			continue;
		const char *name = arena_format(arena, "%.*s", (int)length, at + 2);
		const char *path = arena_format(arena, "%.*s%.*s", folder, page, (int)end, target);
		if (!declares(read_page(arena, path), name))
			fail_msg("%s: '%s' does not declare '%s'", page, path, name);
		count++;
	}
	return count;
}

static void linked_names_are_declared(void **state)
{
	struct arena *arena = arena_open();
	struct ended ended = shell(arena, "find src solvers -name README.md");
	char *list = arena_text(arena, ended.out), *rest = NULL;
	for (char *page = strtok_r(list, "\n", &rest); page; page = strtok_r(NULL, "\n", &rest))
		check_declarations(arena, page);
	assert_true(check_declarations(arena, "src/README.md") > 50);
	static const char source[] =
		"struct plan;\nstruct plan_cost {\n\tint cost(\nint cost_all(int);\n"
		" * cost(x)\nconst struct solver a_solver = {\n";
	assert_true(declares(source, "plan_cost"));
	assert_true(declares(source, "cost_all"));
	assert_true(declares(source, "a_solver"));
	assert_false(declares(source, "plan"));
	assert_false(declares(source, "cost"));
	arena_close(arena);
}

/* A title, and below it a sentence that says what the page is about. */
static void check_beginning(const char *page, const char *text)
{
	const char *sentence = strstr(text, "\n\n");
	if (strncmp(text, "# ", 2) != 0 || !sentence ||
		strcspn(text, "\n") != (size_t)(sentence - text))
		fail_msg("%s does not begin with a title", page);
	sentence += 2;
	size_t length = strcspn(sentence, ".:");
	if (!isupper((unsigned char)*sentence) && strncmp(sentence, "lxplore ", 8) != 0)
		fail_msg("%s does not begin with a sentence", page);
	for (const char *c = sentence; c < sentence + length; c++)
		if (c[0] == '\n' && c[1] == '\n')
			fail_msg("%s begins with a part of a sentence", page);
	assert_in_range(length, 20, FIRST_SENTENCE_MOST);
}

/* True if `page` links to `target`; both are paths from the root. */
static bool leads_to(struct arena *arena, const char *page, const char *target)
{
	int folder = strrchr(page, '/') ? (int)(strrchr(page, '/') + 1 - page) : 0;
	const char *name = strncmp(page, target, (size_t)folder) == 0
				   ? target + folder
				   : arena_format(arena, "../%s", target);
	const char *text = read_page(arena, page);
	return strstr(text, arena_format(arena, "](%s)", name)) ||
	       strstr(text, arena_format(arena, "](%s#", name));
}

/* At most two clicks from the README. */
static void every_page_has_a_beginning_and_is_near_the_readme(void **state)
{
	struct arena *arena = arena_open();
	for (int i = 0; i < PAGES; i++) {
		check_beginning(pages[i], read_page(arena, pages[i]));
		bool near =
			text_equal(pages[i], "README.md") || leads_to(arena, "README.md", pages[i]);
		for (int k = 0; !near && k < PAGES; k++)
			near = leads_to(arena, "README.md", pages[k]) &&
			       leads_to(arena, pages[k], pages[i]);
		if (!near)
			fail_msg("no page that README.md links to links to %s", pages[i]);
	}
	arena_close(arena);
}

static void every_page_is_in_the_table(void **state)
{
	struct arena *arena = arena_open();
	struct text listed = text_open(arena);
	for (int i = 0; i < PAGES; i++)
		text_add(&listed, "%s\n", pages[i]);
	struct ended ended = shell(arena,
		"{ ls *.md results/*.md src/*.md; find specs solvers tests -maxdepth 2 -name '*.md'; } | LC_ALL=C sort");
	assert_string_equal(ended.out, text_read(&listed));
	arena_close(arena);
}

static void the_readme_is_short(void **state)
{
	struct arena *arena = arena_open();
	assert_in_range(strlen(read_page(arena, "README.md")), 1, README_BYTES_MOST);
	arena_close(arena);
}

/* Pages of folders name the functions to read first and the invariants; test_transcripts runs their examples. */
static void pages_of_folders_are_short(void **state)
{
	static const char *const parts[] = {"\n## Read first\n", "\n## Invariants\n"};
	struct arena *arena = arena_open();
	struct ended ended = shell(arena, "ls src/*/README.md");
	char *list = arena_text(arena, ended.out), *rest = NULL;
	for (char *page = strtok_r(list, "\n", &rest); page; page = strtok_r(NULL, "\n", &rest)) {
		const char *text = read_page(arena, page);
		if (strlen(text) > FOLDER_PAGE_BYTES_MOST)
			fail_msg("%s has more than %d bytes", page, FOLDER_PAGE_BYTES_MOST);
		for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
			if (!strstr(text, parts[i]))
				fail_msg("%s has no part '%s'", page, parts[i]);
	}
	arena_close(arena);
}

/* Words of a page, with single blanks: lines may end anywhere in a sentence. */
static const char *in_one_line(struct arena *arena, const char *page)
{
	struct text words = text_open(arena);
	for (const char *c = read_page(arena, page); *c; c++)
		if (!isspace((unsigned char)*c) || !isspace((unsigned char)c[1]))
			text_bytes(&words, isspace((unsigned char)*c) ? " " : c, 1);
	return text_read(&words);
}

/*
 * Cell `column` of the row that begins with "| name |", the `number`th such row of the page.  Cells
 * are counted from 0, the name.
 */
static const char *cell_of(
	struct arena *arena, const char *page, const char *name, int number, int column)
{
	const char *row = read_page(arena, page), *begin = arena_format(arena, "\n| %s |", name);
	for (int i = 0; i <= number; i++)
		if (!(row = strstr(row + 1, begin)))
			fail_msg("no row '%s' in %s", name, page);
	row += 3;
	for (int i = 0; i < column; i++)
		row = strstr(row, "| ") + 2;
	return arena_format(arena, "%.*s", (int)(strstr(row, " |") - row), row);
}

static void expect_words(const char *text, const char *words)
{
	if (!strstr(text, words))
		fail_msg("README.md does not say '%s'", words);
}

static void the_readme_has_the_figures_of_its_sources(void **state)
{
	static const char accuracy[] = "results/accuracy.md", planning[] = "results/planning.md";
	static const char *const graphs[] = {
		"softmax_dim0", "softmax_dim1", "softmax_4mb", "mlp", "attention", "gpt2_block"};
	static const char *const worst[] = {"bmm_k_tiling", "bmm_wd", "bmm_wd_3d2d", "ctsum"};
	struct arena *arena = arena_open();
	const char *text = in_one_line(arena, "README.md");
	const char *all[8], *held[8];
	for (int i = 0; i < 8; i++) {
		all[i] = cell_of(arena, accuracy, "all", 0, i);
		held[i] = cell_of(arena, accuracy, "all", 1, i);
	}
	expect_words(text, arena_format(arena, "On %s [measured", all[1]));
	expect_words(text, arena_format(arena, "error of %s %% (bias %s %%, rank correlation %s)",
				   all[2], all[3], all[4]));
	expect_words(text, arena_format(arena, "measurements has %s %%.", all[5]));
	expect_words(
		text, arena_format(arena, "the fit it is %s %%, with %s %% for", held[2], held[5]));
	double least = 1e9, most = 0;
	for (size_t i = 0; i < sizeof worst / sizeof *worst; i++) {
		double error = atof(cell_of(arena, accuracy, worst[i], 0, 2));
		least = error < least ? error : least;
		most = error > most ? error : most;
	}
	expect_words(text, arena_format(arena, "with %.0f to %.0f %%", least, most));
	least = 1e9;
	most = 0;
	for (size_t i = 0; i < sizeof graphs / sizeof *graphs; i++) {
		double gain = atof(cell_of(arena, planning, graphs[i], 0, 6));
		least = gain < least ? gain : least;
		most = gain > most ? gain : most;
	}
	expect_words(text, arena_format(arena, "%.2f to %.2f times as fast", least, most));
	arena_close(arena);
}

/* The last cells of the table "Kinds of input": specs, or a whole command. */
/* Sections measured with an older version than this one, and sections never measured, are refused. */
static void measured_sections_are_of_this_version(void **state)
{
	struct arena *arena = arena_open();
	const char *page = read_page(arena, "results/measured.md");
	assert_null(strstr(page, "Not measured"));
	for (const char *section = page; (section = strstr(section, "\n## "));) {
		const char *next = strstr(++section, "\n## ");
		const char *said =
			strstr(section, "\n\nMeasured: lxplore " LXPLORE_VERSION ", commit ");
		if (!said || (next && said > next))
			fail_msg("results/measured.md: '%.*s' was not measured with version %s",
				(int)strcspn(section, "\n"), section, LXPLORE_VERSION);
	}
	static const char *const whole[] = {"results/devices.md", "results/models.md"};
	for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
		if (!strstr(read_page(arena, whole[i]), "lxplore " LXPLORE_VERSION))
			fail_msg("%s was not measured with version %s", whole[i], LXPLORE_VERSION);
	arena_close(arena);
}

static void inputs_that_the_readme_names_are_read(void **state)
{
	struct arena *arena = arena_open();
	const char *at = strstr(read_page(arena, "README.md"), "\n## Kinds of input\n");
	assert_non_null(at);
	int count = 0;
	for (const char *end = strstr(at + 4, "\n## "); (at = strstr(at, "| `")) && at < end;
		count++) {
		at += 3;
		const char *named = arena_format(arena, "%.*s", (int)strcspn(at, "`"), at);
		struct ended ended = strncmp(named, "lxplore ", 8) == 0
					     ? shell(arena, "\"$LXPLORE\" %s", named + 8)
					     : shell(arena, "\"$LXPLORE\" check %s", named);
		if (ended.status)
			fail_msg("README.md: %s:\n%s", named, ended.err);
	}
	assert_int_equal(count, 6);
	arena_close(arena);
}

static void misspelt_pages_are_refused(void **state)
{
	struct arena *arena = arena_open();
	if (shell(arena, "command -v aspell").status)
		skip();
	const char *folder = shell_folder(arena);
	struct ended ended = shell(arena,
		"cd '%s' && printf 'The frontier is `teh` frontier.\n\n    teh code\n' >good.md && "
		"printf 'Teh frontier\nfrontier is an bound.\n' >bad.md",
		folder);
	assert_int_equal(ended.status, 0);
	ended = shell(arena, "scripts/spelling '%s/good.md'", folder);
	assert_int_equal(ended.status, 0);
	ended = shell(arena, "scripts/spelling '%s/bad.md'", folder);
	assert_int_equal(ended.status, 1);
	assert_string_equal(ended.out,
		arena_format(arena,
			"%s/bad.md:1: 'frontier' stands twice\n%s/bad.md:2: article: an bound\n"
			"%s/bad.md:1: unknown word: Teh\n",
			folder, folder, folder));
	shell_remove(folder);
	arena_close(arena);
}

/* One test for each page that shows something, then those of all pages. */
int main(void)
{
	static const struct CMUnitTest others[] = {
		cmocka_unit_test(examples_of_the_spec_manual_are_read),
		cmocka_unit_test(every_kind_of_constraint_is_in_the_manual),
		cmocka_unit_test(links_lead_to_files_and_headings),
		cmocka_unit_test(named_files_exist),
		cmocka_unit_test(linked_names_are_declared),
		cmocka_unit_test(every_page_has_a_beginning_and_is_near_the_readme),
		cmocka_unit_test(every_page_is_in_the_table),
		cmocka_unit_test(the_readme_is_short),
		cmocka_unit_test(pages_of_folders_are_short),
		cmocka_unit_test(the_readme_has_the_figures_of_its_sources),
		cmocka_unit_test(measured_sections_are_of_this_version),
		cmocka_unit_test(inputs_that_the_readme_names_are_read),
		cmocka_unit_test(misspelt_pages_are_refused),
	};
	enum { OTHERS = sizeof others / sizeof *others };
	struct CMUnitTest tests[OTHERS + PAGES];
	size_t count = 0;
	for (long i = 0; i < PAGES && !draws_skip_searches(); i += draws_apart(1)) {
		bool shows = false;
		for (int s = 0; s < BLOCKS; s++)
			shows |= text_equal(blocks[s].page, pages[i]);
		if (shows)
			tests[count++] = (struct CMUnitTest){.name = pages[i],
				.test_func = what_a_page_shows_is_what_happens,
				.initial_state = (void *)(uintptr_t)pages[i]};
	}
	for (int i = 0; i < OTHERS; i++)
		tests[count++] = others[i];
	return run_table("docs", tests, count);
}

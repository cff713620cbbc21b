#include "base/arena.h"
#include "base/text.h"
#include "model/graph/plan_file.h"
#include "search/graph/plans.h"
#include "search/joint/joint_plan.h"
#include "spec/sheet.h"
#include "tests/support/adversary_case.h"
#include "tests/support/draws.h"
#include "tests/support/folder.h"
#include "tests/support/mutated_pieces.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/test.h"

/*
 * Corrupted claims.  Certificates of all kinds that the program reads back are written by it for random inputs: plans of
 * graphs, mappings of problems and of layers of networks, buffers that do not fit.  One thing is changed at random: a
 * number, a word, a line or an entry.  The program must reject the claim, unless it is still true by rules written
 * here: they solve the changed question again, and score what the claim shows.  True ones are counted apart by the
 * reason: a weaker claim, one of another space that holds, another answer that is as good, or words that claim nothing.
 *
 * N is the number of corruptions.  KEEP=DIR keeps an accepted claim that is false, and SHOW=1 prints
 * the true ones.
 */
enum {
	CORRUPTIONS = 200,
	OF_EACH = 12,
	OPS_MOST = 3, /* each claim is checked as often as it is changed */
	LABELS = 20000,
	WORDS_MOST = 4096,
};

enum form { FORM_PLAN, FORM_PROBLEM, FORM_NETWORK, FORM_UNFIT, FORMS };
static const char *const form_names[] = {"plans", "problems", "layers", "buffers"};

/* The part of a certificate that is changed; the last three are of plans alone. */
enum kind { OF_NUMBER, OF_WORD, OF_PIECE, OF_HEAD, OF_CORES, OF_LIMITS, OF_METHOD, KINDS };
static const char *const kind_names[] = {"a number", "a word", "a line or entry",
	"the head of the proof", "one limit of cores", "both limits of cores", "the method"};

enum truth { TRUTH_FALSE, TRUTH_WEAKER, TRUTH_OTHER, TRUTH_AS_GOOD, TRUTH_WORDS, TRUTHS };

struct base {
	enum form form;
	const char *specs, *text;
	const char *path; /* of the certificate in a results folder */
	struct adversary_case of;
	const struct plan *plan;
	const char *why; /* the last claim that was looked at is false */
};

struct tally {
	long bases[FORMS], corrupted[FORMS], rejected[FORMS], undecided, same;
	long accepted[TRUTHS], of_kind[KINDS], of_kind_rejected[KINDS], of_kind_true[KINDS];
};

/* --- certificates that hold */

static bool open_plan(struct random *random, struct base *base)
{
	struct text text = text_open(arena);
	while (!adversary_draw(random, &base->of, arena) || base->of.workload->op_count > OPS_MOST)
		;
	struct adversary_claim claim = adversary_ask(&base->of, LABELS, arena);
	if (!claim.proven || !claim.plan)
		return false;
	const char *why;
	struct plan *plan = arena_copy(arena, claim.plan, sizeof *plan);
	double unit = plans_unit(&base->of.aim);
	double worth = adversary_worth(&base->of, plan, &why, arena);
	plan->proof.status = PROOF_OPTIMAL;
	plan->proof.method = "joint/cut_dp";
	plan->proof.value = plan->proof.bound = claim.bound / unit;
	if (why || worth > claim.bound + 0.5 + 16 * (double)base->of.aim.energy)
		return false;
	base->plan = plan;
	base->specs = arena_format(arena, "%s %s", folder_put("arch.yaml", base->of.arch_yaml),
		folder_put("workload.yaml", base->of.workload_yaml));
	plan_write(plan, &text);
	base->text = text_read(&text);
	return true;
}

static const char machine[] =
	"architecture:\n  version: 0.4\n  nodes:\n"
	"  - !Container\n    name: system\n    attributes: {datawidth: 16, global_cycle_seconds: 1e-9}\n"
	"  - !Component\n    name: DRAM\n    class: DRAM\n    attributes: {width: 64}\n"
	"  - !Component\n    name: GLB\n    class: SRAM\n    attributes: {sizeKB: 1, width: 64}\n"
	"  - !Container\n    name: PE\n    spatial: {meshX: %d}\n"
	"  - !Component\n    name: RF\n    class: regfile\n    attributes: {depth: %d}\n"
	"  - !Component\n    name: MAC\n    class: intmac\n";

static const char product[] =
	"{dimensions: [M, N, K], data_spaces: [\n"
	"      {name: A, projection: [[[M]], [[K]]]}, {name: B, projection: [[[K]], [[N]]]},\n"
	"      {name: Z, projection: [[[M]], [[N]]], read_write: true}]}\n";

static const char *draw_instance(struct random *random)
{
	static const int sizes[] = {2, 3, 4, 6, 8};
	return arena_format(arena, "{M: %d, N: %d, K: %d}", sizes[draw_below(random, 5)],
		sizes[draw_below(random, 5)], sizes[draw_below(random, 5)]);
}

static struct ended explore(const struct base *base, const char *words)
{
	return shell(arena,
		"$LXPLORE explore %s %s --solver map=exact --simulate none --force -q -j 1 -o %s/out",
		base->specs, words, folder);
}

static bool open_mapping(struct random *random, struct base *base)
{
	static const char *const objectives[] = {
		"edp", "energy", "latency", "latency,energy", "accesses:GLB"};
	bool network = base->form == FORM_NETWORK;
	const char *text =
		network ? arena_format(arena,
				  "network:\n  name: pair\n  shapes:\n    gemm: %s  layers:\n"
				  "  - {name: wide, shape: gemm, instance: %s}\n"
				  "  - {name: tall, shape: gemm, instance: {M: 4, N: 5, K: 12}}\n",
				  product, draw_instance(random))
			: arena_format(arena, "problem:\n  shape: %s  instance: %s\n", product,
				  draw_instance(random));
	base->specs = arena_format(arena, "%s %s",
		folder_put("machine.yaml", arena_format(arena, machine, 1 << draw_below(random, 3),
						   12 << draw_below(random, 3))),
		folder_put("what.yaml", text));
	base->path = network ? "out/layers/wide.certificate.yaml" : "out/certificate.yaml";
	const char *objective = objectives[draw_below(random, network ? 3 : 5)];
	const char *counting = draw_chance(random, 2) ? "exact" : "timeloop", *budget = "";
	if (!network && draw_chance(random, 2)) /* of bounds */
		budget = arena_format(arena, " --budget %d", 1 + (int)draw_below(random, 24));
	struct ended ended = explore(base,
		arena_format(arena, "--objective %s --counting %s%s", objective, counting, budget));
	if (ended.status || !folder_has(base->path))
		return false;
	/* Equal draws give equal texts, wherever the files lie. */
	const char *at, *text_found = folder_text(base->path);
	while ((at = strstr(text_found, folder)))
		text_found = arena_format(arena, "%.*swhere%s", (int)(at - text_found), text_found,
			at + strlen(folder));
	base->text = text_found;
	return true;
}

enum { BUFFERS = 7 };

static struct ended place(const char *table, int64_t capacity, const char *words)
{
	return shell(arena, "$LXPLORE place %s --capacity %" PRId64 " -q %s",
		run_folder_path(table), capacity, words);
}

static bool open_unfit(struct random *random, struct base *base)
{
	struct text text = text_open(arena);
	text_add(&text, "id,lower,upper,size\n");
	for (int i = 0; i < BUFFERS; i++) {
		int from = (int)draw_below(random, 6);
		text_add(&text, "%c,%d,%d,%d\n", 'a' + i, from,
			from + 1 + (int)draw_below(random, 5), 1 + (int)draw_below(random, 4));
	}
	folder_put("b.csv", text_read(&text));
	const char *proof = run_folder_path("proof.yaml");
	for (int capacity = 12; capacity > 2; capacity--)
		if (place("b.csv", capacity, arena_format(arena, "--certificate %s", proof))
					.status == 1 &&
			folder_has("proof.yaml")) {
			base->specs = arena_format(arena, "%d", capacity);
			base->text = folder_text("proof.yaml");
			return true;
		}
	return false;
}

static void open_base(struct random *random, long number, struct base *base)
{
	static const enum form forms[] = {
		FORM_PLAN, FORM_PROBLEM, FORM_PLAN, FORM_UNFIT, FORM_PLAN, FORM_NETWORK};
	*base = (struct base){.form = forms[number % 6]};
	while (!(base->form == FORM_PLAN    ? open_plan(random, base)
		 : base->form == FORM_UNFIT ? open_unfit(random, base)
					    : open_mapping(random, base)))
		;
}

static struct ended check(const struct base *base, const char *name)
{
	if (base->form == FORM_UNFIT)
		return place("b.csv", atoi(base->specs),
			arena_format(arena, "--check-certificate %s", run_folder_path(name)));
	return shell(arena, "$LXPLORE check %s --certificate %s --budget 20000", base->specs,
		run_folder_path(name));
}

/* --- corruptions */

static const char *splice(const char *text, size_t from, size_t to, const char *with)
{
	return arena_format(arena, "%.*s%s%s", (int)from, text, with, text + to);
}

/* The digits that end at `to`, as another number. */
static const char *other_number(struct random *random, const char *text, size_t from, size_t to)
{
	char digits[20];
	if (to - from >= 18) { /* one digit */
		size_t at = from + (size_t)draw_below(random, (int64_t)(to - from));
		char digit[] = {(char)('0' + (text[at] - '0' + 1 + draw_below(random, 9)) % 10), 0};
		return splice(text, at, at + 1, digit);
	}
	memcpy(digits, text + from, to - from);
	digits[to - from] = 0;
	int64_t value = strtoll(digits, NULL, 10);
	int64_t others[] = {
		value + 1, value - 1, 2 * value, value / 2, 0, 10 * value, draw_below(random, 40)};
	int64_t other = others[draw_below(random, 7)];
	if (other == value || other < 0)
		other = value + 1;
	return splice(text, from, to, arena_format(arena, "%" PRId64, other));
}

static const char *corrupt_number(struct random *random, const char *text)
{
	size_t starts[WORDS_MOST], count = 0;
	for (size_t i = 0; text[i] && count < WORDS_MOST; i++)
		if (isdigit((unsigned char)text[i]) && (!i || !isdigit((unsigned char)text[i - 1])))
			starts[count++] = i;
	size_t from = starts[draw_below(random, (int64_t)count)], to = from;
	while (isdigit((unsigned char)text[to]))
		to++;
	return other_number(random, text, from, to);
}

/* A word becomes another one that stands somewhere in a claim. */
static const char *corrupt_word(struct random *random, const char *text)
{
	static const char *const others[] = {"optimal", "bound", "none", "estimate", "price",
		"published", "nothing", "relay", "evict", "reload", "clone", "early_moves",
		"shared_views", "both_places", "other_moves", "joint/ilp", "joint/dimflip",
		"place/exact", "cycles", "energy", "hbm_bytes", "latency", "edp", "exact",
		"timeloop", "HBM", "LX", "undivided", "tall"};
	enum { OTHERS = sizeof others / sizeof *others };
	struct piece_word *words = arena_array(arena, struct piece_word, PIECES_MOST);
	size_t count = find_words(text, words);
	struct piece_word word = words[draw_below(random, (int64_t)count)];
	struct piece_word from = words[draw_below(random, (int64_t)count)];
	const char *with =
		draw_chance(random, 2)
			? others[draw_below(random, OTHERS)]
			: arena_format(arena, "%.*s", (int)(from.to - from.from), text + from.from);
	return splice(text, word.from, word.to, with);
}

/* A line or an entry is taken away, or stands twice. */
static const char *corrupt_piece(struct random *random, const char *text)
{
	struct piece *pieces = arena_array(arena, struct piece, PIECES_MOST);
	size_t count = find_pieces(text, pieces);
	struct piece piece = pieces[draw_below(random, (int64_t)count)];
	if (piece.from == 0 || draw_chance(random, 2))
		return splice(text, piece.from, piece.to + (text[piece.to] == ','), "");
	return splice(text, piece.from, piece.from,
		arena_format(arena, "%.*s%s", (int)(piece.to - piece.from), text + piece.from,
			piece.indent < 0 ? "," : ""));
}

/* Corrupts the head of a proof, which states most of the claims. */
static const char *corrupt_head(struct random *random, const struct base *base)
{
	const char *at = strstr(base->text, base->form == FORM_PLAN ? "  proof:" : "  counting:");
	if (!at)
		return corrupt_number(random, base->text);
	const char *head =
		draw_chance(random, 2) ? corrupt_number(random, at) : corrupt_word(random, at);
	return arena_format(arena, "%.*s%s", (int)(at - base->text), base->text, head);
}

/* Puts another number behind the first place of some words. */
static const char *replace_behind(const char *text, const char *words, int64_t number)
{
	size_t from = (size_t)(strstr(text, words) - text) + strlen(words), to = from;
	while (isdigit((unsigned char)text[to]))
		to++;
	return splice(text, from, to, arena_format(arena, "%" PRId64, number));
}

/* The limit of cores that a proof names, or that of the plan, or both alike. */
static const char *corrupt_cores(
	struct random *random, const struct base *base, const char *text, bool both)
{
	static const char *const places[] = {"at most ", "\n  cores: "};
	int64_t cores = base->plan->cores, other = 1 + draw_below(random, cores);
	other = other == cores ? 2 * cores : other;
	if (!both)
		return replace_behind(text, places[draw_below(random, 2)], other);
	return replace_behind(replace_behind(text, places[0], other), places[1], other);
}

static const char *corrupt_method(struct random *random, const char *text)
{
	static const char *const others[] = {"joint/dimflip", "joint/cut", "place/exact",
		"divide/exhaustive", "map/exact", "joint/cut_dp2", "cut_dp", "none", "joint/"};
	size_t from = (size_t)(strstr(text, "method: ") - text) + strlen("method: "), to = from;
	while (text[to] != ',')
		to++;
	return splice(text, from, to, others[draw_below(random, sizeof others / sizeof *others)]);
}

static const char *corrupt(struct random *random, const struct base *base, enum kind *kind)
{
	static const enum kind kinds[] = {OF_NUMBER, OF_NUMBER, OF_WORD, OF_PIECE, OF_HEAD, OF_HEAD,
		OF_CORES, OF_LIMITS, OF_METHOD};
	*kind = kinds[draw_below(random, base->form == FORM_PLAN ? 9 : 6)];
	switch (*kind) {
	case OF_NUMBER:
		return corrupt_number(random, base->text);
	case OF_WORD:
		return corrupt_word(random, base->text);
	case OF_PIECE:
		return corrupt_piece(random, base->text);
	case OF_CORES:
	case OF_LIMITS:
		return corrupt_cores(random, base, base->text, *kind == OF_LIMITS);
	case OF_METHOD:
		return corrupt_method(random, base->text);
	default:
		return corrupt_head(random, base);
	}
}

/* --- what is true, by rules of the test */

static enum truth is_false(struct base *base, const char *why)
{
	base->why = why;
	return TRUTH_FALSE;
}

static const struct plan *read_plan(const struct base *base, const char *name)
{
	struct diag *diag = diag_open(arena);
	struct sheet *sheet = sheet_open(arena, diag);
	const struct node *root = node_read_file(arena, run_folder_path(name), diag);
	if (!root)
		return NULL;
	sheet_add(sheet, root);
	struct reading reading = sheet_reading(sheet);
	return plan_read(&reading, sheet_find(sheet, "plan"), base->of.arch, base->of.workload);
}

static const char *text_of(const struct plan *plan, bool proof)
{
	struct text text = text_open(arena);
	struct plan copy = *plan;
	if (!proof)
		copy.proof = (struct proof){0};
	plan_write(&copy, &text);
	return text_read(&text);
}

static bool is_no_wider(const struct joint_aim *aim, const struct planning *planning,
	const struct joint_aim *of, const struct planning *of_planning)
{
	return aim->cycles == of->cycles && aim->energy == of->energy &&
	       aim->hbm_bytes == of->hbm_bytes && planning->price == of_planning->price &&
	       planning->published_tiles == of_planning->published_tiles &&
	       planning->cores <= of_planning->cores && !(of->fixed & ~aim->fixed);
}

/* True if no plan of another space is below a bound: what a solver proves of it. */
static bool holds_elsewhere(const struct adversary_case *other, double bound)
{
	struct joint_aim aim;
	struct planning planning;
	const char *why;
	struct adversary_claim claim = adversary_ask(other, LABELS, arena);
	return claim.proven && claim.plan &&
	       joint_claim_read(arena, claim.plan->proof.space, &aim, &planning, &why) &&
	       aim.fixed == other->aim.fixed && claim.bound >= bound - 0.5;
}

static enum truth judge_plan(struct base *base, const char *name)
{
	const struct plan *plan = read_plan(base, name);
	struct adversary_case other = base->of;
	struct joint_aim aim;
	struct planning planning = base->of.planning;
	const char *why;
	if (!plan || !plan->proof.space)
		return is_false(base, "it does not read");
	const struct proof *proof = &plan->proof, *first = &base->plan->proof;
	if (!joint_claim_read(arena, proof->space, &other.aim, &other.planning, &why) ||
		!joint_claim_read(arena, first->space, &aim, &planning, &why))
		return is_false(base, why);
	double unit = plans_unit(&other.aim), worth = adversary_worth(&other, plan, &why, arena);
	double off = other.aim.energy ? 64 * (double)other.aim.energy + 1e-12 * worth : 0;
	if (why || fabs(worth - proof->value * unit) > off)
		return is_false(base, why ? why : "its value is not the plan's");
	if (other.planning.cores != plan->cores)
		return is_false(base, "the plan is of another limit of cores");
	if (other.planning.lx_capacity != base->of.planning.lx_capacity)
		return is_false(base, "it is of another room");
	if (strcmp(proof->method, "joint/cut_dp") != 0 && strcmp(proof->method, "joint/ilp") != 0)
		return is_false(base, "its method proves nothing");
	if (proof->bound > proof->value || proof->status == PROOF_NONE ||
		(proof->status == PROOF_OPTIMAL && proof->bound != proof->value))
		return is_false(base, "status, value and bound do not agree");
	if (~other.aim.fixed & KIND_NEVER_FREE)
		return is_false(base, "no space has a kind that it calls free");
	bool same_plan = strcmp(text_of(plan, false), text_of(base->plan, false)) == 0;
	if (is_no_wider(&other.aim, &other.planning, &aim, &planning)) {
		if (proof->bound > first->bound)
			return is_false(base, "its bound is too high");
		return !same_plan                                                    ? TRUTH_AS_GOOD
		       : strcmp(text_of(plan, true), text_of(base->plan, true)) == 0 ? TRUTH_WORDS
										     : TRUTH_WEAKER;
	}
	return holds_elsewhere(&other, proof->bound * unit)
		       ? TRUTH_OTHER
		       : is_false(base, "a solver does not prove it of this space");
}

static const char *entry(const struct node *map, const char *key)
{
	const struct node *node = map ? node_find(map, key) : NULL;
	return node && node->kind == NODE_SCALAR ? node->text : "";
}

static double number(const struct node *map, const char *key)
{
	return strtod(entry(map, key), NULL);
}

static const struct node *read_certificate(const char *name)
{
	const struct node *root = node_read_file(arena, run_folder_path(name), diag_open(arena));
	return root ? node_find(root, "certificate") : NULL;
}

static const struct node *point_of(const struct node *certificate, size_t i)
{
	const struct node *points = node_find(certificate, "points");
	return points && i < points->count ? points->items[i] : NULL;
}

static double value_of(const struct node *point, size_t k)
{
	const struct node *values = node_find(point, "values");
	return values && k < values->count ? strtod(values->items[k]->text, NULL) : NAN;
}

static bool has_sources(const struct node *in, const struct node *from)
{
	const struct node *a = node_find(in, "specs"), *b = node_find(from, "specs");
	for (size_t i = 0; b && i < b->count; i++) {
		bool found = false;
		for (size_t k = 0; a && k < a->count; k++)
			found |= !strcmp(entry(a->items[k], "fnv1a"), entry(b->items[i], "fnv1a"));
		if (!found)
			return false;
	}
	return true;
}

/* True if a point's mapping has the counts that are said, by `score`. */
static bool is_scored(const struct base *base, const struct node *point)
{
	if (base->form == FORM_NETWORK)
		return false;
	folder_put("point.yaml", arena_format(arena, "mapping: \"%s\"\n", entry(point, "mapping")));
	const struct node *certificate = read_certificate("changed.yaml");
	struct ended ended = shell(arena, "$LXPLORE score %s %s --counting %s --format json",
		base->specs, run_folder_path("point.yaml"), entry(certificate, "counting"));
	return ended.status == 0 &&
	       strstr(ended.out,
		       arena_format(arena, "\"energy_pj\": %s", entry(point, "energy_pj"))) &&
	       strstr(ended.out, arena_format(arena, "\"cycles\": %s", entry(point, "cycles")));
}

/* Every point is one of the right certificate's by its values, and shows a mapping that has them. */
static bool are_points_right(
	const struct base *base, const struct node *certificate, const struct node *right)
{
	size_t objectives = node_find(certificate, "objectives")->count;
	const struct node *point, *other;
	for (size_t i = 0; (point = point_of(certificate, i)); i++) {
		bool found = false, shown = false;
		for (size_t k = 0; (other = point_of(right, k)); k++) {
			bool equal = true;
			for (size_t o = 0; o < objectives; o++)
				equal &= fabs(value_of(point, o) - value_of(other, o)) <=
					 1e-9 * value_of(other, o);
			found |= equal;
			shown |= !strcmp(entry(point, "mapping"), entry(other, "mapping")) &&
				 number(point, "cycles") == number(other, "cycles") &&
				 number(point, "energy_pj") == number(other, "energy_pj");
		}
		if (!found || !(shown || is_scored(base, point)))
			return false;
	}
	return true;
}

/* The best mappings by the objectives and the counting of a certificate. */
static const struct node *solve_again(const struct base *base, const struct node *certificate)
{
	const struct node *objectives = node_find(certificate, "objectives");
	struct text list = text_open(arena);
	for (size_t i = 0; i < objectives->count; i++)
		text_add(&list, "%s%s", i ? "," : "", objectives->items[i]->text);
	struct ended ended =
		explore(base, arena_format(arena, "--objective %s --counting %s", text_read(&list),
				      entry(certificate, "counting")));
	return ended.status ? NULL : read_certificate(base->path);
}

static enum truth judge_mapping(struct base *base, const char *name)
{
	const struct node *certificate = read_certificate(name);
	folder_put("first.yaml", base->text);
	const struct node *first = read_certificate("first.yaml");
	const struct node *right = certificate ? solve_again(base, certificate) : NULL;
	if (!right)
		return is_false(base, "the question cannot be solved again");
	if (!has_sources(certificate, first) || !has_sources(first, certificate))
		return is_false(base, "it is of other files");
	if (strcmp(entry(certificate, "layer"), entry(first, "layer")) != 0)
		return is_false(base, "it is of another layer");
	double epsilon = number(certificate, "epsilon");
	bool bound = !strcmp(entry(certificate, "claim"), "bound");
	if (bound) {
		double value = value_of(point_of(certificate, 0), 0);
		double least = value_of(point_of(right, 0), 0) * (1 + epsilon) * (1 + 1e-12);
		double claimed = number(certificate, "bound");
		if (claimed > least || claimed > value || point_of(certificate, 1) ||
			number(certificate, "gap") != value - claimed)
			return is_false(base, "bound and gap are not right");
		const struct node *point = point_of(certificate, 0), *was = point_of(first, 0);
		if (strcmp(entry(point, "mapping"), entry(was, "mapping")) != 0 &&
			!is_scored(base, point))
			return is_false(base, "its point is not what the mapping has");
		return TRUTH_WEAKER;
	}
	if (!are_points_right(base, certificate, right))
		return is_false(base, "its points are not the best mappings");
	size_t count = 0, wanted = 0;
	while (point_of(certificate, count))
		count++;
	while (point_of(right, wanted))
		wanted++;
	if (count != wanted)
		return is_false(base, "it has not all of the best mappings");
	if (strcmp(entry(certificate, "epsilon"), entry(first, "epsilon")) != 0)
		return TRUTH_WEAKER; /* or stronger by less than sums are rounded */
	for (size_t i = 0; i < count; i++)
		if (strcmp(entry(point_of(certificate, i), "mapping"),
			    entry(point_of(first, i), "mapping")) != 0)
			return TRUTH_AS_GOOD;
	const struct node *a = node_find(certificate, "objectives");
	const struct node *b = node_find(first, "objectives");
	bool same = a->count == b->count;
	for (size_t i = 0; same && i < a->count; i++)
		same &= !strcmp(a->items[i]->text, b->items[i]->text);
	return same && !strcmp(entry(certificate, "counting"), entry(first, "counting"))
		       ? TRUTH_WORDS
		       : TRUTH_OTHER;
}

/* That the buffers which are listed have no places, found out by the packer. */
static enum truth judge_unfit(struct base *base, const char *name)
{
	const struct node *certificate = read_certificate(name);
	const struct node *list = certificate ? node_find(certificate, "buffers") : NULL;
	struct text table = text_open(arena);
	const char *all = folder_text("b.csv");
	int64_t capacity = certificate ? atoll(entry(certificate, "capacity")) : 0;
	if (!list || capacity < atoi(base->specs))
		return is_false(base, "it is about less room");
	text_add(&table, "id,lower,upper,size\n");
	for (size_t i = 0; i < list->count; i++) {
		const struct node *buffer = list->items[i];
		const char *line = arena_format(arena, "%s,%s,%s,%s\n", entry(buffer, "id"),
			entry(buffer, "lower"), entry(buffer, "upper"), entry(buffer, "size"));
		if (!strstr(all, arena_format(arena, "\n%s", line)))
			return is_false(base, "it lists a buffer that is not in the table");
		text_add(&table, "%s", line);
	}
	folder_put("some.csv", text_read(&table));
	return place("some.csv", capacity, "").status == 1
		       ? TRUTH_OTHER
		       : is_false(base, "the buffers have places");
}

static enum truth judge(struct base *base, const char *name)
{
	return base->form == FORM_PLAN    ? judge_plan(base, name)
	       : base->form == FORM_UNFIT ? judge_unfit(base, name)
					  : judge_mapping(base, name);
}

/* --- the test */

static void refuse(const struct base *base, const char *text, uint64_t seed, long number,
	const struct ended *ended)
{
	const char *keep = getenv("KEEP");
	if (keep)
		shell(arena, "mkdir -p '%s' && cp -r %s/. '%s'", keep, folder, keep);
	print_message("as it holds:\n%sas it is accepted:\n%s%s", base->text, text, ended->out);
	fail_msg("SEED=%" PRIu64 ", certificate %ld of %s: a false claim is accepted: %s", seed,
		number, form_names[base->form], base->why);
}

static void attack(struct random *random, struct base *base, uint64_t seed, long number, long count,
	struct tally *tally)
{
	for (long i = 0; i < count; i++) {
		enum kind kind;
		const char *text = corrupt(random, base, &kind);
		if (strcmp(text, base->text) == 0) {
			tally->same++;
			continue;
		}
		folder_put("changed.yaml", text);
		struct ended ended = check(base, "changed.yaml");
		tally->corrupted[base->form]++;
		tally->of_kind[kind]++;
		if (ended.status == 1 || ended.status == 2) {
			tally->rejected[base->form]++;
			tally->of_kind_rejected[kind]++;
			if (!strstr(ended.err, "error: "))
				fail_msg("no reason is given for\n%s", text);
			continue;
		}
		if (ended.status == 3) {
			tally->undecided++;
			continue;
		}
		if (ended.status)
			fail_msg("status %d of\n%s%s", ended.status, text, ended.err);
		enum truth truth = judge(base, "changed.yaml");
		tally->accepted[truth]++;
		tally->of_kind_true[kind]++;
		if (getenv("SHOW"))
			print_message("accepted, truth %d:\n%s\n", truth, text);
		if (truth == TRUTH_FALSE)
			refuse(base, text, seed, number, &ended);
	}
}

BARE_TEST(false_claims_are_rejected)
{
	uint64_t seed = draws_seed(1000);
	long count = draws(CORRUPTIONS), done = 0, rejected = 0;
	struct tally tally = {0};
	for (long number = 0; done < count; number++) {
		struct random random = random_open(seed, (uint64_t)number);
		long some = count - done < OF_EACH ? count - done : OF_EACH;
		struct base base;
		folder_set_up(NULL);
		open_base(&random, number, &base);
		folder_put("right.yaml", base.text);
		struct ended ended = check(&base, "right.yaml");
		if (ended.status && ended.status != 3)
			fail_msg("certificate %ld: what holds is rejected: %s\n%s", number,
				ended.err, base.text);
		tally.bases[base.form]++;
		if (!ended.status)
			attack(&random, &base, seed, number, some, &tally);
		done += some;
		folder_tear_down(NULL);
	}
	for (int f = 0; f < FORMS; f++) {
		print_message("%s: %ld certificates, %ld corrupted, %ld rejected\n", form_names[f],
			tally.bases[f], tally.corrupted[f], tally.rejected[f]);
		rejected += tally.rejected[f];
	}
	for (int k = 0; k < KINDS; k++)
		print_message("%s changed: %ld, %ld rejected, %ld true\n", kind_names[k],
			tally.of_kind[k], tally.of_kind_rejected[k], tally.of_kind_true[k]);
	print_message(
		"%ld rejected; accepted, since they are true: %ld weaker, %ld of another space, "
		"%ld with another answer as good, %ld that change words which claim nothing; "
		"%ld undecided; accepted and false: %ld\n",
		rejected, tally.accepted[TRUTH_WEAKER], tally.accepted[TRUTH_OTHER],
		tally.accepted[TRUTH_AS_GOOD], tally.accepted[TRUTH_WORDS], tally.undecided,
		tally.accepted[TRUTH_FALSE]);
	assert_int_equal(tally.of_kind_true[OF_METHOD], 0);
	assert_int_equal(tally.of_kind_true[OF_CORES], 0);
	assert_true(!draws_are_many(count) ||
		    (rejected > count / 2 && tally.of_kind[OF_LIMITS] && tally.of_kind[OF_METHOD]));
}

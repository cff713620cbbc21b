# make help lists the targets.

# make's own default is no choice of the user's; a make started by make has not even that.
ifneq ($(filter default undefined,$(origin CC)),)
CC := gcc
endif
ifneq ($(filter default undefined,$(origin AR)),)
AR := ar
endif
MODE ?= release
PREFIX ?= /usr/local
CASES ?= ../shared/cases
VERSION := 0.2.0

MODES := release debug asan tsan coverage
ifeq ($(filter $(MODE),$(MODES)),)
$(error MODE is '$(MODE)'; it can be: $(MODES))
endif

.DELETE_ON_ERROR:
.SUFFIXES:
.SECONDARY:
MAKEFLAGS += --no-builtin-rules --no-builtin-variables

# A line for each file; V=1 shows the commands.
HUSH := $(if $(V),,@)
SAY = $(if $(V),,@echo '  $@'; )

COMPILER := $(notdir $(firstword $(CC)))
OUT := build/$(MODE)$(if $(filter gcc,$(COMPILER)),,-$(COMPILER))

# Ours; CFLAGS, CPPFLAGS, LDFLAGS stay the user's.  All modes but release check assertions.
MODE_FLAGS_release := -O2 -g1 -DNDEBUG
MODE_FLAGS_debug := -O0 -g3
MODE_FLAGS_asan := -O2 -g1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all
MODE_FLAGS_tsan := -O1 -g -fsanitize=thread
MODE_FLAGS_coverage := -O0 -g --coverage
# Tests are compiled more often than they run.
TEST_FLAGS_release := -O1 -g1
TEST_FLAGS_asan := -O0
WARNINGS := -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
	-Wpointer-arith -Wundef -Wvla -Wwrite-strings -Wno-unused-parameter -Wno-psabi
FLAGS := -std=c17 -D_GNU_SOURCE -DLXPLORE_VERSION='"$(VERSION)"' -Isrc -I. -fopenmp -ffp-contract=off \
	-I$(OUT) -fPIC -fvisibility=hidden $(WARNINGS) $(MODE_FLAGS_$(MODE))
LIBS := -lprotobuf-c -lyaml -lconfig -ljansson -lglpk -lgmp -lsqlite3 -lm

COMMAND_SOURCES := $(sort $(wildcard src/cli/*.c))
API_SOURCES := $(sort $(wildcard src/lib/*.c))
LIBRARY_SOURCES := $(sort $(filter-out src/cli/% src/lib/%,$(wildcard src/*/*.c src/*/*/*.c solvers/*/*.c solvers/*/*/*.c)))
HEADERS := $(sort $(wildcard src/*/*.h src/*/*/*.h solvers/*/*.h solvers/*/*/*.h))
TEST_FOLDERS := unit laws differential fuzz
TEST_SOURCES := $(sort $(foreach folder,$(TEST_FOLDERS),$(wildcard tests/$(folder)/*.c)))
CASE_SOURCES := $(sort $(wildcard tests/reference/*.c))
BENCH_SOURCES := $(sort $(wildcard tests/bench/*.c))
TEST_SUPPORT := $(sort $(wildcard tests/support/*.c))

object = $(patsubst %.c,$(OUT)/%.o,$(1))
PROGRAM := $(OUT)/lxplore
SHARED := $(OUT)/liblxplore.so.$(VERSION)
STATIC := $(OUT)/liblxplore.a
LIBRARY := $(OUT)/libparts.a
SUPPORT := $(OUT)/libsupport.a
link_of = $(OUT)/tests/$(notdir $(basename $(1)))
TESTS := $(foreach source,$(TEST_SOURCES),$(call link_of,$(source)))
CASE_TESTS := $(foreach source,$(CASE_SOURCES),$(call link_of,$(source)))
BENCHES := $(foreach source,$(BENCH_SOURCES),$(call link_of,$(source)))

.PHONY: all accuracy coverage figures models mutants help build tests everything run test check cases bench setup setup-check library install uninstall clean \
	headers layers accept format FORCE

all: build compile_commands.json

help:
	@sed -n 's/^## //p' Makefile

## make             build the program in build/release (MODE=release|debug|asan|tsan|coverage, CC=gcc|clang; V=1 shows commands)
build: $(PROGRAM)

## make run         install what is missing, build, run the main job, say where its results are
run: setup
	@$(MAKE) --no-print-directory $(if $(V),,SAY=@) build
	@scripts/run $(PROGRAM)

## make test        install what is missing, build, all tests, header and layer checks, a sanitizer pass
test: setup
	@scripts/test

## make check       the same at full size: gcc and clang with -Werror, TSan, format, long random tests
check: setup-check
	@scripts/check

## make cases       the reference families in CASES (default ../shared/cases)
cases: $(CASE_TESTS)
	@scripts/cases "$(CASES)" $(CASE_TESTS)

## make coverage    lines that the tests execute, in percent by folder; THIN=8 (default) draws an eighth
coverage:
	@$(MAKE) --no-print-directory MODE=coverage tests
	@THIN=$(or $(THIN),8) scripts/run-tests build/coverage
	@scripts/coverage

## make mutants     after make coverage: changes one token at a time and lists what no test notices: scripts/mutate 200
mutants:
	@scripts/mutate $(or $(N),200) --page tests/mutants.md

## make accuracy    predicted times beside measured ones; CASES=OTHER.csv or FOLDER: of other tables; HOLDOUT=1: of shapes not fitted
accuracy: $(PROGRAM)
	@scripts/accuracy $(if $(HOLDOUT),--hold-out) $(PROGRAM) $(if $(filter command environment,$(firstword $(origin CASES))),"$(CASES)")

## make models      models x machines, in results/models.md: ops, seconds, memory, latency, gap; about twenty minutes
models: $(PROGRAM)
	@scripts/models $(PROGRAM)

## make figures     the picture of the README, from a run of attention
figures: $(PROGRAM)
	@scripts/figures $(PROGRAM)

## make bench       measure: candidates, simulator events, memory, threads
bench: $(PROGRAM) $(BENCHES)
	@scripts/bench $(PROGRAM) $(BENCHES)

MANUALS := $(OUT)/lxplore.1 $(OUT)/lxplore.bash $(OUT)/_lxplore $(OUT)/lxplore.schema.json
$(OUT)/lxplore.1: FORM := manual man
$(OUT)/lxplore.bash: FORM := manual bash
$(OUT)/_lxplore: FORM := manual zsh
$(OUT)/lxplore.schema.json: FORM := list --schema
$(MANUALS): $(PROGRAM)
	$(PROGRAM) $(FORM) > $@

## make library     build liblxplore, shared and static, with lxplore.pc
library: $(SHARED) $(STATIC) $(OUT)/lxplore.pc

## make install     into DESTDIR and PREFIX (default /usr/local): program, library, man page, completions, specs
install: $(PROGRAM) $(MANUALS) library
	@scripts/install $(OUT) $(VERSION) "$(DESTDIR)$(PREFIX)"

uninstall:
	@scripts/install --remove $(VERSION) "$(DESTDIR)$(PREFIX)"

## make accept      rewrite the expected outputs that tests compare with; review the difference
accept: $(PROGRAM) $(OUT)/tests/test_bad $(OUT)/tests/test_check $(OUT)/tests/test_transcripts
	@scripts/accept $^

## make format      rewrite all C files with clang-format
format:
	clang-format -i $(COMMAND_SOURCES) $(API_SOURCES) $(LIBRARY_SOURCES) $(HEADERS) $(wildcard tests/*.h tests/*/*.[ch]) $(TOY_SOURCES)

## make clean       remove build/ and compile_commands.json
clean:
	rm -rf build compile_commands.json

setup:
	@scripts/setup

setup-check:
	@scripts/setup --check

tests: $(TESTS) $(PROGRAM)
everything: tests $(CASE_TESTS) $(BENCHES)

# --- how things are built

# Rewritten only when its text changes: flags and lists that objects depend on.
define stamp
@mkdir -p $(@D)
@printf '%s\n' '$(subst ','\'',$(1))' | cmp -s - $@ || printf '%s\n' '$(subst ','\'',$(1))' > $@
endef

$(OUT)/flags.stamp: FORCE
	$(call stamp,$(CC) $(FLAGS) $(TEST_FLAGS_$(MODE)) $(CPPFLAGS) $(CFLAGS))
$(OUT)/sources.stamp: FORCE
	$(call stamp,$(LIBRARY_SOURCES) $(COMMAND_SOURCES) $(API_SOURCES))
$(OUT)/support.stamp: FORCE
	$(call stamp,$(TEST_SUPPORT))

$(OUT)/%.o: %.c $(OUT)/flags.stamp
	@mkdir -p $(@D)
	$(SAY)$(CC) $(FLAGS) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c $< -o $@

$(call object,$(TEST_SOURCES) $(CASE_SOURCES) $(TEST_SUPPORT)): private FLAGS += $(TEST_FLAGS_$(MODE))

$(OUT)/solvers.c: $(OUT)/sources.stamp $(filter solvers/%,$(LIBRARY_SOURCES)) scripts/solver-table
	@scripts/solver-table $(filter solvers/%,$(LIBRARY_SOURCES)) > $@

# The program with a solver more in each stage, two primitives and a kind of input more, for tests/unit/test_toys.c.
TOY_SOURCES := $(sort $(wildcard tests/toys/*/*.c))
TOYS := $(OUT)/tests/lxplore_toys
$(OUT)/toy_solvers.c: $(OUT)/sources.stamp $(filter solvers/%,$(LIBRARY_SOURCES)) $(TOY_SOURCES) scripts/solver-table
	@scripts/solver-table $(filter solvers/%,$(LIBRARY_SOURCES)) $(TOY_SOURCES) > $@

KIND_SOURCES := $(filter src/constraints/%,$(LIBRARY_SOURCES))
$(OUT)/constraint_kinds.c: $(OUT)/sources.stamp $(KIND_SOURCES) scripts/constraint-table
	@scripts/constraint-table $(KIND_SOURCES) > $@

INPUT_KINDS := $(filter src/cli/kind_%,$(COMMAND_SOURCES))
$(OUT)/input_kinds.c: $(OUT)/sources.stamp $(INPUT_KINDS) scripts/kind-table
	@scripts/kind-table $(INPUT_KINDS) > $@
$(OUT)/toy_kinds.c: $(OUT)/sources.stamp $(INPUT_KINDS) $(TOY_SOURCES) scripts/kind-table
	@scripts/kind-table $(INPUT_KINDS) $(TOY_SOURCES) > $@

PRIMITIVE_SOURCES := $(filter src/model/machine/%,$(LIBRARY_SOURCES))
$(OUT)/toy_primitives.c: $(OUT)/sources.stamp $(PRIMITIVE_SOURCES) $(TOY_SOURCES) scripts/primitive-table
	@scripts/primitive-table $(PRIMITIVE_SOURCES) $(TOY_SOURCES) > $@
$(OUT)/primitives.c: $(OUT)/sources.stamp $(PRIMITIVE_SOURCES) scripts/primitive-table
	@scripts/primitive-table $(PRIMITIVE_SOURCES) > $@

# Readers of ONNX files, from Debian's description of the format.
ONNX_PROTO := /usr/include/onnx/onnx.proto
$(OUT)/onnx.pb-c.c: $(ONNX_PROTO)
	@mkdir -p $(@D)
	$(SAY)protoc-c --proto_path=$(dir $<) --c_out=$(@D) $(notdir $<)
$(OUT)/onnx.pb-c.o: $(OUT)/onnx.pb-c.c $(OUT)/flags.stamp
	$(SAY)$(CC) $(FLAGS) -w $(CPPFLAGS) $(CFLAGS) -c $< -o $@
$(OUT)/src/import/onnx_read.o $(OUT)/tests/unit/test_import.o $(OUT)/tests/fuzz/fuzz_import.o: $(OUT)/onnx.pb-c.c

TABLES := $(OUT)/solvers.o $(OUT)/constraint_kinds.o $(OUT)/primitives.o
$(TABLES) $(OUT)/input_kinds.o $(OUT)/toy_kinds.o $(OUT)/toy_solvers.o $(OUT)/toy_primitives.o: \
		%.o: %.c $(OUT)/flags.stamp
	$(SAY)$(CC) $(FLAGS) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c $< -o $@

# The charts of reports, by npm; empty where that cannot be.
CHARTS := build/charts/charts.js
$(CHARTS): $(wildcard src/report/page/*.json src/report/page/*.mjs) scripts/charts
	@scripts/charts $@
$(OUT)/src/report/page/page.o: CPPFLAGS += -DPAGE_CHARTS='"$(CHARTS)"'
$(OUT)/src/report/page/page.o: $(CHARTS) src/report/page/page.css $(wildcard src/report/page/*.js)
$(OUT)/src/cli/command_init.o: $(wildcard specs/starter/*.yaml specs/starter/*/*.yaml)

$(LIBRARY): $(call object,$(LIBRARY_SOURCES)) $(TABLES) $(OUT)/onnx.pb-c.o $(OUT)/sources.stamp
	@rm -f $@
	@$(AR) rcs $@ $(filter %.o,$^)

$(SUPPORT): $(call object,$(TEST_SUPPORT)) $(OUT)/support.stamp
	@rm -f $@
	@$(AR) rcs $@ $(filter %.o,$^)

# The public library has what the command line has, but for main; only the names of lxplore.h are seen.
# Its major version, in the name that programs look for, changes with what they must know.
API_OBJECTS := $(call object,$(API_SOURCES) $(filter-out src/cli/main.c,$(COMMAND_SOURCES))) $(OUT)/input_kinds.o
$(SHARED): $(API_OBJECTS) $(LIBRARY) src/lib/lxplore.map
	$(SAY)$(CC) $(FLAGS) $(CFLAGS) $(LDFLAGS) -shared -Wl,-soname,liblxplore.so.$(firstword $(subst ., ,$(VERSION))) \
		-Wl,--version-script,src/lib/lxplore.map -Wl,--no-undefined -o $@ \
		$(API_OBJECTS) $(LIBRARY) $(LIBS)
$(OUT)/lxplore_all.o: $(API_OBJECTS) $(LIBRARY)
	$(SAY)$(CC) -r -nostdlib -o $@ $(API_OBJECTS) $(LIBRARY)
	$(HUSH)objcopy --wildcard --keep-global-symbol='lxplore_*' --strip-debug $@
$(STATIC): $(OUT)/lxplore_all.o
	@rm -f $@
	@$(AR) rcs $@ $<
$(OUT)/lxplore.pc: src/lib/lxplore.pc.in Makefile
	$(HUSH)sed 's|@VERSION@|$(VERSION)|; s|@LIBS@|$(LIBS)|' $< > $@

$(PROGRAM): $(call object,$(COMMAND_SOURCES)) $(OUT)/input_kinds.o $(LIBRARY)
	$(SAY)$(CC) $(FLAGS) $(CFLAGS) $(LDFLAGS) $^ $(LIBS) -o $@

$(TOYS): $(call object,$(COMMAND_SOURCES) $(TOY_SOURCES)) $(OUT)/toy_solvers.o $(OUT)/toy_primitives.o \
		$(OUT)/toy_kinds.o $(LIBRARY)
	@mkdir -p $(@D)
	$(SAY)$(CC) $(FLAGS) $(CFLAGS) $(LDFLAGS) $^ $(LIBS) -o $@

# One program for each folder of tests; each test in it is a link to the program, under its name.
RUNNABLE := $(TEST_SOURCES) $(CASE_SOURCES) $(BENCH_SOURCES)
$(call object,$(RUNNABLE)): $(OUT)/%.o: %.c $(OUT)/flags.stamp
	@mkdir -p $(@D)
	$(SAY)$(CC) $(FLAGS) $(CPPFLAGS) $(CFLAGS) -Dmain=$(*F)_main -Wno-missing-prototypes -MMD -MP -c $< -o $@

# The program's commands run inside the fuzzing tests; main.c has a main of its own there.
$(OUT)/src/cli/main_inside.o: src/cli/main.c $(OUT)/flags.stamp
	@mkdir -p $(@D)
	$(SAY)$(CC) $(FLAGS) -Dmain=main_inside -Wno-missing-prototypes $(CPPFLAGS) $(CFLAGS) -MMD -MP -c $< -o $@
INSIDE_fuzz := $(OUT)/src/cli/main_inside.o $(call object,$(filter-out src/cli/main.c,$(COMMAND_SOURCES))) \
	$(OUT)/input_kinds.o
INSIDE_unit := $(API_OBJECTS)

define test_program
$(OUT)/tests/$(1).stamp: FORCE
	$$(call stamp,$$(wildcard tests/$(1)/*.c))
$(OUT)/tests/$(1).c: $(OUT)/tests/$(1).stamp $(wildcard tests/$(1)/*.c) scripts/test-table
	@scripts/test-table $$(wildcard tests/$(1)/*.c) > $$@
$(OUT)/tests/$(1).program: $(OUT)/tests/$(1).c $(call object,$(wildcard tests/$(1)/*.c)) $(INSIDE_$(1)) $(SUPPORT) $(LIBRARY)
	$$(SAY)$$(CC) $$(FLAGS) $$(CFLAGS) $$(LDFLAGS) $$^ -lcmocka $$(LIBS) -o $$@
$(foreach source,$(wildcard tests/$(1)/*.c),$(call link_of,$(source))): $(OUT)/tests/$(1).program
	@ln -sf $(1).program $$@
endef
$(foreach folder,$(TEST_FOLDERS) reference bench,$(eval $(call test_program,$(folder))))
$(OUT)/tests/unit.program: | $(TOYS) $(if $(filter release debug,$(MODE)),$(SHARED) $(STATIC) $(OUT)/lxplore.pc $(MANUALS))

comma := ,
# test_long_graphs counts calls, as the work of passes over long graphs; test_folder_faults lets calls
# of the system fail.
$(OUT)/tests/unit.program: private LDFLAGS += $(patsubst %,-Wl$(comma)--wrap=%, \
	op_operand op_operands tensor_home text_equal plan_lx \
	open write fsync close mkdir chmod rename renameat2 linkat unlink rmdir lstat flock)

# diff_joint_broken breaks bounds and dominance.
$(OUT)/tests/differential.program: private LDFLAGS += -Wl,--wrap=relax_bounds,--wrap=layer_add

# Every header compiles alone; includes point downwards.
headers: $(patsubst %.h,$(OUT)/headers/%.ok,$(HEADERS))
$(OUT)/headers/%.ok: %.h $(OUT)/flags.stamp
	@mkdir -p $(@D)
	@printf '#include "%s"\n' $(patsubst src/%,%,$<) | $(CC) $(FLAGS) -x c -fsyntax-only -
	@touch $@
layers:
	@scripts/layers

compile_commands.json: $(OUT)/sources.stamp $(OUT)/flags.stamp
	@{ echo '['; sep=''; \
	for f in $(COMMAND_SOURCES) $(API_SOURCES) $(LIBRARY_SOURCES) $(TEST_SOURCES) $(CASE_SOURCES) $(TEST_SUPPORT); do \
	printf '%s{"directory": "%s", "file": "%s", "command": "%s"}' "$$sep" '$(CURDIR)' "$$f" \
	'$(subst ",\\\",$(CC) $(FLAGS)) -c '"$$f"; sep=','; echo; done; echo ']'; } > $@

-include $(shell find $(OUT) -name '*.d' 2>/dev/null)

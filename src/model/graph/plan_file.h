#ifndef MODEL_PLAN_FILE_H
#define MODEL_PLAN_FILE_H

#include "base/text.h"
#include "model/graph/plan.h"
#include "spec/reader.h"

/*
 * A plan as YAML, out and in.  Writing what was read gives the same bytes.
 *
 *	plan:
 *	  version: 1
 *	  workload: softmax
 *	  architecture: spyre32
 *	  cores: 32
 *	  steps:                   # in the order of execution
 *	  - {move: clone, tensor: x, as: clone_x, bundle: 0, mapping: "core: d1=16"}
 *	  - {op: mx, bundle: 0, mapping: "core: n16 | LX: m2 | keep LX: 1"}
 *	  - {op: w, bundle: 0, mapping: undivided, staging: {rows: 64, sticks: 4, size: 32768,
 *	     addresses: [0, 32768]}}
 *	  bundles:                 # tensors in HBM that each needs; tensors in LX are not arguments
 *	  - {bundle: 0, arguments: [x, y]}
 *	  tensors:                 # stays by half-open step indices; unlisted: HBM
 *	    x:
 *	    - {where: HBM, from: 0, to: 6}
 *	    clone_x:
 *	    - {where: LX, view: "cores 16: dim 0 / 16 by 1", address: 0, size: 65536, from: 0, to: 2}
 *	  proof: {status: none, method: place/greedy}
 *
 * `staging` are the tiles of a broadcast: their rows, sticks in a row, bytes, and addresses in LX.
 * Mappings are written as in mapping.h, views as in view.h.  A tensor that
 * leaves LX and comes back keeps its name, and has a stay for each time:
 *
 *	  - {move: evict, tensor: a, bundle: 0, mapping: "core: d0=4"}
 *	  - {move: reload, tensor: a, bundle: 1, mapping: "core: d0=4"}
 *	  ...
 *	    a:
 *	    - {where: LX, view: "cores 4: dim 0 / 4 by 1", address: 0, size: 512, from: 0, to: 3}
 *	    - {where: HBM, from: 2, to: 6}
 *	    - {where: LX, view: "cores 4: dim 0 / 4 by 1", address: 512, size: 512, from: 5, to: 8}
 *
 * A run of steps with the loops that they share, outermost first, is one entry; steps are numbered as if
 * they stood by themselves:
 *
 *	  - loop: {q: 8}
 *	    steps:
 *	    - {op: S, bundle: 1, mapping: "core: h4 q8"}
 *	    - {op: amax, bundle: 1, mapping: "core: h4 q8"}
 *
 * A relayout makes a copy under another view.  `readers` are the later steps that use what a move makes;
 * without it, all of them.  So a tensor can be in HBM and in LX at once, or under two views:
 *
 *	  - {move: relayout, tensor: a, as: relayout_a, readers: [fc2], bundle: 1, mapping: "core: d0=4"}
 *
 * A view "cores 32 only / 8 by 4: ..." is on the cores c < 32 with floor(c / 4) mod 8 = 0 alone.
 */
void plan_write(const struct plan *plan, struct text *text);

/*
 * Reads the value of a `plan:` key for a workload as its spec gives it: the
 * moves that the file names are put into it again.  Everything is checked
 * against workload and machine (plan_check.h); NULL after complaining.
 */
extern const struct noun plan_noun;
const struct plan *plan_read(const struct reading *reading, const struct node *node,
	const struct arch *arch, const struct workload *workload);

#endif

#!/usr/bin/python3
"""Random small ONNX graphs: what the simulated machine computes against numpy.

graph_values.py PROGRAM ARCH SEED DRAWS writes graphs of some ops with random shapes and numbers, imports, plans and executes
each with `simulate --inputs --outputs`, and compares the outputs with numpy within 1e-3 of the greatest number.  Graphs
with a reshape that copies are executed and not compared: to the simulator the copy is opaque.  It prints what differs
and ends with 1, or with 77 if python3-onnx is missing.
"""
import subprocess, sys, tempfile
try:
    import numpy as np, onnx
    from onnx import TensorProto as T, helper as H, numpy_helper
except ImportError as missing:
    print("python3-onnx:", missing)
    sys.exit(77)
from workload_values import conv, erf, norm, sigmoid, softmax


class Graph:
    """Nodes so far, numbers of each value by name, and which are inputs and weights."""

    def __init__(self, rng):
        self.rng, self.nodes, self.numbers, self.inputs, self.constants = rng, [], {}, [], []

    def n(self, low, high):
        return int(self.rng.integers(low, high + 1))

    def fresh(self, *shape):
        name = f"i{len(self.inputs)}"
        self.inputs.append(name)
        self.numbers[name] = self.rng.uniform(-1, 1, shape).astype(np.float32).astype(float)
        return name

    def constant(self, value):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def node(self, op, inputs, number, **attributes):
        name = f"v{len(self.nodes)}"
        self.nodes.append(H.make_node(op, inputs, [name], **attributes))
        self.numbers[name] = np.asarray(number, float)
        return name

    def any(self, rank=None):
        """A value of that rank, the newest first."""
        names = [k for k, v in self.numbers.items() if (v.ndim == rank if rank else v.ndim > 1)]
        return names[max(0, len(names) - 1 - min(self.n(0, 3), self.n(0, 3)))] if names else None


MAPS = {"Relu": lambda x: np.maximum(x, 0), "Sigmoid": sigmoid, "Tanh": np.tanh, "Erf": erf, "Neg": lambda x: -x,
        "Abs": abs, "Softplus": lambda x: np.log1p(np.exp(x)), "Elu": lambda x: np.where(x < 0, np.expm1(x), x)}


def mapped(g):
    v, op = g.any(), sorted(MAPS)[g.n(0, len(MAPS) - 1)]
    g.node(op, [v], MAPS[op](g.numbers[v]))


def paired(g):
    v = g.any()
    x = g.numbers[v]
    shape = [n if g.n(0, 2) else 1 for n in x.shape][g.n(0, 1):]
    op, f = [("Add", np.add), ("Sub", np.subtract), ("Mul", np.multiply)][g.n(0, 2)]
    w = g.fresh(*shape)
    g.node(op, [v, w], f(x, g.numbers[w]))


def multiplied(g):
    v = g.any()
    x = g.numbers[v]
    w = g.fresh(x.shape[-1], g.n(1, 6))
    g.node("MatMul", [v, w], x @ g.numbers[w])


def turned(g):
    v = g.any()
    order = [int(i) for i in g.rng.permutation(g.numbers[v].ndim)]
    g.node("Transpose", [v], g.numbers[v].transpose(order), perm=order)


def reshaped(g):
    v = g.any()
    x = g.numbers[v]
    shape = (x.shape[0], -1) if x.ndim > 2 else (x.shape[0], 1, x.shape[1])
    g.node("Reshape", [v, g.constant(np.int64(shape))], x.reshape(shape))


def weighed(g):
    v, kind = g.any(), g.n(0, 2)
    x = g.numbers[v]
    if kind == 0:
        return g.node("Softmax", [v], softmax(x, -1), axis=-1)
    if kind == 1:
        w = g.fresh(x.shape[-1])
        return g.node("LayerNormalization", [v, w], norm(x, -1) * g.numbers[w], axis=-1)
    axis = g.n(0, x.ndim - 1)
    g.node("ReduceMean", [v], x.mean(axis, keepdims=True), axes=[axis], keepdims=1)


def joined(g):
    v = g.any()
    x, axis = g.numbers[v], g.n(0, g.numbers[v].ndim - 1)
    w = g.fresh(*[g.n(1, 3) if h == axis else n for h, n in enumerate(x.shape)])
    g.node("Concat", [v, w], np.concatenate([x, g.numbers[w]], axis), axis=axis)


def sliced(g):
    v = g.any()
    x, axis = g.numbers[v], g.n(0, g.numbers[v].ndim - 1)
    if x.shape[axis] < 2:
        return
    start, end = g.n(0, 1), x.shape[axis] - g.n(0, 1)
    if end <= start:
        return
    at = tuple(slice(start, end) if h == axis else slice(None) for h in range(x.ndim))
    g.node("Slice", [v, *[g.constant(np.int64([n])) for n in (start, end, axis)]], x[at])


def convolved(g):
    v = g.any(4)
    if not v or min(g.numbers[v].shape[2:]) < 2:
        return
    x = g.numbers[v]
    w = g.fresh(g.n(1, 4), x.shape[1], g.n(1, 2), g.n(1, 2))
    pads = [g.n(0, 1) for _ in range(4)]
    g.node("Conv", [v, w], conv(x, g.numbers[w], pads=pads), pads=pads)


KINDS = [mapped, paired, multiplied, turned, reshaped, weighed, joined, sliced, convolved, convolved]


def draw(rng):
    g = Graph(rng)
    g.fresh(*[g.n(1, 6) for _ in range(g.n(2, 4))])
    for _ in range(g.n(2, 6)):
        KINDS[g.n(0, len(KINDS) - 1)](g)
    last = list(g.numbers)[-1]
    g.node("Tanh", [last], np.tanh(g.numbers[last]))
    return g


def check(program, arch, folder, seed, i):
    g = draw(np.random.default_rng([seed, i]))
    out = list(g.numbers)[-1]
    info = lambda name: H.make_tensor_value_info(name, T.FLOAT, g.numbers[name].shape)
    graph = H.make_graph(g.nodes, "g", [info(k) for k in g.inputs], [info(out)], g.constants)
    onnx.save(H.make_model(graph, opset_imports=[H.make_opsetid("", 17)]), f"{folder}/m.onnx")
    with open(f"{folder}/inputs", "w") as file:
        text = subprocess.run([program, "import", f"{folder}/m.onnx"], capture_output=True, text=True).stdout
        for name in g.inputs:
            if f"    {name}: {{" in text:
                print(f"{name}:", *g.numbers[name].ravel(), file=file)
    run = subprocess.run([program, "simulate", arch, f"{folder}/m.onnx", "--labels", "1000", "--inputs", f"{folder}/inputs",
                          "--outputs", f"{folder}/outputs"], capture_output=True, text=True)
    ops = " ".join(node.op_type for node in g.nodes)
    if run.returncode:
        return f"{ops}: ends with {run.returncode}: {run.stderr.strip()}\n{text}"
    got = np.array([float(n) for n in open(f"{folder}/outputs").read().split(":")[1].split()])
    want = g.numbers[out].ravel()
    if got.size != want.size:
        return f"{ops}: {got.size} numbers, not {want.size}"
    if "{opaque:" in text:
        return "opaque"
    off = np.abs(got - want).max()
    return None if off <= 1e-3 * max(1, np.abs(want).max()) else f"{ops}: off by {off}\n{text}"


def main():
    program, arch, seed, draws = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    failed = opaque = 0
    with tempfile.TemporaryDirectory() as folder:
        for i in range(draws):
            said = check(program, arch, folder, seed, i)
            opaque += said == "opaque"
            if said and said != "opaque":
                failed += 1
                print(f"seed {seed} draw {i}: {said}")
    print(f"seed {seed}: {draws} graphs executed, {draws - opaque} compared, {failed} wrong")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()

"""onnx_calls.py PROGRAM SEED COUNT TABLE: calls every ONNX row of TABLE, the source of the ops, with shapes and attributes that fit
and that do not, imports each model, and prints what ends other than with status 0 or 2.  Exit status 77: no onnx."""
import random
import re
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import onnx.numpy_helper
    from onnx import TensorProto as T, helper as H
except ImportError as missing:
    print(missing)
    sys.exit(77)

TYPES = {T.FLOAT: np.float32, T.INT64: np.int64, T.INT8: np.int8, T.UINT8: np.uint8, T.INT32: np.int32, T.BOOL: bool}
WORDS = {"auto_pad": ["SAME_UPPER", "VALID", "NOTSET"], "mode": ["edge", "reflect", "wrap", "constant", "CRD", "linear"],
         "activation": ["Relu", "X"], "reduction": ["none", "add"], "equation": ["ij,jk->ik", "i,i->", "ii->i"]}
REALS = ["alpha", "beta", "softcap", "scale", "epsilon"]
LISTS = ["axes", "strides", "pads", "kernel_shape", "dilations", "output_padding", "perm", "output_shape"]
WHOLE = ["num_heads", "kv_num_heads", "axis", "k", "p", "group", "blocksize", "do_rotary", "interleaved", "keepdims",
         "rotary_interleaved", "unidirectional", "exclusive", "reverse", "local_window_size", "K", "N", "bits", "block_size",
         "transA", "transB", "select_last_index", "to", "training_mode", "fmod", "count_include_pad", "ceil_mode"]


def names(table):
    words = " ".join(re.findall(r'\{"([^"]+)",\s*mean_', open(table).read())).split()
    return sorted(w for w in words if not re.match(r"(ttir|stablehlo|chlo|sdy)\.|@", w))


def shape(r, ranks):
    return [r.choice([0, 1, 2, 3, 4, 6, 8]) if r.random() < .1 else r.choice([1, 2, 3, 4, 6, 8]) for _ in range(r.choice(ranks))]


def value(r, name):
    if name in WORDS:
        return r.choice(WORDS[name])
    if name in REALS:
        return r.choice([0.0, 1.5, -2.0, 1e30])
    if name in LISTS:
        return [r.choice([-1, 0, 1, 1, 2, 2, 3, 4, 99]) for _ in range(r.choice([1, 2, 2, 4, 8]))]
    return r.choice([-9, -1, 0, 1, 1, 2, 2, 3, 4, 8, 2**40])


def model(r, op):
    domain, _, base = op.rpartition(".")
    common, inputs, weights, operands = shape(r, [0, 1, 2, 3, 3, 3, 4, 4, 5]), [], [], []
    for i in range(r.randint(1, 9)):
        if i and r.random() < .2:
            operands.append("")
            continue
        of = list(common) if r.random() < .5 else shape(r, [0, 1, 1, 2, 3, 4])
        kind, name = r.choice(list(TYPES) + [T.FLOAT] * 3), f"i{i}"
        operands.append(name)
        if i and r.random() < .35:
            numbers = [r.choice([0, 1, 2, 3, 100]) for _ in range(int(np.prod(of)))]
            weights.append(onnx.numpy_helper.from_array(np.array(numbers).reshape(of).astype(TYPES[kind]), name))
        else:
            inputs.append(H.make_tensor_value_info(name, kind, of))
    outputs = [f"o{i}" for i in range(r.randint(1, 3))]
    keys = list(WORDS) + REALS + LISTS + WHOLE
    attributes = {name: value(r, name) for name in r.sample(keys, r.randint(0, 12))}
    node = H.make_node(base, operands, outputs, name="n", domain=domain, **attributes)
    made = [H.make_tensor_value_info(name, T.FLOAT, None) for name in outputs[:r.randint(1, len(outputs))]]
    graph = H.make_graph([node], "g", inputs, made, weights)
    sets = [H.make_opsetid("", r.choice([9, 11, 13, 17, 18])), H.make_opsetid("com.microsoft", 1)]
    return H.make_model(graph, opset_imports=sets)


def main():
    program, seed, count, table = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    ops, wrong = names(table), 0
    with tempfile.TemporaryDirectory() as folder:
        for i in range(count):
            r = random.Random(f"{seed} {i}")
            op = ops[i % len(ops)]
            onnx.save(model(r, op), f"{folder}/m.onnx")
            run = subprocess.run([program, "import", f"{folder}/m.onnx"], capture_output=True, text=True, timeout=60)
            if run.returncode not in (0, 2) or "runtime error" in run.stderr:
                wrong += 1
                print(f"seed {seed} draw {i}: {op} ends with {run.returncode}: {run.stderr[:500]}")
    print(f"seed {seed}: {count} calls of {len(ops)} ops, {wrong} wrong")
    sys.exit(wrong > 0)


main()

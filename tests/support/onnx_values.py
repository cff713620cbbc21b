#!/usr/bin/python3
"""Random ONNX ops: numbers of the imported graph against numpy.

onnx_values.py PROGRAM SEED DRAWS writes one-op models of random shapes, imports each, computes the text of the
workload element by element, and compares with numpy within 1e-4 of the greatest number.  It prints what differs
and ends with 1, or with 77 if python3-onnx is missing.
"""
import math, sys
try:
    import numpy as np, onnx
    from onnx import TensorProto as T, helper as H, numpy_helper
except ImportError as missing:
    print("python3-onnx:", missing)
    sys.exit(77)
from workload_values import MAPS, attended, compare, conv, erf, main, norm, rows, sigmoid, softmax, turned

class Draw:
    """One model: inputs and weights by name, one node, what numpy says."""

    def __init__(self, rng):
        self.rng, self.given, self.weights, self.tables, self.opset = rng, {}, {}, {}, 17

    def n(self, low, high):
        return int(self.rng.integers(low, high + 1))

    def x(self, *shape, name="x", weight=False, low=-2, high=2):
        data = self.rng.uniform(low, high, shape).astype(np.float32)
        (self.weights if weight else self.given)[name] = data
        return data.astype(float)

    def const(self, name, value):
        self.weights[name] = np.asarray(value)

    def q(self, *shape, name, weight=False, unsigned=False):
        kind = np.uint8 if unsigned else np.int8
        data = self.rng.integers(0 if unsigned else -9, 10, shape).astype(kind)
        (self.weights if weight else self.given)[name] = data
        return data.astype(float)

    def node(self, op, want, inputs="x", microsoft=False, **attributes):
        self.op, self.want = op, np.asarray(want, float)
        return H.make_node(op, inputs.split(","), ["made"], domain="com.microsoft" if microsoft else "", **attributes)


UNARY = {"Softplus": lambda x: np.log1p(np.exp(x)), "Mish": lambda x: x * np.tanh(np.log1p(np.exp(x))),
         "Elu": lambda x: np.where(x < 0, 0.7 * np.expm1(x), x),
         "Celu": lambda x: np.maximum(x, 0) + np.minimum(0, 0.7 * np.expm1(x / 0.7)),
         "Selu": lambda x: 1.0507009873554805 * np.where(x < 0, 1.6732632423543772 * np.expm1(x), x),
         "LeakyRelu": lambda x: np.where(x < 0, 0.7 * x, x), "HardSigmoid": lambda x: np.clip(0.7 * x + 0.5, 0, 1),
         "HardSwish": MAPS["hardswish"], "Softsign": lambda x: x / (1 + abs(x)),
         "ThresholdedRelu": lambda x: np.where(x > 0.7, x, 0), "Sinh": np.sinh, "Cosh": np.cosh, "Asinh": np.arcsinh,
         "Atan": np.arctan,
         "Shrink": lambda x: np.where(x < -.7, x + .25, np.where(x > .7, x - .25, 0)), "Sign": np.sign, "Floor": np.floor, "Ceil": np.ceil, "Round": np.round, "Tan": np.tan,
         "Erf": erf, "Reciprocal": lambda x: 1 / x, "Identity": lambda x: x}


def unary(d):
    op = sorted(UNARY)[d.n(0, len(UNARY) - 1)]
    x = d.x(d.n(1, 4), d.n(2, 9), low=-1.5, high=1.5)
    alpha = {"alpha": 0.7} if op in ("Elu", "Celu", "LeakyRelu", "HardSigmoid", "ThresholdedRelu") else {}
    alpha = {"lambd": 0.7, "bias": 0.25} if op == "Shrink" else alpha
    return d.node(op, UNARY[op](x), **alpha)


def inverse(d):
    x = d.x(3, d.n(2, 9), low=-0.9, high=0.9)
    op = ["Asin", "Acos", "Atanh"][d.n(0, 2)]
    return d.node(op, {"Asin": np.arcsin, "Acos": np.arccos, "Atanh": np.arctanh}[op](x))


def mod(d):
    x, y = d.x(4, 5), d.x(5, name="y", low=1, high=2)
    fmod = d.n(0, 1)
    return d.node("Mod", np.fmod(x, y) if fmod else x - np.floor(x / y) * y, "x,y", fmod=fmod)


def many(d):
    a, b, c = d.x(3, 4), d.x(4, name="y"), d.x(3, 1, name="z")
    op = ["Min", "Max", "Sum", "Mean"][d.n(0, 3)]
    whole = np.stack(np.broadcast_arrays(a, b, c))
    return d.node(op, {"Min": whole.min, "Max": whole.max, "Sum": whole.sum, "Mean": whole.mean}[op](axis=0), "x,y,z")


def extreme(d):
    x, axis, keep = d.x(d.n(2, 4), d.n(2, 7), d.n(2, 5)), d.n(-3, 2), d.n(0, 1)
    op = ["ArgMax", "ArgMin"][d.n(0, 1)]
    want = (np.argmax if op == "ArgMax" else np.argmin)(x, axis=axis)
    d.tables["count"] = np.arange(x.shape[axis])
    return d.node(op, np.expand_dims(want, axis) if keep else want, axis=axis, keepdims=keep)


def reduced(d):
    x, axis = d.x(d.n(2, 3), d.n(2, 9), d.n(2, 5)), d.n(0, 2)
    op = ["ReduceProd", "ReduceL1", "ReduceL2", "ReduceLogSumExp", "ReduceSumSquare", "ReduceMean", "ReduceLogSum"][d.n(0, 6)]
    if op == "ReduceLogSum":
        d.given["x"] = abs(d.given["x"])
        x = abs(x)
    want = {"ReduceProd": np.prod, "ReduceL1": lambda v, **k: abs(v).sum(**k), "ReduceMean": np.mean,
            "ReduceL2": lambda v, **k: np.sqrt((v * v).sum(**k)), "ReduceSumSquare": lambda v, **k: (v * v).sum(**k),
            "ReduceLogSum": lambda v, **k: np.log(v.sum(**k)),
            "ReduceLogSumExp": lambda v, **k: np.log(np.exp(v).sum(**k))}[op](x, axis=axis, keepdims=True)
    return d.node(op, want, axes=[axis])


def running(d):
    x, axis = d.x(d.n(2, 4), d.n(2, 9)), d.n(0, 1)
    d.const("axis", np.int64(axis))
    reverse, exclusive = d.n(0, 1), d.n(0, 1)
    v = np.flip(x, axis) if reverse else x
    v = np.cumsum(v, axis) - (v if exclusive else 0)
    return d.node("CumSum", np.flip(v, axis) if reverse else v, "x,axis", reverse=reverse, exclusive=exclusive)


def blocks(d):
    n, c, h, w, b = d.n(1, 2), d.n(1, 3), d.n(2, 4), d.n(2, 4), d.n(2, 3)
    if d.n(0, 1):
        x = d.x(n, c, h * b, w * b)
        want = x.reshape(n, c, h, b, w, b).transpose(0, 3, 5, 1, 2, 4).reshape(n, c * b * b, h, w)
        return d.node("SpaceToDepth", want, blocksize=b)
    mode, x = ["DCR", "CRD"][d.n(0, 1)], d.x(n, c * b * b, h, w)
    if mode == "DCR":
        want = x.reshape(n, b, b, c, h, w).transpose(0, 3, 4, 1, 5, 2)
    else:
        want = x.reshape(n, c, b, b, h, w).transpose(0, 1, 4, 2, 5, 3)
    return d.node("DepthToSpace", want.reshape(n, c, h * b, w * b), blocksize=b, mode=mode)


def triangle(d):
    x, upper = d.x(2, d.n(2, 6), d.n(2, 6)), d.n(0, 1)
    d.tables["triangle"] = (np.triu if upper else np.tril)(np.ones(x.shape[1:]))
    return d.node("Trilu", (np.triu if upper else np.tril)(x), upper=upper)


def transposed(d):
    groups, c, k, n = d.n(1, 2), d.n(1, 3), d.n(1, 3), d.n(1, 2)
    size, stride = [d.n(1, 4), d.n(1, 4)], [d.n(1, 3), d.n(1, 3)]
    x = d.x(n, groups * c, d.n(2, 4), d.n(2, 4))
    w, bias = d.x(groups * c, k, *size, name="w"), d.x(groups * k, name="b")
    pads = [d.n(0, (s - 1) // 2) for s in size] + [d.n(0, (s - 1) // 2) for s in size]
    more = [d.n(0, s - 1) for s in stride]
    full = [(x.shape[2 + i] - 1) * stride[i] + size[i] + more[i] for i in (0, 1)]
    out = np.zeros((n, groups * k, *full))
    for i in range(x.shape[2]):
        for j in range(x.shape[3]):
            for g in range(groups):
                out[:, g * k:g * k + k, i * stride[0]:i * stride[0] + size[0], j * stride[1]:j * stride[1] + size[1]] \
                    += np.einsum("nc,ckrs->nkrs", x[:, g * c:g * c + c, i, j], w[g * c:g * c + c])
    out = out[:, :, pads[0]:full[0] - pads[2], pads[1]:full[1] - pads[3]] + bias[:, None, None]
    return d.node("ConvTranspose", out, "x,w,b", group=groups, strides=stride, pads=pads, output_padding=more)


def convolution(d):
    groups, c, k = d.n(1, 2), d.n(1, 3), d.n(1, 3)
    x, w = d.x(2, groups * c, d.n(5, 8), d.n(5, 8)), d.x(groups * k, c, d.n(1, 3), d.n(1, 3), name="w")
    stride, dilation, pads = [d.n(1, 2), d.n(1, 2)], [d.n(1, 2), d.n(1, 2)], [d.n(0, 2) for _ in range(4)]
    auto = ["NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"][d.n(0, 3)]
    given = {"pads": pads} if auto == "NOTSET" else {"auto_pad": auto}
    if auto != "NOTSET":
        pads = [0] * 4
    for i in range(2 if auto.startswith("SAME") else 0):
        size = x.shape[2 + i]
        total = max(0, (-(-size // stride[i]) - 1) * stride[i] + (w.shape[2 + i] - 1) * dilation[i] + 1 - size)
        pads[i] = total // 2 if auto == "SAME_UPPER" else total - total // 2
        pads[2 + i] = total - pads[i]
    return d.node("Conv", conv(x, w, stride, pads, groups, dilation), "x,w", group=groups, strides=stride,
                  dilations=dilation, **given)


def quantized_convolution(d):
    x, w = d.q(1, 3, 6, 6, name="x", unsigned=True), d.q(4, 3, 3, 3, name="w", weight=True)
    d.const("xs", np.float32(0.5)), d.const("xz", np.uint8(4)), d.const("ys", np.float32(2.5))
    d.const("ws", d.rng.uniform(0.5, 1, 4).astype(np.float32)), d.const("wz", np.zeros(4, np.int8))
    d.const("yz", np.uint8(100))
    v = conv(x - 4, w, pads=(1, 1, 1, 1)) * 0.5 * d.weights["ws"].astype(float)[:, None, None] / 2.5
    d.slack = 1.001
    return d.node("QLinearConv", np.clip(np.round(v) + 100, 0, 255), "x,xs,xz,w,ws,wz,ys,yz", pads=[1, 1, 1, 1])


def integers(d):
    x, w = d.q(3, 5, name="x", unsigned=True), d.q(5, 4, name="w")
    d.const("xz", np.uint8(d.n(0, 5))), d.const("wz", np.int8(d.n(-3, 3)))
    return d.node("MatMulInteger", (x - d.weights["xz"]) @ (w - d.weights["wz"]), "x,w,xz,wz")


def quantized(d):
    if d.n(0, 1):
        x = d.q(2, 4, 3, name="x")
        d.const("s", d.rng.uniform(0.5, 2, 4).astype(np.float32)), d.const("z", np.arange(4).astype(np.int8))
        want = (x - np.arange(4)[:, None]) * d.weights["s"].astype(float)[:, None]
        return d.node("DequantizeLinear", want, "x,s,z")
    x = d.x(3, 4, low=-90, high=90)
    d.const("s", np.float32(0.51)), d.const("z", np.int8(3))
    d.slack = 1.001
    return d.node("QuantizeLinear", np.clip(np.round(x / float(np.float32(0.51))) + 3, -128, 127), "x,s,z")


def gemm(d):
    ta, tb, m, k, n = d.n(0, 1), d.n(0, 1), d.n(2, 5), d.n(2, 5), d.n(2, 5)
    a, b, c = d.x(*((k, m) if ta else (m, k))), d.x(*((n, k) if tb else (k, n)), name="y"), d.x(n, name="z")
    want = 0.5 * (a.T if ta else a) @ (b.T if tb else b) + 0.25 * c
    return d.node("Gemm", want, "x,y,z", transA=ta, transB=tb, alpha=0.5, beta=0.25)


def normalized(d):
    n, c, h = d.n(1, 3), 2 * d.n(1, 3), d.n(2, 5)
    x = d.x(n, c, h, 3)
    s, z = d.x(c, name="s"), d.x(c, name="z")
    kind = d.n(0, 6)
    if kind == 4:
        return d.node("MeanVarianceNormalization", norm(x, (0, 2, 3), 1e-9))
    if kind == 5:
        d.opset, groups = 18, c // 2
        s, z = d.x(groups, name="s"), d.x(groups, name="z")
        v = norm(x.reshape(n, groups, 2, h, 3), (2, 3, 4)) * s[:, None, None, None] + z[:, None, None, None]
        return d.node("GroupNormalization", v.reshape(x.shape), "x,s,z", num_groups=groups)
    if kind == 6:
        v = norm(x.reshape(n, c // 2, 2, h, 3), (2, 3, 4)).reshape(x.shape) * s[:, None, None] + z[:, None, None]
        d.given["x"] = np.ascontiguousarray(d.given["x"].transpose(0, 2, 3, 1))
        silu = d.n(0, 1)
        v = v * sigmoid(v) if silu else v
        return d.node("GroupNorm", v.transpose(0, 2, 3, 1), "x,s,z", True, groups=c // 2, activation=silu)
    if kind == 0:
        return d.node("InstanceNormalization", norm(x, (2, 3)) * s[:, None, None] + z[:, None, None], "x,s,z")
    if kind == 1:
        p = d.n(1, 2)
        length = abs(x).sum(1, keepdims=True) if p == 1 else np.sqrt((x * x).sum(1, keepdims=True))
        return d.node("LpNormalization", x / length, axis=1, p=p)
    if kind == 2:
        d.opset, axis = 11, d.n(0, 3)
        flat = x.reshape(math.prod(x.shape[:axis]), -1)
        return d.node("Softmax", softmax(flat, 1).reshape(x.shape), axis=axis)
    mean, var = d.x(c, name="m"), d.x(c, name="v", low=0.5, high=1)
    e = lambda v: v[:, None, None]
    return d.node("BatchNormalization", (x - e(mean)) / np.sqrt(e(var) + 1e-5) * e(s) + e(z), "x,s,z,m,v")


def padded(d):
    x = d.x(3, d.n(3, 6), 4)
    mode = ["constant", "edge", "reflect"][d.n(0, 2)]
    low, high = [d.n(0, 2) for _ in range(3)], [d.n(0, 2) for _ in range(3)]
    d.const("p", np.int64(low + high)), d.const("c", np.float32(1.5))
    more = {"constant_values": 1.5} if mode == "constant" else {}
    return d.node("Pad", np.pad(x, list(zip(low, high)), mode=mode, **more), "x,p,c" if more else "x,p", mode=mode)


def sliced(d):
    x = d.x(4, d.n(6, 9))
    start, end, step = d.n(-9, 9), d.n(-9, 9), d.n(1, 3) * (-1) ** d.n(0, 1)
    if not x[:, start:end:step].size:
        start, end = (x.shape[1], -99) if step < 0 else (0, 99)
    d.const("s", np.int64([start])), d.const("e", np.int64([end]))
    d.const("a", np.int64([1])), d.const("t", np.int64([step]))
    return d.node("Slice", x[:, start:end:step], "x,s,e,a,t")


def attention(d):
    heads, depth, n, s = d.n(1, 3), 2 * d.n(1, 3), d.n(1, 2), d.n(2, 5)
    width = heads * depth
    x, w, b = d.x(n, s, width), d.x(width, 3 * width, name="w"), d.x(3 * width, name="b")
    q, k, v = [rows(t, heads) for t in np.split(x @ w + b, 3, -1)]
    causal = d.n(0, 1)
    d.tables["causal_mask"] = mask = np.triu(np.full((s, s), -1e9), 1)
    return d.node("Attention", attended(q, k, v, mask if causal else 0), "x,w,b", True, num_heads=heads,
                  unidirectional=causal)


def heads_attention(d):
    heads, depth, n, s, t = d.n(1, 3), d.n(2, 4), d.n(1, 2), d.n(2, 5), d.n(2, 5)
    q, k = d.x(n, s, heads * depth), d.x(n, t, heads * depth, name="k")
    v, b = d.x(n, t, heads * depth, name="v"), d.x(3 * heads * depth, name="b")
    p = [rows(x + y, heads) for x, y in zip((q, k, v), np.split(b, 3))]
    return d.node("MultiHeadAttention", attended(*p), "x,k,v,b", True, num_heads=heads)


def rotary(d):
    heads, half, n, s, near = d.n(1, 2), d.n(1, 3), d.n(1, 2), d.n(2, 4), d.n(0, 1)
    x = d.x(n, s, heads * 2 * half)
    c, z = d.x(8, half, name="cos"), d.x(8, half, name="sin")
    d.given["p"] = at = d.rng.integers(0, 8, (n, s))
    d.tables["angles_2"], d.tables["angles_3"] = c[at][:, None], z[at][:, None]
    want = turned(rows(x, heads), c[at][:, None], z[at][:, None], near)
    return d.node("RotaryEmbedding", want.transpose(0, 2, 1, 3).reshape(x.shape), "x,p,cos,sin", True,
                  interleaved=near)


def group_attention(d):
    few, times, half, n, s, before = d.n(1, 2), d.n(1, 2), d.n(1, 2), d.n(1, 2), d.n(1, 4), d.n(1, 3)
    heads, depth, packed, turns, near = few * times, 2 * half, d.n(0, 1), d.n(0, 1), d.n(0, 1)
    if packed:
        x = d.x(n, s, (heads + 2 * few) * depth)
        parts, names = np.split(x, [heads * depth, (heads + few) * depth], -1), "x,,"
    else:
        parts = [d.x(n, s, (few if i else heads) * depth, name="xkv"[i]) for i in range(3)]
        names = "x,k,v"
    q, k, v = rows(parts[0], heads), rows(parts[1], few), rows(parts[2], few)
    pk, pv = d.x(n, few, before, depth, name="pk"), d.x(n, few, before, depth, name="pv")
    d.given["len"], d.given["all"] = np.zeros(n, np.int64), np.zeros(1, np.int64)
    names += ",pk,pv,len,all"
    if turns:
        d.x(8, half, name="cos"), d.x(8, half, name="sin")
        c, z = [d.rng.uniform(-1, 1, (n, 1, s, half)) for _ in range(2)]
        d.tables["angles_7"], d.tables["angles_8"] = c, z
        q, k, names = turned(q, c, z, near), turned(k, c, z, near), names + ",cos,sin"
    d.tables["causal_mask"] = mask = np.triu(np.full((s, before + s), -1e9), 1 + before)
    whole = [np.concatenate([pk, k], 2), np.concatenate([pv, v], 2)]
    cap = d.n(0, 2) / 2
    return d.node("GroupQueryAttention", attended(q, *whole, mask, cap), names, True, num_heads=heads, kv_num_heads=few,
                  softcap=cap, do_rotary=turns, rotary_interleaved=near)


def quantized_pair(d):
    x, y, op = d.q(3, 4, name="x"), d.q(3, 4, name="y"), d.n(0, 1)
    for name, scale, zero in (("x", .5, 2), ("y", .25, -1), ("o", .75, 3)):
        d.const(name + "s", np.float32(scale)), d.const(name + "z", np.int8(zero))
    a, b = (x - 2) * .5, (y + 1) * .25
    d.slack = 1.001
    want = np.clip(np.round((a * b if op else a + b) / .75) + 3, -128, 127)
    return d.node("QLinearMul" if op else "QLinearAdd", want, "x,xs,xz,y,ys,yz,os,oz", True)


def quantized_map(d):
    x = d.q(2, 3, 4, 4, name="x", unsigned=True)
    op = ["QLinearSigmoid", "QLinearLeakyRelu", "QLinearGlobalAveragePool"][d.n(0, 2)]
    d.const("xs", np.float32(.5)), d.const("xz", np.uint8(4)), d.const("os", np.float32(.25)), d.const("oz", np.uint8(1))
    a = (x - 4) * .5
    want = {"QLinearSigmoid": sigmoid, "QLinearLeakyRelu": lambda v: np.where(v < 0, .2 * v, v),
            "QLinearGlobalAveragePool": lambda v: v.mean((2, 3), keepdims=True)}[op](a)
    d.slack = 1.001
    more = {"alpha": .2} if "Leaky" in op else {}
    return d.node(op, np.clip(np.round(want / .25) + 1, 0, 255), "x,xs,xz,os,oz", True, **more)


def quantized_concat(d):
    x, y = d.q(2, d.n(1, 3), name="x"), d.q(2, d.n(1, 3), name="y")
    for name, scale, zero in (("x", .5, 2), ("y", .25, -1), ("o", .75, 3)):
        d.const(name + "s", np.float32(scale)), d.const(name + "z", np.int8(zero))
    want = np.concatenate([(x - 2) * .5, (y + 1) * .25], 1)
    d.slack = 1.001
    return d.node("QLinearConcat", np.clip(np.round(want / .75) + 3, -128, 127), "os,oz,x,xs,xz,y,ys,yz", True, axis=1)


def quantized_product(d):
    x, w = d.q(3, 5, name="x", unsigned=True), d.q(5, 4, name="w")
    d.const("xs", np.float32(.5)), d.const("xz", np.uint8(4)), d.const("ys", np.float32(2)), d.const("yz", np.uint8(9))
    d.const("ws", np.float32([.5, .25, 1, 2])), d.const("wz", np.int8([0, 1, -1, 2]))
    want = (x - 4) * .5 @ ((w - d.weights["wz"]) * d.weights["ws"])
    d.slack = 1.001
    return d.node("QLinearMatMul", np.clip(np.round(want / 2) + 9, 0, 255), "x,xs,xz,w,ws,wz,ys,yz")


def quantized_gemm(d):
    m, k, n, ta, tb, ends = d.n(1, 3), d.n(1, 4), d.n(1, 3), d.n(0, 1), d.n(0, 1), d.n(0, 1)
    x, w = d.q(*((k, m) if ta else (m, k)), name="x", unsigned=True), d.q(*((n, k) if tb else (k, n)), name="w")
    for name, value in (("xs", np.float32(.5)), ("xz", np.uint8(4)), ("ws", np.float32(.25)), ("wz", np.int8(1)),
                        ("c", d.rng.integers(-9, 9, n).astype(np.int64)), ("ys", np.float32(2)), ("yz", np.uint8(9))):
        d.const(name, value)
    a, b = x - 4, w - 1
    v = (0.5 * .25 * ((a.T if ta else a) @ (b.T if tb else b) + d.weights["c"])) * .5
    d.slack = 1.001 if ends else 0
    want = np.clip(np.round(v / 2) + 9, 0, 255) if ends else v
    return d.node("QGemm", want, "x,xs,xz,w,ws,wz,c" + (",ys,yz" if ends else ""), True, transA=ta, transB=tb, alpha=.5)


def channels_last(d):
    x, w = d.x(2, 5, 6, 4), d.x(6, d.n(1, 3), d.n(1, 3), 2, name="w")
    v = conv(x.transpose(0, 3, 1, 2), w.transpose(0, 3, 1, 2), pads=(1, 0, 1, 0), groups=2)
    return d.node("NhwcConv", v.transpose(0, 2, 3, 1), "x,w", True, group=2, pads=[1, 0, 1, 0])


def embedded(d):
    n, s, h = d.n(1, 2), d.n(1, 4), d.n(2, 5)
    d.given["x"] = d.rng.integers(0, 9, (n, s))
    tables, found = [d.x(9, h, name=name) for name in "wpt"], []
    d.given["t_at"] = d.rng.integers(0, 2, (n, s))
    places = [d.given["x"], np.broadcast_to(np.arange(s), (n, s)), d.given["t_at"]]
    for name, table, at in zip("wpt", tables, places):
        d.tables[f"{name}_rows"] = table[at]
        found.append(table[at])
    g, z = d.x(h, name="g"), d.x(h, name="z")
    return d.node("EmbedLayerNormalization", norm(sum(found), -1) * g + z, "x,t_at,w,p,t,g,z", True, epsilon=1e-5)


def masked_attention(d):
    heads, depth, n, s, kind = d.n(1, 2), d.n(1, 3), d.n(1, 3), d.n(2, 5), d.n(0, 2)
    width = heads * depth
    x, w = d.x(n, s, width), d.x(width, 3 * width, name="w")
    keep = d.rng.integers(0, 2, (n, s, s) if kind == 2 else (n, s))
    keep[..., 0] = 1
    if kind == 0:
        d.given["m"] = lengths = d.rng.integers(1, s + 1, n)
        d.tables["count"] = np.arange(s)
        keep = (np.arange(s) < lengths[:, None]) * 1
    else:
        d.given["m"] = keep
    mask = (keep - 1) * 1e4
    mask = mask[:, None] if kind == 2 else mask[:, None, None]
    q, k, v = [rows(t, heads) for t in np.split(x @ w, 3, -1)]
    return d.node("Attention", attended(q, k, v, mask), "x,w,,m", True, num_heads=heads)


def scattered(d):
    """Of a cache only what is written into it is copied; what reads the cache reads it as before."""
    x, u = d.x(6, 3), d.x(2, 3, name="u")
    d.also = {"clone": u}
    if d.n(0, 1):
        d.given["i"] = np.int64([[4], [1]])
        return d.node("ScatterND", x, "x,i,u")
    d.given["i"] = np.zeros((2, 3), np.int64)
    return d.node("ScatterElements", x, "x,i,u", axis=0)


def skipped(d):
    x, y, g, z, b = d.x(3, 6), d.x(3, 6, name="y"), d.x(6, name="g"), d.x(6, name="z"), d.x(6, name="b")
    if d.n(0, 1):
        return d.node("SkipLayerNormalization", norm(x + y + b, -1) * g + z, "x,y,g,z,b", True, epsilon=1e-5)
    v = x + y + b
    want = v / np.sqrt((v * v).mean(-1, keepdims=True) + 1e-5) * g
    return d.node("SkipSimplifiedLayerNormalization", want, "x,y,g,b", True, epsilon=1e-5)


def fused(d):
    x, y = d.x(2, 4, 3), d.x(3, name="y")
    kind = d.n(0, 7)
    if kind == 0:
        return d.node("BiasGelu", MAPS["gelu"](x + y), "x,y", True)
    if kind == 1:
        return d.node("QuickGelu", x * sigmoid(1.702 * x), "x", True, alpha=1.702)
    if kind == 3:
        z = d.x(4, 3, name="z")
        return d.node("BiasAdd", x + y + z, "x,y,z", True)
    if kind == 4:
        x, y = d.x(2, 3, 4), d.x(4, name="y")
        return d.node("BiasSplitGelu", (x + y)[..., :2] * MAPS["gelu"]((x + y)[..., 2:]), "x,y", True)
    if kind == 5:
        d.opset, to = 18, [d.n(1, 6), d.n(1, 6)]
        d.const("to", np.int64(to))
        for h in (0, 1):
            size = x.shape[h + 1]
            low = max(size - to[h], 0) // 2
            part = x.take(range(low, low + min(size, to[h])), h + 1)
            more = max(to[h] - size, 0)
            x = np.pad(part, [(more // 2, more - more // 2) if k == h + 1 else (0, 0) for k in range(3)])
        return d.node("CenterCropPad", x, "x,to", axes=[1, 2])
    if kind == 6:
        p, x = d.n(1, 2), d.x(1, 2, 5)
        w = np.stack([x[..., i:i + 4] for i in (0, 1)], -1)
        return d.node("LpPool", abs(w).sum(-1) if p == 1 else np.sqrt((w * w).sum(-1)), kernel_shape=[2], p=p)
    z = d.x(2, 5, 3, name="z")
    return d.node("FusedMatMul", 0.5 * x @ z.transpose(0, 2, 1), "x,z", True, transB=1, alpha=0.5)


def resized(d):
    x = d.x(1, 2, d.n(2, 5), d.n(2, 5))
    d.opset = 10 if d.n(0, 3) == 0 else 18 if d.n(0, 1) else 13
    kind = ["linear", "nearest", "cubic"][d.n(0, 1 if d.opset == 10 else 2)]
    mode = "asymmetric" if d.opset == 10 else ["half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel"][d.n(0, 3)]
    rounds = "floor" if d.opset == 10 else ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"][d.n(0, 3)]
    to = [x.shape[2 + i] * d.n(1, 3) if d.opset == 10 or d.n(0, 1) else d.n(1, 7) for i in (0, 1)]
    table, used = [], []
    for i in (0, 1):
        n, m = x.shape[2 + i], to[i]
        o = np.arange(m)
        at = {"align_corners": o * (n - 1) / max(m - 1, 1), "asymmetric": o * n / m}.get(mode, (o + .5) * n / m - .5)
        at = np.zeros(1) if mode == "pytorch_half_pixel" and m == 1 else at
        weights = np.zeros((m, n))
        if kind == "nearest":
            put = {"floor": np.floor, "ceil": np.ceil, "round_prefer_floor": lambda v: np.ceil(v - .5)}.get(
                rounds, lambda v: np.floor(v + .5))(np.round(at, 9))
            weights[o, np.clip(put, 0, n - 1).astype(int)] = 1
        for tap in range(-1, 3) if kind == "cubic" else (0, 1) if kind == "linear" else ():
            far = abs(at - np.floor(at) - tap)
            part = 1 - far if kind == "linear" else np.where(
                far < 1, (1.25 * far - 2.25) * far * far + 1, ((-.75 * far + 3.75) * far - 6) * far + 3)
            np.add.at(weights, (o, np.clip(np.floor(at).astype(int) + tap, 0, n - 1)), part)
        weights = np.eye(n) if n == m else weights
        table.append(weights)
        whole = m % n == 0 and (kind == "linear" and mode != "align_corners")
        seats = weights.argmax(1)
        even = kind == "nearest" and (np.array_equal(seats, o // max(m // n, 1)) and m % n == 0 or
                                      m < n and (m == 1 or seats[1] > seats[0]) and
                                      np.array_equal(seats, seats[0] + o * (seats[min(m - 1, 1)] - seats[0])))
        used += [] if n == m or whole or even else [weights]
    for i, weights in enumerate(used):
        d.tables["resize_weights_2" if i else "resize_weights"] = weights
    want = np.einsum("ab,ncbd,ed->ncae", table[0], x, table[1])
    more = {"coordinate_transformation_mode": mode, "nearest_mode": rounds} if d.opset > 10 else {}
    if d.opset == 10:
        d.const("scales", np.float32([1, 1, *[m / n for n, m in zip(x.shape[2:], to)]]))
        return d.node("Resize", want, "x,scales", mode=kind)
    if d.opset == 18 and d.n(0, 1):
        d.const("sizes", np.int64(to[::-1]))
        return d.node("Resize", want, "x,,,sizes", mode=kind, axes=[3, 2], **more)
    d.const("sizes", np.int64([1, 2, *to]))
    return d.node("Resize", want, "x,,,sizes", mode=kind, **more)


def packed_attention(d):
    heads, depth, n, s, t = d.n(1, 3), d.n(2, 4), d.n(1, 2), d.n(2, 4), d.n(2, 4)
    if d.n(0, 1):
        x = d.x(n, s, heads, 3, depth)
        return d.node("MultiHeadAttention", attended(*[x[:, :, :, i].transpose(0, 2, 1, 3) for i in range(3)]), "x", True,
                      num_heads=heads)
    q, y = d.x(n, s, heads * depth), d.x(n, t, heads, 2, depth, name="y")
    k, v = [y[:, :, :, i].transpose(0, 2, 1, 3) for i in range(2)]
    return d.node("MultiHeadAttention", attended(rows(q, heads), k, v), "x,y", True, num_heads=heads)


def einsums(d):
    text, shapes = [("ij,jk,kl->il", [(2, 3), (3, 4), (4, 2)]), ("...ij,jk->...ki", [(2, 2, 3), (3, 4)]),
                    ("ba,b", [(3, 2), (3,)]), ("ijk->ki", [(2, 3, 4)]), ("bhd,bd,d->bh", [(2, 3, 4), (2, 4), (4,)]),
                    ("abc->cab", [(2, 3, 4)])][d.n(0, 5)]
    parts = [d.x(*shape, name=name) for shape, name in zip(shapes, "xyz")]
    return d.node("Einsum", np.einsum(text, *parts), ",".join("xyz"[:len(parts)]), equation=text)


def special(d):
    x = d.x(2, 5)
    op = ["IsInf", "IsNaN"][d.n(0, 1)]
    d.given["x"].flat[:3] = [np.inf, -np.inf, np.nan]
    x = d.given["x"].astype(float)
    more = {"detect_positive": d.n(0, 1), "detect_negative": 1} if op == "IsInf" else {}
    want = np.isnan(x) if op == "IsNaN" else np.isinf(x) if more["detect_positive"] else np.isneginf(x)
    return d.node(op, want, **more)


def function(d):
    """A function of a function, with an attribute of its call."""
    x, y, slope = d.x(2, 3), d.x(2, 3, name="y"), d.n(1, 4) / 8
    leaky = H.make_node("LeakyRelu", ["a"], ["t"])
    ref = leaky.attribute.add()
    ref.name, ref.ref_attr_name, ref.type = "alpha", "slope", onnx.AttributeProto.FLOAT
    sets = [H.make_opsetid("", 17), H.make_opsetid("own", 1)]
    inner = H.make_function("own", "Bend", ["a"], ["b"], [leaky, H.make_node("Neg", ["t"], ["b"])], sets, ["slope"])
    call = H.make_node("Bend", ["p"], ["t"], domain="own", slope=slope)
    outer = H.make_function("own", "Both", ["p", "q"], ["r"], [call, H.make_node("Add", ["t", "q"], ["r"])], sets)
    d.functions = [inner, outer]
    made = d.node("Both", -np.where(x < 0, slope * x, x) + y, "x,y")
    made.domain = "own"
    return made


def branches(d):
    x, yes = d.x(2, 3), d.n(0, 1)
    d.const("c", np.bool_(yes))
    out = lambda name: [H.make_tensor_value_info(name, T.FLOAT, (2, 3))]
    a = H.make_graph([H.make_node("Exp", ["x"], ["t"]), H.make_node("Neg", ["t"], ["a"])], "a", [], out("a"))
    b = H.make_graph([H.make_node("Sin", ["x"], ["t"]), H.make_node("Abs", ["t"], ["b"])], "b", [], out("b"))
    return d.node("If", -np.exp(x) if yes else abs(np.sin(x)), "c", then_branch=a, else_branch=b)


def loops(d):
    x, y, times = d.x(2, 3), d.x(2, 3, name="y"), d.n(1, 3)
    d.const("m", np.int64(times)), d.const("go", np.bool_(True))
    info = lambda name, kind, shape: H.make_tensor_value_info(name, kind, shape)
    body = H.make_graph([H.make_node("Identity", ["on"], ["still"]), H.make_node("Mul", ["v", "y"], ["t"]),
                         H.make_node("Tanh", ["t"], ["next"])], "body",
                        [info("i", T.INT64, ()), info("on", T.BOOL, ()), info("v", T.FLOAT, (2, 3))],
                        [info("still", T.BOOL, ()), info("next", T.FLOAT, (2, 3))])
    for _ in range(times):
        x = np.tanh(x * y)
    return d.node("Loop", x, "m,go,x", body=body)


def picked(d):
    x, axis = d.x(3, d.n(3, 5), 2), d.n(0, 1)
    at = d.rng.integers(-x.shape[axis], x.shape[axis], (2, 2))
    d.const("i", at.astype(np.int64))
    d.before = [H.make_node("Tanh", ["x"], ["y"])]
    return d.node("Gather", np.take(np.tanh(x), at, axis), "y,i", axis=axis)


def one_hot(d):
    d.given["x"] = at = d.rng.integers(0, 5, (2, 3))
    d.const("depth", np.int64(5)), d.const("both", np.float32([-1, 2]))
    d.tables["count"] = np.arange(5)
    return d.node("OneHot", np.where(at[..., None] == np.arange(5), 2, -1), "x,depth,both")


def joined(d):
    """Lists that begin alike, as those of dense blocks do, and lists of many parts."""
    if d.n(0, 1):
        x, times = d.x(2, 3), d.n(3, 12)
        return d.node("Concat", np.concatenate([x] * times, 1), ",".join(["x"] * times), axis=1)
    parts = [d.x(2, d.n(1, 4), name=name) for name in "xyz"]
    d.before = [H.make_node("Concat", ["x", "y"], ["p"], axis=1)]
    return d.node("Concat", np.concatenate([*parts, *parts[:2]], 1), "x,y,z,p", axis=1)


def recurrent(d):
    op = ["LSTM", "GRU", "RNN"][d.n(0, 2)]
    gates = {"LSTM": 4, "GRU": 3, "RNN": 1}[op]
    steps, batch, inputs, h = d.n(1, 9), d.n(1, 3), d.n(1, 4), d.n(1, 4)
    way = ["forward", "reverse", "bidirectional"][d.n(0, 2)]
    ways = 2 if way == "bidirectional" else 1
    x = d.x(steps, batch, inputs)
    w, r = [d.x(ways, gates * h, n, name=name) for n, name in ((inputs, "w"), (h, "r"))]
    bias = d.x(ways, 2 * gates * h, name="b") if d.n(0, 1) else np.zeros((ways, 2 * gates * h))
    given = op != "RNN" and d.n(0, 1)
    state = d.x(ways, batch, h, name="h") if given else np.zeros((ways, batch, h))
    cell = d.x(ways, batch, h, name="c") if given and op == "LSTM" else np.zeros((ways, batch, h))
    after, relu = d.n(0, 1), op == "RNN" and d.n(0, 1)
    out = np.zeros((steps, ways, batch, h))
    for k in range(ways):
        s, c, (wb, rb) = state[k], cell[k], np.split(bias[k], 2)
        for t in range(steps)[::-1 if way == "reverse" or k else 1]:
            a, p = x[t] @ w[k].T + wb, s @ r[k].T + rb
            if op == "LSTM":
                i, o, f, g = np.split(a + p, 4, 1)
                c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
                s = sigmoid(o) * np.tanh(c)
            elif op == "GRU":
                (az, ar, ah), (pz, pr, ph) = np.split(a, 3, 1), np.split(p, 3, 1)
                z, g = sigmoid(az + pz), sigmoid(ar + pr)
                n = np.tanh(ah + (g * ph if after else (g * s) @ r[k][2 * h:].T + rb[2 * h:]))
                s = (1 - z) * n + z * s
            else:
                s = np.maximum(a + p, 0) if relu else np.tanh(a + p)
            out[t, k] = s
    more = {"linear_before_reset": after} if op == "GRU" else {}
    more.update({"activations": ["Relu" if relu else "Tanh"] * ways} if op == "RNN" else {})
    names = "x,w,r," + ("b" if "b" in d.given else "") + (",,h" if given else "") + (",c" if "c" in d.given else "")
    made = d.node(op, out, names, hidden_size=h, direction=way, **more)
    if d.n(0, 1):
        made.output.insert(0, ""), made.output.pop(), made.output.append("made")
        d.want = np.stack([out[0 if way == "reverse" or k else -1, k] for k in range(ways)])
    return made


def folded(d):
    """Arithmetic of constants, whose result is a tensor in memory: masks and lists, as exporters write them."""
    names = iter(f"k{i}" for i in range(99))

    def add(op, inputs, **more):
        d.before.append(H.make_node(op, inputs, [name := next(names)], **more))
        return name

    const = lambda value: add("Constant", [], value=numpy_helper.from_array(np.asarray(value)))
    v = d.rng.integers(-3, 9, (d.n(1, 3), d.n(2, 4)))
    at = const(v)
    for _ in range(d.n(1, 4)):
        kind = d.n(0, 11)
        if kind == 0:
            at, v = add("Transpose", [at], perm=[1, 0]), v.T
        elif kind == 1:
            at, v = add("Slice", [at, *map(const, ([-1], [-99], [0], [-1]))]), v[::-1]
        elif kind == 2:
            at, v = add("Reshape", [at, const([-1, 1])]), v.reshape(-1, 1)
        elif kind == 3:
            shape = (v.shape[0] if v.shape[0] > 1 else 3, v.shape[1])
            at, v = add("Expand", [at, add("Concat", [const([shape[0]]), const([1])], axis=0)]), np.broadcast_to(v, shape)
        elif kind == 4:
            pick, axis = d.rng.integers(-v.shape[0], v.shape[0], (2,)), d.n(0, 1)
            pick = pick % v.shape[axis]
            at, v = add("Gather", [at, const(pick)], axis=axis), np.take(v, pick, axis)
        elif kind == 5:
            at, v = add("Where", [add("Less", [at, const(3)]), at, const([[-4]])]), np.where(v < 3, v, -4)
        elif kind == 6:
            v = v.copy()
            v[0, 1:] = 7
            places = np.int64([[0, i] for i in range(1, v.shape[1])]).reshape(-1, 2)
            if len(places):
                at = add("ScatterND", [at, const(places), const(np.full(len(places), 7))])
        elif kind == 7:
            row = np.arange(v.shape[1])
            at, v = add("Sub", [at, add("Range", [const(0), const(v.shape[1]), const(1)])]), v - row
        elif kind == 8:
            at, v = add("Div", [at, const(-2)]), np.trunc(v / -2).astype(int)
        elif kind == 9:
            at, v = add("Mod", [at, const(3)]), v % 3
        elif kind == 10:
            at, v = add("Concat", [at, at], axis=0), np.concatenate([v, v])
        else:
            n = add("Squeeze", [add("Gather", [add("Shape", [at]), const([0])])])
            fill = add("ConstantOfShape", [add("Shape", [at])], value=H.make_tensor("v", T.INT64, [1], [2]))
            at, v = add("Mul", [add("Pow", [add("Add", [at, n]), fill]), const([[3]])]), (v + v.shape[0]) ** 2 * 3
    x = d.x(*v.shape)
    at = add("Cast", [at], to=T.FLOAT)
    d.tables[at] = v
    return d.node("Add", x + v, f"x,{at}")


KINDS = [unary, inverse, mod, many, extreme, reduced, running, blocks, triangle, transposed, convolution,
         quantized_convolution, integers, quantized, gemm, normalized, padded, sliced, attention, heads_attention,
         rotary, group_attention, quantized_pair, quantized_map, quantized_concat, quantized_product, scattered, skipped,
         fused, resized, packed_attention, einsums, special, function, branches, loops, picked, one_hot, folded, joined, recurrent, quantized_gemm,
         channels_last, embedded, masked_attention]


def save(d, node, path):
    kind = {np.dtype(np.float32): T.FLOAT, np.dtype(np.int64): T.INT64, np.dtype(np.int8): T.INT8,
            np.dtype(np.uint8): T.UINT8, np.dtype(bool): T.BOOL}
    graph = H.make_graph([*d.before, node, H.make_node("Neg", ["made"], ["out"])], "g", [H.make_tensor_value_info(k, kind[v.dtype], v.shape)
                                       for k, v in d.given.items()],
                         [H.make_tensor_value_info("out", T.FLOAT, d.want.shape)],
                         [numpy_helper.from_array(v, k) for k, v in d.weights.items()])
    onnx.save(H.make_model(graph, opset_imports=[H.make_opsetid("", d.opset), H.make_opsetid("com.microsoft", 1),
                                               H.make_opsetid("own", 1)], functions=d.functions), path)


def check(program, folder, rng, kind):
    d = Draw(rng)
    d.slack, d.also, d.functions, d.before = 0, {}, [], []
    node = kind(d)
    save(d, node, f"{folder}/m.onnx")
    said = compare(program, f"{folder}/m.onnx", {**d.tables, **d.given, **d.weights}, d.want, d.slack, d.also)
    return said and f"{d.op}: {said}"


if __name__ == "__main__":
    main(KINDS, check)

#!/usr/bin/python3
"""Random ONNX ops: numbers of the imported graph against numpy.

onnx_values.py PROGRAM SEED DRAWS writes one-op models of random shapes, imports each, computes the text of the
workload element by element, and compares with numpy within 1e-4 of the greatest number.  It prints what differs
and ends with 1, or with 77 if python3-onnx is missing.
"""
import math, re, subprocess, sys, tempfile
try:
    import numpy as np, onnx
    from onnx import TensorProto as T, helper as H, numpy_helper
except ImportError as missing:
    print("python3-onnx:", missing)
    sys.exit(77)

np.seterr(all="ignore")
erf = np.vectorize(math.erf)
sigmoid = lambda x: 1 / (1 + np.exp(-x))
MAPS = {"clone": lambda a: a, "exp": np.exp, "log": np.log, "rsqrt": lambda a: 1 / np.sqrt(a), "sqrt": np.sqrt,
        "reciprocal": lambda a: 1 / a, "neg": lambda a: -a, "abs": np.abs, "relu": lambda a: np.maximum(a, 0),
        "sigmoid": sigmoid, "silu": lambda a: a * sigmoid(a), "tanh": np.tanh, "sin": np.sin, "cos": np.cos,
        "gelu": lambda a: a * (1 + erf(a / math.sqrt(2))) / 2, "erf": erf, "tan": np.tan, "atan": np.arctan,
        "floor": np.floor, "ceil": np.ceil, "round": np.round, "sign": np.sign,
        "hardswish": lambda a: a * np.clip(a / 6 + 0.5, 0, 1),
        "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "pow": np.power,
        "maximum": np.maximum, "minimum": np.minimum, "eq": np.equal, "ne": np.not_equal, "lt": np.less,
        "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal,
        "where": lambda c, a: np.where(c != 0, a, 0), "unless": lambda c, a: np.where(c != 0, 0, a)}
SIGNS = {"+": "add", "-": "sub", "*": "mul", "/": "div"}
REDUCTIONS = {"sum": (np.sum, 0), "mean": (np.mean, 0), "max": (np.max, -np.inf), "min": (np.min, np.inf)}
OPERAND = r"(?:pad )?[A-Za-z_]\w*\[[^\]]*\]|-?[\d.]+(?:e[-+]?\d+)?"


class Text:
    """The workload that an import wrote, computed op by op."""

    def __init__(self, text, tables):
        self.extent = {k: int(v) for k, v in re.findall(r"(\w+): (\d+)",
                                                        re.search(r"dimensions: \{(.*)\}", text)[1])}
        self.shape = {k: [int(n) for n in s.split(",")] for k, s in
                      re.findall(r"^    (\w+): \{.*shape: \[([\d, ]*)\]", text, re.M)}
        self.dtype = dict(re.findall(r"^    (\w+): \{dtype: (\w+)", text, re.M))
        self.tables, self.values = tables, {}
        self.ops = re.findall(r'^    - ("|{opaque: reshape)(.*)["}]$', text, re.M)

    def read(self, name):
        if name not in self.values:
            found = [make for stem, make in self.tables.items() if re.fullmatch(stem + r"(_\d+)?", name)]
            self.values[name] = np.asarray(found[0], float).reshape(self.shape[name])
        return self.values[name]

    def index(self, text, loops):
        total = 0
        for sign, factor, word in re.findall(r"([-+]?) ?(?:(\d+)\*)?(\w+)", text):
            if word.isdigit():
                term = int(word)
            else:
                at = loops.index(word)
                term = np.arange(self.extent[word]).reshape([-1 if i == at else 1 for i in range(len(loops))])
            total = total + (-1 if sign == "-" else 1) * int(factor or 1) * term
        return total

    def operand(self, text, loops, outside):
        if "[" not in text:
            return float(text)
        name, inside = re.fullmatch(r"(?:pad )?(\w+)\[([^\]]*)\]", text).groups()
        data, at, good = self.read(name), [], True
        for h, part in enumerate(inside.split(",")):
            i = self.index(part.strip(), loops)
            good = good & ((0 <= i) & (i < data.shape[h]))
            at.append(np.clip(i, 0, data.shape[h] - 1))
        assert text.startswith("pad") or np.all(good), text
        return np.where(good, data[tuple(at)], outside)

    def run(self):
        for kind, op in self.ops:
            if kind != '"':  # a copy in another shape
                source, copy = re.findall(r'"(\w+)\[', op)
                self.values[copy] = self.read(source).reshape(self.shape[copy])
                continue
            left, right = op.split(" = ", 1)
            name, inside = re.fullmatch(r"(\w+)\[([^\]]*)\]", left).groups()
            loops = [w for w in re.findall(r"[A-Za-z_]\w*", inside)]
            shape = [self.extent[w] for w in loops]
            reduction = re.match(r"(sum|mean|max|min)\(([\w, ]+)\) ", right)
            inner = reduction[2].split(", ") if reduction else []
            reduce, outside = REDUCTIONS[reduction[1]] if reduction else (None, 0)
            parts = [self.operand(p, loops + inner, outside)
                     for p in re.findall(OPERAND, right[reduction.end():] if reduction else
                                         re.sub(r"^\w+\(", "", right))]
            whole = shape + [self.extent[w] for w in inner]
            if reduction:
                value = np.broadcast_to(math.prod(parts[1:], start=parts[0]), whole)
                value = reduce(value, axis=tuple(range(len(loops), len(whole))))
            else:
                word = re.match(r"(\w+)\(", right)
                sign = re.search(r"\]\s+([-+*/])\s|[\d]\s+([-+*/])\s+\w+\[", re.sub(r"\[[^\]]*\]", "[]", right))
                f = word[1] if word else SIGNS[sign[1] or sign[2]] if len(parts) > 1 else "clone"
                assert f != "where" or self.dtype[name] != "bool", op
                value = np.broadcast_to(MAPS[f](*parts), shape)
            out = self.values.setdefault(name, np.zeros(self.shape[name]))
            out[tuple(np.broadcast_to(self.index(p.strip(), loops), shape) for p in inside.split(","))] = value


def softmax(x, axis):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def norm(x, axes, epsilon=1e-5):
    d = x - x.mean(axis=axes, keepdims=True)
    return d / np.sqrt((d * d).mean(axis=axes, keepdims=True) + epsilon)


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


def conv(x, w, stride=(1, 1), pads=(0, 0, 0, 0), groups=1, dilation=(1, 1)):
    x = np.pad(x, [(0, 0), (0, 0), (pads[0], pads[2]), (pads[1], pads[3])])
    r, s = [(w.shape[2 + d] - 1) * dilation[d] + 1 for d in (0, 1)]
    p, q = (x.shape[2] - r) // stride[0] + 1, (x.shape[3] - s) // stride[1] + 1
    k, c = w.shape[0] // groups, w.shape[1]
    out = np.zeros((x.shape[0], w.shape[0], p, q))
    for i in range(p):
        for j in range(q):
            box = x[:, :, i * stride[0]:i * stride[0] + r:dilation[0], j * stride[1]:j * stride[1] + s:dilation[1]]
            for g in range(groups):
                out[:, g * k:g * k + k, i, j] = np.einsum("ncrs,kcrs->nk", box[:, g * c:g * c + c],
                                                          w[g * k:g * k + k])
    return out


UNARY = {"Softplus": lambda x: np.log1p(np.exp(x)), "Mish": lambda x: x * np.tanh(np.log1p(np.exp(x))),
         "Elu": lambda x: np.where(x < 0, 0.7 * np.expm1(x), x),
         "Celu": lambda x: np.maximum(x, 0) + np.minimum(0, 0.7 * np.expm1(x / 0.7)),
         "Selu": lambda x: 1.0507009873554805 * np.where(x < 0, 1.6732632423543772 * np.expm1(x), x),
         "LeakyRelu": lambda x: np.where(x < 0, 0.7 * x, x), "HardSigmoid": lambda x: np.clip(0.7 * x + 0.5, 0, 1),
         "HardSwish": MAPS["hardswish"], "Softsign": lambda x: x / (1 + abs(x)),
         "ThresholdedRelu": lambda x: np.where(x > 0.7, x, 0), "Sinh": np.sinh, "Cosh": np.cosh, "Asinh": np.arcsinh,
         "Atan": np.arctan, "Sign": np.sign, "Floor": np.floor, "Ceil": np.ceil, "Round": np.round, "Tan": np.tan,
         "Erf": erf, "Reciprocal": lambda x: 1 / x, "Identity": lambda x: x}


def unary(d):
    op = sorted(UNARY)[d.n(0, len(UNARY) - 1)]
    x = d.x(d.n(1, 4), d.n(2, 9), low=-1.5, high=1.5)
    alpha = {"alpha": 0.7} if op in ("Elu", "Celu", "LeakyRelu", "HardSigmoid", "ThresholdedRelu") else {}
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
    op = ["ReduceProd", "ReduceL1", "ReduceL2", "ReduceLogSumExp", "ReduceSumSquare", "ReduceMean"][d.n(0, 5)]
    want = {"ReduceProd": np.prod, "ReduceL1": lambda v, **k: abs(v).sum(**k), "ReduceMean": np.mean,
            "ReduceL2": lambda v, **k: np.sqrt((v * v).sum(**k)), "ReduceSumSquare": lambda v, **k: (v * v).sum(**k),
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
    kind = d.n(0, 3)
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


def rows(x, d, heads):
    return x.reshape(x.shape[0], x.shape[1], heads, -1).transpose(0, 2, 1, 3)


def attended(q, k, v, mask=0, cap=0):
    k, v = [np.repeat(t, q.shape[1] // t.shape[1], 1) for t in (k, v)]
    s = q @ k.transpose(0, 1, 3, 2) / math.sqrt(q.shape[3])
    s = softmax((cap * np.tanh(s / cap) if cap else s) + mask, -1) @ v
    return s.transpose(0, 2, 1, 3).reshape(q.shape[0], q.shape[2], -1)


def attention(d):
    heads, depth, n, s = d.n(1, 3), 2 * d.n(1, 3), d.n(1, 2), d.n(2, 5)
    width = heads * depth
    x, w, b = d.x(n, s, width), d.x(width, 3 * width, name="w"), d.x(3 * width, name="b")
    q, k, v = [rows(t, d, heads) for t in np.split(x @ w + b, 3, -1)]
    causal = d.n(0, 1)
    d.tables["causal_mask"] = mask = np.triu(np.full((s, s), -1e9), 1)
    return d.node("Attention", attended(q, k, v, mask if causal else 0), "x,w,b", True, num_heads=heads,
                  unidirectional=causal)


def heads_attention(d):
    heads, depth, n, s, t = d.n(1, 3), d.n(2, 4), d.n(1, 2), d.n(2, 5), d.n(2, 5)
    q, k = d.x(n, s, heads * depth), d.x(n, t, heads * depth, name="k")
    v, b = d.x(n, t, heads * depth, name="v"), d.x(3 * heads * depth, name="b")
    p = [rows(x + y, d, heads) for x, y in zip((q, k, v), np.split(b, 3))]
    return d.node("MultiHeadAttention", attended(*p), "x,k,v,b", True, num_heads=heads)


def turned(x, c, s, neighbours):
    half = c.shape[-1]
    a, b = (x[..., 0::2], x[..., 1::2]) if neighbours else (x[..., :half], x[..., half:])
    parts = [a * c - b * s, b * c + a * s]
    return np.stack(parts, -1).reshape(x.shape) if neighbours else np.concatenate(parts, -1)


def rotary(d):
    heads, half, n, s, near = d.n(1, 2), d.n(1, 3), d.n(1, 2), d.n(2, 4), d.n(0, 1)
    x = d.x(n, s, heads * 2 * half)
    c, z = d.x(8, half, name="cos"), d.x(8, half, name="sin")
    d.given["p"] = at = d.rng.integers(0, 8, (n, s))
    d.tables["angles_2"], d.tables["angles_3"] = c[at][:, None], z[at][:, None]
    want = turned(rows(x, d, heads), c[at][:, None], z[at][:, None], near)
    return d.node("RotaryEmbedding", want.transpose(0, 2, 1, 3).reshape(x.shape), "x,p,cos,sin", True,
                  interleaved=near)


def group_attention(d):
    few, times, depth, n, s, before = d.n(1, 2), d.n(1, 2), d.n(2, 4), d.n(1, 2), d.n(1, 4), d.n(1, 3)
    heads = few * times
    q, k = d.x(n, s, heads * depth), d.x(n, s, few * depth, name="k")
    v = d.x(n, s, few * depth, name="v")
    pk, pv = d.x(n, few, before, depth, name="pk"), d.x(n, few, before, depth, name="pv")
    d.given["len"], d.given["all"] = np.zeros(n, np.int64), np.zeros(1, np.int64)
    d.tables["causal_mask"] = mask = np.triu(np.full((s, before + s), -1e9), 1 + before)
    whole = [np.concatenate([a, rows(b, d, few)], 2) for a, b in ((pk, k), (pv, v))]
    cap = d.n(0, 2) / 2
    return d.node("GroupQueryAttention", attended(rows(q, d, heads), *whole, mask, cap), "x,k,v,pk,pv,len,all", True,
                  num_heads=heads, kv_num_heads=few, softcap=cap)


def skipped(d):
    x, y, g, z, b = d.x(3, 6), d.x(3, 6, name="y"), d.x(6, name="g"), d.x(6, name="z"), d.x(6, name="b")
    if d.n(0, 1):
        return d.node("SkipLayerNormalization", norm(x + y + b, -1) * g + z, "x,y,g,z,b", True, epsilon=1e-5)
    v = x + y + b
    want = v / np.sqrt((v * v).mean(-1, keepdims=True) + 1e-5) * g
    return d.node("SkipSimplifiedLayerNormalization", want, "x,y,g,b", True, epsilon=1e-5)


def fused(d):
    x, y = d.x(2, 4, 3), d.x(3, name="y")
    kind = d.n(0, 2)
    if kind == 0:
        return d.node("BiasGelu", MAPS["gelu"](x + y), "x,y", True)
    if kind == 1:
        return d.node("QuickGelu", x * sigmoid(1.702 * x), "x", True, alpha=1.702)
    z = d.x(2, 5, 3, name="z")
    return d.node("FusedMatMul", 0.5 * x @ z.transpose(0, 2, 1), "x,z", True, transB=1, alpha=0.5)


def one_hot(d):
    d.given["x"] = at = d.rng.integers(0, 5, (2, 3))
    d.const("depth", np.int64(5)), d.const("both", np.float32([-1, 2]))
    d.tables["count"] = np.arange(5)
    return d.node("OneHot", np.where(at[..., None] == np.arange(5), 2, -1), "x,depth,both")


KINDS = [unary, inverse, mod, many, extreme, reduced, running, blocks, triangle, transposed, convolution,
         quantized_convolution, integers, quantized, gemm, normalized, padded, sliced, attention, heads_attention,
         rotary, group_attention, skipped, fused, one_hot]
KINDS = [k for k in KINDS if not sys.argv[4:] or k.__name__ in sys.argv[4:]]


def save(d, node, path):
    kind = {np.dtype(np.float32): T.FLOAT, np.dtype(np.int64): T.INT64, np.dtype(np.int8): T.INT8,
            np.dtype(np.uint8): T.UINT8}
    graph = H.make_graph([node, H.make_node("Neg", ["made"], ["out"])], "g", [H.make_tensor_value_info(k, kind[v.dtype], v.shape)
                                       for k, v in d.given.items()],
                         [H.make_tensor_value_info("out", T.FLOAT, d.want.shape)],
                         [numpy_helper.from_array(v, k) for k, v in d.weights.items()])
    onnx.save(H.make_model(graph, opset_imports=[H.make_opsetid("", d.opset), H.make_opsetid("com.microsoft", 1)]),
              path)


def check(program, folder, seed, i):
    d = Draw(np.random.default_rng([seed, i]))
    d.slack = 0
    node = KINDS[i % len(KINDS)](d)
    path = f"{folder}/m.onnx"
    save(d, node, path)
    run = subprocess.run([program, "import", "--strict", path], capture_output=True, text=True)
    if run.returncode:
        return f"{d.op}: {run.stderr.strip()}"
    text = Text(run.stdout, {**d.tables, **d.given, **d.weights})
    text.run()
    got = -text.read("out")
    if got.size != d.want.size:
        return f"{d.op}: {got.size} elements, not {d.want.size}"
    off = np.abs(got.reshape(d.want.shape) - d.want).max()
    good = off <= max(d.slack, 1e-4 * max(1, np.abs(d.want).max()))
    return None if good else f"{d.op}: numbers are off by {off}\n{run.stdout}"


def main():
    program, seed, draws = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for i in range(draws):
            try:
                said = check(program, folder, seed, i)
            except Exception as wrong:
                said = f"{KINDS[i % len(KINDS)].__name__}: {wrong!r}"
            if said:
                failed += 1
                print(f"seed {seed} draw {i}: {said}")
    print(f"seed {seed}: {draws} models, {failed} wrong")
    sys.exit(failed > 0)


main()

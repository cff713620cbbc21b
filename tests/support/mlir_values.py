#!/usr/bin/python3
"""Random StableHLO and TTIR ops: numbers of the imported graph against numpy.

mlir_values.py PROGRAM SEED DRAWS [KIND..] writes modules of one op with random shapes, imports each, computes the text
of the workload element by element, and compares with what the dialects' specifications say, by numpy, within 1e-4 of
the greatest number.  It prints what differs and ends with 1, or with 77 if numpy is missing.
"""
import math, sys
try:
    import numpy as np
except ImportError as missing:
    print("numpy:", missing)
    sys.exit(77)
from workload_values import attended, conv, erf, main, compare, norm, rows, sigmoid, softmax, turned


class Draw:
    """One module: arguments by name, the lines of its function, the numbers of its result."""

    def __init__(self, rng):
        self.rng, self.given, self.types, self.lines, self.tables = rng, {}, {}, [], {}
        self.slack, self.serial = 0, 0

    def n(self, low, high):
        return int(self.rng.integers(low, high + 1))

    def one(self, *choices):
        return choices[self.n(0, len(choices) - 1)]

    def tensor(self, shape, kind="f32"):
        return "tensor<" + "".join(f"{n}x" for n in shape) + kind + ">"

    def x(self, *shape, name="x", low=-2, high=2, kind="f32"):
        if kind == "f32":
            data = self.rng.uniform(low, high, shape).astype(np.float32).astype(float)
        else:
            data = self.rng.integers(low, high + 1, shape).astype(float)
        self.given[name], self.types["%" + name] = data, self.tensor(shape, kind)
        return data

    def say(self, op, operands, shape, attributes="", kind="f32", form="generic"):
        """A line that makes a value of that shape; its name."""
        name = f"%t{self.serial}"
        self.serial += 1
        self.types[name] = kind if kind.startswith("tensor") else self.tensor(shape, kind)
        args = operands.split(",") if operands else []
        if op.startswith("ttir.") and self.n(0, 3) == 0 and form == "generic":  # with a destination
            self.lines.append(f"%e{self.serial} = ttir.empty() : {self.types[name]}")
            self.types[f"%e{self.serial}"] = self.types[name]
            args.append(f"%e{self.serial}")
        types = ", ".join(self.types[a] for a in args)
        if form == "generic":
            text = f'"{op}"({", ".join(args)}) {attributes} : ({types}) -> {self.types[name]}'
        elif form == "same":
            text = f'{op} {", ".join(args)} : {self.types[name]}'
        else:
            text = f'{op} {", ".join(args)}{attributes} : ({types}) -> {self.types[name]}'
        self.lines.append(f"{name} = {text}")
        return name

    def constant(self, value, kind="f32", shape=()):
        name = f"%t{self.serial}"
        self.serial += 1
        self.types[name] = self.tensor(shape, kind)
        text = str(np.asarray(value).tolist())
        self.lines.append(f"{name} = stablehlo.constant dense<{text}> : {self.types[name]}")
        return name

    def gives(self, name, want):
        """The result, negated so that it is stored under a name of its own."""
        self.want = np.asarray(want, float)
        kind = self.types[name]
        op = self.one("stablehlo.negate", "ttir.neg")
        self.lines.append(f'%out = "{op}"({name}) : ({kind}) -> {kind}')
        arguments = ", ".join(f"%{k}: {self.types['%' + k]}" for k in self.given)
        body = "\n    ".join(self.lines)
        self.text = (f"module {{\n  func.func @main({arguments}) -> {kind} {{\n    {body}\n"
                     f"    return %out : {kind}\n  }}\n}}\n")


def ints(values, kind="i64"):
    return f"array<{kind}: " + ", ".join(str(int(v)) for v in values) + ">" if len(values) else f"array<{kind}>"


def listed(values, kind="i32"):
    return "[" + ", ".join(f"{int(v)} : {kind}" for v in values) + "]"


def truth(value):
    return "true" if value else "false"


UNARY = {"exponential exp": np.exp, "log log": lambda x: np.log(abs(x) + .1), "sqrt sqrt": lambda x: np.sqrt(abs(x)),
         "rsqrt rsqrt": lambda x: 1 / np.sqrt(abs(x) + .1), "negate neg": lambda x: -x, "abs abs": abs,
         "logistic sigmoid": sigmoid, "tanh tanh": np.tanh, "sine sin": np.sin, "cosine cos": np.cos, "tan tan": np.tan,
         "floor floor": np.floor, "ceil ceil": np.ceil, "round_nearest_even round": np.round, "sign sign": np.sign,
         "round_nearest_afz ": lambda x: np.sign(x) * np.floor(abs(x) + .5), "log_plus_one log1p": lambda x: np.log1p(abs(x)),
         "exponential_minus_one expm1": np.expm1, " relu": lambda x: np.maximum(x, 0), " relu6": lambda x: np.clip(x, 0, 6),
         " silu": lambda x: x * sigmoid(x), " gelu": lambda x: x * (1 + erf(x / math.sqrt(2))) / 2, " erf": erf,
         " erfc": lambda x: 1 - erf(x), " reciprocal": lambda x: 1 / x, " atan": np.arctan, " asinh": np.arcsinh,
         " mish": lambda x: x * np.tanh(np.log1p(np.exp(x))), " hardsigmoid": lambda x: np.clip(x / 6 + .5, 0, 1)}
CHLO = {"erf": erf, "erfc": lambda x: 1 - erf(x), "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan,
        "atanh": np.arctanh, "asinh": np.arcsinh, "sinh": np.sinh, "cosh": np.cosh, "tan": np.tan,
        "square": np.square, "is_inf": np.isinf}


def unary(d):
    both, f = d.one(*UNARY.items())
    hlo, ttir = both.split(" ")
    x = d.x(d.n(1, 4), d.n(2, 6))
    v = "%x"
    if f(-1.0) == f(1.0) and hlo in ("log", "sqrt", "rsqrt", "log_plus_one"):
        v = d.say("stablehlo.abs", v, x.shape, form="same")
        if hlo in ("log", "rsqrt"):
            v = d.say("stablehlo.add", v + "," + d.say("stablehlo.broadcast_in_dim", d.constant(.1), x.shape,
                                                       ", dims = []", form="pretty"), x.shape, form="same")
    if hlo and (not ttir or d.n(0, 1)):
        return d.gives(d.say("stablehlo." + hlo, v, x.shape, form="same"), f(x))
    d.gives(d.say("ttir." + ttir, v, x.shape), f(x))


def chlo(d):
    op, f = d.one(*CHLO.items())
    x = d.x(3, d.n(2, 6), low=-.9, high=.9)
    d.gives(d.say("chlo." + op, "%x", x.shape, kind="i1" if op == "is_inf" else "f32", form="pretty"), f(x))


BINARY = {"add add": np.add, "subtract subtract": np.subtract, "multiply multiply": np.multiply, "divide div": np.divide,
          "maximum maximum": np.maximum, "minimum minimum": np.minimum, "atan2 atan2": np.arctan2,
          "remainder remainder": np.fmod, "power pow": lambda a, b: np.power(abs(a), b)}


def binary(d):
    both, f = d.one(*BINARY.items())
    hlo, ttir = both.split(" ")
    shape = (d.n(1, 4), d.n(2, 6))
    a, b = d.x(*shape, name="a"), d.x(*shape, name="b")
    v = "%a" if hlo != "power" else d.say("stablehlo.abs", "%a", shape, form="same")
    if d.n(0, 1):
        return d.gives(d.say("stablehlo." + hlo, v + ",%b", shape, form="same"), f(a, b))
    if hlo != "power" and d.n(0, 1):
        c = d.x(1, shape[1], name="c")
        return d.gives(d.say("ttir." + ttir, "%a,%c", shape), f(a, c))
    d.gives(d.say("ttir." + ttir, v + ",%b", shape), f(a, b))


def bits(d):
    shape = (3, d.n(2, 6))
    a, b = d.x(*shape, name="a", low=-40, high=40, kind="i32"), d.x(*shape, name="b", low=-40, high=40, kind="i32")
    i, j = a.astype(int), b.astype(int)
    kind = d.n(0, 6)
    if kind < 3:
        op, want = [("and", i & j), ("or", i | j), ("xor", i ^ j)][kind]
        name = d.say(d.one("stablehlo.", "ttir.bitwise_") + op, "%a,%b", shape, kind="i32")
        return d.gives(name, want)
    if kind == 3:
        return d.gives(d.say(d.one("stablehlo.not", "ttir.bitwise_not"), "%a", shape, kind="i32"), ~i)
    if kind == 4:
        return d.gives(d.say("stablehlo.divide", "%a," + d.say("stablehlo.or", "%b," + d.constant(np.ones(shape, int), "i32",
                       shape), shape, kind="i32"), shape, kind="i32"), np.trunc(a / (j | 1)))
    s = d.x(*shape, name="s", low=0, high=4, kind="i32").astype(int)
    if kind == 5:
        return d.gives(d.say(d.one("stablehlo.shift_left", "ttir.logical_left_shift"), "%a,%s", shape, kind="i32"), i << s)
    d.gives(d.say("stablehlo.shift_right_arithmetic", "%a,%s", shape, kind="i32"), i >> s)


def chosen(d):
    shape = (d.n(1, 3), d.n(2, 6))
    a, b = d.x(*shape, name="a"), d.x(*shape, name="b")
    way = d.one("GT", "GE", "LT", "LE", "EQ", "NE")
    test = {"GT": a > b, "GE": a >= b, "LT": a < b, "LE": a <= b, "EQ": a == b, "NE": a != b}[way]
    if d.n(0, 1):
        d.lines.append(f"%c = stablehlo.compare {way}, %a, %b, FLOAT : ({d.types['%a']}, {d.types['%b']}) -> "
                       + d.tensor(shape, "i1"))
        d.types["%c"] = d.tensor(shape, "i1")
        other = d.say("stablehlo.not", "%c", shape, kind="i1", form="same")
        return d.gives(d.say("stablehlo.select", other + ",%a,%b", shape), np.where(test, b, a))
    c = d.say("ttir." + way.lower(), "%a,%b", shape, kind="i1")
    both = d.say("ttir.logical_and", c + "," + d.say("ttir.gt", "%a," + d.constant(np.zeros(shape), shape=shape), shape,
                                                     kind="i1"), shape, kind="i1")
    d.gives(d.say("ttir.where", both + ",%a,%b", shape), np.where(test & (a > 0), a, b))


def clamped(d):
    x = d.x(3, d.n(2, 5))
    if d.n(0, 1):
        lo, hi = d.constant(-.5), d.constant(.75)
        return d.gives(d.say("stablehlo.clamp", f"{lo},%x,{hi}", x.shape, form="pretty"), np.clip(x, -.5, .75))
    if d.n(0, 1):
        return d.gives(d.say("ttir.clamp_scalar", "%x", x.shape, "<{max = 0.75 : f32, min = -0.5 : f32}>"),
                       np.clip(x, -.5, .75))
    lo, hi = d.x(*x.shape, name="lo", low=-1, high=0), d.x(*x.shape, name="hi", low=0, high=1)
    d.gives(d.say("ttir.clamp_tensor", "%x,%lo,%hi", x.shape), np.clip(x, lo, hi))


def dot(d):
    b, m, k, n, l = d.n(1, 3), d.n(1, 4), d.n(1, 4), d.n(1, 4), d.n(1, 3)
    sizes = {"b": b, "m": m, "k": k, "n": n, "l": l}
    la, lb = "".join(d.rng.permutation(list("bmkl"))), "".join(d.rng.permutation(list("bknl")))
    a, c = d.x(*[sizes[i] for i in la], name="a"), d.x(*[sizes[i] for i in lb], name="c")
    want = np.einsum(f"{la},{lb}->bmn", a, c)
    at = lambda labels, which: [labels.index(i) for i in which]
    if d.n(0, 1):
        text = (f", batching_dims = {at(la, 'b')} x {at(lb, 'b')}, contracting_dims = {at(la, 'kl')} x {at(lb, 'kl')}"
                ", precision = [DEFAULT, DEFAULT]")
        return d.gives(d.say("stablehlo.dot_general", "%a,%c", (b, m, n), text, form="pretty"), want)
    text = (f"<{{batch_dims_lhs = {ints(at(la, 'b'))}, batch_dims_rhs = {ints(at(lb, 'b'))}, "
            f"contract_dims_lhs = {ints(at(la, 'kl'))}, contract_dims_rhs = {ints(at(lb, 'kl'))}}}>")
    d.gives(d.say("ttir.dot_general", "%a,%c", (b, m, n), text), want)


def product(d):
    ta, tb, n = d.n(0, 1), d.n(0, 1), d.n(1, 3)
    m, k, o = d.n(1, 4), d.n(1, 4), d.n(1, 4)
    a, c = d.x(n, *((k, m) if ta else (m, k)), name="a"), d.x(*((o, k) if tb else (k, o)), name="c")
    want = (a.transpose(0, 2, 1) if ta else a) @ (c.T if tb else c)
    text = f"<{{transpose_a = {truth(ta)}, transpose_b = {truth(tb)}}}>"
    if d.n(0, 1):
        bias = d.x(o, name="bias")
        return d.gives(d.say("ttir.linear", "%a,%c,%bias", want.shape, text), want + bias)
    d.gives(d.say("ttir.matmul", "%a,%c", want.shape, text), want)


def einsum(d):
    a, c = d.x(2, 3, 4, name="a"), d.x(2, 4, 3, name="c")
    d.gives(d.say("stablehlo.einsum", "%a,%c", (2, 3), '{einsum_config = "bij,bji->bi"}'), np.einsum("bij,bji->bi", a, c))


def stretch(x, by):
    for h, n in enumerate(by):
        shape = list(x.shape)
        shape[h] = (shape[h] - 1) * n + 1
        wide = np.zeros(shape)
        wide[tuple(slice(None, None, n if i == h else 1) for i in range(x.ndim))] = x
        x = wide
    return x


def pads(x, low, high):
    x = np.pad(x, [(max(0, a), max(0, b)) for a, b in zip(low, high)])
    return x[tuple(slice(-min(0, a), x.shape[h] + min(0, b)) for h, (a, b) in enumerate(zip(low, high)))]


def convolution(d):
    groups, c, k = d.n(1, 2), d.n(1, 2), d.n(1, 2)
    n, r, s = d.n(1, 2), d.n(1, 3), d.n(1, 3)
    x, w = d.x(n, groups * c, d.n(4, 6), d.n(4, 6)), d.x(groups * k, c, r, s, name="w")
    stride, dilate = [d.n(1, 2), d.n(1, 2)], [d.n(1, 2), d.n(1, 2)]
    lhs = [d.n(1, 2), d.n(1, 2)] if d.n(0, 1) else [1, 1]
    pad = [[d.n(-1, 2), d.n(0, 2)], [d.n(0, 2), d.n(-1, 1)]]
    turn = [d.n(0, 1), d.n(0, 1)]
    wide = pads(stretch(x, [1, 1] + lhs), [0, 0, pad[0][0], pad[1][0]], [0, 0, pad[0][1], pad[1][1]])
    flip = w[:, :, ::-1 if turn[0] else 1, ::-1 if turn[1] else 1]
    if (wide.shape[2] <= (r - 1) * dilate[0] or wide.shape[3] <= (s - 1) * dilate[1]):
        dilate = [1, 1]
    want = conv(wide, flip, stride, groups=groups, dilation=dilate)
    orders = [list(d.rng.permutation(4)) for _ in range(3)]
    for name, order in (("x", orders[0]), ("w", orders[1])):
        d.given[name] = d.given[name].transpose(order)
        d.types["%" + name] = d.tensor(d.given[name].shape)
    want = want.transpose(orders[2])
    flat = [p for side in pad for p in side]
    if d.n(0, 1):
        words = [["b", "f", "0", "1"], ["o", "i", "0", "1"], ["b", "f", "0", "1"]]
        a, b, o = ["[" + ", ".join(w[i] for i in order) + "]" for w, order in zip(words, orders)]
        text = (f" dim_numbers = {a}x{b}->{o}, window = {{stride = {stride}, pad = {pad}, lhs_dilate = {lhs}, "
                f"rhs_dilate = {dilate}, reverse = [{truth(turn[0])}, {truth(turn[1])}]}} "
                f"{{batch_group_count = 1 : i64, feature_group_count = {groups} : i64}}")
        name = f"%t{d.serial}"
        d.serial += 1
        d.types[name] = d.tensor(want.shape)
        d.lines.append(f"{name} = stablehlo.convolution(%x, %w){text} : ({d.types['%x']}, {d.types['%w']}) -> "
                       + d.types[name])
        return d.gives(name, want)
    at = [[order.index(i) for i in range(4)] for order in orders]
    layout = (f"#ttir<convolution_layout input_batch = {at[0][0]}, input_feature = {at[0][1]}, "
              f"input_spatial_dimensions = {at[0][2]}x{at[0][3]}, kernel_output_feature = {at[1][0]}, "
              f"kernel_input_feature = {at[1][1]}, kernel_spatial_dimensions = {at[1][2]}x{at[1][3]}, "
              f"output_batch = {at[2][0]}, output_feature = {at[2][1]}, "
              f"output_spatial_dimensions = {at[2][2]}x{at[2][3]}>")
    text = (f"<{{batch_group_count = 1 : i64, convolution_layout = {layout}, feature_group_count = {groups} : i64, "
            f"input_dilation = {ints(lhs)}, padding = {ints(flat)}, weight_dilation = {ints(dilate)}, "
            f"window_reversal = array<i1: {truth(turn[0])}, {truth(turn[1])}>, window_strides = {ints(stride)}}}>")
    d.gives(d.say("ttir.convolution", "%x,%w", want.shape, text), want)


def images(d):
    groups, c, k = d.n(1, 2), d.n(1, 2), d.n(1, 2)
    x, w = d.x(d.n(1, 2), d.n(4, 6), d.n(4, 6), groups * c), d.x(groups * k, c, d.n(1, 3), d.n(1, 3), name="w")
    b = d.x(1, 1, 1, groups * k, name="b")
    stride, dilate = [d.n(1, 2), d.n(1, 2)], [d.n(1, 2), d.n(1, 2)]
    given, four = d.one((f"padding = {ints([1, 0, 2, 1], 'i32')}", (1, 0, 2, 1)),
                        (f"padding = {ints([2, 1], 'i32')}", (2, 1, 2, 1)), ("padding = 1 : i32", (1, 1, 1, 1)))
    want = conv(x.transpose(0, 3, 1, 2), w, stride, four, groups, dilate).transpose(0, 2, 3, 1) + b
    text = (f"<{{stride = {ints(stride, 'i32')}, {given}, dilation = {ints(dilate, 'i32')}, groups = {groups} : i32}}>")
    d.gives(d.say("ttir.conv2d", "%x,%w,%b", want.shape, text), want)


def transposed_images(d):
    groups, c, k = d.n(1, 2), d.n(1, 2), d.n(1, 2)
    x, w = d.x(d.n(1, 2), d.n(2, 3), d.n(2, 3), groups * c), d.x(groups * c, k, d.n(1, 3), d.n(1, 3), name="w")
    b = d.x(1, 1, 1, groups * k, name="b")
    stride, dilate = [d.n(1, 2), d.n(1, 2)], [d.n(1, 2), d.n(1, 2)]
    more = [d.n(0, s - 1) for s in stride]
    by = stretch(w, [1, 1] + dilate)
    full = [(x.shape[1 + i] - 1) * stride[i] + by.shape[2 + i] + more[i] for i in (0, 1)]
    out = np.zeros((x.shape[0], *full, groups * k))
    for p in range(x.shape[1]):
        for q in range(x.shape[2]):
            for g in range(groups):
                at = out[:, p * stride[0]:p * stride[0] + by.shape[2], q * stride[1]:q * stride[1] + by.shape[3],
                         g * k:g * k + k]
                at += np.einsum("nc,ckrs->nrsk", x[:, p, q, g * c:g * c + c], by[g * c:g * c + c])
    cut = [d.n(0, 1) if full[i] > 2 else 0 for i in (0, 1)]
    want = out[:, cut[0]:full[0] - cut[0], cut[1]:full[1] - cut[1]] + b
    text = (f"<{{stride = {ints(stride, 'i32')}, padding = {ints(cut, 'i32')}, dilation = {ints(dilate, 'i32')}, "
            f"output_padding = {ints(more, 'i32')}, groups = {groups} : i32}}>")
    d.gives(d.say("ttir.conv_transpose2d", "%x,%w,%b", want.shape, text), want)


def volumes(d):
    x, w = d.x(1, 3, 4, 4, 2), d.x(3, 2, 2, d.n(1, 3), 2, name="w")
    want = np.zeros((1, 2, 5 - w.shape[3], 3, 3))
    for i in range(2):
        for j in range(want.shape[2]):
            for l in range(3):
                want[0, i, j, l] = np.einsum("xyzc,kcxyz->k", x[0, i:i + 2, j:j + w.shape[3], l:l + 2], w)
    text = "<{stride = array<i32: 1, 1, 1>, padding = array<i32: 0, 0, 0>, groups = 1 : i32}>"
    d.gives(d.say("ttir.conv3d", "%x,%w", want.shape, text), want)


def windows(x, size, stride, fill, f):
    """f over windows of [n, h, w, c]."""
    p, q = (x.shape[1] - size[0]) // stride[0] + 1, (x.shape[2] - size[1]) // stride[1] + 1
    return np.stack([np.stack([f(x[:, i * stride[0]:i * stride[0] + size[0], j * stride[1]:j * stride[1] + size[1]],
                                 (1, 2)) for j in range(q)], 1) for i in range(p)], 1)


def pooled(d):
    x, size, stride = d.x(d.n(1, 2), d.n(4, 6), d.n(4, 6), d.n(1, 3)), [d.n(1, 3), d.n(1, 3)], [d.n(1, 2), d.n(1, 2)]
    p = [d.n(0, s // 2) for s in size] + [d.n(0, s // 2) for s in size]
    side = [(0, 0), (p[0], p[2]), (p[1], p[3]), (0, 0)]
    kind = d.one("max", "avg")
    f, fill = (np.max, -np.inf) if kind == "max" else (np.mean, 0)
    want = windows(np.pad(x, side, constant_values=fill), size, stride, fill, lambda v, a: f(v, axis=a))
    form = d.n(0, 3)
    if form == 0:
        text = (f"<{{ceil_mode = false, dilation_height = 1 : si32, dilation_width = 1 : si32, kernel_height = {size[0]} : "
                f"si32, kernel_width = {size[1]} : si32, padding_bottom = {p[2]} : si32, padding_left = {p[1]} : si32, "
                f"padding_right = {p[3]} : si32, padding_top = {p[0]} : si32, stride_height = {stride[0]} : si32, "
                f"stride_width = {stride[1]} : si32}}>")
    elif form == 1:
        word = {"max": "Max", "avg": "Average"}[kind]
        text = (f"<{{pooling_method = #ttir<pooling_method {word}>, base_dilations = {ints([1] * 4)}, operandSegmentSizes = "
                f"array<i32: 1, 1>, padding = {ints([n for pair in side for n in pair])}, window_dilations = {ints([1] * 4)}, "
                f"window_dimensions = {ints([1, *size, 1])}, window_strides = {ints([1, *stride, 1])}}}>")
        return d.gives(d.say("ttir.pooling", "%x", want.shape, text), want)
    else:
        text = (f"<{{kernel = {ints(size, 'i32')}, stride = {ints(stride, 'i32')}, dilation = array<i32: 1, 1>, "
                f"padding = {ints(p, 'i32')}, ceil_mode = false}}>")
    d.gives(d.say(f"ttir.{kind}_pool2d", "%x", want.shape, text), want)


def whole_pool(d):
    x = d.x(2, d.n(2, 4), d.n(2, 4), 3)
    d.gives(d.say("ttir.global_avg_pool2d", "%x", (2, 1, 1, 3)), x.mean((1, 2), keepdims=True))


def hlo_window(d):
    x, size, stride = d.x(1, d.n(3, 5), d.n(3, 5), 2), [d.n(1, 3), d.n(1, 3)], [d.n(1, 2), d.n(1, 2)]
    low, high = [d.n(0, s - 1) for s in size], [d.n(0, s - 1) for s in size]
    op, f, first = d.one(("add", np.sum, 0), ("maximum", np.max, -np.inf), ("add", np.sum, 1.5), ("minimum", np.min, np.inf))
    base = [d.n(1, 2), d.n(1, 2)] if op == "add" else [1, 1]
    wide = np.pad(stretch(x, [1, *base, 1]), [(0, 0), (low[0], high[0]), (low[1], high[1]), (0, 0)],
                  constant_values=0 if op == "add" else first)
    want = windows(wide, size, stride, 0, lambda v, a: f(v, axis=a)) + (first if op == "add" else 0)
    init = d.constant(first) if np.isfinite(first) else d.constant(0)
    if not np.isfinite(first):
        bits = "0xFF800000" if first < 0 else "0x7F800000"
        d.lines[-1] = f"{init} = stablehlo.constant dense<{bits}> : tensor<f32>"
    name, kind = f"%t{d.serial}", d.tensor(want.shape)
    d.serial += 1
    d.types[name] = kind
    pad = [[0, 0], [low[0], high[0]], [low[1], high[1]], [0, 0]]
    d.lines.append(f'{name} = "stablehlo.reduce_window"(%x, {init}) <{{base_dilations = {ints([1, *base, 1])}, padding = '
                   f"dense<{pad}> : tensor<4x2xi64>, window_dilations = {ints([1] * 4)}, window_dimensions = "
                   f"{ints([1, *size, 1])}, window_strides = {ints([1, *stride, 1])}}}> ({{\n    ^bb0(%p: tensor<f32>, "
                   f"%q: tensor<f32>):\n      %s = stablehlo.{op} %p, %q : tensor<f32>\n      stablehlo.return %s : "
                   f"tensor<f32>\n    }}) : ({d.types['%x']}, tensor<f32>) -> {kind}")
    d.gives(name, want)


def hlo_reduced(d):
    x = d.x(2, d.n(2, 5), 3)
    axes = d.one([0], [1], [2], [0, 2], [1, 2], [0, 1, 2])
    op, f, first, join = d.one(("add", np.sum, 0., np.add), ("maximum", np.max, -np.inf, np.maximum),
                               ("multiply", np.prod, 1., np.multiply), ("add", np.sum, 2.5, np.add),
                               ("maximum", np.max, .5, np.maximum), ("minimum", np.min, np.inf, np.minimum))
    want = join(f(x, axis=tuple(axes)), first)
    init = d.constant(first if np.isfinite(first) else 0)
    if not np.isfinite(first):
        bits = "0xFF800000" if first < 0 else "0x7F800000"
        d.lines[-1] = f"{init} = stablehlo.constant dense<{bits}> : tensor<f32>"
    name, kind = f"%t{d.serial}", d.tensor(want.shape)
    d.serial += 1
    d.types[name] = kind
    kinds = f"({d.types['%x']}, tensor<f32>) -> {kind}"
    region = f"%s = stablehlo.{op} %p, %q : tensor<f32>\n      stablehlo.return %s : tensor<f32>"
    d.lines.append(d.one(
        f"{name} = stablehlo.reduce(%x init: {init}) applies stablehlo.{op} across dimensions = {axes} : {kinds}",
        f'{name} = "stablehlo.reduce"(%x, {init}) <{{dimensions = {ints(axes)}}}> ({{\n    ^bb0(%p: tensor<f32>, %q: '
        f"tensor<f32>):\n      {region}\n    }}) : {kinds}",
        f"{name} = stablehlo.reduce(%x init: {init}) across dimensions = {axes} : {kinds}\n     reducer(%p: tensor<f32>, "
        f"%q: tensor<f32>)  {{\n      {region}\n    }}"))
    d.gives(name, want)


def greatest(d):
    x = d.x(3, d.n(2, 6))
    d.lines += [f"%i = stablehlo.iota dim = 1 : {d.tensor(x.shape, 'i32')}",
                "%f = stablehlo.constant dense<0xFF800000> : tensor<f32>", "%z = stablehlo.constant dense<0> : tensor<i32>",
                f"%r:2 = stablehlo.reduce(%x init: %f), (%i init: %z) across dimensions = [1] : ({d.types['%x']}, "
                f"{d.tensor(x.shape, 'i32')}, tensor<f32>, tensor<i32>) -> (tensor<3xf32>, tensor<3xi32>)\n"
                "     reducer(%p: tensor<f32>, %q: tensor<f32>) (%s: tensor<i32>, %t: tensor<i32>)  {\n"
                "      %c = stablehlo.compare  GE, %p, %q,  FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>\n"
                "      %v = stablehlo.select %c, %p, %q : tensor<i1>, tensor<f32>\n"
                "      %w = stablehlo.select %c, %s, %t : tensor<i1>, tensor<i32>\n"
                "      stablehlo.return %v, %w : tensor<f32>, tensor<i32>\n    }"]
    d.tables["i"] = np.broadcast_to(np.arange(x.shape[1]), x.shape)
    d.types["%r#0"], d.types["%r#1"] = "tensor<3xf32>", "tensor<3xi32>"
    first = d.n(0, 1)
    d.gives("%r#0" if first else "%r#1", x.max(1) if first else x.argmax(1))


REDUCED = {"sum": np.sum, "mean": np.mean, "max": np.max, "min": np.min, "prod": np.prod}


def reduced(d):
    x, keep = d.x(2, d.n(2, 5), 3), d.n(0, 1)
    axes = d.one([0], [1], [-1], [0, 2])
    name, f = d.one(*REDUCED.items())
    want = f(x, axis=tuple(axes), keepdims=bool(keep))
    d.gives(d.say("ttir." + name, "%x", want.shape, f"<{{dim_arg = {listed(axes)}, keep_dim = {truth(keep)}}}>"), want)


def extreme(d):
    x, axis = d.x(2, d.n(2, 5), 3), d.n(0, 2)
    if d.n(0, 3) == 0:
        d.tables["count"] = np.arange(x.size)
        return d.gives(d.say("ttir.argmax", "%x", (), "<{keep_dim = false}>", kind="i32"), x.argmax())
    d.tables["count"] = np.arange(x.shape[axis])
    want = x.argmax(axis)
    d.gives(d.say("ttir.argmax", "%x", want.shape, f"<{{dim_arg = [{axis} : i32], keep_dim = false}}>", kind="i32"), want)


def running(d):
    x, axis = d.x(3, d.n(2, 6)), d.n(0, 1)
    d.gives(d.say("ttir.cumsum", "%x", x.shape, f"<{{dim = {axis} : i64}}>"), np.cumsum(x, axis))


def soft(d):
    x, axis = d.x(2, d.n(2, 5), 3), d.n(-3, 2)
    d.gives(d.say("ttir.softmax", "%x", x.shape, f"<{{dimension = {axis} : si32}}>"), softmax(x, axis))


def moved(d):
    x = d.x(2, d.n(1, 3), d.n(2, 4))
    order = [int(i) for i in d.rng.permutation(3)]
    if d.n(0, 1):
        return d.gives(d.say("ttir.permute", "%x", x.transpose(order).shape, f"<{{permutation = {ints(order)}}}>"),
                       x.transpose(order))
    if d.n(0, 1):
        return d.gives(d.say("stablehlo.transpose", "%x", x.transpose(order).shape, f", dims = {order}", form="pretty"),
                       x.transpose(order))
    a, b = d.n(-3, 2), d.n(-3, 2)
    want = np.swapaxes(x, a, b)
    d.gives(d.say("ttir.transpose", "%x", want.shape, f"<{{dim0 = {a} : si32, dim1 = {b} : si32}}>"), want)


def rearranged(d):
    x = d.x(2, 3, d.n(1, 3), 2)
    want = x.transpose(0, 2, 3, 1).reshape(2, -1, 3)
    d.gives(d.say("ttir.rearrange", "%x", want.shape, '<{pattern = "b c h w -> b (h w) c"}>'), want)


def shaped(d):
    x = d.x(2, 1, d.n(2, 4))
    kind = d.n(0, 5)
    if kind == 0:
        return d.gives(d.say("ttir.squeeze", "%x", (2, x.shape[2]), "<{dim = 1 : si32}>"), x[:, 0])
    if kind == 1:
        at = d.n(-4, 3)
        want = np.expand_dims(x, at)
        return d.gives(d.say("ttir.unsqueeze", "%x", want.shape, f"<{{dim = {at} : si32}}>"), want)
    if kind == 2:
        want = np.broadcast_to(x, (2, 3, x.shape[2]))
        return d.gives(d.say("ttir.broadcast", "%x", want.shape, "<{broadcast_dimensions = array<i64: 1, 3, 1>}>"), want)
    if kind == 3:
        times = [d.n(1, 2), d.n(1, 3), d.n(1, 2)]
        want = np.tile(x, times)
        return d.gives(d.say("ttir.repeat", "%x", want.shape, f"<{{repeat_dimensions = {ints(times)}}}>"), want)
    if kind == 4:
        axis, times = d.n(-3, 2), d.n(1, 3)
        want = np.repeat(x, times, axis)
        return d.gives(d.say("ttir.repeat_interleave", "%x", want.shape,
                             f"<{{dim = {axis} : si32, repeats = {times} : ui32}}>"), want)
    want = np.broadcast_to(x.reshape(2, 1, x.shape[2], 1), (2, 3, x.shape[2], 2))
    y = d.say("stablehlo.reshape", "%x", (2, x.shape[2]), form="pretty")
    d.gives(d.say("stablehlo.broadcast_in_dim", y, want.shape, ", dims = [0, 2]", form="pretty"), want)


def parted(d):
    x = d.x(3, d.n(5, 8), 2)
    n, kind = x.shape[1], d.n(0, 4)
    a, b, s = d.n(0, 2), n - d.n(0, 1), d.n(1, 3)
    want = x[:, a:b:s]
    if kind == 0:
        text = f"<{{begins = {listed([0, a, 0])}, ends = {listed([3, b, 2])}, step = {listed([1, s, 1])}}}>"
        return d.gives(d.say("ttir.slice_static", "%x", want.shape, text), want)
    if kind == 1:
        name = f"%t{d.serial}"
        d.serial += 1
        d.types[name] = d.tensor(want.shape)
        d.lines.append(f"{name} = stablehlo.slice %x [0:3, {a}:{b}:{s}, 0:2] : ({d.types['%x']}) -> {d.types[name]}")
        return d.gives(name, want)
    if kind == 2:
        return d.gives(d.say("ttir.index", "%x", want.shape, f"<{{begin = {a} : i32, dim = 1 : i32, end = {b} : i32, "
                             f"step = {s} : i32}}>"), want)
    if kind == 3:
        stride = d.n(2, 3)
        at = [i for start in range(a, n, stride) for i in range(start, start + 1)]
        return d.gives(d.say(d.one("ttir.select", "ttir.index_select"), "%x", (3, len(at), 2),
                             f"<{{begin = {a} : si32, dim = 1 : si32, length = 1 : si32, stride = {stride} : si32}}>"),
                       x[:, at])
    d.gives(d.say("ttir.reverse", "%x", x.shape, "<{dimensions = array<i64: 1, 0>}>"), x[::-1, ::-1])


def joined(d):
    parts = [d.x(2, d.n(1, 4), 3, name=f"p{i}") for i in range(d.n(2, 3))]
    names = ",".join(f"%p{i}" for i in range(len(parts)))
    want = np.concatenate(parts, 1)
    if d.n(0, 1):
        return d.gives(d.say("ttir.concat", names, want.shape, "<{dim = 1 : si32}>"), want)
    d.gives(d.say("stablehlo.concatenate", names, want.shape, ", dim = 1", form="pretty"), want)


def padded(d):
    x = d.x(3, d.n(3, 5))
    if d.n(0, 1):
        low, high = [d.n(0, 2), d.n(0, 2)], [d.n(0, 2), d.n(0, 2)]
        want = np.pad(x, list(zip(low, high)), constant_values=1.5)
        flat = [low[0], high[0], low[1], high[1]]
        return d.gives(d.say("ttir.pad", "%x", want.shape, f"<{{padding = {ints(flat, 'i32')}, value = 1.5 : f32}}>"), want)
    low, high, inside, fill = [d.n(-1, 2), d.n(0, 2)], [d.n(0, 2), d.n(-1, 2)], [d.n(0, 2), d.n(0, 2)], d.one(0., 2.5)
    want = pads(stretch(x - fill, [n + 1 for n in inside]), low, high) + fill
    d.gives(d.say("stablehlo.pad", "%x," + d.constant(fill), want.shape, f", low = {low}, high = {high}, interior = {inside}",
                  form="pretty"), want)


def starts(d):
    x, size = d.x(4, d.n(4, 6)), [d.n(1, 3), d.n(1, 3)]
    at = [d.n(0, 4), d.n(0, 5)]
    names = ",".join(d.constant(i, "i32") for i in at)
    at = [min(i, n - s) for i, n, s in zip(at, x.shape, size)]
    box = (slice(at[0], at[0] + size[0]), slice(at[1], at[1] + size[1]))
    if d.n(0, 1):
        return d.gives(d.say("stablehlo.dynamic_slice", "%x," + names, size, f", sizes = {size}", form="pretty"), x[box])
    u = d.x(*size, name="u")
    y = d.say("stablehlo.tanh", "%x", x.shape, form="same")
    want = np.tanh(x)
    want[box] = u
    d.gives(d.say("stablehlo.dynamic_update_slice", f"{y},%u,{names}", x.shape, form="pretty"), want)


def looked_up(d):
    d.given["i"] = at = d.rng.integers(0, 7, (2, 3))
    d.types["%i"] = "tensor<2x3xi32>"
    x = d.x(7, 4)
    d.tables["x_rows"] = x[at]
    if d.n(0, 1):  # of a table that is cast first
        half = d.say(d.one("stablehlo.convert", "ttir.typecast"), "%x", x.shape, kind="bf16")
        return d.gives(d.say("ttir.embedding", "%i," + half, (2, 3, 4), kind="bf16"), x[at])
    if d.n(0, 1):
        return d.gives(d.say("ttir.embedding", "%i,%x", (2, 3, 4)), x[at])
    text = ("<{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], "
            "index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 4>}>")
    d.gives(d.say("stablehlo.gather", "%x,%i", (2, 3, 4), text), x[at])


def normed(d):
    kind = d.n(0, 5)
    x = d.x(2, 3, 2 * d.n(1, 3))
    c = x.shape[2]
    w, b = d.x(c, name="w"), d.x(c, name="b")
    over = f"normalized_shape = {ints([c])}"
    if kind == 0:
        text = f"<{{epsilon = 1.000000e-05 : f32, {over}, operandSegmentSizes = array<i32: 1, 1, 1>}}>"
        return d.gives(d.say("ttir.layer_norm", "%x,%w,%b", x.shape, text), norm(x, -1) * w + b)
    if kind == 1:
        want = x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-5) * w
        text = f"<{{epsilon = 1.000000e-05 : f32, {over}, operandSegmentSizes = array<i32: 1, 1, 0>}}>"
        return d.gives(d.say("ttir.rms_norm", "%x,%w", x.shape, text), want)
    if kind == 2:
        groups = d.one(1, 2)
        g = x.reshape(2, 3, groups, c // groups)
        want = norm(g, (1, 3)).reshape(x.shape) * w + b
        text = f"<{{epsilon = 1.000000e-05 : f32, num_groups = {groups} : i64, operandSegmentSizes = array<i32: 1, 0, 1, 1>}}>"
        return d.gives(d.say("ttir.group_norm", "%x,%w,%b", x.shape, text), want)
    m, v = d.x(c, name="m"), d.x(c, name="v", low=.5, high=1)
    want = (x - m) / np.sqrt(v + 1e-5) * w + b
    if kind == 3:
        return d.gives(d.say("ttir.batch_norm_inference", "%x,%w,%b,%m,%v", x.shape,
                             "<{dimension = 2 : i32, epsilon = 1.000000e-05 : f32}>"), want)
    if kind == 4:
        return d.gives(d.say("stablehlo.batch_norm_inference", "%x,%w,%b,%m,%v", x.shape,
                             "<{epsilon = 1.000000e-05 : f32, feature_index = 2 : i64}>"), want)
    d.lines.append(f'%r:3 = "stablehlo.batch_norm_training"(%x, %w, %b) <{{epsilon = 1.000000e-05 : f32, feature_index = 2 : '
                   f"i64}}> : ({d.types['%x']}, {d.types['%w']}, {d.types['%b']}) -> ({d.types['%x']}, {d.types['%w']}, "
                   f"{d.types['%w']})")
    for i in range(3):
        d.types[f"%r#{i}"] = d.types["%x" if i == 0 else "%w"]
    which = d.n(0, 2)
    d.gives(f"%r#{which}", [norm(x, (0, 1)) * w + b, x.mean((0, 1)), x.var((0, 1))][which])


def quantised(d):
    x = d.x(3, 4, low=-9, high=9)
    kind, zero = d.n(0, 3), d.n(-3, 3)
    d.slack = 1.001
    q = d.tensor(x.shape, f"!quant.uniform<i8:f32, 5.000000e-01:{zero}>")
    level = np.clip(np.round(x / .5) + zero, -128, 127)
    a = d.say(d.one("ttir.quantize", "stablehlo.uniform_quantize"), "%x", x.shape, kind=q)
    if kind == 0:
        return d.gives(a, level)
    if kind == 1:
        d.slack = .501
        return d.gives(d.say(d.one("ttir.dequantize", "stablehlo.uniform_dequantize"), a, x.shape), (level - zero) * .5)
    if kind == 2:
        b = d.say("ttir.requantize", a, x.shape, kind=d.tensor(x.shape, "!quant.uniform<i8<-100:100>:f32, 2.500000e-01>"))
        d.slack = 2.001
        return d.gives(b, np.clip(np.round((level - zero) * .5 / .25), -100, 100))
    scales = [.5, .25, 1., 2.]
    d.tables["scales"] = scales
    text = ", ".join(f"{s:e}" for s in scales)
    b = d.say("stablehlo.uniform_quantize", "%x", x.shape, kind=d.tensor(x.shape, f"!quant.uniform<i8:f32:1, {{{text}}}>"))
    d.gives(b, np.clip(np.round(x / scales), -128, 127))


def unrolled(d):
    x, s = d.x(3, 4, low=-9, high=9), np.asarray([.5, .25, 1.])
    d.given["s"], d.types["%s"] = s, "tensor<3xf32>"
    d.given["z"], d.types["%z"] = np.arange(3.), "tensor<3xi32>"
    q = d.tensor(x.shape, "!quant.uniform<i32:f32:0, {5.000000e-01,2.500000e-01:1,1.0:2}>")
    level = np.round(x / s[:, None]) + np.arange(3)[:, None]
    d.slack = 1.001
    a = d.say("ttir.quantize_unrolled", "%x,%s,%z", x.shape, "<{axis = 0 : i32}>", kind=q)
    if d.n(0, 1):
        return d.gives(a, level)
    d.gives(d.say("ttir.dequantize_unrolled", a + ",%s,%z", x.shape, "<{axis = 0 : i32}>"),
            (level - np.arange(3)[:, None]) * s[:, None])


def heads_of(d, queries, keys):
    few, times, depth, n = d.n(1, 2), d.n(1, 2), d.n(2, 3), d.n(1, 2)
    q = d.x(n, few * times, queries, depth, name="q")
    return q, d.x(n, few, keys, depth, name="k"), d.x(n, few, keys, depth, name="v")


def with_sink(q, k, v, mask, sink, scale):
    k, v = [np.repeat(t, q.shape[1] // t.shape[1], 1) for t in (k, v)]
    s = q @ k.transpose(0, 1, 3, 2) * scale + mask
    s = np.concatenate([s, np.broadcast_to(sink, (*s.shape[:3], 1))], -1)
    return softmax(s, -1)[..., :-1] @ v


def attention(d):
    s, t = d.n(2, 4), d.n(2, 4)
    q, k, v = heads_of(d, s, t)
    scale, kind, mask, names, sink = .6, d.n(0, 3), 0, "%q,%k,%v", np.full((1, 1, 1, 1), -np.inf)
    sizes = [1, 1, 1, 0, 0]
    if kind == 1:
        d.tables["causal_mask"] = mask = np.triu(np.full((s, t), -1e9), 1)
    if kind > 1:
        mask, names, sizes[3] = d.x(q.shape[0], 1, s, t, name="m"), names + ",%m", 1
    if kind == 3:
        sink, names, sizes[4] = d.x(1, q.shape[1], 1, 1, name="sink"), names + ",%sink", 1
    text = (f"<{{is_causal = {truth(kind == 1)}, operandSegmentSizes = {ints(sizes, 'i32')}, scale = {scale} : f32}}>")
    d.gives(d.say("ttir.scaled_dot_product_attention", names, q.shape, text), with_sink(q, k, v, mask, sink, scale))


def decoding(d):
    t = d.n(2, 5)
    q, k, v = heads_of(d, 1, t)
    n, h, _, depth = q.shape
    d.given["q"], d.types["%q"] = q.transpose(2, 0, 1, 3), d.tensor((1, n, h, depth))
    d.given["at"], d.types["%at"] = np.zeros(n), d.tensor((n,), "i32")
    causal = d.n(0, 1)
    if d.n(0, 1):
        page = d.one(1, t)
        many = n * t // page
        for name, data in (("k", k), ("v", v)):
            d.given[name], d.types["%" + name] = np.zeros(1), d.tensor((many, k.shape[1], page, depth))
        d.tables["pages_1"], d.tables["pages_2"] = k, v
        d.given["table"], d.types["%table"] = np.zeros(1), d.tensor((n, t // page), "i32")
        op, names = "ttir.paged_scaled_dot_product_attention_decode", "%q,%k,%v,%table"
    else:
        op, names = "ttir.scaled_dot_product_attention_decode", "%q,%k,%v"
    if causal:
        mask = d.tables["causal_mask"] = np.where(d.rng.integers(0, 2, (n, 1, 1, t)), 0, -9.)
        names += ",%at"
    else:
        mask = d.x(n, 1, h, t, name="m").transpose(0, 2, 1, 3)
        names += ",%m"
    want = with_sink(q, k, v, mask, np.full((1, 1, 1, 1), -np.inf), 1 / math.sqrt(depth))
    d.gives(d.say(op, names, (1, n, h, depth), f"<{{is_causal = {truth(causal)}}}>"), want.transpose(2, 0, 1, 3))


def split_heads(d):
    n, s, h, depth, turn, few = d.n(1, 2), d.n(1, 4), 2, d.n(2, 3), d.n(0, 1), d.one(1, 2)
    if d.n(0, 1):
        x = d.x(n, s, (h + 2 * few) * depth)
        parts, names = np.split(x, [h * depth, (h + few) * depth], -1), "%x"
    else:
        x, y = d.x(n, s, h * depth), d.x(n, s, 2 * few * depth, name="y")
        parts, names = [x, *np.split(y, 2, -1)], "%x,%y"
    parts = [rows(p, c) for p, c in zip(parts, (h, few, few))]
    if turn:
        parts[1] = parts[1].transpose(0, 1, 3, 2)
    kinds = [d.tensor(p.shape) for p in parts]
    d.lines.append(f'%a, %b, %c = "ttir.split_query_key_value_and_split_heads"({names.replace(",", ", ")}) <{{num_heads = '
                   f"{h} : ui32, num_kv_heads = {few} : ui32, transpose_key = {truth(turn)}}}> : "
                   f"({', '.join(d.types[i] for i in names.split(','))}) -> ({', '.join(kinds)})")
    which = d.n(0, 2)
    d.types["%" + "abc"[which]] = kinds[which]
    d.gives("%" + "abc"[which], parts[which])


def heads_joined(d):
    x = d.x(d.n(1, 2), d.n(1, 3), d.n(2, 4), 2)
    want = x.transpose(0, 2, 1, 3).reshape(x.shape[0], x.shape[2], -1)
    d.gives(d.say("ttir.concatenate_heads", "%x", want.shape), want)


def rotary(d):
    x = d.x(1, d.n(1, 2), d.n(2, 4), 4)
    c, s = d.x(1, 1, x.shape[2], 4, name="c"), d.x(1, 1, x.shape[2], 4, name="s")
    want = x * c + np.concatenate([-x[..., 2:], x[..., :2]], -1) * s
    d.gives(d.say("ttir.rotary_embedding", "%x,%c,%s", x.shape), want)


def resized(d):
    x, by = d.x(1, 2, d.n(2, 3), 2), [d.n(1, 3), d.n(1, 3)]
    want = x.repeat(by[0], 1).repeat(by[1], 2)
    d.gives(d.say("ttir.upsample2d", "%x", want.shape, f'<{{mode = "nearest", scale_factor = {ints(by, "i32")}}}>'), want)


def loops(d):
    """A scan: of a stack of weights one in each pass, and a row of the results."""
    passes, n = d.n(1, 4), d.n(1, 3)
    x, w = d.x(2, n), d.x(passes, n, n, name="w")
    a, s, k, o = (d.tensor((2, n)), d.tensor((passes, n, n)), "tensor<i32>", d.tensor((passes, 2, n)))
    body = [f"%s = stablehlo.dynamic_slice %w, %i, %z, %z, sizes = [1, {n}, {n}] : ({s}, {k}, {k}, {k}) -> "
            + d.tensor((1, n, n)), f"%m = stablehlo.reshape %s : ({d.tensor((1, n, n))}) -> {d.tensor((n, n))}",
            f"%p = stablehlo.dot_general %a, %m, contracting_dims = [1] x [0] : ({a}, {d.tensor((n, n))}) -> {a}",
            f"%t = stablehlo.tanh %p : {a}", f"%u = stablehlo.reshape %t : ({a}) -> {d.tensor((1, 2, n))}",
            f"%v = stablehlo.dynamic_update_slice %o, %u, %i, %z, %z : ({o}, {d.tensor((1, 2, n))}, {k}, {k}, {k}) -> {o}",
            f"%one = stablehlo.constant dense<1> : {k}", f"%j = stablehlo.add %i, %one : {k}"]
    test = [f"%n = stablehlo.constant dense<{passes}> : {k}",
            f"%c = stablehlo.compare  LT, %i, %n,  SIGNED : ({k}, {k}) -> tensor<i1>"]
    d.lines += [f"%z = stablehlo.constant dense<0> : {k}", f"%e = stablehlo.constant dense<0.0> : tensor<f32>",
                f"%f = stablehlo.broadcast_in_dim %e, dims = [] : (tensor<f32>) -> {o}"]
    args, join = "^bb0(%i: tensor<i32>, %a: " + a + ", %o: " + o + "):", "\n      "
    if d.n(0, 1):
        d.lines.append(f"%r:3 = stablehlo.while(%i = %z, %a = %x, %o = %f) : {k}, {a}, {o}\n     cond {{\n      " + join.join(test)
                       + f"\n      stablehlo.return %c : tensor<i1>\n    }} do {{\n      " + join.join(body)
                       + f"\n      stablehlo.return %j, %t, %v : {k}, {a}, {o}\n    }}")
    else:
        d.lines.append('%r:3 = "stablehlo.while"(%z, %x, %f) ({\n    ' + args + join + join.join(test)
                       + "\n      stablehlo.return %c : tensor<i1>\n    }, {\n    " + args + join + join.join(body)
                       + f"\n      stablehlo.return %j, %t, %v : {k}, {a}, {o}\n    }}) : ({k}, {a}, {o}) -> ({k}, {a}, {o})")
    rows = []
    for i in range(passes):
        x = np.tanh(x @ w[i])
        rows.append(x)
    d.types["%r#1"], d.types["%r#2"] = a, o
    d.gives(*(("%r#1", x) if d.n(0, 1) else ("%r#2", np.stack(rows))))


def exchanged(d):
    x = d.x(2, 3)
    op = d.one("ttir.all_reduce", "ttir.all_gather", "ttir.reduce_scatter", "ttir.collective_permute")
    d.gives(d.say(op, "%x", x.shape, "<{cluster_axis = 0 : ui32}>"), x)


def by_name(d):
    x = d.x(2, 5)
    d.lines.append(f"%r = stablehlo.custom_call @mhlo.erf(%x) {{mhlo.attributes = {{}}}} : ({d.types['%x']}) -> "
                   + d.types["%x"])
    d.types["%r"] = d.types["%x"]
    d.gives("%r", erf(x))


KINDS = [unary, chlo, binary, bits, chosen, clamped, dot, product, einsum, convolution, images, transposed_images, volumes,
         pooled, whole_pool, hlo_window, hlo_reduced, greatest, reduced, extreme, running, soft, moved, rearranged, shaped, parted, joined,
         padded, starts, looked_up, normed, quantised, unrolled, attention, decoding, split_heads, heads_joined, rotary,
         resized, loops, exchanged, by_name]


def check(program, folder, rng, kind):
    d = Draw(rng)
    kind(d)
    with open(f"{folder}/m.mlir", "w") as file:
        file.write(d.text)
    said = compare(program, f"{folder}/m.mlir", {**d.tables, **d.given}, d.want, d.slack)
    return said and f"{said}\n{d.text}"


if __name__ == "__main__":
    main(KINDS, check)

"""The workload that `lxplore import` writes, computed op by op with numpy, and what its checkers have in common."""
import math, re, subprocess, sys, tempfile
import numpy as np

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
        "bitand": lambda a, b: np.int64(a) & np.int64(b), "bitor": lambda a, b: np.int64(a) | np.int64(b),
        "bitxor": lambda a, b: np.int64(a) ^ np.int64(b), "cbrt": np.cbrt, "square": np.square,
        "hardsigmoid": lambda a: np.clip(a / 6 + 0.5, 0, 1), "where": lambda c, a: np.where(c != 0, a, 0), "unless": lambda c, a: np.where(c != 0, 0, a)}
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
            found = [self.tables[name]] if name in self.tables else found
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


def rows(x, heads):
    return x.reshape(x.shape[0], x.shape[1], heads, -1).transpose(0, 2, 1, 3)


def attended(q, k, v, mask=0, cap=0):
    k, v = [np.repeat(t, q.shape[1] // t.shape[1], 1) for t in (k, v)]
    s = q @ k.transpose(0, 1, 3, 2) / math.sqrt(q.shape[3])
    s = softmax((cap * np.tanh(s / cap) if cap else s) + mask, -1) @ v
    return s.transpose(0, 2, 1, 3).reshape(q.shape[0], q.shape[2], -1)


def turned(x, c, s, neighbours):
    half = c.shape[-1]
    a, b = (x[..., 0::2], x[..., 1::2]) if neighbours else (x[..., :half], x[..., half:])
    parts = [a * c - b * s, b * c + a * s]
    return np.stack(parts, -1).reshape(x.shape) if neighbours else np.concatenate(parts, -1)


def compare(program, path, tables, want, slack, also={}):
    """What is wrong with the numbers of tensor 'out', which is -want, and of others by name; None: nothing."""
    run = subprocess.run([program, "import", "--strict", path], capture_output=True, text=True)
    if run.returncode:
        return run.stderr.strip()
    text = Text(run.stdout, tables)
    text.run()
    got = -text.read("out")
    if got.size != want.size:
        return f"{got.size} elements, not {want.size}"
    for name, numbers in also.items():
        if not np.allclose(text.values[name], numbers):
            return f"'{name}' has other numbers\n{run.stdout}"
    off = np.abs(got.reshape(want.shape) - want).max()
    good = off <= max(slack, 1e-4 * max(1, np.abs(want).max()))
    return None if good else f"numbers are off by {off}\n{run.stdout}"


def main(kinds, check):
    """PROGRAM SEED DRAWS [KIND..]: draws models of the kinds in turn; ends with 1 if one is wrong."""
    program, seed, draws = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    kinds = [k for k in kinds if not sys.argv[4:] or k.__name__ in sys.argv[4:]]
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for i in range(draws):
            kind = kinds[i % len(kinds)]
            try:
                said = check(program, folder, np.random.default_rng([seed, i]), kind)
            except Exception as wrong:
                said = repr(wrong)
            if said:
                failed += 1
                print(f"seed {seed} draw {i}: {kind.__name__}: {said}")
    print(f"seed {seed}: {draws} models, {failed} wrong")
    sys.exit(failed > 0)

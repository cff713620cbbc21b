"""mlir_calls.py PROGRAM SEED COUNT TABLE: calls every StableHLO, CHLO and TTIR row of TABLE, the source of the ops, with
shapes, attributes, regions and texts that fit and that do not, imports each module, and prints what ends other than with
status 0 or 2."""
import random
import re
import subprocess
import sys
import tempfile

KINDS = ["f32", "bf16", "i1", "i8", "i32", "i64", "!quant.uniform<i8:f32, 0.5:1>", "!quant.uniform<i8:f32:1, {0.5,0.25:2}>"]
LISTS = ["dimensions", "dims", "permutation", "broadcast_dimensions", "padding", "stride", "dilation", "kernel", "begins",
         "ends", "step", "dim_arg", "window_dimensions", "window_strides", "window_dilations", "base_dilations", "low", "high",
         "interior", "batching_dims", "contracting_dims", "batch_dims_lhs", "batch_dims_rhs", "contract_dims_lhs", "sizes",
         "contract_dims_rhs", "start_indices", "limit_indices", "strides", "shape", "scale_factor", "normalized_shape",
         "repeat_dimensions", "output_padding", "window_reversal", "lhs_dilation", "rhs_dilation", "input_dilation",
         "operandSegmentSizes", "slice_sizes"]
WHOLE = ["dim", "dim0", "dim1", "dimension", "groups", "num_heads", "num_kv_heads", "begin", "end", "length", "axis",
         "num_groups", "channel_dim", "feature_index", "feature_group_count", "batch_group_count", "repeats", "ceil_mode",
         "kernel_height", "kernel_width", "stride_height", "padding_left", "count_include_pad", "iota_dimension", "step"]
REALS = ["epsilon", "scale", "min", "max", "value", "fill_value", "parameter"]
FLAGS = ["keep_dim", "transpose_a", "transpose_b", "is_causal", "transpose_key"]
TEXTS = ["comparison_direction = LT", "comparison_direction = #stablehlo<comparison_direction GE>", 'mode = "nearest"',
         'mode = "bilinear"', "dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]", "dim_numbers = [b, f]x[o, i]->[b, f]",
         "pooling_method = #ttir<pooling_method Max>", "pooling_method = #ttir<pooling_method Average>",
         'einsum_config = "ab,bc->ac"', 'einsum_config = "...a,a->..."', "value = dense<[1.0, 2.0]> : tensor<2xf32>",
         "value = dense<0xFF800000> : tensor<f32>", "convolution_layout = #ttir<convolution_layout input_batch = 0, "
         "input_feature = 3, input_spatial_dimensions = 1x2, kernel_output_feature = 0, kernel_input_feature = 1, "
         "kernel_spatial_dimensions = 2x3, output_batch = 0, output_feature = 3, output_spatial_dimensions = 1x2>"]
BODIES = ["stablehlo.add", "stablehlo.maximum", "stablehlo.multiply", "stablehlo.compare  GT,", "other.op"]


def names(table):
    words = " ".join(re.findall(r'\{"([^"]+)",\s*mean_', open(table).read())).split()
    return sorted(w for w in words if re.match(r"(ttir|stablehlo|chlo|sdy)\.", w))


def shape(r):
    return [r.choice([1, 2, 3, 4, 6, 8, 0 if r.random() < .02 else 5]) for _ in range(r.choice([0, 1, 2, 2, 3, 3, 4, 4, 4, 5]))]


def tensor(of, kind):
    return "tensor<" + "".join(f"{n}x" for n in of) + kind + ">"


def attribute(r):
    kind = r.random()
    if kind < .5:
        numbers = [r.choice([-3, -1, 0, 1, 1, 1, 2, 2, 3, 4, 9, 2**31, -2**63]) for _ in range(r.choice([0, 1, 2, 3, 4, 4, 8]))]
        text = ", ".join(map(str, numbers))
        return f"{r.choice(LISTS)} = " + r.choice(["[%s]", "array<i64: %s>", "dense<[%s]> : tensor<4xi64>"]) % text
    if kind < .75:
        return f"{r.choice(WHOLE)} = {r.choice([-9, -1, 0, 1, 1, 2, 2, 3, 4, 2**40])} : i64"
    if kind < .82:
        return f"{r.choice(REALS)} = {r.choice(['1.0e-05', '0.0', '-3.5', '1.0e+38'])} : f32"
    return f"{r.choice(FLAGS)} = {r.choice(['true', 'false'])}" if kind < .9 else r.choice(TEXTS)


def module(r, op):
    common, arguments, lines, types = shape(r), [], [], []
    for i in range(r.randint(1, 6)):
        of, kind = common if r.random() < .6 else shape(r), r.choice(KINDS if r.random() < .4 else ["f32"])
        types.append(tensor(of, kind))
        if r.random() < .25 and kind in ("f32", "i32"):
            lines.append(f"%a{i} = stablehlo.constant dense<{r.choice([0, 1, 2, 100])}> : {types[i]}")
        elif r.random() < .4 and kind == "f32":
            arguments.append(f"%b{i}: {types[i]}")
            lines.append(f"%a{i} = stablehlo.tanh %b{i} : {types[i]}")
        else:
            arguments.append(f"%a{i}: {types[i]}")
    operands = ", ".join(f"%a{i}" for i in range(len(types)))
    outs = [tensor(common if r.random() < .6 else shape(r), r.choice(KINDS if r.random() < .2 else ["f32"]))
            for _ in range(r.choice([1, 1, 1, 1, 2, 3]))]
    results = ", ".join(f"%r{i}" for i in range(len(outs)))
    words = ", ".join(attribute(r) for _ in range(r.randint(0, 9)))
    signature = f"({', '.join(types)}) -> " + (outs[0] if len(outs) == 1 else f"({', '.join(outs)})")
    region = ""
    if r.random() < .3:
        region = " ({\n^bb0(%p: tensor<f32>, %q: tensor<f32>):\n  %s = " + r.choice(BODIES) + \
            " %p, %q : tensor<f32>\n  stablehlo.return %s : tensor<f32>\n})"
    if r.random() < .6:
        line = f'{results} = "{op}"({operands}) <{{{words}}}>{region} : {signature}'
    else:
        line = f"{results} = {op} {operands}, {words} : {signature}"
    if r.random() < .03:
        line = line[:r.randint(0, len(line))]
    lines += [line, f"return {results} : {', '.join(outs)}"]
    body = "\n    ".join(lines)
    return f"module {{\n  func.func @main({', '.join(arguments)}) -> ({', '.join(outs)}) {{\n    {body}\n  }}\n}}\n"


def main():
    program, seed, count, table = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    ops, wrong, opaque = names(table), 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for i in range(count):
            r = random.Random(f"{seed} {i}")
            op = ops[i % len(ops)]
            text = module(r, op)
            with open(f"{folder}/m.mlir", "w") as file:
                file.write(text)
            run = subprocess.run([program, "import", f"{folder}/m.mlir"], capture_output=True, text=True, timeout=60)
            opaque += "is opaque" in run.stderr
            if run.returncode not in (0, 2) or "runtime error" in run.stderr:
                wrong += 1
                print(f"seed {seed} draw {i}: {op} ends with {run.returncode}: {run.stderr[:500]}\n{text}")
    print(f"seed {seed}: {count} calls of {len(ops)} ops, {opaque} opaque, {wrong} wrong")
    sys.exit(wrong > 0)


main()

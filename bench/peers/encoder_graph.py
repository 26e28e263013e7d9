# SPDX-License-Identifier: MIT
"""Makes ONNX graphs of BERT and its relatives for peers. A graph consists of ONNX Runtime's own fused operators (com.microsoft
EmbedLayerNormalization, Attention, SkipLayerNormalization, BiasGelu), the fastest form for its CPU provider, or of standard operators,
which other programs fuse themselves. Needs numpy and onnx."""
import numpy as np
from onnx import TensorProto, helper, numpy_helper

FUSED = "com.microsoft"
BERT = {"q": "attention.self.query", "k": "attention.self.key", "v": "attention.self.value", "o": "attention.output.dense",
        "norm": "attention.output.LayerNorm"}
MPNET = {"q": "attention.attn.q", "k": "attention.attn.k", "v": "attention.attn.v", "o": "attention.attn.o", "norm": "attention.LayerNorm"}


def relative_bias(table, tokens):
    """MPNet's biases [1,H,T,T] from its table [buckets,H]: T5's buckets of distances, half of them for each direction."""
    buckets = table.shape[0] // 2
    distance = np.arange(tokens)[None, :] - np.arange(tokens)[:, None]
    far = np.abs(distance)
    exact = buckets // 2
    log = exact + (np.log(np.maximum(far, 1).astype(np.float32) / exact) / np.log(128 / exact) * (buckets - exact)).astype(int)
    index = np.where(far < exact, far, np.minimum(log, buckets - 1)) + np.where(distance > 0, buckets, 0)
    return table[index].transpose(2, 0, 1)[None]


def encoder_graph(config, weights, masked=False, normalised=True, fused=True, classifies=False):
    """A serialised model of encoder and mean pooling. config, weights: of the checkpoint. The output is "embeddings" [B,C].

    normalised: L2 normalisation comes last. masked: keys from lengths[b] on are ignored. classifies: the head of
    BertForSequenceClassification replaces the pooling. fused: with ONNX Runtime's own operators; False leaves out types and lengths.
    Inputs: ids [B,T] int32; types [B,T] int32 (BERT); pool [B,1,T] (1/length at valid tokens, 0 at padding; without `classifies`);
    lengths [B] int32 (masked); bias [1,H,T,T] (MPNet). Batches of RoBERTa and its kind must have no padding, because their positions
    depend on it."""
    kind = config["model_type"]
    names = MPNET if kind == "mpnet" else BERT
    epsilon = config["layer_norm_eps"]
    has_types = kind == "bert"
    nodes, initializers = [], []

    def constant(name, array):
        initializers.append(numpy_helper.from_array(np.ascontiguousarray(array, dtype=np.float32), name))
        return name

    def weight(name):
        return constant(name, weights[name])

    def node(operator, inputs, output, domain="", **attributes):
        nodes.append(helper.make_node(operator, inputs, [output], domain=domain, **attributes))
        return output

    positions = weights["embeddings.position_embeddings.weight"]
    words = weights["embeddings.word_embeddings.weight"]
    if kind in ("roberta", "xlm-roberta", "camembert", "mpnet"):
        positions = positions[config["pad_token_id"] + 1:]
    if kind in ("roberta", "xlm-roberta", "camembert"):  # one token type, which is added to every word
        words = words + weights["embeddings.token_type_embeddings.weight"][0]

    def integers_of(name, values):
        initializers.append(numpy_helper.from_array(np.array(values, dtype=np.int64), name))
        return name

    def norm_of(value, name, output):
        return node("LayerNormalization", [value, weight(name + ".weight"), weight(name + ".bias")], output, axis=-1, epsilon=epsilon)

    def plain_attention(x, qkv, bias, base):
        heads, size = config["num_attention_heads"], config["hidden_size"] // config["num_attention_heads"]
        all_heads = node("Add", [node("MatMul", [x, qkv], base + "qkv.product"), bias], base + "qkv.sum")
        parts = [base + part for part in "qkv"]
        nodes.append(helper.make_node("Split", [all_heads], parts, axis=-1))
        shape = integers_of(base + "heads", [0, 0, heads, size])
        q, k, v = (node("Transpose", [node("Reshape", [part, shape], part + ".split")], part + ".heads", perm=order)
                   for part, order in zip(parts, ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3])))
        scores = node("Mul", [node("MatMul", [q, k], base + "scores"), constant(base + "scale", np.float32(size ** -0.5))], base + "scaled")
        if kind == "mpnet":
            scores = node("Add", [scores, "bias"], base + "biased")
        mixed = node("MatMul", [node("Softmax", [scores], base + "weights", axis=-1), v], base + "mixed")
        return node("Reshape", [node("Transpose", [mixed], base + "rows", perm=[0, 2, 1, 3]),
                                integers_of(base + "width", [0, 0, heads * size])],
                    base + "context")

    def plain_gelu(value, name):
        x = node("Add", [value, weight(name + ".bias")], name + ".sum")
        e = node("Erf", [node("Mul", [x, constant(name + ".root", np.float32(0.5 ** 0.5))], name + ".scaled")], name + ".erf")
        half = node("Mul", [x, constant(name + ".half", np.float32(0.5))], name + ".halved")
        return node("Mul", [half, node("Add", [e, constant(name + ".one", np.float32(1))], name + ".shifted")], name + ".gelu")

    tables = [constant("words", words), constant("positions", positions)]
    tables += [weight("embeddings.token_type_embeddings.weight")] if has_types else [""]
    if fused:
        nodes.append(helper.make_node(
            "EmbedLayerNormalization",
            ["ids", "types" if has_types else "", *tables, weight("embeddings.LayerNorm.weight"), weight("embeddings.LayerNorm.bias")],
            ["x", "unused_mask_index"], domain=FUSED, epsilon=epsilon))
        x = "x"
    else:
        length = node("Shape", ["ids"], "length", start=1, end=2)
        first = node("Slice", [tables[1], integers_of("zero", [0]), length], "first positions")
        x = norm_of(node("Add", [node("Gather", [tables[0], "ids"], "embedded"), first], "placed"), "embeddings.LayerNorm", "x")
    for index in range(config["num_hidden_layers"]):
        base = f"encoder.layer.{index}."
        qkv = np.concatenate([weights[base + names[part] + ".weight"].T for part in "qkv"], axis=1)
        bias = np.concatenate([weights[base + names[part] + ".bias"] for part in "qkv"])
        inputs = [x, constant(base + "qkv", qkv), constant(base + "qkv_bias", bias), "lengths" if masked else ""]
        inputs += ["", "bias"] if kind == "mpnet" else []
        if fused:
            context = node("Attention", inputs, base + "context", FUSED, num_heads=config["num_attention_heads"])
        else:
            context = plain_attention(x, inputs[1], inputs[2], base)

        def dense(value, name):
            return node("MatMul", [value, constant(name + ".transposed", weights[name + ".weight"].T)], name + ".out")

        def add_norm(value, skip, dense_name, norm):
            if not fused:
                biased = node("Add", [value, weight(dense_name + ".bias")], dense_name + ".sum")
                return norm_of(node("Add", [biased, skip], norm + ".in"), norm, norm + ".out")
            return node("SkipLayerNormalization",
                        [value, skip, weight(norm + ".weight"), weight(norm + ".bias"), weight(dense_name + ".bias")],
                        norm + ".out", FUSED, epsilon=epsilon)

        x = add_norm(dense(context, base + names["o"]), x, base + names["o"], base + names["norm"])
        name = base + "intermediate.dense"
        hidden = node("BiasGelu", [dense(x, name), weight(name + ".bias")], base + "hidden", FUSED) if fused else \
            plain_gelu(dense(x, name), name)
        name = base + "output."
        x = add_norm(dense(hidden, name + "dense"), x, name + "dense", name + "LayerNorm")
    if classifies:
        first = node("Gather", [x, integers_of("first", 0)], "first tokens", axis=1)
        for name, inner in (("pooler.dense", first), ("classifier", "pooler.tanh")):
            node("Gemm", [inner, weight(name + ".weight"), weight(name + ".bias")], name + ".out" if name != "classifier" else "embeddings",
                 transB=1)
            if name == "pooler.dense":
                node("Tanh", [name + ".out"], "pooler.tanh")
    else:
        squeezed = node("Squeeze", [node("MatMul", ["pool", x], "pooled"), integers_of("axis", [1])],
                        "squeezed" if normalised else "embeddings")
        if normalised:
            node("LpNormalization", [squeezed], "embeddings", axis=-1, p=2)

    integers = ["ids"] + (["types"] if has_types else [])
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT32, ["B", "T"]) for name in integers]
    if not classifies:
        inputs.append(helper.make_tensor_value_info("pool", TensorProto.FLOAT, ["B", 1, "T"]))
    if masked:
        inputs.append(helper.make_tensor_value_info("lengths", TensorProto.INT32, ["B"]))
    if kind == "mpnet":
        inputs.append(helper.make_tensor_value_info("bias", TensorProto.FLOAT, [1, config["num_attention_heads"], "T", "T"]))
    outputs = [helper.make_tensor_value_info("embeddings", TensorProto.FLOAT, ["B", "classes" if classifies else config["hidden_size"]])]
    graph = helper.make_graph(nodes, "encoder", inputs, outputs, initializers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid(FUSED, 1)])
    model.ir_version = 8
    return model.SerializeToString()

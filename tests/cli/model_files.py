# SPDX-License-Identifier: MIT
"""Files of models as the tests read them, change them and write them back, without a package that knows their formats."""
import json
import struct

SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
ALIGNMENT = 32


def read_gguf(path):
    """Metadata as raw bytes by key, and tensors as (sizes, type, data to the next one's beginning)."""
    with open(path, "rb") as file:
        raw = file.read()
    count, keys = struct.unpack_from("<QQ", raw, 8)
    at = 24

    def text(place):
        length = struct.unpack_from("<Q", raw, place)[0]
        return raw[place + 8:place + 8 + length], place + 8 + length

    values, tensors = {}, []
    for _ in range(keys):
        key, at = text(at)
        begin, kind = at, struct.unpack_from("<I", raw, at)[0]
        at, elements = at + 4, 1
        if kind == 9:
            kind, elements = struct.unpack_from("<IQ", raw, at)
            at += 12
        for _ in range(elements):
            at = text(at)[1] if kind == 8 else at + SIZES[kind]
        values[key.decode()] = raw[begin:at]
    for _ in range(count):
        name, at = text(at)
        rank = struct.unpack_from("<I", raw, at)[0]
        sizes = struct.unpack_from(f"<{rank}Q", raw, at + 4)
        kind, offset = struct.unpack_from("<IQ", raw, at + 4 + 8 * rank)
        at += 16 + 8 * rank
        tensors.append((name.decode(), sizes, kind, offset))
    begin = (at + 31) // 32 * 32
    ends = [offset for *_, offset in tensors[1:]] + [len(raw) - begin]
    return values, {name: (sizes, kind, raw[begin + offset:begin + end]) for (name, sizes, kind, offset), end in zip(tensors, ends)}


def gguf_text(value):
    return struct.pack("<IQ", 8, len(value.encode())) + value.encode()


def write_gguf(path, values, tensors):
    """Writes read_gguf's result, in the order of the dictionaries."""
    header, body = struct.pack("<4sIQQ", b"GGUF", 3, len(tensors), len(values)), b""
    for key, raw in values.items():
        header += struct.pack("<Q", len(key.encode())) + key.encode() + raw
    for name, (sizes, kind, content) in tensors.items():
        header += struct.pack(f"<Q{len(name)}sI{len(sizes)}QIQ", len(name), name.encode(), len(sizes), *sizes, kind, len(body))
        body += content + bytes(-len(content) % ALIGNMENT)
    with open(path, "wb") as file:
        file.write(header + bytes(-len(header) % ALIGNMENT) + body)


def gguf_texts(values):
    return struct.pack("<IIQ", 9, 8, len(values)) + b"".join(struct.pack("<Q", len(one.encode())) + one.encode() for one in values)


def split_gguf(path, values, tensors, count):
    """The same as `count` files path-00001-of-0000N.gguf, whose names it returns: all metadata in the first."""
    names, paths = list(tensors), [f"{path}-{i + 1:05}-of-{count:05}.gguf" for i in range(count)]
    for i, one in enumerate(paths):
        keys = {"split.no": struct.pack("<IH", 2, i), "split.count": struct.pack("<IH", 2, count),
                "split.tensors.count": struct.pack("<Ii", 5, len(names))}
        write_gguf(one, {**values, **keys} if i == 0 else keys, {name: tensors[name] for name in names[i::count]})
    return paths


def read_safetensors(path):
    with open(path, "rb") as file:
        raw = file.read()
    size = struct.unpack_from("<Q", raw)[0]
    header = json.loads(raw[8:8 + size])
    return {name: (row["dtype"], row["shape"], raw[8 + size + row["data_offsets"][0]:8 + size + row["data_offsets"][1]])
            for name, row in header.items() if name != "__metadata__"}


def write_safetensors(path, tensors):
    header, at = {}, 0
    for name, (dtype, shape, content) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + len(content)]}
        at += len(content)
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + b"".join(content for *_, content in tensors.values()))


def change_json(path, change):
    with open(path, encoding="utf-8") as file:
        content = json.load(file)
    change(content)
    with open(path, "w", encoding="utf-8") as file:
        json.dump(content, file)

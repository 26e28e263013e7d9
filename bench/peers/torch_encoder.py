# SPDX-License-Identifier: MIT
"""MiniLM in PyTorch, on a CPU or a GPU, as a peer for bench_encoder. It is transformers' own model with PyTorch's fused attention, in
float32 without TF32, and without the pooler, which embeddings do not use. It is checked like ONNX Runtime's peer.

Needs torch and transformers from PyPI, and the packages of ort_minilm.py."""
import numpy as np
import torch
import transformers

import ort_minilm


class Peer(ort_minilm.Peer):
    """The peer of ort_minilm.py with a module of PyTorch in place of the graph. Returned arrays are on the host."""

    def __init__(self, directory, threads, device):
        super().__init__(directory, threads)
        torch.set_num_threads(threads)
        torch.set_float32_matmul_precision("highest")
        transformers.utils.logging.disable_progress_bar()
        self.device = torch.device(device)
        model = transformers.AutoModel.from_pretrained(directory, attn_implementation="sdpa", dtype=torch.float32)
        model.pooler = None
        self.model = model.eval().to(self.device)

    def run(self, rows):
        """Embeddings of id lists of any lengths, as one padded batch; a batch of equal lengths needs no mask and gets none."""
        lengths = np.array([len(row) for row in rows])
        longest = int(lengths.max())
        ids = np.zeros((len(rows), longest), dtype=np.int64)
        for index, row in enumerate(rows):
            ids[index, :len(row)] = row
        keep = None
        if (lengths != longest).any():
            keep = torch.from_numpy(np.arange(longest) < lengths[:, None]).to(self.device)
        with torch.inference_mode():
            states = self.model(torch.from_numpy(ids).to(self.device), attention_mask=keep).last_hidden_state
            if keep is None:
                means = states.mean(1)
            else:
                weights = keep.unsqueeze(2).float()
                means = (states * weights).sum(1) / weights.sum(1)
            return torch.nn.functional.normalize(means).cpu().numpy()

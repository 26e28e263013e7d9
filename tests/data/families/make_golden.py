#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tiny random models of the families, as transformers stores them, and what it computes with them in float64.

Usage: make_golden.py [FAMILY ...]                 (needs torch, transformers, tokenizers; writes beside itself)
       make_golden.py --classifiers [FAMILY ...]   (into ../classifiers)

Each folder holds config.json, model.safetensors (float16), tokenizer.json and golden.json: texts, the means of their tokens' last hidden
states, and the attention weights of layer 1 for the last text. Classifiers have one layer and a head. Their golden.json has the logits of
texts and pairs, computed in one padded batch, and the scores that transformers' pipeline gives them by problem_type. With one label it also
has the scores of sentence-transformers' CrossEncoder for the pairs, which needs that package. Sizes are odd, so that nothing fits by
chance."""
import json
import os
import sys
import tempfile

import torch
import transformers
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

HERE = os.path.dirname(os.path.abspath(__file__))
LETTERS = "abcdefghijklmnopqrstuvwxyz"
TEXTS = ["a", "the cat sat", "zebra quick", "on the mat the cat sat and sat and sat until the dog ran", "dog, dog!"]
SPECIAL = ["<s>", "<pad>", "</s>", "<unk>"]
PAD = 1
VOCABULARY = SPECIAL + list(LETTERS) + ["##" + c for c in LETTERS] + ["the", "cat", "sat", ",", "!"]
SIZES = dict(vocab_size=len(VOCABULARY), hidden_size=24, intermediate_size=40, num_attention_heads=3, num_hidden_layers=2,
             pad_token_id=PAD, bos_token_id=0, eos_token_id=2)


def distilbert():
    config = transformers.DistilBertConfig(vocab_size=len(VOCABULARY), dim=24, hidden_dim=40, n_heads=3, n_layers=2,
                                           max_position_embeddings=37, pad_token_id=PAD)
    return transformers.DistilBertModel(config)


def roberta():
    return transformers.RobertaModel(transformers.RobertaConfig(**SIZES, type_vocab_size=1, max_position_embeddings=39),
                                     add_pooling_layer=False)


def xlm_roberta():
    return transformers.XLMRobertaModel(transformers.XLMRobertaConfig(**SIZES, type_vocab_size=1, max_position_embeddings=41),
                                        add_pooling_layer=False)


def camembert():
    config = transformers.CamembertConfig(**{**SIZES, "pad_token_id": 3}, type_vocab_size=1, max_position_embeddings=43)
    return transformers.CamembertModel(config, add_pooling_layer=False)


def mpnet():
    return transformers.MPNetModel(transformers.MPNetConfig(**SIZES, max_position_embeddings=39), add_pooling_layer=False)


def nomic_bert():
    return transformers.NomicBertModel(transformers.NomicBertConfig(**SIZES, max_position_embeddings=37), add_pooling_layer=False)


def modernbert():
    config = transformers.ModernBertConfig(**{**SIZES, "num_hidden_layers": 4}, max_position_embeddings=37, local_attention=9)
    return transformers.ModernBertModel(config)


FAMILIES = {"distilbert": distilbert, "roberta": roberta, "xlm-roberta": xlm_roberta, "camembert": camembert,
            "mpnet": mpnet, "nomic_bert": nomic_bert, "modernbert": modernbert}


ONE_LAYER = {**SIZES, "num_hidden_layers": 1}
PAIRS = [["the cat", "sat on the mat"], ["zebra", "dog, dog! the cat sat and ran"], ["a", ""]]
TOPICS = {0: "weather", 1: "sport", 2: "the rest"}


def bert_classifier():
    config = transformers.BertConfig(**ONE_LAYER, max_position_embeddings=37, num_labels=1)
    return transformers.BertForSequenceClassification(config)


def distilbert_classifier():
    config = transformers.DistilBertConfig(vocab_size=len(VOCABULARY), dim=24, hidden_dim=40, n_heads=3, n_layers=1,
                                           max_position_embeddings=37, pad_token_id=PAD, id2label={0: "NEGATIVE", 1: "POSITIVE"})
    return transformers.DistilBertForSequenceClassification(config)


def roberta_classifier():
    config = transformers.RobertaConfig(**ONE_LAYER, type_vocab_size=1, max_position_embeddings=39, id2label=TOPICS)
    return transformers.RobertaForSequenceClassification(config)


def xlm_roberta_classifier():
    config = transformers.XLMRobertaConfig(**ONE_LAYER, type_vocab_size=1, max_position_embeddings=41, num_labels=1)
    return transformers.XLMRobertaForSequenceClassification(config)


def camembert_classifier():
    config = transformers.CamembertConfig(**ONE_LAYER, type_vocab_size=1, max_position_embeddings=43, id2label=TOPICS,
                                          problem_type="multi_label_classification")
    return transformers.CamembertForSequenceClassification(config)


def mpnet_classifier():
    return transformers.MPNetForSequenceClassification(transformers.MPNetConfig(**ONE_LAYER, max_position_embeddings=39, num_labels=3))


def nomic_bert_classifier():
    return transformers.NomicBertForSequenceClassification(
        transformers.NomicBertConfig(**ONE_LAYER, max_position_embeddings=37, num_labels=2))


def modernbert_classifier():
    config = transformers.ModernBertConfig(**{**SIZES, "num_hidden_layers": 2}, max_position_embeddings=37, local_attention=9,
                                           classifier_pooling="mean", id2label=TOPICS)
    return transformers.ModernBertForSequenceClassification(config)


CLASSIFIERS = {"bert": bert_classifier, "distilbert": distilbert_classifier, "roberta": roberta_classifier,
               "xlm-roberta": xlm_roberta_classifier, "camembert": camembert_classifier, "mpnet": mpnet_classifier,
               "nomic_bert": nomic_bert_classifier, "modernbert": modernbert_classifier}


def make_tokenizer():
    tokenizer = Tokenizer(models.WordPiece({token: i for i, token in enumerate(VOCABULARY)}, unk_token="<unk>"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A </s>", pair="<s> $A </s> $B:1 </s>:1",
                                                             special_tokens=[("<s>", 0), ("</s>", 2)])
    tokenizer.decoder = decoders.WordPiece()
    return tokenizer


def randomise(model, generator):
    """Weights of some size everywhere, so that a part that is left out is seen."""
    for name, parameter in model.named_parameters():
        noise = torch.randn(parameter.shape, generator=generator)
        middle = 1.0 if "norm" in name.lower() and name.endswith("weight") else 0.0
        parameter.data = (middle + noise * (0.25 if parameter.dim() == 1 else 0.3)).half().float()


def embed(model, tokenizer):
    """Text by text: in a padded batch, rows that a window leaves nothing but padding are NaN in some implementations."""
    rows = []
    for text in TEXTS:
        ids = torch.tensor([tokenizer.encode(text).ids])
        with torch.no_grad():
            rows.append(model(input_ids=ids, attention_mask=torch.ones_like(ids)).last_hidden_state[0].mean(0))
    return torch.stack(rows)


def attend(model, tokenizer):
    """Attention weights of layer 1 for the last text."""
    ids = torch.tensor([tokenizer.encode(TEXTS[-1]).ids])
    with torch.no_grad():
        weights = model(input_ids=ids, output_attentions=True).attentions[1][0]
    return [[[round(value, 8) for value in row] for row in head] for head in weights.tolist()]


def classify(model, tokenizer, texts):
    """Logits of texts and pairs, padded to one length; ModernBERT's text by text, as in embed()."""
    texts = [text if isinstance(text, str) else tuple(text) for text in texts]
    if model.config.model_type == "modernbert":
        return [logits for text in texts for logits in classify_batch(model, [tokenizer.encode_batch([text])[0]])]
    tokenizer.enable_padding(pad_id=PAD, pad_token="<pad>")
    encodings = tokenizer.encode_batch(texts)
    tokenizer.no_padding()
    return classify_batch(model, encodings)


def classify_batch(model, encodings):
    inputs = {"input_ids": torch.tensor([e.ids for e in encodings]), "attention_mask": torch.tensor([e.attention_mask for e in encodings])}
    if getattr(model.config, "type_vocab_size", 1) > 1:
        inputs["token_type_ids"] = torch.tensor([e.type_ids for e in encodings])
    with torch.no_grad():
        logits = model(**inputs).logits
    assert torch.isfinite(logits).all()
    return logits.tolist()


def make(name, factory, directory, golden):
    os.makedirs(directory, exist_ok=True)
    generator = torch.Generator().manual_seed(sum(map(ord, name)))
    model, exact = factory(), factory()
    tokenizer = make_tokenizer()
    randomise(model, generator)
    exact.load_state_dict(model.state_dict())
    exact = exact.double().eval()
    exact.config._attn_implementation = "eager"
    model.half().save_pretrained(directory)  # half() rounds what is computed at start too, such as frequencies: hence two
    tokenizer.save(os.path.join(directory, "tokenizer.json"), pretty=False)
    with open(os.path.join(directory, "golden.json"), "w", encoding="utf-8") as file:
        json.dump(golden(exact, tokenizer), file)
        file.write("\n")


def family_golden(model, tokenizer):
    return {"texts": TEXTS, "embeddings": embed(model, tokenizer).tolist(), "attention": attend(model, tokenizer)}


PROBLEMS = ("single_label_classification", "multi_label_classification", "regression")


def fast_tokenizer(model, tokenizer):
    inputs = ["input_ids", "attention_mask"] + ["token_type_ids"] * (getattr(model.config, "type_vocab_size", 1) > 1)
    return transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_input_names=inputs, pad_token="<pad>")


def pipeline_scores(model, tokenizer, texts):
    """By problem_type what transformers' pipeline makes of the logits, in the order of the labels; "null": config.json names none."""
    given, scores = model.config.problem_type, {}
    pipe = transformers.pipeline("text-classification", model=model, tokenizer=fast_tokenizer(model, tokenizer), top_k=None, device="cpu")
    for problem in (None, *PROBLEMS):
        model.config.problem_type = problem
        rows = []
        for text in texts:
            found = pipe(text if isinstance(text, str) else {"text": text[0], "text_pair": text[1]})
            rows.append({row["label"]: row["score"] for row in (found[0] if isinstance(found[0], list) else found)})
        scores[problem or "null"] = [[row[model.config.id2label[k]] for k in range(model.config.num_labels)] for row in rows]
    model.config.problem_type = given
    return scores


def cross_encoder_scores(model, tokenizer):
    """Scores of the pairs by sentence-transformers' CrossEncoder, in float32."""
    from sentence_transformers import CrossEncoder  # pylint: disable=import-outside-toplevel
    with tempfile.TemporaryDirectory() as folder:
        model.float().save_pretrained(folder)
        fast_tokenizer(model, tokenizer).save_pretrained(folder)
        return CrossEncoder(folder, device="cpu").predict([tuple(pair) for pair in PAIRS]).tolist()


def classifier_golden(model, tokenizer):
    texts = [*TEXTS, *PAIRS]
    golden = {"texts": texts, "logits": classify(model, tokenizer, texts),
              "scores": pipeline_scores(model, tokenizer, texts[:-1])}  # of the last it forgets the second text, which is empty
    if model.config.num_labels == 1:
        golden["cross_encoder"] = cross_encoder_scores(model, tokenizer)
    return golden


if __name__ == "__main__":
    if sys.argv[1:2] == ["--classifiers"]:
        for name in sys.argv[2:] or CLASSIFIERS:
            make(name, CLASSIFIERS[name], os.path.join(HERE, "..", "classifiers", name), classifier_golden)
    else:
        for name in sys.argv[1:] or FAMILIES:
            make(name, FAMILIES[name], os.path.join(HERE, name), family_golden)

# SPDX-License-Identifier: MIT
"""Train the grapheme-to-phoneme encoder-decoder, resumable; evaluate the stored model on the held-out words.

  train.py --run DIR [--epochs N ...]   train in DIR (checkpoint.pt); continues from DIR/checkpoint.pt
  train.py --run DIR --from-stored      the same, beginning with the weights and the log beside this file and fresh optimizers
  train.py --run DIR --export           write model.safetensors, config.json and training-log.tsv beside this file
  train.py --evaluate                   error rates of the stored float16 weights on the held-out words
  train.py --golden DIR                 golden data for the tests of another implementation (golden.py)
"""

import argparse
import json
import math
import os
import random

import time
from concurrent.futures import ThreadPoolExecutor

import torch
from torch.nn import functional

import decode
import lexicon
from lexicon import BOS, EOS, PAD
from model import Dropout, EncoderDecoder, causal_mask, padding_mask

HERE = os.path.dirname(os.path.abspath(__file__))
MODEL = os.path.join(HERE, 'model.safetensors')
LOG = os.path.join(HERE, 'training-log.tsv')


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add('--lexicon', default=lexicon.LEXICON, help='cmudict in Festival form')
    add('--run', help='directory of the checkpoint and log, outside the repository')
    add('--from-stored', action='store_true', help='begin with the stored weights, unless there is a checkpoint')
    add('--export', action='store_true')
    add('--evaluate', action='store_true')
    add('--golden', metavar='DIR')
    add('--evaluate-every', type=int, default=5, help='epochs between two evaluations on the dev words')
    add('--status', help='file that gets one line per evaluation')
    add('--seed', type=int, default=1)
    add('--threads', type=int, default=2)
    add('--epochs', type=int, default=60)
    add('--batch-tokens', type=int, default=4096, help='source tokens in a batch')
    add('--learning-rate', type=float, default=2e-3)
    add('--optimizer', choices=['muon', 'adamw'], default='muon')
    add('--weight-decay', type=float, default=0.05)
    add('--warmup', type=int, default=400, help='steps of linear warm-up')
    add('--decay', type=float, default=0.5, help='last fraction of the steps, of linear decay to zero')
    add('--dropout', type=float, default=0.15)
    add('--label-smoothing', type=float, default=0.1)
    add('--average', type=float, default=0.999, help='decay of the moving average of the weights')
    add('--d-model', type=int, default=256)
    add('--heads', type=int, default=4)
    add('--d-ff', type=int, default=512)
    add('--encoder-layers', type=int, default=4)
    add('--decoder-layers', type=int, default=2)
    return parser.parse_args()


def configuration(args, words):
    source, target = lexicon.vocabularies(words)
    return {'model_type': 'encoder-decoder', 'task': 'grapheme-to-phoneme', 'd_model': args.d_model,
            'heads': args.heads, 'd_ff': args.d_ff, 'encoder_layers': args.encoder_layers,
            'decoder_layers': args.decoder_layers, 'activation': 'relu', 'norm': 'pre', 'layer_norm_eps': 1e-5,
            'positions': 'sinusoidal', 'max_source_length': 64, 'max_target_length': 64,
            'pad_token_id': PAD, 'bos_token_id': BOS, 'eos_token_id': EOS,
            'source_tokens': source, 'target_tokens': target}


class Examples:
    """The training pairs as padded id matrices, and batches of similar lengths from them."""

    def __init__(self, words, config):
        pairs = [(w, v) for w, variants in words.items() if lexicon.split_of(w) == 'train' for v in variants]
        target = {token: i for i, token in enumerate(config['target_tokens'])}
        self.lengths = [(len(w) + 1, len(v) + 1) for w, v in pairs]
        self.source = decode.source_batch([w for w, _ in pairs], config)
        self.target = torch.full((max(n for _, n in self.lengths) + 1, len(pairs)), PAD)
        for column, (_, variant) in enumerate(pairs):
            ids = [BOS] + [target[phone] for phone in variant] + [EOS]
            self.target[:len(ids), column] = torch.tensor(ids)

    def batches(self, tokens, seed):
        """Sorted by lengths with ties in random order, cut, and the cuts shuffled: next to no padding."""
        rng = random.Random(seed)
        order = list(range(len(self.lengths)))
        rng.shuffle(order)
        order.sort(key=self.lengths.__getitem__)
        cuts, start = [], rng.randrange(-256, 1)
        while start < len(order):
            size = max(1, tokens // self.lengths[order[max(start, 0)]][0])
            cuts.append(order[max(start, 0):start + size])
            start += size
        cuts = [cut for cut in cuts if cut]
        rng.shuffle(cuts)
        for cut in cuts:
            source, target = self.source[:, cut], self.target[:, cut]
            rows = max(self.lengths[i][0] for i in cut), max(self.lengths[i][1] for i in cut) + 1
            yield source[:rows[0]], target[:rows[1]]


def optimizers(model, args):
    """Muon for the matrices inside the layers, AdamW for the rest (or for all); one Muon for each thread."""
    inner = [p for n, p in model.named_parameters() if p.dim() == 2 and '.layers.' in n]
    chosen = {id(p) for p in inner} if args.optimizer == 'muon' else set()
    rest = [p for p in model.parameters() if id(p) not in chosen]
    adamw = torch.optim.AdamW([{'params': [p for p in rest if p.dim() == 2]},
                               {'params': [p for p in rest if p.dim() < 2], 'weight_decay': 0.0}],
                              betas=(0.9, 0.98), weight_decay=args.weight_decay, fused=True)
    shares = [inner[i::args.threads] for i in range(args.threads)] if chosen else []
    return [torch.optim.Muon(share, momentum=0.95, weight_decay=args.weight_decay, adjust_lr_fn='match_rms_adamw')
            for share in shares] + [adamw]


class Run:
    """State of one training run; its random numbers depend on seed and epoch only, so that it resumes exactly.

    Each thread runs forward and backward for its share of a batch. Its replica of the model has the same weights but its own gradients, so
    that threads meet once per step, not in each operation.
    """

    def __init__(self, args, words):
        self.args, self.words, self.config = args, words, configuration(args, words)
        torch.manual_seed(args.seed)
        self.model = EncoderDecoder(self.config, args.dropout)
        self.replicas = [self.model] + [self.replica() for _ in range(args.threads - 1)]
        self.pool = ThreadPoolExecutor(args.threads, initializer=torch.set_num_threads, initargs=(1,))
        self.average = {n: p.detach().clone() for n, p in self.model.named_parameters()}
        self.optimizers = optimizers(self.model, args)
        self.step = self.epoch = 0
        self.seconds, self.log = 0.0, []
        self.path = os.path.join(args.run, 'checkpoint.pt')
        if os.path.exists(self.path):
            self.load()
        elif args.from_stored:
            self.load_stored()

    def replica(self):
        twin = EncoderDecoder(self.config, self.args.dropout)
        for mine, its in zip(self.model.parameters(), twin.parameters()):
            its.data = mine.data
        return twin

    def load(self):
        saved = torch.load(self.path, weights_only=False)
        if saved['config'] != self.config:
            raise SystemExit(f'{self.path}: another configuration')
        self.model.load_state_dict(saved['model'])
        self.average, self.log = saved['average'], saved['log']
        for optimizer, state in zip(self.optimizers, saved['optimizers']):
            optimizer.load_state_dict(state)
        self.step, self.epoch, self.seconds = saved['step'], saved['epoch'], saved['seconds']

    def load_stored(self):
        stored, config = decode.load_model(MODEL)
        if config != self.config:
            raise SystemExit(f'{MODEL}: another configuration')
        self.model.load_state_dict(stored.state_dict())
        self.average = {n: p.detach().clone() for n, p in self.model.named_parameters()}
        with open(LOG) as file:
            self.log = file.read().splitlines()[1:]
        last = self.log[-1].split('\t')
        self.epoch, self.step, self.seconds = int(last[0]), int(last[1]), float(last[-1])

    def save(self):
        torch.save({'config': self.config, 'model': self.model.state_dict(), 'average': self.average, 'log': self.log,
                    'optimizers': [o.state_dict() for o in self.optimizers], 'step': self.step, 'epoch': self.epoch,
                    'seconds': self.seconds}, self.path + '.new')
        os.replace(self.path + '.new', self.path)

    def learning_rate(self, total):
        args = self.args
        rate = args.learning_rate * min((self.step + 1) / args.warmup, (total - self.step) / (args.decay * total), 1.0)
        for optimizer in self.optimizers:
            for group in optimizer.param_groups:
                group['lr'] = max(rate, 0.0)
        return rate

    def backward(self, model, source, target, predicted):
        with torch.autocast('cpu', torch.bfloat16):
            features = model(source, target[:-1], padding_mask(source, PAD), causal_mask(len(target) - 1))
            logits = model.generator(features)
        loss = functional.cross_entropy(logits.float().flatten(0, 1), target[1:].flatten(), ignore_index=PAD,
                                        label_smoothing=self.args.label_smoothing, reduction='sum') / predicted
        loss.backward()
        return loss.item()

    def train_step(self, source, target):
        n, predicted = len(self.replicas), int((target[1:] != PAD).sum())
        loss = sum(self.pool.map(self.backward, self.replicas, [source[:, i::n] for i in range(n)],
                                 [target[:, i::n] for i in range(n)], [predicted] * n))
        for twin in self.replicas[1:]:
            torch._foreach_add_([p.grad for p in self.model.parameters()], [p.grad for p in twin.parameters()])
            twin.zero_grad()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        list(self.pool.map(lambda optimizer: optimizer.step(), self.optimizers))
        self.model.zero_grad()
        decay = min(self.args.average, (1 + self.step) / (10 + self.step))
        with torch.no_grad():
            torch._foreach_lerp_(list(self.average.values()), list(self.model.parameters()), 1 - decay)
        self.step += 1
        return loss

    def train_epoch(self, examples):
        args = self.args
        seed = args.seed * 100000 + self.epoch
        torch.manual_seed(seed)
        Dropout.refresh(args.dropout)
        for i, model in enumerate(self.replicas):
            model.train()
            generator = torch.Generator().manual_seed(seed + i * 1000003)
            for module in model.modules():
                if isinstance(module, Dropout):
                    module.generator = generator
        batches = list(examples.batches(args.batch_tokens, seed))
        total = self.step + (args.epochs - self.epoch) * len(batches)
        begin, losses = time.time(), []
        for source, target in batches:
            rate = self.learning_rate(total)
            losses.append(self.train_step(source, target))
        self.epoch += 1
        self.seconds += time.time() - begin
        return rate, sum(losses) / len(losses)

    def averaged_model(self):
        """The moving average, rounded to float16 as it is stored."""
        model = EncoderDecoder(self.config)
        model.load_state_dict({n: p.to(torch.float16).float() for n, p in self.average.items()})
        return model.eval()

    def note(self, rate, loss):
        rates = '-\t-'
        if self.epoch % self.args.evaluate_every == 0 or self.epoch == self.args.epochs:
            dev = [w for w in self.words if lexicon.split_of(w) == 'dev']
            _, (per, wer) = decode.evaluate(self.averaged_model(), self.config, self.words, dev,
                                            self.pool.map)
            rates = f'{100 * per:.2f}\t{100 * wer:.2f}'
        line = f'{self.epoch}\t{self.step}\t{rate:.6f}\t{loss:.4f}\t{rates}\t{self.seconds:.0f}'
        self.log.append(line)
        print(line, flush=True)
        if self.args.status:
            with open(self.args.status, 'a') as status:
                status.write(f'{time.strftime("%H:%M:%S", time.gmtime())} {self.args.run} {line}\n')


LOG_HEAD = 'epoch\tstep\tlearning_rate\ttrain_loss\tdev_per\tdev_wer\tseconds\n'


def train(args, words):
    os.makedirs(args.run, exist_ok=True)
    run = Run(args, words)
    examples = Examples(words, run.config)
    print(f'{len(examples.lengths)} pairs, {sum(p.numel() for p in run.model.parameters())} parameters', flush=True)
    while run.epoch < args.epochs:
        rate, loss = run.train_epoch(examples)
        run.note(rate, loss)
        run.save()


def export(args, words):
    run = Run(args, words)
    decode.save_model(MODEL, run.average, run.config)
    with open(os.path.join(HERE, 'config.json'), 'w') as file:
        json.dump(run.config, file, indent=1)
        file.write('\n')
    with open(LOG, 'w') as file:
        file.write(LOG_HEAD + '\n'.join(run.log) + '\n')


def evaluate(words):
    model, config = decode.load_model(MODEL)
    test = [w for w in words if lexicon.split_of(w) == 'test']
    begin = time.time()
    predictions, (per, wer) = decode.evaluate(model, config, words, test)
    bare_per, bare_wer = decode.stress_free(predictions, words)
    print(f'{len(test)} held-out words, greedy, float16-rounded weights, {time.time() - begin:.1f} s')
    print(f'with stress marks:    PER {100 * per:.2f} %  WER {100 * wer:.2f} %')
    print(f'without stress marks: PER {100 * bare_per:.2f} %  WER {100 * bare_wer:.2f} %')


def main():
    args = arguments()
    torch.set_num_threads(args.threads if args.evaluate or args.golden else 1)
    words = lexicon.read(args.lexicon)
    if args.export:
        export(args, words)
    elif args.run:
        train(args, words)
    if args.evaluate:
        evaluate(words)
    if args.golden:
        import golden
        golden.write(args.golden, MODEL, words)


if __name__ == '__main__':
    main()

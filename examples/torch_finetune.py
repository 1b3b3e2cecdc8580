"""Fine-tuning a Hugging Face model that classifies texts, on an OpenCL device.

python examples/torch_finetune.py --train train.csv --test test.csv --model distilbert/distilbert-base-uncased
python examples/torch_finetune.py       # made sentences and a small BERT of random weights: needs no network

CSV files have the columns `text` and `label`. Needs transformers and accelerate.
"""

import argparse
import csv
import os
import random
import sys
import tempfile
from pathlib import Path


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    option = parser.add_argument
    option("--device", default="ocl:0", help="as `clinfo --list` counts them, or cpu; default %(default)s")
    option(
        "--model", metavar="NAME", help="of the hub, or a folder; without it a small one of random weights"
    )
    option("--train", metavar="FILE", help="CSV with columns text and label; without it sentences are made")
    option("--test", metavar="FILE", help="the same, to test with")
    option("--epochs", type=float, default=5, metavar="N", help="default %(default)s")
    option("--batch-size", type=int, default=32, metavar="N", help="default %(default)s")
    option("--lr", type=float, help="of AdamW, default 5e-5, for random weights 1e-3")
    option("--max-length", type=int, default=64, metavar="TOKENS", help="of a text, default %(default)s")
    option("--autocast", action="store_true", help="mixed precision: float16 where torch.autocast says so")
    option("--save", metavar="FOLDER", help="write model and tokenizer")
    option("--seed", type=int, default=0, help="default %(default)s")
    args = parser.parse_args()
    if bool(args.train) != bool(args.test):
        parser.error("--train and --test go together")
    return args


def made_sentences(count, seed):
    """Praise and blame, with words that deny them."""
    draw = random.Random(seed)
    things = ["the film", "this book", "her song", "the play", "our trip"]
    words = {"good": ["great", "lovely", "fine", "superb"], "bad": ["poor", "dull", "awful", "weak"]}
    rows = []
    for _ in range(count):
        label = draw.choice(["bad", "good"])
        denied = draw.random() < 0.4
        word = draw.choice(words[{"bad": "good", "good": "bad"}[label] if denied else label])
        rows.append((f"{draw.choice(things)} was {'not ' if denied else ''}{word}", label))
    return rows


def read_csv(path):
    with open(path, newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        if not {"text", "label"} <= set(reader.fieldnames or ()):
            raise ValueError(f"{path}: expected the columns text and label, got {reader.fieldnames}")
        rows = [(row["text"], row["label"]) for row in reader]
    if not rows:
        raise ValueError(f"{path} has no rows")
    return rows


def small_model(texts, labels):
    """A BERT of two layers, and a tokenizer that knows these texts' words."""
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast

    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    words = sorted({word for text in texts for word in text.lower().split()})
    with tempfile.TemporaryDirectory() as folder:
        vocabulary = Path(folder) / "vocab.txt"
        vocabulary.write_text("\n".join(special + words), encoding="utf-8")
        tokenizer = BertTokenizerFast(str(vocabulary))
    config = BertConfig(
        vocab_size=len(special) + len(words),
        hidden_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=128,
        num_labels=len(labels),
    )
    return BertForSequenceClassification(config), tokenizer


def main():
    args = parse_arguments()
    os.environ["ACCELERATE_TORCH_DEVICE"] = args.device  # Trainer asks accelerate for the device
    import torch
    from transformers import (
        AutoModelForSequenceClassification,
        AutoTokenizer,
        DataCollatorWithPadding,
        Trainer,
        TrainingArguments,
        set_seed,
    )

    set_seed(args.seed)
    if args.train:
        rows = {"train": read_csv(args.train), "test": read_csv(args.test)}
    else:
        rows = {"train": made_sentences(640, 1), "test": made_sentences(160, 2)}
    labels = sorted({label for _, label in rows["train"]})
    if unknown := {label for _, label in rows["test"]} - set(labels):
        raise ValueError(f"labels to test that none of those to train has: {sorted(unknown)}")
    if args.model:
        tokenizer = AutoTokenizer.from_pretrained(args.model)
        model = AutoModelForSequenceClassification.from_pretrained(args.model, num_labels=len(labels))
    else:
        model, tokenizer = small_model([text for text, _ in rows["train"]], labels)
    model.config.id2label = dict(enumerate(labels))
    model.config.label2id = {label: number for number, label in enumerate(labels)}

    def encoded(part):
        return [
            {**tokenizer(text, truncation=True, max_length=args.max_length), "labels": labels.index(label)}
            for text, label in part
        ]

    with tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(
            model=model,
            args=TrainingArguments(
                folder,
                num_train_epochs=args.epochs,
                per_device_train_batch_size=args.batch_size,
                per_device_eval_batch_size=args.batch_size,
                learning_rate=args.lr or (5e-5 if args.model else 1e-3),
                optim="adamw_torch_fused" if args.device != "cpu" else "adamw_torch",
                save_strategy="no",
                report_to=[],
                seed=args.seed,
            ),
            train_dataset=encoded(rows["train"]),
            eval_dataset=encoded(rows["test"]),
            data_collator=DataCollatorWithPadding(tokenizer),
            compute_metrics=lambda p: {"accuracy": float((p.predictions.argmax(-1) == p.label_ids).mean())},
        )
        print(f"training on {trainer.args.device}")
        with torch.autocast(torch.device(args.device).type, dtype=torch.float16, enabled=args.autocast):
            trainer.train()
            accuracy = trainer.evaluate()["eval_accuracy"]
    print(f"test accuracy {100 * accuracy:.2f} %")
    if args.save:
        trainer.save_model(args.save)
        tokenizer.save_pretrained(args.save)


if __name__ == "__main__":
    try:
        main()
    except (OSError, ValueError, RuntimeError, ImportError) as error:
        sys.exit(f"torch_finetune.py: {error}")

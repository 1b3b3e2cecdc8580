"""Nets of transformers saved, loaded from the folder, trained by its Trainer, and resumed from a checkpoint.

python transformers_files.py FOLDER --write OUT.npz [--draw]
With --draw FOLDER/gpt2 and FOLDER/bert are saved first. The trained net is saved beside OUT.npz, as OUT.
"""

import argparse
from pathlib import Path

import numpy as np
import torch
import torchvision_first  # noqa: F401

# isort: split
import transformers as hf
from transformers_nets import array, bert, gpt2, mask

IDS = np.random.default_rng(2).integers(3, 96, (16, 12))


class Lines(torch.utils.data.Dataset):
    def __len__(self):
        return len(IDS)

    def __getitem__(self, index):
        ids = torch.tensor(IDS[index])
        return {"input_ids": ids, "labels": ids}


class InOrder(hf.Trainer):
    def _get_train_sampler(self, *given, **options):
        return torch.utils.data.SequentialSampler(Lines())


def trainer(folder, output):
    net = hf.GPT2LMHeadModel.from_pretrained(folder)
    for module in net.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
    arguments = hf.TrainingArguments(
        output_dir=output,
        per_device_train_batch_size=4,
        max_steps=6,
        save_steps=3,
        logging_steps=1,
        learning_rate=1e-3,
        report_to=[],
        disable_tqdm=True,
    )
    return InOrder(model=net, args=arguments, train_dataset=Lines(), eval_dataset=Lines())


def losses(trained):
    return np.array([entry["loss"] for entry in trained.state.log_history if "loss" in entry])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--write", type=Path, required=True)
    parser.add_argument("--draw", action="store_true")
    arguments = parser.parse_args()
    folder, output = arguments.folder, arguments.write.with_suffix("")
    if arguments.draw:
        torch.manual_seed(0)
        gpt2()[0].save_pretrained(folder / "gpt2")
        bert()[0].bert.save_pretrained(folder / "bert")
    first = trainer(folder / "gpt2", output / "run")
    first.train()
    found = {"losses": losses(first), "eval loss": np.array(first.evaluate()["eval_loss"])}
    found["predictions"] = first.predict(Lines()).predictions
    again = trainer(folder / "gpt2", output / "run")
    again.train(resume_from_checkpoint=str(output / "run" / "checkpoint-3"))
    found["resumed losses"] = losses(again)
    first.model.save_pretrained(output)

    net, read = hf.BertForSequenceClassification.from_pretrained(
        folder / "bert", num_labels=3, output_loading_info=True
    )
    found["missing"] = np.array(sorted(read["missing_keys"]))
    found["unexpected"] = np.array(sorted(read["unexpected_keys"]))
    new = net.classifier.weight
    found["is drawn"] = np.array(0.01 < new.std().item() < 0.04 and not net.classifier.bias.any())
    given = {"input_ids": torch.tensor(IDS[:2]), "attention_mask": torch.tensor(mask(2, 12))}
    found["hidden"] = array(net.eval().bert(**given).last_hidden_state)
    half = hf.GPT2LMHeadModel.from_pretrained(folder / "gpt2", dtype=torch.bfloat16)
    found["dtypes"] = np.array(sorted({str(p.dtype).split(".")[1] for p in half.parameters()}))
    found["half"] = array(half.transformer.wte.weight)
    assert torch.ones(2).dtype == torch.float32
    np.savez(arguments.write, **found)
    print("DONE")


if __name__ == "__main__":
    main()

"""The training loops of libraries on top of PyTorch, on ocl devices."""

import pytest

torch = pytest.importorskip("torch")
from comparisons import find_torchvision, load_torchvision  # noqa: E402

if find_torchvision():
    load_torchvision()  # before transformers, which reads it


class Rows(torch.utils.data.Dataset):
    """Rows of words whose first one is their class."""

    def __len__(self):
        return 64

    def __getitem__(self, index):
        words = torch.randint(2, 50, (12,), generator=torch.Generator().manual_seed(index))
        words[0] = index % 2
        return {"input_ids": words, "attention_mask": torch.ones(12, dtype=torch.long), "labels": index % 2}


def test_transformers_trainer_fine_tunes(tmp_path, monkeypatch):
    transformers = pytest.importorskip("transformers", reason="NOT TESTED: transformers is not installed")
    pytest.importorskip("accelerate", reason="NOT TESTED: accelerate is not installed")
    if torch.cuda.is_available():
        pytest.skip("NOT TESTED: transformers takes CUDA's device where there is one")
    monkeypatch.setenv("ACCELERATE_TORCH_DEVICE", "ocl:0")
    torch.manual_seed(0)
    size = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
    config = transformers.BertConfig(vocab_size=50, max_position_embeddings=32, num_labels=2, **size)
    net = transformers.BertForSequenceClassification(config)
    arguments = transformers.TrainingArguments(
        str(tmp_path),
        per_device_train_batch_size=16,
        num_train_epochs=8,
        learning_rate=3e-3,
        report_to=[],
        save_strategy="epoch",
        save_total_limit=1,
        disable_tqdm=True,
    )
    trainer = transformers.Trainer(net, arguments, train_dataset=Rows(), eval_dataset=Rows())
    assert arguments.device == torch.device("ocl:0") == next(net.parameters()).device
    trainer.train()
    assert trainer.evaluate()["eval_loss"] < 0.3


@pytest.mark.filterwarnings("ignore")
def test_lightning_trains(tmp_path):
    lightning = pytest.importorskip("lightning.pytorch", reason="NOT TESTED: lightning is not installed")
    import torch_ocl.lightning  # noqa: F401  registers the accelerator

    class Net(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.layers = torch.nn.Sequential(
                torch.nn.Linear(4, 32), torch.nn.Dropout(0.1), torch.nn.ReLU(), torch.nn.Linear(32, 1)
            )

        def training_step(self, batch, _):
            x, y = batch
            assert x.device == torch.device("ocl:0")
            loss = torch.nn.functional.mse_loss(self.layers(x), y)
            self.log("loss", loss)
            return loss

        def configure_optimizers(self):
            return torch.optim.Adam(self.parameters(), 1e-2)

    torch.manual_seed(0)
    x = torch.randn(128, 4)
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, x.sum(1, keepdim=True)), 32)
    trainer = lightning.Trainer(
        accelerator="ocl",
        strategy=lightning.strategies.SingleDeviceStrategy(torch.device("ocl:0")),
        max_epochs=25,
        default_root_dir=tmp_path,
        logger=False,
        enable_progress_bar=False,
    )
    net = Net()
    trainer.fit(net, loader)
    assert trainer.callback_metrics["loss"].item() < 0.5
    assert trainer.checkpoint_callback.best_model_path

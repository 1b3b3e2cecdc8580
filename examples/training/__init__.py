"""The parts of examples/train.py and examples/predict.py."""

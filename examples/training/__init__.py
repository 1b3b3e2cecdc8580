"""What examples/train.py and examples/predict.py are made of."""

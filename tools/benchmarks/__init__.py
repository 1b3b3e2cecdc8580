"""What tools/bench.py times."""

USUAL_NETS = "alexnet resnet18 resnet50 vgg16 mobilenet_v2".split()

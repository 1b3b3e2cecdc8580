"""Names what pictures show, with a net that examples/train.py trained or with published weights.

python examples/predict.py               # made pictures, by the net in training-output or one trained now
python examples/predict.py training-output/model.safetensors cat.jpg dog.png
python examples/predict.py --net resnet18 --weights resnet18-f37072fd.pth --names imagenet_classes.txt cat.jpg
"""

import argparse
from pathlib import Path

import train
from training.classifier import Classifier, load_classifier
from training.data import MadePictures, Preparation, one_picture
from training.nets import make_net, suitable_side

import ocl
from ocl.examples.program import ends_in_one_line, positive

TRAINED = Path("training-output/model.safetensors")
MADE = 12
IMAGENET_CLASSES = 1000


def predictions(classifier, picture, count, device):
    """The `count` likeliest classes of a picture: [(name, probability)]."""
    with ocl.no_grad():
        output = classifier.net(ocl.tensor(picture, device=device))
    probabilities, numbers = output.softmax(1)[0].topk(min(count, len(classifier.classes)))
    return [
        (classifier.classes[number], probability)
        for number, probability in zip(numbers.tolist(), probabilities.tolist(), strict=True)
    ]


def shown(best):
    return ", ".join(f"{name} {100 * probability:.1f} %" for name, probability in best)


def name_files(classifier, options):
    for path in options.pictures:
        picture = one_picture(path, classifier.preparation)
        print(f"{path}: {shown(predictions(classifier, picture, options.top, options.device))}")


def name_made_pictures(classifier, options):
    """Pictures that no training has seen, each with what it shows and whether the net saw that."""
    if classifier.classes != MadePictures.classes:
        raise ValueError("the net knows other classes than made pictures have: name pictures for it")
    first = train.parse_arguments([]).fake_size * 2  # behind those to train and to test on
    prepare, right = classifier.preparation.to_test(), 0
    for image, target in MadePictures(MADE, classifier.preparation.side, first=first):
        best = predictions(classifier, prepare(image)[None], options.top, options.device)
        truth = classifier.classes[target]
        is_right = best[0][0] == truth
        right += is_right
        print(f"a {truth}: {shown(best)}: {'right' if is_right else 'wrong'}")
    print(f"{right} of {MADE} right")


def trained_classifier(device):
    """The one in training-output; where there is none, the net that examples/train.py trains in one epoch."""
    if not TRAINED.exists():
        print(f"no {TRAINED}: training one first", flush=True)
        train.run(train.parse_arguments(["--device", device, "--epochs", "1"]))
    return load_classifier(TRAINED, device)


def published_classifier(options):
    """A net of ocl.models with the weights of a file as torchvision offers, on pictures prepared as there."""
    weights = ocl.load(options.weights, map_location=options.device)
    if not isinstance(weights, dict) or not all(isinstance(value, ocl.Tensor) for value in weights.values()):
        raise ValueError(f"{options.weights}: no state dict of a net")
    side = options.side or suitable_side(options.net, 224)
    net = net_for(weights, options.net, side).to(options.device)
    try:
        net.load_state_dict(weights)
    except RuntimeError as error:
        raise ValueError(f"{options.weights}: no weights of {options.net}: {error}") from error
    count = class_count(net.state_dict())
    classes = read_names(options.names, count) if options.names else [str(number) for number in range(count)]
    return Classifier(net.eval(), classes, Preparation.of(side, 3, digits=False))


def net_for(weights, name, side):
    """A net of that name with as many classes as `weights`, which may come in any order."""
    own = {"transform_input": True} if name in ("googlenet", "inception_v3") else {}
    net = make_net(name, IMAGENET_CLASSES, side=side, **own)
    state = net.state_dict()
    count = class_count({key: weights.get(key, state[key]) for key in state})
    return net if count == IMAGENET_CLASSES else make_net(name, count, side=side, **own)


def class_count(state):
    """The outputs of a net's last layer."""
    return len(list(state.values())[-1])


def read_names(path, count):
    names = Path(path).read_text(encoding="utf-8").splitlines()
    if len(names) != count:
        raise ValueError(f"{path}: {len(names)} names for {count} classes")
    return names


def parse_arguments(arguments=None):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    option = parser.add_argument
    option("files", nargs="*", metavar="FILE", help="model.safetensors of examples/train.py, then pictures")
    option("--net", metavar="NAME", help="of ocl.models, with --weights; then all files are pictures")
    option("--weights", metavar="FILE", help="a state dict, .pth or .safetensors")
    option("--names", metavar="FILE", help="of the classes, one a line; else they have numbers")
    option("--side", type=positive, metavar="PIXELS", help="with --net, default 224 or what the net needs")
    option("--device", default="ocl:0", help="default %(default)s")
    option("--top", type=positive, default=3, metavar="N", help="classes to show, default %(default)s")
    options = parser.parse_args(arguments)
    if (options.net is None) != (options.weights is None):
        parser.error("--net and --weights belong together")
    if options.net is None and (options.names or options.side):
        parser.error("--names and --side are for --net")
    options.model, options.pictures = None, options.files
    if options.net is None and options.files:
        options.model, *options.pictures = options.files
    if not options.pictures and (options.model or options.net):
        parser.error("name pictures to classify")
    return options


def main(arguments=None):
    options = parse_arguments(arguments)
    with ends_in_one_line("predict.py"):
        ocl.set_default_device(options.device)
        if options.net:
            name_files(published_classifier(options), options)
        elif options.model:
            name_files(load_classifier(options.model, options.device), options)
        else:
            name_made_pictures(trained_classifier(options.device), options)


if __name__ == "__main__":
    main()

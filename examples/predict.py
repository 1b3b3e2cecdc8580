"""Names what pictures show, with a net that examples/train.py trained.

python examples/predict.py training-output/model.safetensors cat.jpg dog.png
"""

import argparse
import sys

from training.classifier import load_classifier
from training.data import one_picture

import ocl


def predictions(classifier, picture, count, device):
    """The `count` likeliest classes of a picture: [(name, probability)]."""
    with ocl.no_grad():
        output = classifier.net(ocl.tensor(picture, device=device))
    probabilities, numbers = output.softmax(1)[0].topk(min(count, len(classifier.classes)))
    return [
        (classifier.classes[number], probability)
        for number, probability in zip(numbers.tolist(), probabilities.tolist(), strict=True)
    ]


def parse_arguments(arguments=None):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model", help="model.safetensors of examples/train.py")
    parser.add_argument("pictures", nargs="+", metavar="picture", help="image files")
    parser.add_argument("--device", default="ocl:0", help="default %(default)s")
    parser.add_argument(
        "--top", type=int, default=3, metavar="N", help="classes to show, default %(default)s"
    )
    return parser.parse_args(arguments)


def main(arguments=None):
    options = parse_arguments(arguments)
    try:
        ocl.set_default_device(options.device)
        classifier = load_classifier(options.model, options.device)
        for path in options.pictures:
            picture = one_picture(path, classifier.preparation)
            best = predictions(classifier, picture, options.top, options.device)
            print(f"{path}: " + ", ".join(f"{name} {100 * p:.1f} %" for name, p in best))
    except (OSError, ValueError, ocl.DeviceError) as error:
        sys.exit(f"predict.py: {error}")


if __name__ == "__main__":
    main()

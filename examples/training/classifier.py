"""A trained net in one file, with all that is needed to use it."""

from dataclasses import asdict, dataclass

import ocl

from .data import Preparation
from .nets import make_net

__all__ = ["Classifier", "load_classifier", "save_classifier"]


@dataclass
class Classifier:
    """A net, the names of its classes and how pictures are prepared for it."""

    net: ocl.nn.Module
    classes: list
    preparation: Preparation


def save_classifier(name, classifier, path):
    """Writes a net that make_net makes by `name`."""
    ocl.save(
        {
            "name": name,
            "classes": list(classifier.classes),
            "preparation": asdict(classifier.preparation),
            "weights": classifier.net.state_dict(),
        },
        path,
    )


def load_classifier(path, device):
    """Raises OSError for a file that is none of save_classifier's."""
    content = ocl.load(path, map_location=device)
    if not isinstance(content, dict) or content.keys() != {"name", "classes", "preparation", "weights"}:
        raise OSError(f"{path}: not written by examples/train.py")
    preparation = Preparation(**content["preparation"])
    net = make_net(content["name"], len(content["classes"]), preparation.channels, preparation.side).to(
        device
    )
    net.load_state_dict(content["weights"])
    return Classifier(net.eval(), content["classes"], preparation)

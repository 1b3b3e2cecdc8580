"""PyTorch's modules whose names stand in another module here: ``ocl.as_torch()`` leads there."""

from __future__ import annotations

__all__ = ["module_with_the_names_of", "names"]

# A package here, and PyTorch's modules of it that have a class each.
_SPLIT = {
    "distributions": (
        "bernoulli beta binomial cauchy chi2 continuous_bernoulli dirichlet exponential fishersnedecor gamma "
        "generalized_pareto geometric gumbel half_cauchy half_normal independent inverse_gamma kumaraswamy "
        "laplace log_normal logistic_normal lowrank_multivariate_normal mixture_same_family multinomial "
        "negative_binomial normal one_hot_categorical pareto poisson relaxed_bernoulli relaxed_categorical "
        "studentT uniform weibull"
    ),
    "optim": "adadelta adagrad adam adamax adamw asgd lbfgs nadam radam rmsprop rprop sgd sparse_adam",
    "nn.utils": "clip_grad",
    "cuda": "memory random",
}
_LEADS_TO = {
    **{f"{package}.{part}": package for package, parts in _SPLIT.items() for part in parts.split()},
    "_custom_ops": "library",
    "_library": "library",
    "_ops": "library.operators",
    "_tensor": "",
    "cuda.amp.autocast_mode": "amp.autocast_mode",
    "cuda.amp.grad_scaler": "amp.grad_scaler",
    "distributed.tensor.placement_types": "distributed.placements",
    "functional": "",
    "fx._symbolic_trace": "fx.tracer",
    "multiprocessing.spawn": "multiprocessing",
    "onnx": "torch_onnx",
    **{f"onnx.{part}": f"torch_onnx.{part}" for part in ("operators", "symbolic_helper", "symbolic_opset11")},
    "utils.data._utils": "utils.data",
    "utils.data._utils.collate": "utils.data.collate",
    "utils.model_zoo": "hub",
}


def module_with_the_names_of(name: str) -> str | None:
    """The module of ocl's that has the names of ``torch.NAME``, or None where no other one has them."""
    inner = _LEADS_TO.get(name)
    return None if inner is None else f"ocl.{inner}".rstrip(".")


def names() -> list[str]:
    """The names within ``torch`` of all modules that another one stands for."""
    return list(_LEADS_TO)

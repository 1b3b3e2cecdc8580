"""No module that a test may import by its bare name hides another one: tests, helpers, tools, programs."""

from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[3]


def imported_names(root: Path) -> list[str]:
    """Names that a test may import: pytest puts each test's folder before those of `pythonpath`.

    A folder with an `__init__.py` (fuzz) is a package, whose modules have its name before theirs.
    """
    tests = root / "tests/python"
    plain = [path for path in tests.iterdir() if path.is_dir() and not (path / "__init__.py").exists()]
    folders = [root / "tools", root / "examples", tests, *plain]
    files = [path.stem for folder in folders for path in folder.glob("*.py") if path.stem != "conftest"]
    packages = [path.name for folder in folders[:2] for path in folder.iterdir() if path.is_dir()]
    return files + packages


def repeated(names: list[str]) -> list[str]:
    return sorted(name for name, times in Counter(names).items() if times > 1 and name != "__pycache__")


def test_no_module_hides_another():
    assert repeated(imported_names(ROOT)) == []


def test_a_helper_with_a_programs_name_is_found(tmp_path):
    for path in ("tools/run.py", "examples/unet.py", "tests/python/unet.py", "tests/python/ops/test_sum.py"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).touch()
    assert repeated(imported_names(tmp_path)) == ["unet"]

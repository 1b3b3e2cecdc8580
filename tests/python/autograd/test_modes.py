"""Every mode as context manager and decorator, over every kind of function: where it is on, and where not."""

import asyncio
import functools
import inspect
import threading

import pytest
import torch
from support import leaf

import ocl

MODES = {
    "no_grad": lambda: ocl.no_grad(),
    "enable_grad": lambda: ocl.enable_grad(),
    "set_grad_enabled(False)": lambda: ocl.set_grad_enabled(False),
    "set_grad_enabled(True)": lambda: ocl.set_grad_enabled(True),
    "inference_mode": lambda: ocl.inference_mode(),
    "inference_mode(False)": lambda: ocl.inference_mode(False),
    "detect_anomaly": lambda: ocl.autograd.detect_anomaly(check_nan=False),
    "set_detect_anomaly": lambda: ocl.autograd.set_detect_anomaly(True),
    "implementations.using": lambda: ocl.implementations.using("gemm=-clblast"),
    "implementations.measuring": lambda: ocl.implementations.measuring(),
    "safe_globals": lambda: ocl.serialization.safe_globals([(leaf, "somewhere.leaf")]),
}
# Those that PyTorch has as decorators, too.
OF_TORCH = {
    "no_grad": lambda lib: lib.no_grad(),
    "enable_grad": lambda lib: lib.enable_grad(),
    "set_grad_enabled(False)": lambda lib: lib.set_grad_enabled(False),
    "set_grad_enabled(True)": lambda lib: lib.set_grad_enabled(True),
    "inference_mode": lambda lib: lib.inference_mode(),
    "inference_mode(False)": lambda lib: lib.inference_mode(False),
}
WITHOUT_PARENTHESES = ["no_grad", "enable_grad", "inference_mode"]

every_mode = pytest.mark.parametrize("mode", MODES.values(), ids=MODES)
recording_modes = pytest.mark.parametrize("mode", [MODES[name] for name in OF_TORCH], ids=OF_TORCH)
with_and_without_recording = pytest.mark.parametrize("recording", [True, False])


def state():
    """All that a mode switches."""
    return (
        ocl.is_grad_enabled(),
        ocl.is_inference_mode_enabled(),
        ocl.is_anomaly_enabled(),
        ocl.is_anomaly_check_nan_enabled(),
        ocl.implementations.get(),
        ocl._C._is_measuring(),
        len(ocl.serialization.get_safe_globals()),
    )


@pytest.fixture(autouse=True)
def nothing_stays_switched():
    before = state()
    yield
    after = state()
    ocl.set_grad_enabled(True)
    assert after == before


@pytest.fixture(params=[True, False], ids=["recording", "not recording"])
def outside(request):
    """The state around the test."""
    with ocl.set_grad_enabled(request.param):
        yield state()


def inside_of(mode):
    with mode():
        return state()


# --- contexts


@every_mode
def test_context(mode, outside):
    with mode() as given:
        assert state() == inside_of(mode)
    assert given is None and state() == outside


@every_mode
def test_an_exception_ends_it(mode, outside):
    with pytest.raises(KeyError), mode():
        raise KeyError
    assert state() == outside


@every_mode
def test_one_object_is_entered_again_while_it_is_on(mode, outside):
    inside = inside_of(mode)
    one = mode()
    with one:
        with one:
            assert state() == inside
        assert state() == inside
        with ocl.set_grad_enabled(not ocl.is_grad_enabled()):
            between, inside_here = state(), inside_of(mode)
            with one:
                assert state() == inside_here
            assert state() == between
        assert state() == inside
    assert state() == outside
    with one:
        assert state() == inside
    assert state() == outside


@recording_modes
def test_one_object_serves_several_threads(mode):
    one, inside = mode(), inside_of(mode)
    everyone = threading.Barrier(3)
    wrong = []

    def work():
        for _ in range(50):
            before = ocl.is_grad_enabled()
            with one:
                everyone.wait()
                if ocl.is_grad_enabled() != inside[0]:
                    wrong.append("inside")
                everyone.wait()
            if ocl.is_grad_enabled() != before:
                wrong.append("afterwards")
            ocl.set_grad_enabled(not before)

    with ocl.set_grad_enabled(True):
        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    with one:  # the object of a switch goes back to what was there before it was made
        pass
    assert not wrong


def test_detect_anomaly_begins_where_it_is_entered():
    mode = ocl.autograd.detect_anomaly()
    assert not ocl.is_anomaly_enabled()
    with mode:
        assert ocl.is_anomaly_enabled()


def test_left_without_being_entered():
    with pytest.raises(RuntimeError, match="no_grad is left, but was not entered"):
        ocl.no_grad().__exit__(None, None, None)


# --- functions


@every_mode
def test_function(mode, outside):
    @mode()
    def function(a, *, b):
        """Its words."""
        return state(), a, b

    assert state() == outside  # decorating switches nothing
    assert function(1, b=2) == (inside_of(mode), 1, 2)
    assert state() == outside
    assert (function.__name__, function.__doc__, function.__module__) == ("function", "Its words.", __name__)
    assert list(inspect.signature(function).parameters) == ["a", "b"]
    assert function.__wrapped__(1, b=2)[0] == outside


@pytest.mark.parametrize("name", WITHOUT_PARENTHESES)
def test_without_parentheses(name, outside):
    mode = getattr(ocl, name)

    @mode
    def function():
        return state()

    @mode
    def steps():
        yield state()

    assert function() == inside_of(mode) == next(steps())
    assert state() == outside


@every_mode
def test_a_function_that_raises(mode, outside):
    @mode()
    def function():
        raise KeyError

    for _ in range(2):
        with pytest.raises(KeyError):
            function()
        assert state() == outside


@recording_modes
def test_recursion(mode, outside):
    @mode()
    def function(depth):
        with ocl.set_grad_enabled(not ocl.is_grad_enabled()):
            inner = function(depth - 1) if depth else []
        return [*inner, state()]

    assert function(3) == [inside_of(mode)] * 4
    assert state() == outside


@every_mode
def test_methods_of_every_kind(mode, outside):
    inside = inside_of(mode)

    class Owner:
        @mode()
        def method(self):
            return type(self), state()

        @mode()
        @classmethod
        def of_class(cls):
            return cls, state()

        @classmethod
        @mode()
        def of_class_inside(cls):
            return cls, state()

        @mode()
        @staticmethod
        def of_none():
            return state()

        @property
        @mode()
        def number(self):
            return state()

        @mode()
        def __call__(self):
            return state()

        @mode()
        def __iter__(self):
            yield state()
            yield state()

    owner = Owner()
    assert owner.method() == owner.of_class() == Owner.of_class_inside() == (Owner, inside)
    assert owner.of_none() == Owner.of_none() == owner.number == owner() == inside
    assert list(owner) == [inside, inside]
    assert state() == outside


@every_mode
def test_what_is_called_like_a_function(mode, outside):
    class Function:
        def __call__(self, x):
            return state(), x

    class Steps:
        def __call__(self, x):
            yield state(), x

    def steps(x):
        yield state(), x

    inside = inside_of(mode)
    assert mode()(Function())(3) == (inside, 3)
    assert mode()(functools.partial(Function(), 3))() == (inside, 3)
    assert list(mode()(Steps())(3)) == list(mode()(functools.partial(steps, 3))()) == [(inside, 3)]
    assert mode()(lambda: state())() == inside
    assert state() == outside


@every_mode
def test_a_class_is_decorated_as_in_pytorch(mode, outside):
    class Made:
        def __init__(self):
            self.state = state()

    with pytest.warns(FutureWarning, match="constructor of class Made"):
        make = mode()(Made)
    made = make()
    assert isinstance(made, Made) and made.state == inside_of(mode) and make.__name__ == "Made"
    assert state() == outside


@pytest.mark.parametrize("given", [3, "function", None])
def test_what_is_no_function(given):
    with pytest.raises(TypeError, match="expected a function to decorate"):
        ocl.enable_grad()(given)


@recording_modes
def test_every_thread_has_its_own(mode):
    @mode()
    def function():
        started.wait()
        return state()

    def call():
        before = state()
        seen.append((function(), state() == before))

    inside, seen, started = inside_of(mode), [], threading.Barrier(4)
    threads = [threading.Thread(target=call) for _ in range(3)]
    for thread in threads:
        thread.start()
    started.wait()
    for thread in threads:
        thread.join()
    assert seen == [(inside, True)] * 3


# --- generators


def talkative(seen):
    """A generator that takes and gives, minds exceptions, and cleans up; its states go to `seen`."""
    try:
        while True:
            seen.append(("step", state()))
            try:
                received = yield len(seen)
            except ValueError:
                seen.append(("caught", state()))
                received = None
            if received == "end":
                return "returned"
            if received == "raise":
                raise KeyError("raised")
    finally:
        seen.append(("end", state()))


def converse(generator, outside, seen):
    """Its answers to all that one can do to a generator."""
    answers = [next(generator), generator.send("go on"), generator.throw(ValueError()), generator.send(None)]
    assert state() == outside
    for end in ("end", "raise"):
        if not inspect.getgeneratorstate(generator) == inspect.GEN_SUSPENDED:
            break
        try:
            generator.send(end)
        except StopIteration as done:
            answers.append(done.value)
        except KeyError as error:
            answers.append(error)
        assert state() == outside
    return answers


@every_mode
def test_generator(mode, outside):
    seen, plain = [], []
    generator = mode()(talkative)
    assert inspect.isgeneratorfunction(generator) and generator.__name__ == "talkative"
    answers = converse(generator(seen), outside, seen)
    assert answers == converse(talkative(plain), outside, plain)
    assert [what for what, _ in seen] == [what for what, _ in plain]
    assert {at for _, at in seen} == {inside_of(mode)}


@every_mode
@pytest.mark.parametrize("end", ["close", "raise", "throw", "forgotten", "never started"])
def test_how_a_generator_ends(mode, outside, end):
    seen = []
    steps = mode()(talkative)(seen)
    if end != "never started":
        next(steps)
    if end == "close":
        steps.close()
    elif end == "raise":
        with pytest.raises(KeyError):
            steps.send("raise")
    elif end == "throw":
        with pytest.raises(ZeroDivisionError):
            steps.throw(ZeroDivisionError())
    del steps
    assert state() == outside
    expected = [] if end == "never started" else ["step", "end"]
    assert [what for what, _ in seen] == expected
    assert {at for _, at in seen} <= {inside_of(mode)}


@recording_modes
def test_generators_take_turns(mode, outside):
    """Between two steps the caller, another generator among them, has its own mode."""

    @mode()
    def inner():
        for _ in range(3):
            yield state()

    @ocl.set_grad_enabled(not inside_of(mode)[0])
    def outer():
        for at in inner():
            yield at, ocl.is_grad_enabled()

    inside = inside_of(mode)
    for step in zip(outer(), inner(), strict=True):
        assert step == ((inside, not inside[0]), inside)
        assert state() == outside


@every_mode
def test_a_generator_delegates(mode, outside):
    @mode()
    def outer(seen):
        return (yield from talkative(seen))

    seen = []
    answers = converse(outer(seen), outside, seen)
    assert answers[-1] == "returned" and {at for _, at in seen} == {inside_of(mode)}


@recording_modes
def test_a_generator_goes_on_in_another_thread(mode, outside):
    @mode()
    def steps():
        for _ in range(4):
            yield state()[:2]

    generator, seen = steps(), []
    inside = inside_of(mode)[:2]
    for _ in range(2):
        assert next(generator) == inside
        thread = threading.Thread(target=lambda: seen.append((next(generator), ocl.is_grad_enabled())))
        thread.start()
        thread.join()
    assert seen == [(inside, True)] * 2
    assert state() == outside


def test_a_with_block_in_a_generator_goes_on_in_another_thread():
    def steps():
        with ocl.no_grad():
            yield
        yield ocl.is_grad_enabled()

    seen, generator = [], steps()
    next(generator)
    with ocl.enable_grad():
        thread = threading.Thread(target=lambda: seen.append(next(generator)))
        thread.start()
        thread.join()
    assert seen == [True]
    ocl.set_grad_enabled(True)  # PyTorch leaves it off here as well


@pytest.mark.parametrize("name", OF_TORCH)
@with_and_without_recording
def test_generators_record_as_in_pytorch(name, recording):
    """Whether the loss of each step has a graph, and the caller's own in between."""

    def run(lib):
        x = lib.ones(3, requires_grad=True)

        @OF_TORCH[name](lib)
        def losses():
            for i in range(3):
                scale = yield (x * i).sum()
                yield (x * scale).sum()

        seen = []
        with lib.set_grad_enabled(recording):
            steps = losses()
            for _ in range(3):
                seen.append(next(steps).requires_grad)
                seen.append((x * 2).requires_grad)
                seen.append(steps.send(3).requires_grad)
        return seen

    assert run(ocl) == run(torch)


def test_an_evaluation_loop_keeps_no_graphs():
    x = leaf([1.0, 2.0])

    @ocl.no_grad()
    def evaluated():
        for scale in range(3):
            yield x * scale

    assert [(y.requires_grad, y.grad_fn) for y in evaluated()] == [(False, None)] * 3


def test_a_training_loop_within_no_grad_has_gradients():
    x = leaf([1.0, 2.0])

    @ocl.enable_grad()
    def losses():
        for scale in range(1, 4):
            yield (x * scale).sum()

    with ocl.no_grad():
        for loss in losses():
            loss.backward()
    assert x.grad.tolist() == [6.0, 6.0]


# --- coroutines


async def pause():
    await asyncio.sleep(0)


@every_mode
def test_coroutine(mode, outside):
    @mode()
    async def worker(rounds):
        """Its words."""
        seen = []
        for _ in range(rounds):
            seen.append(state())
            await pause()
        seen.append(state())
        return seen

    async def main():
        others = []

        async def other():
            for _ in range(6):
                others.append(state())
                await pause()

        results = await asyncio.gather(worker(3), other(), worker(2))
        return results[0] + results[2], others

    assert inspect.iscoroutinefunction(worker) and worker.__doc__ == "Its words."
    inner, others = asyncio.run(main())
    assert inner == [inside_of(mode)] * 7 and others == [outside] * 6
    assert state() == outside


@every_mode
def test_a_coroutine_that_raises_or_is_cancelled(mode, outside):
    inside, seen = inside_of(mode), []

    @mode()
    async def worker(error):
        try:
            await pause()
            if error:
                raise error
            await asyncio.sleep(100)
        finally:
            seen.append(state())

    async def main():
        with pytest.raises(KeyError):
            await worker(KeyError())
        assert state() == outside
        task = asyncio.create_task(worker(None))
        await pause()
        await pause()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert state() == outside

    asyncio.run(main())
    assert seen == [inside] * 2


@every_mode
def test_asynchronous_generator(mode, outside):
    inside, seen = inside_of(mode), []

    @mode()
    async def steps(count):
        try:
            for i in range(count):
                await pause()
                seen.append(state())
                try:
                    received = yield i
                except ValueError:
                    received = yield "caught"
                if received == "raise":
                    raise KeyError
        finally:
            await pause()
            seen.append(state())

    async def main():
        values = []
        async for value in steps(3):
            assert state() == outside
            values.append(value)
        assert values == [0, 1, 2]

        generator = steps(9)
        assert await generator.asend(None) == 0
        assert await generator.asend("go on") == 1
        assert await generator.athrow(ValueError()) == "caught"
        assert state() == outside
        await generator.aclose()

        generator = steps(9)
        await anext(generator)
        with pytest.raises(KeyError):
            await generator.asend("raise")
        assert state() == outside

    assert inspect.isasyncgenfunction(steps)
    asyncio.run(main())
    assert set(seen) == {inside}
    assert state() == outside


# --- what PyTorch says of one mode within another


@pytest.mark.parametrize("outer", OF_TORCH)
@pytest.mark.parametrize("inner", OF_TORCH)
def test_nested_as_in_pytorch(outer, inner):
    def run(lib):
        seen = []
        with OF_TORCH[outer](lib):
            with OF_TORCH[inner](lib):
                seen.append(lib.is_grad_enabled())
                seen.append(lib.is_inference_mode_enabled())
            seen.append(lib.is_grad_enabled())
        return [*seen, lib.is_grad_enabled()]

    assert run(ocl) == run(torch)

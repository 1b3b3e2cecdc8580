"""The doctor's findings: a line each, with what to do about it."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Finding", "UsageError", "fault", "note", "ok"]


class UsageError(Exception):
    """A command line that cannot be followed; its text is one line."""


class Finding(NamedTuple):
    level: str
    """"ok"; "note": worth knowing, no fault; "fault": something does not work, or gives wrong results."""
    subject: str
    text: str
    remedy: str = ""
    implementation: str = ""
    """"family=name", if that is what is faulty."""

    def lines(self) -> list[str]:
        text = [f"{self.level:<6} {self.subject:<12} {self.text}"]
        return text + ([f"{'':19} -> {self.remedy}"] if self.remedy else [])


def ok(subject: str, text: str) -> Finding:
    return Finding("ok", subject, text)


def note(subject: str, text: str, remedy: str = "", implementation: str = "") -> Finding:
    return Finding("note", subject, text, remedy, implementation)


def fault(subject: str, text: str, remedy: str, implementation: str = "") -> Finding:
    return Finding("fault", subject, text, remedy, implementation)

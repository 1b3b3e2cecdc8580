"""Disagreements that stay, each with its reason; docs/fuzzing.md shows this list."""

import re
from dataclasses import dataclass

from fuzz.found import Found


@dataclass(frozen=True)
class Known:
    """`kinds` of disagreement, with commas; patterns for the whole subject and for a part of the rest."""

    kinds: str
    subject: str
    text: str
    reason: str
    device: str = ""  # a part of the device's name, where only one has it

    def covers(self, found: Found, device_name: str) -> bool:
        return (
            found.what in self.kinds.split(",")
            and re.fullmatch(self.subject, found.subject) is not None
            and re.search(self.text, f"{found.call} {found.detail}", re.DOTALL) is not None
            and self.device in device_name
        )


KNOWN: tuple[Known, ...] = ()


def reason_for(found: Found, device_name: str) -> str | None:
    """Why a disagreement stays; None for one that nobody has explained."""
    return next((known.reason for known in KNOWN if known.covers(found, device_name)), None)

"""What a figure's card says."""

from dataclasses import dataclass

from gangline.report.figures import Direction


@dataclass(frozen=True, slots=True)
class Entry:
    """A figure's label and definition."""

    label: str
    definition: str
    better: Direction = Direction.NEITHER

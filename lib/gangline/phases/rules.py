"""How saves and loads are told: thresholds of the config, or shares of what the storage can do (analyses 6)."""

from dataclasses import dataclass, replace
from typing import Self

from gangline.config.model import Config

SAVE_START_SHARE, SAVE_END_SHARE = 0.08, 0.04  # of max_write_gb_per_s: 20 and 10 of 250 GB/s
LOAD_READ_SHARE = 0.00286  # of max_read_gb_per_s: 2 of 700 GB/s
GB, MB = 1e9, 1e6
NO_SAVE_RULE = "no [storage] max_write_gb_per_s, and no [checkpoints] save_start_gb_per_s and save_end_gb_per_s"
NO_LOAD_RULE = "no [storage] max_read_gb_per_s, and no [checkpoints] load_read_gb_per_s"


@dataclass(frozen=True)
class Rules:
    """Thresholds in bytes/s; null where neither the config nor the storage's maxima give them.

    Attributes
    ----------
    save_start_bytes_per_s, save_end_bytes_per_s
        A save starts above the one and ends below the other, both strictly.
    load_read_bytes_per_s
        A load reads above it.
    save_merge_s
        Saves at most this far apart are one.
    writer_min_bytes_per_s
        A node that writes above it is a writer.
    """

    save_start_bytes_per_s: float | None
    save_end_bytes_per_s: float | None
    load_read_bytes_per_s: float | None
    save_merge_s: float
    writer_min_bytes_per_s: float

    @classmethod
    def of(cls, config: Config) -> Self:
        """Those of a config. A default end is never above a start that is given."""
        checkpoints, storage = config.checkpoints, config.storage
        start = _threshold(checkpoints.save_start_gb_per_s, storage.max_write_gb_per_s, SAVE_START_SHARE)
        end = _threshold(checkpoints.save_end_gb_per_s, storage.max_write_gb_per_s, SAVE_END_SHARE)
        if start is not None and end is not None:
            end = min(start, end)
        return cls(
            start if end is not None else None,
            end if start is not None else None,
            _threshold(checkpoints.load_read_gb_per_s, storage.max_read_gb_per_s, LOAD_READ_SHARE),
            checkpoints.save_merge_s,
            checkpoints.writer_min_mb_per_s * MB,
        )

    def without_saves(self) -> "Rules":
        """The rules where nothing tells saves: what nodes write then leaves no step unknown, and loads are told."""
        return replace(self, save_start_bytes_per_s=None, save_end_bytes_per_s=None)


def _threshold(explicit_gb_per_s: float | None, max_gb_per_s: float | None, share: float) -> float | None:
    if explicit_gb_per_s is not None:
        return explicit_gb_per_s * GB
    return None if max_gb_per_s is None else share * max_gb_per_s * GB

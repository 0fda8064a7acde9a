"""How samples lie on disk: the folder of a metric, the columns of a part, what is compressed how."""

from datetime import date, timedelta
from pathlib import Path
from urllib.parse import quote

import numpy as np
import pyarrow as pa
import zstandard
from numpy.typing import NDArray

from gangline.intervals import EPOCH

FOLDER_NAME = "telemetry"
DAY_MS = 86_400_000
ROW_GROUP_SAMPLES = 4_000_000  # a metric's day of more samples than this is several row groups
SPLIT_LEVEL, PLAIN_LEVEL = 1, 2  # of zstd: more costs time and saves next to nothing, 3 even loses
_TRIAL_VALUES = 32_768
_VALUES_PATH = "values.list.element"
_TIMES_PATH = "times_ms.list.element"

SCHEMA = pa.schema(
    [
        pa.field("series_id", pa.int64(), nullable=False),
        pa.field("day", pa.date32(), nullable=False),
        pa.field("row_group", pa.int32(), nullable=False),  # within the file: timestamps are shared within one
        pa.field("timeline_id", pa.int64(), nullable=False),
        pa.field("sample_count", pa.int64(), nullable=False),  # numbers; NaN and stale markers do not count
        pa.field("first_ms", pa.int64()),
        pa.field("last_ms", pa.int64()),
        pa.field("step_ms", pa.int64()),
        pa.field("gap_count", pa.int64()),
        pa.field("longest_gap_ms", pa.int64()),
        pa.field("times_ms", pa.list_(pa.field("element", pa.int64(), nullable=False))),
        pa.field("values", pa.list_(pa.field("element", pa.float64(), nullable=False)), nullable=False),
    ]
)
STATISTICS = ["series_id", "day"]


def metric_folder(metric: str) -> str:
    """The folder of a metric below `telemetry/`, in the naming that DuckDB and Spark read a column from.

    >>> metric_folder("node:load1/../x")
    'metric=node%3Aload1%2F..%2Fx'
    """
    return f"metric={quote(metric, safe='')}"


def day_of(day_number: int) -> date:
    """The UTC day of a number of days since 1970."""
    return (EPOCH + timedelta(days=day_number)).date()


def writer_options(values: NDArray[np.float64]) -> dict[str, object]:
    """Parquet options for one metric, given some of its values.

    Byte-stream-split suits most; values with few decimals compress better as they stand: a trial decides.
    """
    columns = {field.name: "PLAIN" for field in SCHEMA if not pa.types.is_list(field.type)}
    encoding, level = _best_packing(np.ascontiguousarray(values[:_TRIAL_VALUES]))
    return {
        "compression": "zstd",
        "compression_level": level,
        "use_dictionary": False,
        "write_statistics": STATISTICS,
        "column_encoding": columns | {_TIMES_PATH: "DELTA_BINARY_PACKED", _VALUES_PATH: encoding},
    }


def _best_packing(values: NDArray[np.float64]) -> tuple[str, int]:
    plain, split = values.tobytes(), values.view(np.uint8).reshape(-1, 8).T.tobytes()
    sizes = {
        ("BYTE_STREAM_SPLIT", SPLIT_LEVEL): len(zstandard.compress(split, SPLIT_LEVEL)),
        ("PLAIN", PLAIN_LEVEL): len(zstandard.compress(plain, PLAIN_LEVEL)),
    }
    return min(sizes, key=lambda packing: sizes[packing])


def part_path(telemetry: Path, metric: str, file_name: str) -> Path:
    """Where a part lies."""
    return telemetry / metric_folder(metric) / file_name

"""JSON as exports hold it: leniently read, but nothing in it twice, and never deeper than a stack."""

import json

from gangline.sources.prometheus_judging import SampleError


def json_value(text: str) -> tuple[object, int]:
    """The value that a text begins with, and where it ends. Raw control characters pass, as exporters write them.

    Raises
    ------
    SampleError
        Where there is none, or an object has a key twice: which of the two was meant cannot be told.

    Examples
    --------
    >>> json_value('{"__name__":"up"},"values":')
    ({'__name__': 'up'}, 17)
    """
    try:
        return _DECODER.raw_decode(text.lstrip())
    except SampleError:
        raise
    except RecursionError:
        raise SampleError("no JSON of samples: it is nested too deep; export it again") from None
    except ValueError as error:
        raise SampleError(f"no JSON: {error}; export it again") from None


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise SampleError(f"it has {next(name for name in names if names.count(name) > 1)!a} twice; {TWICE_MEND}")
    return found


TWICE_MEND = "export the series again, under one label set"
_DECODER = json.JSONDecoder(strict=False, object_pairs_hook=_once)

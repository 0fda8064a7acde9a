"""What the NVIDIA driver and the NVSwitch driver say in a kernel message, as events.

Grammar as seen in drivers 450 to 580 and in public bug reports. An Xid and an SXid code are different number spaces. A
line that merely mentions the word is no event, and a code that ends its line may have been cut short.
"""

import re
from dataclasses import dataclass

from gangline.vocabulary import KernelEventKind

_BUS = r"(?:PCI:)?(?P<bus>[0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2})(?:\.[0-7])?"
_XID = re.compile(rf"NVRM: Xid \({_BUS}\): (?P<code>\d{{1,6}})(?=\D)(?P<rest>.*)", re.DOTALL)
_SXID = re.compile(rf"nvidia-nvswitch\d+: SXid \({_BUS}\): (?P<code>\d{{1,6}})(?=\D)(?P<rest>.*)", re.DOTALL)
_BUS_LOSS = re.compile(rf"NVRM: (?:The NVIDIA )?GPU (?:at )?{_BUS}(?P<rest>\W.*fallen off the bus.*)", re.DOTALL)
_ROW_REMAP = re.compile(rf"NVRM: (?:GPU (?:at )?{_BUS}\W+)?(?P<rest>Row Remapper: .*)", re.DOTALL)
_RECOVERY = re.compile(rf"NVRM: (?:GPU (?:at )?{_BUS}\W+)?(?P<rest>GPU recovery action changed .*)", re.DOTALL)
XID_BEGINS = re.compile(r"(?:NVRM: S?Xid|nvidia-nvswitch\d+: SXid) \(")
_GRAMMARS = (
    (KernelEventKind.XID, _XID),
    (KernelEventKind.SXID, _SXID),
    (KernelEventKind.BUS_LOSS, _BUS_LOSS),
    (KernelEventKind.ROW_REMAP, _ROW_REMAP),
    (KernelEventKind.RECOVERY_ACTION, _RECOVERY),
)

_PID = re.compile(r", pid=(?:'?<unknown>'?|(?P<pid>\d{1,9}))(?=,|$)")
_UNKNOWN = {"<unknown>", "'<unknown>'", ""}
# A process name may hold commas, and has at most 15 bytes: it ends before the first text that a driver begins with.
_DRIVER_TEXT = (
    r"(?:Ch(?:annel)? |Graphics |MMU |GPU |An uncorrectable|Row Remapper|Contained|Uncontained|NVLink|Timeout |GSP |"
    r"PBDMA|CCMDs|engmask|Class |Kernel |Unrecovered|[A-Z0-9_]+ +(?:Non-?)?[Ff]atal)"
)
_NAMED = re.compile(rf", name=(?P<name>.{{0,15}}?), ?(?P<detail>{_DRIVER_TEXT}.*)", re.DOTALL)
_NAMED_SIMPLY = re.compile(r", name=(?P<name>[^,]*)(?:, ?(?P<detail>.*))?", re.DOTALL)
_SEVERITY = re.compile(r"\b(non-?)?fatal\b", re.IGNORECASE)
_CAUSE = re.compile(r"caused by previous Xid (\d{1,6})\b")
_ACTION = re.compile(r"GPU recovery action changed from \S+ \([^)]*\) to \S+ \((?P<action>[^)]*)\)")
_GPU_NAMED = re.compile(rf"NVRM: GPU at {_BUS}: (?P<uuid>GPU-[0-9a-f]{{8}}(?:-[0-9a-f]{{4}}){{3}}-[0-9a-f]{{12}})")


@dataclass(frozen=True)
class KernelEvent:
    """One event as its message tells it; `detail` is what stands behind code, pid and process."""

    kind: KernelEventKind
    code: int | None = None
    severity: str | None = None
    pci_bus_id: str | None = None
    pid: int | None = None
    process: str | None = None
    cause_code: int | None = None
    recovery_action: str | None = None
    detail: str | None = None


def event_of(text: str) -> KernelEvent | None:
    r"""The event that a kernel message tells of; null for any other message.

    Parameters
    ----------
    text
        The message without its envelope; the lines of one record are parted by newlines.

    Examples
    --------
    >>> event = event_of("NVRM: Xid (PCI:0000:9B:00): 43, pid=1797828, name=pt_main_thread, Ch 00000008")
    >>> event.kind.value, event.code, event.pci_bus_id, event.pid, event.process, event.detail
    ('xid', 43, '0000:9b:00', 1797828, 'pt_main_thread', 'Ch 00000008')
    >>> event_of("NVRM: Xid error: none") is None
    True
    """
    for kind, grammar in _GRAMMARS:
        match = grammar.match(text)
        if match:
            return _event(kind, match)
    return None


def gpu_named(text: str) -> tuple[str, str] | None:
    """The bus id and UUID that a message ties together, as the driver does before a GPU's first Xid.

    >>> gpu_named("NVRM: GPU at PCI:0000:9b:00: GPU-604ac76c-d9cf-fef3-62e9-d92044ab6e52")
    ('0000:9b:00', 'GPU-604ac76c-d9cf-fef3-62e9-d92044ab6e52')
    """
    match = _GPU_NAMED.match(text)
    return (bus_id_of(match["bus"]), match["uuid"]) if match else None


def bus_id_of(text: str) -> str:
    """A PCI address in the form in which all sources meet: domain of four digits, lower case, no function.

    >>> bus_id_of("00000000:9B:00.0")
    '0000:9b:00'
    """
    domain, _, rest = text.lower().partition(":")
    return f"{domain[-4:]}:{rest.partition('.')[0]}"


def _event(kind: KernelEventKind, match: re.Match[str]) -> KernelEvent:
    groups = match.groupdict()
    pid, process, detail = (
        _parted(match["rest"]) if kind == KernelEventKind.XID else (None, None, _trimmed(match["rest"]))
    )
    return KernelEvent(
        kind=kind,
        code=int(groups["code"]) if groups.get("code") else None,
        severity=_severity(detail),
        pci_bus_id=bus_id_of(groups["bus"]) if groups["bus"] else None,
        pid=pid,
        process=process,
        cause_code=_number(_CAUSE.search(detail or "")),
        recovery_action=_action(detail),
        detail=detail,
    )


def _parted(rest: str) -> tuple[int | None, str | None, str | None]:
    """What follows the code: pid, process name, message."""
    found = _PID.match(rest)
    pid = int(found["pid"]) if found and found["pid"] else None
    rest = rest[found.end() :] if found else rest
    named = _NAMED.match(rest) or _NAMED_SIMPLY.match(rest)
    if named is None:
        return pid, None, _trimmed(rest)
    name = named["name"].strip()
    return pid, None if name in _UNKNOWN else name, _trimmed(named["detail"] or "")


def _trimmed(rest: str) -> str | None:
    return rest.lstrip(",: \n").rstrip() or None


def _severity(detail: str | None) -> str | None:
    found = _SEVERITY.search(detail or "")
    return None if found is None else "nonfatal" if found[1] else "fatal"


def _action(detail: str | None) -> str | None:
    found = _ACTION.search(detail or "")
    return found["action"] if found else None


def _number(found: re.Match[str] | None) -> int | None:
    return int(found[1]) if found else None

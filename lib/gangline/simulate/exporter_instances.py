"""What the series of one exporter's metric differ in: GPUs, CPUs, devices, sensors of a node, with their labels."""

from collections.abc import Callable, Iterable

from gangline.simulate.hardware import BUS_OF_GPU, FILESYSTEM, GPU_MODEL, MOUNT, gpu_labels, gpu_uuid
from gangline.simulate.vm_lines import Labels

CPU_MODEL, CORES, PACKAGES = "Intel(R) Xeon(R) Platinum 8570", 56, 2  # a DGX B200's, one thread a core
CPUS = CORES * PACKAGES
DISKS, ADAPTERS, FANS, SENSORS, ZONES, CONTROLLERS, COOLING_DEVICES = 10, 10, 10, 16, 4, 8, 8
NETWORKS = ("eth0", "eth1", *(f"ibp{port}" for port in range(8)))
LOCAL_FILESYSTEMS = (
    {"device": "/dev/md0", "fstype": "ext4", "mountpoint": "/"},
    {"device": "/dev/nvme0n1p1", "fstype": "vfat", "mountpoint": "/boot/efi"},
    {"device": "/dev/md1", "fstype": "xfs", "mountpoint": "/raid"},
)
SOFTIRQS = ("block", "hi", "hrtimer", "irq_poll", "net_rx", "net_tx", "rcu", "sched", "tasklet", "timer")
COLLECTORS = (
    *("arp", "bcache", "bonding", "btrfs", "buddyinfo", "conntrack", "cpu", "cpufreq", "diskstats", "dmi", "edac"),
    *("entropy", "fibrechannel", "filefd", "filesystem", "hwmon", "infiniband", "ipvs", "loadavg", "mdadm", "meminfo"),
    *("mountstats", "netclass", "netdev", "netstat", "nfs", "nfsd", "nvme", "os", "pcidevice", "pressure", "processes"),
    *("rapl", "schedstat", "selinux", "sockstat", "softirqs", "softnet", "stat", "tcpstat", "textfile", "thermal_zone"),
    *("time", "timex", "udp_queues", "uname", "vmstat", "xfs"),
)


def instances_of(name: str, node: str, gpus: int) -> list[Labels]:
    """The labels of each of a node's instances of this kind, in their order.

    Examples
    --------
    >>> instances_of("disk", "gpu071", 8)[1], len(instances_of("cpu", "gpu071", 8))
    ({'device': 'nvme1n1'}, 112)
    """
    return _OF_A_GPU[name](node, gpus) if name in _OF_A_GPU else list(_OF_EVERY_NODE[name])


def _numbered(label: str, count: int, text: str = "{}") -> list[Labels]:
    return [{label: text.format(number)} for number in range(count)]


def _each(label: str, values: Iterable[str]) -> list[Labels]:
    return [{label: value} for value in values]


def _sensors(chips: int, each: int, sensor: str) -> list[Labels]:
    names = (f"{sensor}{number}" for number in range(1, each + 1))
    return [{"chip": f"platform_coretemp_{chip}", "sensor": name} for name in names for chip in range(chips)]


def _smi_gpus(node: str, gpus: int) -> list[Labels]:
    """all-smi's own `instance` is one of the scraper's labels, which makes it `exported_instance`."""
    base = {"gpu": GPU_MODEL, "exported_instance": node}
    return [base | {"gpu_uuid": gpu_uuid(node, gpu), "gpu_index": str(gpu)} for gpu in range(gpus)]


def _smi_node(node: str, gpus: int) -> list[Labels]:
    return [{"cpu_model": CPU_MODEL, "exported_instance": node, "hostname": node, "index": "0"}]


_OF_A_GPU: dict[str, Callable[[str, int], list[Labels]]] = {
    "gpu": lambda node, gpus: [gpu_labels(node, gpu) for gpu in range(gpus)],
    "smi_gpu": _smi_gpus,
    "smi_node": _smi_node,
}
_OF_EVERY_NODE: dict[str, list[Labels]] = {
    "node": [{}],
    "collector": _each("collector", COLLECTORS),
    "controller": _numbered("controller", CONTROLLERS),
    "cooling": [{"name": str(number), "type": "Processor"} for number in range(COOLING_DEVICES)],
    "core": [{"core": str(cpu % CORES), "package": str(cpu // CORES)} for cpu in range(CPUS)],
    "cpu": _numbered("cpu", CPUS),
    "disk": _numbered("device", DISKS, "nvme{}n1"),
    "fan": _sensors(1, FANS, "fan"),
    "filesystem": [FILESYSTEM, *LOCAL_FILESYSTEMS],
    "infiniband": [{"device": f"mlx5_{number}", "port": "1"} for number in range(ADAPTERS)],
    "mount": [MOUNT],
    "network": _each("device", NETWORKS),
    "nvme": _numbered("device", DISKS, "nvme{}"),
    "package": _numbered("package", PACKAGES),
    "pci": [{"segment": "0000", "bus": bus, "device": "00", "function": "0"} for bus in BUS_OF_GPU],
    "rapl": [{"index": str(zone), "path": f"/sys/class/powercap/intel-rapl:{zone}"} for zone in range(PACKAGES)],
    "sensor": _sensors(PACKAGES, SENSORS // PACKAGES, "temp"),
    "softirq": _each("vector", SOFTIRQS),
    "xfs": _each("device", ["md1"]),
    "zone": [{"type": "x86_pkg_temp", "zone": str(number)} for number in range(ZONES)],
}

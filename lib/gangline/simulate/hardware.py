"""What stands in each node: eight GPUs with their bus ids and UUIDs, exporters with their ports, one NFS mount."""

import uuid

GPU_MODEL = "NVIDIA B200"
BUS_OF_GPU = ("1b", "43", "52", "61", "9d", "c3", "d1", "df")  # of a DGX B200
PORT_OF_JOB = {"dcgm-exporter": 9400, "node": 9100, "all-smi": 9090, "scheduler": 6003}
MOUNT = {"export": "vast:/data", "mountaddr": "vast", "protocol": "tcp"}
FILESYSTEM = {"device": "vast:/data", "fstype": "nfs4", "mountpoint": "/data"}
_NAMESPACE = uuid.uuid5(uuid.NAMESPACE_DNS, "gpu.simulate.gangline")


def gpu_uuid(node: str, gpu: int) -> str:
    """The UUID of a node's GPU, the same in every export.

    >>> gpu_uuid("gpu071", 2)
    'GPU-67350365-03de-5332-99f5-48500ee361c0'
    """
    return f"GPU-{uuid.uuid5(_NAMESPACE, f'{node}/{gpu}')}"


def bus_id(gpu: int) -> str:
    """The GPU's PCI bus as the kernel's Xid lines name it.

    >>> bus_id(2)
    '0000:52:00'
    """
    return f"0000:{BUS_OF_GPU[gpu]}:00"


def target_labels(job: str, node: str) -> dict[str, str]:
    """What the scraper adds to every series of one exporter.

    >>> target_labels("node", "gpu071")
    {'job': 'node', 'instance': 'gpu071:9100'}
    """
    return {"job": job, "instance": f"{node}:{PORT_OF_JOB[job]}"}


def gpu_labels(node: str, gpu: int) -> dict[str, str]:
    """What dcgm-exporter says of a GPU."""
    return {
        "gpu": str(gpu),
        "UUID": gpu_uuid(node, gpu),
        "pci_bus_id": f"00000000:{BUS_OF_GPU[gpu].upper()}:00.0",
        "device": f"nvidia{gpu}",
        "modelName": GPU_MODEL,
        "Hostname": node,
    }

"""Kernels for notebooks: this very Python, over files instead of ports where that works."""

import sys
from pathlib import Path
from typing import Any

from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager
from jupyter_core.paths import jupyter_runtime_dir


class PortKernelManager(AsyncKernelManager):
    """Starts a kernel of the Python that runs now, whatever kernels are registered on the machine."""

    @property
    def kernel_spec(self) -> KernelSpec:
        """The command of the kernel."""
        command = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
        return KernelSpec(argv=command, display_name="gangline", language="python")


class FileKernelManager(PortKernelManager):
    """Talks to its kernel over files: kernels that start at once cannot take each other's ports."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.transport = "ipc"
        # The default is a name in the current folder, which kernels side by side would share.
        self.ip = str(Path(jupyter_runtime_dir()) / "kernel")

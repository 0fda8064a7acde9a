"""Roles: what an analysis asks the telemetry for (`gpu_util`, `nfs_write_bytes`), whatever exporter gives it."""

from gangline.roles.definitions import ROLES, RoleDefinition, RoleKind, RoleSource
from gangline.roles.page import roles_page
from gangline.roles.reading import mount_keys, role_by_gpu, role_by_node, role_changes
from gangline.roles.resolving import ResolvedRole, RoleError, present_roles, resolve

__all__ = [
    "ROLES",
    "ResolvedRole",
    "RoleDefinition",
    "RoleError",
    "RoleKind",
    "RoleSource",
    "mount_keys",
    "present_roles",
    "resolve",
    "role_by_gpu",
    "role_by_node",
    "role_changes",
    "roles_page",
]

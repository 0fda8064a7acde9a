"""Roles: what an analysis asks the telemetry for (`gpu_util`, `nfs_write_bytes`), whatever exporter gives it."""

from gangline.roles.definitions import ROLES, RoleDefinition, RoleKind, RoleSource
from gangline.roles.page import roles_page
from gangline.roles.resolving import ResolvedRole, RoleError, present_roles, resolve

__all__ = [
    "ROLES",
    "ResolvedRole",
    "RoleDefinition",
    "RoleError",
    "RoleKind",
    "RoleSource",
    "present_roles",
    "resolve",
    "roles_page",
]

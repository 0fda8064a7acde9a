"""The cluster's TOML file: read, checked against the model, and explained."""

from gangline.config.loading import ConfigError, load, load_default, resolve_path
from gangline.config.model import Config, SourceEntry

__all__ = ["Config", "ConfigError", "SourceEntry", "load", "load_default", "resolve_path"]

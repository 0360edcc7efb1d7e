"""Exceptions that are not built into Python."""


class PoolingError(Exception):
    """The base of this package's own exceptions."""


class PlanError(PoolingError, ValueError):
    """Attributes, shapes or element types that do not fit, with the numbers that do not."""


class DeviceError(PoolingError):
    """A Gpu that cannot be opened, was lost, or was opened before a fork."""


for _class in (PoolingError, PlanError, DeviceError):
    _class.__module__ = "wgpu_pooling"

"""The only reader of ``sensitive_features``: any container in, group numbers and numeric columns out."""

from .columns import is_missing
from .groups import (
    MANY_LEVELS,
    NO_GROUP,
    Sensitive,
    check_group_sizes,
    check_same_index,
    read_sensitive,
    warn_of_small_groups,
)

__all__ = [
    "MANY_LEVELS",
    "NO_GROUP",
    "Sensitive",
    "check_group_sizes",
    "check_same_index",
    "is_missing",
    "read_sensitive",
    "warn_of_small_groups",
]

"""The base of every check."""

from .quick_start import leave_out_deprecated_variables

leave_out_deprecated_variables()

"""Tests of `onesided site check`."""

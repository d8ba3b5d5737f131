"""Settings: named sets of run-time variables as a parameter of a test."""

import reframe.core.builtins as builtins
from reframe.core.pipeline import RegressionTestPlugin

from onesided.environments import settings, shell


class SettingPlugin(RegressionTestPlugin):
    """Sets the setting's variables for the family, or skips the test with the setting's reason."""

    setting = builtins.parameter(settings.chosen())

    @builtins.run_after("setup")
    def apply_setting(self):
        """Set the variables of this test's setting."""
        value = settings.value(
            self.setting, self.environment["family"], self.environment["version"]
        )
        if value.unavailable:
            self.skip_with_reason("unavailable", value.unavailable)
        self.prerun_cmds = [*self.prerun_cmds, *shell.exports(value.variables)]

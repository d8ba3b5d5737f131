"""A quicker start of ReFrame."""

import reframe as rfm


def leave_out_deprecated_variables():
    """Remove deprecated variables from ReFrame's test classes.

    Call this function before any check is defined. For each check and each deprecated variable,
    ReFrame 4.10 walks the call stack to prepare a warning, and then suppresses the warning. Without
    deprecated variables, ReFrame lists all checks in a fifth less time. No check of this project
    uses a deprecated variable.
    """
    for test in (rfm.RunOnlyRegressionTest, rfm.CompileOnlyRegressionTest):
        declared = test.var_space.vars
        for name in [name for name, variable in declared.items() if variable.is_deprecated()]:
            del declared[name]

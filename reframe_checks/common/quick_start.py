"""A quicker start of ReFrame."""

import reframe as rfm


def leave_out_deprecated_variables():
    """Remove variables that ReFrame deprecates from its tests; call it before any is derived.

    In each check that ReFrame 4.10 makes, it walks the call stack for each of these variables, for
    a warning that it then suppresses. Without them, listing all checks takes a fifth less time. No
    check here uses one.
    """
    for test in (rfm.RunOnlyRegressionTest, rfm.CompileOnlyRegressionTest):
        declared = test.var_space.vars
        for name in [name for name, variable in declared.items() if variable.is_deprecated()]:
            del declared[name]

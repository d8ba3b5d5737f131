"""The ReFrame checks of all experiments.

A campaign can run only the cells that these checks declare.
"""

"""What does a message take between two processes, by its size?"""

from onesided.experiments.exchanges import exchange

EXPERIMENT = exchange(__name__, "Latency and bandwidth (LBW)", order=30)

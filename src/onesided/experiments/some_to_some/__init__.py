"""What does it take when random pairs exchange messages of random sizes?"""

from onesided.experiments.exchanges import exchange

EXPERIMENT = exchange(__name__, "Some-to-some (STS)", order=32)

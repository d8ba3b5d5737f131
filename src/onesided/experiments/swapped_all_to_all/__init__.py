"""What does it take when each rank sends a block to every rank?"""

from onesided.experiments.exchanges import exchange

EXPERIMENT = exchange(__name__, "Swapped all-to-all (ATA)", order=31)

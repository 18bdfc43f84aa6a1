"""Tame corners: networks that stay within a margin of the outputs seen, in the box of the rows.

`ascent` finds rows of the box that are beyond the margin, `neurons` puts neurons there that no
training row activates, and `taming` corrects all neurons with a penalty on such rows.
"""

from greedynet.correction.corners.box import Box
from greedynet.correction.corners.settings import TamingSettings
from greedynet.correction.corners.taming import Corners, Tamed, tamed

__all__ = ["Box", "Corners", "Tamed", "TamingSettings", "tamed"]

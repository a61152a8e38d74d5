"""The words that options take."""

from typing import Literal

Pairing = Literal["half", "interleave", "quarter", "interleave-half"]
Style = Literal["neox", "gptj"]
Axes = Literal["segmented", "interleaved"]

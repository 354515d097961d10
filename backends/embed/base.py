"""What an embedder must offer."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float32]
"""Shape (dimension,), Euclidean length 1."""

Vectors = NDArray[np.float32]
"""Shape (n, dimension), each row of length 1."""


class Embedder(Protocol):
    """Turns questions and passages into vectors of one space.

    `fingerprint` names the model, its version and every choice that changes a vector; it is
    stored with an index, and an index made under another one is refused.
    """

    @property
    def fingerprint(self) -> str: ...

    @property
    def dimension(self) -> int: ...

    async def embed_query(self, text: str) -> Vector:
        """One question; never blocks the event loop."""
        ...

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Passages in the order given; equal to embedding each alone."""
        ...

    async def close(self) -> None:
        """Release workers and weights."""
        ...

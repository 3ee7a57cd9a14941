"""A column of text whose distinct words are looked at once, however many rows repeat them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..grid import Bools, Ints


@dataclass(frozen=True)
class Words:
    """R cells as ``words``, in order of first appearance, and ``codes`` [R] into them."""

    words: list[str]
    codes: Ints

    @classmethod
    def of(cls, cells: Sequence[str]) -> Words:
        """From the cells of a column."""
        encoded = pa.array(cells, pa.string()).dictionary_encode()
        return cls(encoded.dictionary.to_pylist(), encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64))

    def map(self, parse: Callable[[str], Any], dtype: Any) -> NDArray[Any]:
        """[R] what ``parse`` makes of each cell."""
        return np.array([parse(word) for word in self.words], dtype=dtype)[self.codes]

    def take(self, keep: Bools) -> Words:
        """These rows only; the words stay."""
        return Words(self.words, self.codes[keep])

    def __getitem__(self, row: int) -> str:
        return self.words[int(self.codes[row])]

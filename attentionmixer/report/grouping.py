"""Tags and route maps in the order of stations, and summed up by station where tags are too many to show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ..data.log import Tag
from ..routemap import RouteMap

Array = NDArray[np.float64]
SHOWN: Final = 60  # nodes that a page can name


def by_station(tags: Sequence[Tag]) -> list[tuple[str | None, list[Tag]]]:
    """Tags grouped by station in order of first appearance; those of no station last."""
    groups: dict[str | None, list[Tag]] = {}
    for tag in tags:
        groups.setdefault(tag.station, []).append(tag)
    without = groups.pop(None, [])
    return [*groups.items(), *([(None, without)] if without else [])]


def channel(tag: Tag) -> str:
    """A tag's name without its station's, where it begins with that."""
    if tag.station and tag.name.startswith(tag.station):
        return tag.name[len(tag.station) :].strip(" .:_-/|") or tag.name
    return tag.name


@dataclass(frozen=True)
class NamedMatrix:
    """Strength [to, from] with named, grouped ends.

    Attributes
    ----------
    targets, sources: names of rows and columns, group by group.
    values: [to, from]; 0 = removed.
    target_groups, source_groups: the group of each row and column, ``None`` for no group.
    """

    targets: tuple[str, ...]
    sources: tuple[str, ...]
    values: Array
    target_groups: tuple[str | None, ...]
    source_groups: tuple[str | None, ...]

    @property
    def own(self) -> NDArray[np.bool_]:
        """[to, from] True where a node listens to itself."""
        return np.array(self.targets, dtype=object)[:, None] == np.array(self.sources, dtype=object)[None, :]

    def largest_other(self) -> float:
        """The strongest route between two different nodes."""
        others = self.values[~self.own]
        return float(others.max()) if others.size else 0.0

    def scale_end(self) -> float:
        """Where a scale of strength ends: at the strongest route between two nodes, but not below three times the even
        weight (fewer times for fewer than six sources), so that nearly even weights look even, not strong.
        """
        even = float(self.values.sum(axis=1).max()) / len(self.sources)
        return max(self.largest_other(), min(3.0, len(self.sources) / 2) * even) or 1.0

    def effective(self) -> Array:
        """[to] exp(entropy) of each row, normalised: how many sources a target listens to; 0 for an empty row."""
        total = self.values.sum(axis=1, keepdims=True)
        share = np.divide(self.values, total, out=np.zeros_like(self.values), where=total > 0)
        entropy = -(share * np.log(np.where(share > 0, share, 1.0))).sum(axis=1)
        return np.where(total[:, 0] > 0, np.exp(entropy), 0.0)

    def routes(self, count: int) -> list[tuple[int, int]]:
        """(to, from) of the strongest routes between different nodes, strongest first; removed ones never."""
        strength = np.where(self.own, 0.0, self.values)
        order = np.argsort(-strength, axis=None, kind="stable")[:count]
        places = zip(*np.unravel_index(order, strength.shape), strict=True)
        return [(int(to), int(source)) for to, source in places if strength[to, source] > 0]

    def keep(self, targets: Sequence[int], sources: Sequence[int]) -> NamedMatrix:
        """The named rows and columns only."""
        return NamedMatrix(
            tuple(self.targets[i] for i in targets),
            tuple(self.sources[i] for i in sources),
            self.values[np.ix_(targets, sources)],
            tuple(self.target_groups[i] for i in targets),
            tuple(self.source_groups[i] for i in sources),
        )


def named_matrix(route_map: RouteMap, tags: Sequence[Tag]) -> NamedMatrix:
    """A map's strength in the order of stations. A name that is no tag (a known-ahead token) belongs to no group."""
    ordered = [tag for _, group in by_station(tags) for tag in group]
    rank = {tag.name: place for place, tag in enumerate(ordered)}
    station: Mapping[str, str | None] = {tag.name: tag.station for tag in tags}
    last = len(rank)
    rows = sorted(range(len(route_map.targets)), key=lambda i: rank.get(route_map.targets[i], last))
    columns = sorted(range(len(route_map.sources)), key=lambda i: rank.get(route_map.sources[i], last))
    targets = tuple(route_map.targets[i] for i in rows)
    sources = tuple(route_map.sources[i] for i in columns)
    values = np.nan_to_num(np.abs(route_map.strength.astype(np.float64)))[np.ix_(rows, columns)]
    return NamedMatrix(targets, sources, values, tuple(map(station.get, targets)), tuple(map(station.get, sources)))


def mean_of(matrices: Sequence[NamedMatrix]) -> NamedMatrix:
    """Mean over rounds. Matrices whose names differ from the first one's are left out."""
    first = matrices[0]
    same = [m.values for m in matrices if (m.targets, m.sources) == (first.targets, first.sources)]
    return replace(first, values=np.mean(same, axis=0))


def station_matrix(matrix: NamedMatrix) -> NamedMatrix:
    """Stations instead of tags: the mean weight of the routes from one station's tags to another's.

    A[s, r] = mean over targets i of s and sources j of r of a_ij. A mean, not a sum, or a station of many tags would
    look strong where all weights are even. A tag of no station stands for itself.
    """

    def ends(names: tuple[str, ...], groups: tuple[str | None, ...]) -> tuple[list[str], NDArray[np.float64]]:
        labels = [name if group is None else group for name, group in zip(names, groups, strict=True)]
        unique = list(dict.fromkeys(labels))
        place = {label: i for i, label in enumerate(unique)}
        member = np.zeros((len(unique), len(labels)))
        member[[place[label] for label in labels], range(len(labels))] = 1.0
        return unique, member

    targets, to_member = ends(matrix.targets, matrix.target_groups)
    sources, from_member = ends(matrix.sources, matrix.source_groups)
    to_member /= to_member.sum(axis=1, keepdims=True)
    from_member /= from_member.sum(axis=1, keepdims=True)
    return NamedMatrix(
        tuple(targets),
        tuple(sources),
        to_member @ matrix.values @ from_member.T,
        (None,) * len(targets),
        (None,) * len(sources),
    )


def busiest(matrix: NamedMatrix, count: int) -> NamedMatrix:
    """The `count` nodes with the strongest routes in or out, in the same order."""
    strength = np.where(matrix.own, 0.0, matrix.values)
    score: dict[str, float] = {}
    for names, values in ((matrix.targets, strength.max(axis=1)), (matrix.sources, strength.max(axis=0))):
        for name, value in zip(names, values.tolist(), strict=True):
            score[name] = max(score.get(name, 0.0), value)
    chosen = set(sorted(score, key=lambda name: -score[name])[:count])
    return matrix.keep(
        [i for i, name in enumerate(matrix.targets) if name in chosen],
        [i for i, name in enumerate(matrix.sources) if name in chosen],
    )


def few_enough(matrix: NamedMatrix) -> tuple[NamedMatrix, str]:
    """The matrix, or less of it where it has more nodes than a page can name; and the sentence that says so."""
    nodes = max(len(matrix.targets), len(matrix.sources))
    if nodes <= SHOWN:
        return matrix, ""
    stations = station_matrix(matrix)
    if 1 < max(len(stations.targets), len(stations.sources)) <= SHOWN:
        return stations, (
            f"The {nodes} tags are drawn by station: a cell is the mean weight of the routes between the tags of two "
            "stations. "
        )
    return busiest(matrix, SHOWN), f"Of {nodes} tags the {SHOWN} with the strongest routes are drawn. "

"""Section 4, continued: the network as a drawing, with its table."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final

from ..data.log import Tag
from .blocks import Block, Column, Heading, Picture, Table
from .grouping import NamedMatrix, busiest, few_enough, station_matrix
from .network import draw_network
from .text import cell, count, number

_LISTED: Final = 15
_DRAWN: Final = 200


def network_blocks(main: NamedMatrix, tags: Sequence[Tag], labels: Mapping[str, str]) -> list[Block]:
    """Stations at their coordinates where all have them, else tags on a circle; nothing where no route is open.

    `labels` maps a tag's name to a shorter one, for where its station is named beside it.
    """
    places = {
        tag.station or tag.name: tag.coordinates
        for tag in tags
        if tag.coordinates is not None and all(map(math.isfinite, tag.coordinates))
    }
    stations = station_matrix(main)
    names = stations.targets + stations.sources
    summed = len(stations.targets) < len(main.targets)
    if len(stations.targets) > 2 and all(name in places for name in names):
        matrix = stations
        remark = "Stations at their coordinates, north is up; those that would hide one another are moved apart. "
        if summed:
            remark += "Strength is the mean weight of the routes between the tags of two stations. "
        if len(stations.targets) > _DRAWN:
            matrix = busiest(stations, _DRAWN)
            remark += f"Of {count(len(stations.targets))} stations the {_DRAWN} with the strongest routes are drawn. "
        degrees = {name: places[name] for name in names}
    else:
        matrix, less = few_enough(main)
        remark = f"{less}Not every station has coordinates here, so the nodes stand on a circle, by station. "
        degrees, summed = None, matrix.targets == stations.targets and summed
    if not matrix.routes(1):
        return []
    drawing = draw_network(
        "network", matrix, "Network drawing of the strongest routes; a table lists them", labels=labels, degrees=degrees
    )
    caption = (
        f"{remark}Drawn are the {drawing.arrows} strongest routes. An arrow points from the source to the one that "
        "listens; its width is the weight."
    )
    if drawing.unlabelled:
        caption += f" {count(drawing.unlabelled)} cell(s) found no free place and are left out."
    table = [_station_table(stations)] if summed else []
    return [Heading("The network"), Picture(drawing.svg, caption), *table]


def _station_table(stations: NamedMatrix) -> Table:
    rows = [
        [cell(stations.sources[source]), cell(stations.targets[to]), number(float(stations.values[to, source]))]
        for to, source in stations.routes(_LISTED)
    ]
    return Table(
        "The strongest routes between stations",
        [Column("From (listened to)", numeric=False), Column("To (listens)", numeric=False), Column("Weight")],
        rows,
    )

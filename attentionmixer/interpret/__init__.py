"""Evidence on routes: what a forecast loses without them, how a target answers, and how sure that is."""

from .ablation import RouteEffects, route_effects
from .closing import close, closed, open_routes
from .deletion import DeletionCurve, deletion_curve
from .evidence import Evidence, evidence
from .pruning import prune
from .response import RouteResponse, route_response
from .stability import Stability, stability

__all__ = [
    "DeletionCurve",
    "Evidence",
    "RouteEffects",
    "RouteResponse",
    "Stability",
    "close",
    "closed",
    "deletion_curve",
    "evidence",
    "open_routes",
    "prune",
    "route_effects",
    "route_response",
    "stability",
]

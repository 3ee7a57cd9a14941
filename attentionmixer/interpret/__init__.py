"""Evidence on routes: what a forecast loses without them, and how sure that is."""

from .ablation import RouteEffects, route_effects
from .closing import closed, open_routes
from .deletion import DeletionCurve, deletion_curve

__all__ = ["DeletionCurve", "RouteEffects", "closed", "deletion_curve", "open_routes", "route_effects"]

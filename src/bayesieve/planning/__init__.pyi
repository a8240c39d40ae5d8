from .truth import StatedEffects as StatedEffects

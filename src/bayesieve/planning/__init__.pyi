from .designs import Goal as Goal
from .page import write_plan as write_plan
from .plan import Plan as Plan, plan as plan
from .truth import StatedEffects as StatedEffects

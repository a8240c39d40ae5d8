from .designs import Goal as Goal
from .figures import save_figures as save_figures
from .page import write_plan as write_plan
from .plan import Plan as Plan, plan as plan
from .truth import StatedEffects as StatedEffects

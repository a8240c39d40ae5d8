from .designs import Goal as Goal, parse_designs as parse_designs
from .figures import save_figures as save_figures
from .page import write_plan as write_plan
from .pilot import SHUFFLES as SHUFFLES
from .plan import Plan as Plan, plan as plan
from .truth import StatedEffects as StatedEffects

from . import figures as figures
from .commands import Commands as Commands
from .discreet import manifest_without_samples as manifest_without_samples
from .figures.saving import FORMATS as FORMATS, save_all as save_all
from .prior_state import prior_probability as prior_probability, ratio_state as ratio_state
from .python_lines import CANNOT as CANNOT, FEATURE_NUMBERS as FEATURE_NUMBERS, numbers_of as numbers_of
from .story import Story as Story
from .writing import write as write, write_story as write_story

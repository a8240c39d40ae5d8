from . import figures as figures
from .commands import Commands as Commands
from .controls import prior_probability as prior_probability, ratio_state as ratio_state
from .discreet import manifest_without_samples as manifest_without_samples, without_ids as without_ids
from .figures.saving import FORMATS as FORMATS, save_all as save_all
from .story import Story as Story
from .writing import write as write, write_story as write_story

from . import figures as figures
from .commands import Commands as Commands
from .figures.saving import save_all as save_all
from .prior_state import prior_probability as prior_probability, ratio_state as ratio_state
from .redact import manifest_without_samples as manifest_without_samples
from .story import Story as Story
from .writing import write as write, write_story as write_story

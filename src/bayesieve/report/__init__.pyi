from . import figures as figures
from .commands import Commands as Commands
from .comparison_page import write_comparison as write_comparison
from .controls import prior_probability as prior_probability, ratio_state as ratio_state
from .data import ReportData as ReportData
from .figures.saving import save_all as save_all, save_genes as save_genes
from .groups import write_groups as write_groups
from .page import write as write, write_page as write_page, write_plain as write_plain

from .colon.report import write_colon_report as write_colon_report
from .colon.run import ColonDesign as ColonDesign, ColonResults as ColonResults, run_colon as run_colon
from .design import (
    Method as Method,
    StudyDesign as StudyDesign,
    built_in as built_in,
    built_in_names as built_in_names,
)
from .grid import (
    GRIDS as GRIDS,
    Scenario as Scenario,
    StudyGrid as StudyGrid,
    built_in_grid as built_in_grid,
    run_grid as run_grid,
)
from .methods import model_of as model_of
from .recovery import (
    RecoveryView as RecoveryView,
    check_recovery as check_recovery,
    describe_recovery as describe_recovery,
)
from .recovery_report import write_recovery_report as write_recovery_report
from .report import write_report as write_report
from .results_view import relative_costs as relative_costs
from .runner import (
    check_cluster as check_cluster,
    due_units as due_units,
    n_workers as n_workers,
    run_study as run_study,
)
from .store import FILE_NAME as FILE_NAME, StudyResults as StudyResults
from .table_check import Spike as Spike, TableCheck as TableCheck, check_table as check_table
from .trust import TrustView as TrustView, check_trust as check_trust
from .trust_report import write_trust_report as write_trust_report

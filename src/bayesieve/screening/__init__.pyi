from .checks.value_checks import sample_columns_of as sample_columns_of, with_checks as with_checks
from .degenerate import check_range as check_range
from .genes import view_genes as view_genes
from .group_markers import (
    CIRCULAR as CIRCULAR,
    EACH as EACH,
    REST as REST,
    GroupMarkers as GroupMarkers,
    GroupSelection as GroupSelection,
)
from .groups import screen_groups as screen_groups
from .inputs import (
    check_model as check_model,
)
from .lazy_table import refuse_design as refuse_design
from .leave_one_out import fragility as fragility
from .obf import rescreen as rescreen, screen as screen
from .outcome import are_measured as are_measured, refuse_quantity as refuse_quantity
from .permutation_test import permutations as permutations
from .record import SCHEMA_VERSION as SCHEMA_VERSION, RunRecord as RunRecord
from .record_parts import (
    FindingRecord as FindingRecord,
    decode_comparison as decode_comparison,
    decode_judgement as decode_judgement,
    decode_model as decode_model,
    decode_shuffled as decode_shuffled,
)
from .second_look import values_of as values_of
from .sites import SiteView as SiteView
from .spec import ScreenSpec as ScreenSpec
from .spec_text import (
    CANNOT as CANNOT,
    FEATURE_NUMBERS as FEATURE_NUMBERS,
    prior_numbers as prior_numbers,
    python_lines as python_lines,
)
from .summarised_table import SummarisedTable as SummarisedTable
from .table_input import screen_input as screen_input
from .value_advice import advise_on_share as advise_on_share, advise_on_values as advise_on_values

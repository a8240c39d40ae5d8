from .sample_columns import check_columns as check_columns
from .value_checks import (
    ValueChecks as ValueChecks,
    sample_columns_of as sample_columns_of,
    with_checks as with_checks,
)

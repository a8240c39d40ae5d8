from .sample_columns import check_columns as check_columns
from .value_checks import ValueChecks as ValueChecks, with_checks as with_checks

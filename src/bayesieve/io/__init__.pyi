from .priors import read_model as read_model
from .results.read import (
    StoredResult as StoredResult,
    note_kind as note_kind,
    read_manifest as read_manifest,
    read_result as read_result,
)
from .results.stored_parts import (
    StoredColumns as StoredColumns,
    StoredModel as StoredModel,
    Unrepeatable as Unrepeatable,
    of_the_prior as of_the_prior,
)
from .results.stored_statistics import rounded_probabilities as rounded_probabilities
from .results.stored_table import read_json as read_json
from .results.write import (
    check_ending as check_ending,
    number_bytes as number_bytes,
    text_chunks as text_chunks,
    write_results as write_results,
)
from .statistics_file import (
    is_statistics_file as is_statistics_file,
    read_statistics as read_statistics,
    write_statistics as write_statistics,
)
from .tables.classes import ClassMap as ClassMap
from .tables.columns import (
    is_reference as is_reference,
    numbers_by_feature as numbers_by_feature,
    read_columns as read_columns,
    split_reference as split_reference,
)
from .tables.read_table import read_table as read_table
from .tables.summary import Summary as Summary
from .tables.table import Progress as Progress
from .text.files import plain_suffix as plain_suffix

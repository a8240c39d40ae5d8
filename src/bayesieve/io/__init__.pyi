from .annotations import read_gene_map as read_gene_map, read_gene_sets as read_gene_sets, read_ids as read_ids
from .contrasts.contrast_file import Contrast as Contrast, read_contrasts as read_contrasts
from .contrasts.contrast_tables import ContrastTables as ContrastTables
from .contrasts.screen_contrasts import screen_contrasts as screen_contrasts
from .priors import read_model as read_model
from .rankings import StoredRankings as StoredRankings, read_rankings as read_rankings
from .results.read import (
    StoredResult as StoredResult,
    read_record as read_record,
    read_result as read_result,
)
from .results.write import (
    annotation_columns as annotation_columns,
    check_ending as check_ending,
    check_side_car as check_side_car,
    number_bytes as number_bytes,
    ranked_columns as ranked_columns,
    record_bytes as record_bytes,
    side_car as side_car,
    text_chunks as text_chunks,
    write_result as write_result,
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
from .tables.duplicates import number_names as number_names, unstable_numbers as unstable_numbers
from .tables.parts import Part as Part
from .tables.places import check_table as check_table
from .tables.read_table import read_table as read_table
from .tables.summary import Summary as Summary
from .tables.table import Progress as Progress
from .text.files import plain_suffix as plain_suffix

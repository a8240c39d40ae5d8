from .aggregate import (
    GroupSums as GroupSums,
    Repeats as Repeats,
    aggregate as aggregate,
    group_names as group_names,
    looks_like_donor as looks_like_donor,
    warn_of_donors as warn_of_donors,
)
from .annotated import (
    AnnotatedValues as AnnotatedValues,
    LevelCounts as LevelCounts,
    annotated as annotated,
    describe_candidates as describe_candidates,
    in_memory as in_memory,
    is_annotated as is_annotated,
    obs_column as obs_column,
)
from .categories import (
    MOST_LEVELS as MOST_LEVELS,
    Levels as Levels,
    check_levels as check_levels,
    labelled_categories as labelled_categories,
    outside_levels as outside_levels,
    place as place,
    plain as plain,
)
from .covariates import (
    Covariates as Covariates,
    covariate_columns as covariate_columns,
    named_columns as named_columns,
    plain_name as plain_name,
    split_covariates as split_covariates,
)
from .design import (
    BETWEEN as BETWEEN,
    difference_label as difference_label,
    differences as differences,
    in_blocks as in_blocks,
    match_pairs as match_pairs,
    one_each as one_each,
    places_of_pairs as places_of_pairs,
)
from .frames import (
    as_frame as as_frame,
    as_series as as_series,
    check_frame as check_frame,
    is_frame as is_frame,
)
from .genes import (
    BETWEEN_GENES as BETWEEN_GENES,
    UNMAPPED as UNMAPPED,
    GeneGroups as GeneGroups,
    GeneMap as GeneMap,
    genes_of as genes_of,
    split_genes as split_genes,
)
from .labels import (
    Label as Label,
    Labels as Labels,
    aligned as aligned,
    check_classes as check_classes,
    classes_in_order as classes_in_order,
    declared_order as declared_order,
    disambiguate as disambiguate,
    encode_labels as encode_labels,
    union_of_classes as union_of_classes,
)
from .lazy import is_lazy as is_lazy, is_lazy_array as is_lazy_array
from .matrix import (
    USE_WHAT_IS_THERE as USE_WHAT_IS_THERE,
    Block as Block,
    LabelledMatrix as LabelledMatrix,
    ValueBlocks as ValueBlocks,
    Values as Values,
    as_values as as_values,
    check_names as check_names,
    dense_values as dense_values,
    is_sparse as is_sparse,
)
from .mixed import (
    CATEGORY as CATEGORY,
    COUNT as COUNT,
    KINDS as KINDS,
    MEASUREMENT as MEASUREMENT,
    NONE as NONE,
    MixedMatrix as MixedMatrix,
    kind_of as kind_of,
    labelled_mixture as labelled_mixture,
    mixture as mixture,
)
from .normalise import (
    LogRatios as LogRatios,
    NamedNumber as NamedNumber,
    check_normalise as check_normalise,
    check_totals_of_samples as check_totals_of_samples,
    refuse_for_counts as refuse_for_counts,
    row_totals as row_totals,
    size_factors as size_factors,
    total_factors as total_factors,
)
from .rounded import Rounded as Rounded
from .transform import (
    NEEDS_ALL_SAMPLES as NEEDS_ALL_SAMPLES,
    TRANSFORMS as TRANSFORMS,
    FeatureSpread as FeatureSpread,
    SampleScales as SampleScales,
    apply_transform as apply_transform,
    check_transform as check_transform,
    check_treatment as check_treatment,
    estimate_dispersion as estimate_dispersion,
    log_shifted as log_shifted,
    looks_at_all_samples as looks_at_all_samples,
    split_treatment as split_treatment,
)

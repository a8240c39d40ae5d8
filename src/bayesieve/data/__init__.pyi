from .categories import (
    MOST_LEVELS as MOST_LEVELS,
    Levels as Levels,
    checked_levels as checked_levels,
    labelled_categories as labelled_categories,
    outside_levels as outside_levels,
    place as place,
    plain as plain,
)
from .design import (
    differences as differences,
    in_blocks as in_blocks,
    match_pairs as match_pairs,
    one_each as one_each,
)
from .labels import (
    Label as Label,
    Labels as Labels,
    checked_classes as checked_classes,
    encode_labels as encode_labels,
    told_apart as told_apart,
    union_of_classes as union_of_classes,
)
from .matrix import (
    USE_WHAT_IS_THERE as USE_WHAT_IS_THERE,
    Block as Block,
    LabelledMatrix as LabelledMatrix,
    ValueBlocks as ValueBlocks,
    Values as Values,
    as_values as as_values,
    checked_names as checked_names,
    is_sparse as is_sparse,
)
from .transform import (
    NEEDS_ALL_SAMPLES as NEEDS_ALL_SAMPLES,
    TRANSFORMS as TRANSFORMS,
    checked_transform as checked_transform,
    transformed as transformed,
)

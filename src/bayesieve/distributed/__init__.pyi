from .cluster import (
    check_cluster_name as check_cluster_name,
    n_threads_of as n_threads_of,
    open_cluster as open_cluster,
    run_on_cluster as run_on_cluster,
)
from .leaves import (
    LEFT_OUT as LEFT_OUT,
    Leaf as Leaf,
    Place as Place,
    Several as Several,
    SeveralLeaves as SeveralLeaves,
    smallest_codes as smallest_codes,
)
from .sums import (
    OneThread as OneThread,
    blocks_of as blocks_of,
    labels_of as labels_of,
    refuse_missing as refuse_missing,
    sum_blocks as sum_blocks,
    sum_labelled as sum_labelled,
)
from .tree import (
    FAN_IN as FAN_IN,
    Mergeable as Mergeable,
    Tree as Tree,
    merge_neighbours as merge_neighbours,
    nodes as nodes,
)

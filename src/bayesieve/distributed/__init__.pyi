from .leaves import LEFT_OUT as LEFT_OUT, Leaf as Leaf, Place as Place, smallest_codes as smallest_codes
from .tree import (
    FAN_IN as FAN_IN,
    Mergeable as Mergeable,
    Tree as Tree,
    merge_neighbours as merge_neighbours,
    nodes as nodes,
)

from .data_model import DataModel as DataModel, data_model as data_model
from .shapes import ShapedModel as ShapedModel
from .synergetic import SynergeticModel as SynergeticModel
from .synthetic_data import (
    Kind as Kind,
    SyntheticData as SyntheticData,
    SyntheticMoments as SyntheticMoments,
    class_sizes_of as class_sizes_of,
)

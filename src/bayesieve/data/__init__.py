"""The door: values, labels and names are checked here once, and nowhere else."""

from bayesieve.data.labels import Label, Labels, encode_labels
from bayesieve.data.matrix import LabelledMatrix
from bayesieve.data.values import Values, is_sparse

__all__ = ["Label", "LabelledMatrix", "Labels", "Values", "encode_labels", "is_sparse"]

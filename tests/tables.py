"""Tables in files, as tests look at them."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from bayesieve.io.tables.table import SampleTable


def dense(values):
    return values.toarray() if sp.issparse(values) else values


def whole(table):
    """Samples x features, whichever way the chunks come."""
    if isinstance(table, SampleTable):
        return np.vstack([dense(chunk.values) for chunk in table.chunks()])
    return np.vstack([dense(chunk.values) for chunk in table.chunks(np.arange(table.n_samples))]).T

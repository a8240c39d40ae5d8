"""Tools for AnnData objects, with results where scanpy looks for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesieve.data import AnnotatedValues, Label, annotated, is_annotated
from bayesieve.models import Model
from bayesieve.screening import EACH, REST, GroupMarkers, screen_groups
from bayesieve.selection import Rule
from bayesieve.utils import DataError, DataWarning, IntArray, LabelError, OptionError, warn

_TYPES = {
    "names": "O", "scores": "float32", "logfoldchanges": "float32", "pvals": "float64", "pvals_adj": "float64",
}  # fmt: skip
_MEANING = {
    "scores": "minus the natural log of the local false discovery rate, signed: above 0 if the mean of the group "
    "is higher; log-odds of being a marker, for markers",
    "pvals": "no p-values: local false discovery rates, the posterior probability of being no marker",
    "pvals_adj": "no p-values: expected false discovery rate of the list of all groups down to this gene",
}


def rank_markers(  # noqa: PLR0913 - scanpy's arguments and ours
    adata: Any,
    groupby: str,
    groups: str | Sequence[Label] = "all",
    reference: Label = REST,
    *,
    layer: str | None = None,
    mask_var: Any = None,
    use_raw: bool | None = None,
    key_added: str = "bayesieve",
    n_genes: int | None = None,
    rankby_abs: bool = False,
    copy: bool = False,
    rule: Rule | str = "mnc",
    model: Model | None = None,
    prior_probability: npt.ArrayLike | str = 0.01,
    log_scale: str | None = None,
    shuffles: int | str | None = "auto",
    seed: Any = 0,
    n_threads: int | None = None,
) -> Any:
    """Find the markers of every cluster, and write them as ``scanpy.tl.rank_genes_groups`` does.

    ``scanpy.get.rank_genes_groups_df`` and ``scanpy.pl.rank_genes_groups*`` read the result with
    ``key="bayesieve"``. What the columns hold:

    - ``scores``: minus the natural log of the local false discovery rate, above 0 if the mean of the cluster is
      higher, below 0 if it is lower. For markers this is the log-odds. Genes come in falling order of it: the
      strongest that are higher first, those that are lower last.
    - ``pvals``: no p-values but local false discovery rates, the probability that a gene is no marker.
    - ``pvals_adj``: the expected false discovery rate of the list of *all* clusters down to this gene.
    - ``logfoldchanges``: as scanpy has them, where ``adata.uns["log1p"]`` or ``log_scale`` says that values are
      logarithms; NaN otherwise.

    Clusters that were found from the same values differ in them by construction: no number here, nor of any other
    test of such clusters, says that a cluster exists.

    Parameters
    ----------
    adata
        An AnnData object.
    groupby
        Column of ``adata.obs`` with the cluster of every cell.
    groups
        Clusters whose markers are wanted, or ``"all"``.
    reference
        ``"rest"``, or a cluster with which all others are compared.
    layer, mask_var
        Layer to use instead of X; genes to use: a column of ``adata.var`` or truth values.
    use_raw
        Whether to use ``adata.raw``; None: if there is one and no layer is named, as scanpy does.
    key_added
        Where the result goes: ``adata.uns[key_added]`` in scanpy's schema, and ``adata.varm[key_added]``, a frame
        with log-odds, probability, expected false discovery rate, difference of means, and whether the rule
        selects the gene, for every cluster (a slash in its name becomes a bar).
    n_genes
        Genes to write to ``uns`` for every cluster; all by default.
    rankby_abs
        Order by the size of scores, whatever their sign.
    copy
        Return a changed copy instead of changing ``adata``.
    rule
        What is selected, with one budget for all clusters.
    model, prior_probability, log_scale, shuffles, seed, n_threads
        As for :func:`bayesieve.screen_groups`. Without shuffles (0) it is many times faster, and errors are those
        of the model alone.

    Returns
    -------
    anndata.AnnData or None
        The copy, if one was asked for.

    Examples
    --------
    >>> import anndata, numpy as np, pandas as pd
    >>> import bayesieve as bs
    >>> rng = np.random.default_rng(0)
    >>> cells = pd.DataFrame({"cluster": np.repeat(["B", "NK", "T"], 40)}, index=map(str, range(120)))
    >>> adata = anndata.AnnData(rng.normal(2.0, 0.5, size=(120, 30)), obs=cells)
    >>> adata.X[:40, 7] += 2.0
    >>> adata.uns["log1p"] = {"base": None}
    >>> bs.tl.rank_markers(adata, "cluster", shuffles=0)
    >>> adata.uns["bayesieve"]["names"]["B"][0]
    '7'
    """
    if not is_annotated(adata) or isinstance(adata, AnnotatedValues):
        raise DataError(
            f"rank_markers writes into an AnnData object, not into {type(adata).__name__}. For arrays and frames "
            "use bs.screen_groups(X, groups)."
        )
    if isinstance(reference, str) and reference == EACH:
        raise OptionError(
            "scanpy has no place for comparisons of each cluster with each other. Use "
            "bs.screen_groups(adata, groupby, reference='each')."
        )
    adata = adata.copy() if copy else adata
    use_raw = adata.raw is not None and layer is None if use_raw is None else use_raw
    values = annotated(adata, layer=layer, use_raw=use_raw, mask_var=mask_var, lazy=True)
    scale, base = _declared(adata, layer, log_scale)
    labels = values.column(groupby)
    if groups != "all" and isinstance(groups, str):
        raise OptionError(f"groups is 'all' or a list of clusters, not the text {groups!r}: write [{groups!r}].")
    markers = screen_groups(
        values, labels, reference=reference, only=None if isinstance(groups, str) else list(groups),
        model=model, prior_probability=prior_probability, log_scale=scale, log_base=base, shuffles=shuffles,
        seed=seed, n_threads=n_threads,
    )  # fmt: skip
    order = _in_order_of_categories(markers, adata.obs[groupby])
    params = {
        "groupby": groupby, "reference": str(markers.reference), "method": "bayesieve", "use_raw": use_raw,
        "layer": layer, "corr_method": "expected-fdr", **_MEANING,
    }  # fmt: skip
    adata.uns[key_added] = {"params": params, **_records(markers, order, n_genes, rankby_abs)}
    adata.varm[key_added] = _frame(markers, order, rule, adata)
    return adata if copy else None


def _declared(adata: Any, layer: str | None, log_scale: str | None) -> tuple[str | None, float | None]:
    """What the values are logarithms of; of a layer ``uns["log1p"]`` says nothing."""
    if log_scale is not None:
        return log_scale, None
    said = adata.uns.get("log1p") if layer is None else None
    if said is not None:
        base = said.get("base") if hasattr(said, "get") else None
        return "log1p", None if base is None else float(base)
    where = (
        "log_scale='log1p'" if layer is not None else "adata.uns['log1p'] = {'base': None} or log_scale='log1p'"
    )
    warn(
        DataWarning,
        f"Nothing says that the values are logarithms, so that log fold changes are left empty. Say {where} if "
        "they are.",
        kind="no-log-scale",
    )
    return None, None


def _in_order_of_categories(markers: GroupMarkers, column: Any) -> list[int]:
    """Comparisons in the order of the categories, if the column has them: that of scanpy's plots."""
    own = [group for group, _ in markers.comparisons]
    categories = list(column.cat.categories) if hasattr(column, "cat") else own
    place = {category: k for k, category in enumerate(categories)}
    return sorted(range(len(own)), key=lambda i: place.get(own[i], len(place)))


def _records(markers: GroupMarkers, order: Sequence[int], n_genes: int | None, rankby_abs: bool) -> dict[str, Any]:
    """One structured array for each of scanpy's columns, with a field for every group."""
    n = markers.n_features if n_genes is None else min(int(n_genes), markers.n_features)
    groups = [str(markers.comparisons[i][0]) for i in order]
    if len(set(groups)) < len(groups):
        raise LabelError("Two clusters have the same name as text. Rename one of them.")
    score, names = markers.score, np.array(markers.feature_names, dtype=object)
    places: list[IntArray] = [
        np.argsort(-(np.abs(score[i]) if rankby_abs else score[i]), kind="stable")[:n] for i in order
    ]
    change = markers.log2_fold_change
    columns = {
        "scores": score,
        "logfoldchanges": np.full(markers.shape, np.nan) if change is None else change,
        "pvals": markers.local_fdr,
        "pvals_adj": markers.expected_fdr,
    }
    found: dict[str, Any] = {}
    for column, kind in _TYPES.items():
        record = np.empty(n, dtype=[(group, kind) for group in groups])
        for group, i, rows in zip(groups, order, places, strict=True):
            record[group] = names[rows] if column == "names" else columns[column][i, rows]
        found[column] = record.view(np.recarray)
    return found


def _frame(markers: GroupMarkers, order: Sequence[int], rule: Rule | str, adata: Any) -> Any:
    """The full table, one row for each gene of ``adata.var``; genes that were not looked at are empty."""
    import pandas as pd  # noqa: PLC0415 - comes with anndata

    lists = markers.select(rule)
    columns: dict[str, Any] = {}
    for i in order:
        group = str(markers.comparisons[i][0]).replace("/", "|")
        columns[f"{group}: log_odds"] = markers.log_odds[i]
        columns[f"{group}: probability"] = markers.probability[i]
        columns[f"{group}: expected_fdr"] = markers.expected_fdr[i]
        if markers.difference is not None:
            columns[f"{group}: difference"] = markers.difference[i]
        columns[f"{group}: selected"] = lists.mask[i]
    frame = pd.DataFrame(columns, index=list(markers.feature_names)).reindex(adata.var_names)
    for name in frame.columns:
        if name.endswith(": selected"):
            frame[name] = frame[name].eq(True)
    return frame

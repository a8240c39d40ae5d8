"""Compiled sharing-out of values among kernels: with the weights of a feature integrated out, or at their mode."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bayesieve.utils import compiled

_AT_ONCE = 12  # factors multiplied before a logarithm is taken; none is far below the smallest node
_SMALL = 1e-200  # a factor is at least a weight, far above its inverse
_NEGLIGIBLE = 1e-9  # posterior weight of nodes that are left out when values are shared out


@compiled()
def _fill_densities(values: Any, constants: Any, gaps: Any, density: Any) -> tuple[int, float]:
    """Densities of the values there are, the largest of each 1; return their number and what was taken out."""
    kept, taken = 0, 0.0
    for x in values:
        if math.isnan(x):
            continue
        most = -np.inf
        for k in range(constants.shape[1]):
            gaps[kept, k] = x - constants[0, k]
            scaled = gaps[kept, k] * constants[1, k]
            density[kept, k] = constants[2, k] - 0.5 * scaled * scaled
            most = max(most, density[kept, k])
        for k in range(constants.shape[1]):
            density[kept, k] = math.exp(density[kept, k] - most)
        taken += most
        kept += 1
    return kept, taken


@compiled(fastmath={"contract"})
def _fill_logs(density: Any, n: int, nodes: Any, product: Any, logs: Any) -> None:
    """Add the log-likelihood of a feature at every node."""
    three = nodes.shape[0] == 3
    product[:] = 1.0
    for i in range(n):
        d0, d1 = density[i, 0], density[i, 1]
        if three:
            d2 = density[i, 2]
            for q in range(product.shape[0]):
                product[q] *= d0 * nodes[0, q] + d1 * nodes[1, q] + d2 * nodes[2, q]
        else:
            for q in range(product.shape[0]):
                product[q] *= d0 * nodes[0, q] + d1 * nodes[1, q]
        if (i + 1) % _AT_ONCE == 0:
            logs += np.log(product)
            product[:] = 1.0
    logs += np.log(product)


@compiled(fastmath={"contract", "reassoc"})
def _share(d: Any, weighted: Any, nodes: Any, n_nodes: int, part: Any) -> None:
    """Mean share of each kernel in a value over the posterior of the weights."""
    d0, d1, share0, share1 = d[0], d[1], 0.0, 0.0
    if d.shape[0] == 2:
        for q in range(n_nodes):
            share0 += weighted[q] * nodes[0, q] / (d0 * nodes[0, q] + d1 * nodes[1, q])
        part[0] = min(d0 * share0, 1.0)
        part[1] = 1.0 - part[0]
        return
    d2 = d[2]
    for q in range(n_nodes):
        each = weighted[q] / (d0 * nodes[0, q] + d1 * nodes[1, q] + d2 * nodes[2, q])
        share0 += each * nodes[0, q]
        share1 += each * nodes[1, q]
    part[0], part[1] = min(d0 * share0, 1.0), min(d1 * share1, 1.0)
    part[2] = max(1.0 - part[0] - part[1], 0.0)


@compiled()
def share_integrated(
    rows: Any, constants: Any, nodes: Any, log_weights: Any, sums: Any, weights: Any, variances: Any
) -> float:
    """Share values of two or three kernels out; return the log evidence.

    ``sums`` take the number of values of each kernel and their sums about its mean, ``weights`` and ``variances``
    the posterior means and variances of the weights of each feature.
    """
    n_kernels, n_nodes = nodes.shape
    gaps, density = np.empty((rows.shape[1], n_kernels)), np.empty((rows.shape[1], n_kernels))
    product, logs, near = np.empty(n_nodes), np.empty(n_nodes), np.empty((n_kernels, n_nodes))
    part = np.empty(n_kernels)
    log_evidence = 0.0
    for f in range(rows.shape[0]):
        n, taken = _fill_densities(rows[f], constants, gaps, density)
        logs[:] = log_weights
        _fill_logs(density, n, nodes, product, logs)
        most, total, kept = logs.max(), 0.0, 0
        for q in range(n_nodes):
            each = math.exp(logs[q] - most)
            total += each
            if each > _NEGLIGIBLE:
                near[:, kept] = nodes[:, q]
                product[kept] = each
                kept += 1
        log_evidence += taken + most + math.log(total)
        product[:kept] /= product[:kept].sum()
        for k in range(n_kernels):
            first, second = 0.0, 0.0
            for q in range(kept):
                first += product[q] * near[k, q]
            for q in range(kept):
                second += product[q] * (near[k, q] - first) ** 2
            weights[f, k], variances[f, k] = first, second
        for i in range(n):
            _share(density[i], product, near, kept, part)
            for k in range(n_kernels):
                moved = part[k] * gaps[i, k]
                sums[0, k] += part[k]
                sums[1, k] += moved
                sums[2, k] += moved * gaps[i, k]
    return log_evidence


@compiled(fastmath={"contract"})
def share_at_mode(  # noqa: C901 - one loop, compiled
    rows: Any, constants: Any, weights: Any, sums: Any, members: Any, products: Any
) -> float:
    """Share values out among the kernels; return the log-likelihood."""
    n_kernels = constants.shape[1]
    part, gap, member = np.empty(n_kernels), np.empty(n_kernels), np.empty(n_kernels)
    log_likelihood, product = 0.0, 1.0
    for f in range(rows.shape[0]):
        member[:] = 0.0
        for i in range(rows.shape[1]):
            x = rows[f, i]
            if math.isnan(x):
                continue
            most, at = -np.inf, 0
            for k in range(n_kernels):
                gap[k] = x - constants[0, k]
                scaled = gap[k] * constants[1, k]
                part[k] = constants[2, k] - 0.5 * scaled * scaled
                if part[k] > most:
                    most, at = part[k], k
            total = 0.0
            for k in range(n_kernels):
                part[k] = weights[f, k] if k == at else weights[f, k] * math.exp(part[k] - most)
                total += part[k]
            log_likelihood += most
            product *= total  # one logarithm serves many
            if product < _SMALL:
                log_likelihood += math.log(product)
                product = 1.0
            inverse = 1.0 / total
            for k in range(n_kernels):
                part[k] *= inverse
                member[k] += part[k]
                moved = part[k] * gap[k]
                sums[1, k] += moved
                sums[2, k] += moved * gap[k]
            if products.shape[0] > 0:
                for k in range(n_kernels):
                    for j in range(n_kernels):
                        products[f, k, j] += part[k] * part[j]
        members[f] = member
        sums[0] += member
    return log_likelihood + math.log(product)

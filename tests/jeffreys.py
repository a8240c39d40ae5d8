"""The paper's prior by name: screens and what follows, under Jeffreys' prior unless a model is given."""

from __future__ import annotations

import functools

import bayesieve as bs


def _under(function):
    @functools.wraps(function)
    def call(*data, **options):
        if len(data) < 3 and options.get("model") is None and options.get("posterior") is None:
            options["model"] = bs.GaussianModel.jeffreys()
        return function(*data, **options)

    return call


screen = _under(bs.screen)
fragility = _under(bs.fragility)

from .enumeration import enumerate_sets as enumerate_sets
from .known import known_markers as known_markers, screen_with_known as screen_with_known
from .priors import (
    CallablePrior as CallablePrior,
    IsingPrior as IsingPrior,
    ProductPrior as ProductPrior,
    SetPrior as SetPrior,
    SetTable as SetTable,
)
from .set_posterior import FeatureSet as FeatureSet, SetPosterior as SetPosterior
from .size_posterior import SizePosterior as SizePosterior, with_size_prior as with_size_prior
from .size_prior import SizePrior as SizePrior

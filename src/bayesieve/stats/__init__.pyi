from .adjusted_moments import (
    AdjustedMoments as AdjustedMoments,
    adjusted_values as adjusted_values,
    full_rank as full_rank,
    shared_slopes as shared_slopes,
    solve as solve,
)
from .block_sums import BlockSums as BlockSums, Looked as Looked, check_no_infinity as check_no_infinity
from .categories.category_counts import CategoryCounts as CategoryCounts
from .correlations import (
    Correlations as Correlations,
    ScatterCorrelations as ScatterCorrelations,
    ValueCorrelations as ValueCorrelations,
)
from .design_moments import DesignMoments as DesignMoments
from .design_stream import DesignStream as DesignStream
from .events.event_totals import (
    EventTotals as EventTotals,
    check_exposures as check_exposures,
    exposures_of as exposures_of,
    wide as wide,
)
from .factors import (
    FactorFit as FactorFit,
    first_factor_share as first_factor_share,
    fit_factors as fit_factors,
    number_of_factors as number_of_factors,
)
from .foreign import (
    MOMENT_KEYS as MOMENT_KEYS,
    MOMENT_NUMBERS as MOMENT_NUMBERS,
    aggregated_statistics as aggregated_statistics,
    column_places as column_places,
    tidy_statistics as tidy_statistics,
)
from .merging import merge_statistics as merge_statistics
from .mixed import MixedStatistics as MixedStatistics, places_within as places_within
from .moments.accumulate import SMALLEST_SQUARES as SMALLEST_SQUARES
from .moments.checks import check_resolution as check_resolution, check_same_features as check_same_features
from .moments.kernels import merge as merge
from .moments.moments import (
    Moments as Moments,
    as_moments as as_moments,
    complete_moments as complete_moments,
    plain_counts as plain_counts,
    split_blocks as split_blocks,
)
from .moments.shape import Shape as Shape
from .moments.streaming import FeatureStream as FeatureStream, MomentStream as MomentStream
from .resampling.exceedances import (
    Thresholds as Thresholds,
    count_exceedances as count_exceedances,
    reach as reach,
    share_under_null as share_under_null,
)
from .resampling.leave_one_out import TILE as TILE, Neighbours as Neighbours, whole_plan as whole_plan
from .resampling.permuted import CentredValues as CentredValues, Relabellings as Relabellings, deal as deal
from .scatter import Scatter as Scatter, cross_products as cross_products
from .sites import (
    SiteStatistics as SiteStatistics,
    StatisticsSet as StatisticsSet,
    suppress as suppress,
)
from .statistics import (
    ClassStatistics as ClassStatistics,
    Parts as Parts,
    largest_counts as largest_counts,
    side_by_side as side_by_side,
)
from .trend_moments import Slopes as Slopes, TrendMoments as TrendMoments
from .value_profile import ValueProfile as ValueProfile, ValueSample as ValueSample

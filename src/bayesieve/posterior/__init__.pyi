from .checks import Check as Check, Checker as Checker, Checks as Checks
from .composition import composition_of as composition_of
from .consistency import (
    MOST_FEATURES as MOST_FEATURES,
    ConsistencyReport as ConsistencyReport,
    consistency_report as consistency_report,
)
from .count_distribution import (
    CountDistribution as CountDistribution,
    CountLaw as CountLaw,
    PoissonBinomial as PoissonBinomial,
    longest_sure_prefix as longest_sure_prefix,
)
from .effect_size import Effect as Effect, effect_of as effect_of
from .error_analysis import (
    ErrorAnalysis as ErrorAnalysis,
    ExpectedErrors as ExpectedErrors,
    ExpectedROC as ExpectedROC,
    Loss as Loss,
    as_mask as as_mask,
    expected_roc as expected_roc,
)
from .evidence_surface import EvidenceSurface as EvidenceSurface, evidence_surface as evidence_surface
from .feature_posterior import (
    FeaturePosterior as FeaturePosterior,
    class_statistics as class_statistics,
    finding_columns as finding_columns,
    table_head as table_head,
)
from .findings.adjustment import Adjustment as Adjustment
from .findings.effects import Effects as Effects, effects as effects
from .findings.finding import (
    BlockEvidence as BlockEvidence,
    Differences as Differences,
    EstimatedShare as EstimatedShare,
    Finding as Finding,
    PriorRemark as PriorRemark,
    Remark as Remark,
    check_same_features as check_same_features,
    depends_on_prior as depends_on_prior,
    within_blocks as within_blocks,
)
from .findings.fragility import Fragility as Fragility
from .findings.gene_features import GeneFeatures as GeneFeatures
from .findings.holds import HoldsWithoutOne as HoldsWithoutOne
from .findings.kinds import Kinds as Kinds, kinds as kinds
from .findings.likelihoods import Likelihoods as Likelihoods
from .findings.trend import TrendSlopes as TrendSlopes
from .marginals import (
    Marginals as Marginals,
    Tabular as Tabular,
    check_log_odds as check_log_odds,
    expit as expit,
    log_expit as log_expit,
    logit as logit,
)
from .null.distribution import (
    null_mean as null_mean,
    tabulated_log_null_probability as tabulated_log_null_probability,
)
from .null.expected import (
    can_be_null as can_be_null,
    expected_by_chance as expected_by_chance,
    expected_under_null as expected_under_null,
    follows_lambda as follows_lambda,
    least_log_odds as least_log_odds,
    null_curve as null_curve,
    null_resolution as null_resolution,
)
from .null.permutation_null import PermutationNull as PermutationNull, benjamini_hochberg as benjamini_hochberg
from .null.shuffled import (
    ESTIMATE as ESTIMATE,
    SCHEMES as SCHEMES,
    ShuffledLabels as ShuffledLabels,
    estimate_share as estimate_share,
    no_shuffles as no_shuffles,
    share_of as share_of,
)
from .predictive import predictive as predictive

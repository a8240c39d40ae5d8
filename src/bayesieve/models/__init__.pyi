from .categorical import CategoricalModel as CategoricalModel
from .comparison import (
    Compared as Compared,
    Comparison as Comparison,
    Part as Part,
    UnknownComparison as UnknownComparison,
)
from .counts.negative_binomial import NegativeBinomialModel as NegativeBinomialModel
from .counts.poisson import PoissonModel as PoissonModel
from .evidences import (
    Evidences as Evidences,
    PatternShares as PatternShares,
    compare as compare,
    pairs_of as pairs_of,
)
from .gaussian.calibrated import (
    STRONG as STRONG,
    CalibratedModel as CalibratedModel,
    EffectEvidences as EffectEvidences,
    model_of_classes as model_of_classes,
    weights_of_kinds as weights_of_kinds,
)
from .gaussian.degenerate import (
    Degeneracy as Degeneracy,
    RepairedMoments as RepairedMoments,
    find_degenerate as find_degenerate,
    repair as repair,
)
from .gaussian.effect_designs import EffectPairs as EffectPairs, EffectShift as EffectShift
from .gaussian.effect_mixture import (
    QUICK as QUICK,
    effect_sizes as effect_sizes,
    mix_kinds as mix_kinds,
    two_group_evidence as two_group_evidence,
)
from .gaussian.effect_removal import least_without as least_without
from .gaussian.gaussian import GaussianModel as GaussianModel
from .gaussian.heavy_tails import tempering as tempering
from .gaussian.kinds import (
    MEAN_CONSTANT as MEAN_CONSTANT,
    VARIANCE_CONSTANT as VARIANCE_CONSTANT,
    KindModel as KindModel,
    log_evidence_of_kinds as log_evidence_of_kinds,
)
from .gaussian.leave_one_out import (
    CONSTANT as CONSTANT,
    Downdates as Downdates,
    choose_least as choose_least,
    evaluate_all as evaluate_all,
    find_thresholds as find_thresholds,
)
from .gaussian.mean_difference import mean_evidence as mean_evidence
from .gaussian.normal_inverse_gamma import (
    NormalInverseGamma as NormalInverseGamma,
    any_nonzero as any_nonzero,
    log_evidence as log_evidence,
)
from .gaussian.paired import PAIR_CONSTANT as PAIR_CONSTANT, PairedComparison as PairedComparison
from .gaussian.prior_ratio import (
    NAMED_LOG_RATIOS as NAMED_LOG_RATIOS,
    PriorRatio as PriorRatio,
    depends_on_sizes as depends_on_sizes,
    jeffreys_constant as jeffreys_constant,
    log_prior_ratio as log_prior_ratio,
    power_of_n as power_of_n,
    warn_unless_semi_proper as warn_unless_semi_proper,
)
from .gaussian.shared_shift import ShiftComparison as ShiftComparison
from .gaussian.slopes import size_of_difference as size_of_difference
from .gaussian.variance_prior import (
    VariancePrior as VariancePrior,
    fit_variance_prior as fit_variance_prior,
    trigamma_inverse as trigamma_inverse,
)
from .gaussian.within_subjects import (
    SubjectComparison as SubjectComparison,
    WithinSubjects as WithinSubjects,
    within as within,
)
from .log_terms import tangent_gap as tangent_gap
from .mixed import MixedModel as MixedModel
from .model import DIFFERENCES as DIFFERENCES, Model as Model, UnknownModel as UnknownModel
from .normal_inverse_wishart import (
    KnownBlock as KnownBlock,
    check_family as check_family,
    check_proper as check_proper,
    set_sizes as set_sizes,
    subset_log_evidence as subset_log_evidence,
    sums_over_sets as sums_over_sets,
)
from .patterns import Patterns as Patterns

from . import (
    data as data,
    enrichment as enrichment,
    errors as errors,
    models as models,
    planning as planning,
    posterior as posterior,
    report as report,
    rivals as rivals,
    selection as selection,
    sets as sets,
    simulation as simulation,
    stats as stats,
    study as study,
    tl as tl,
)
from .data.aggregate import aggregate as aggregate
from .data.genes import GeneMap as GeneMap
from .data.matrix import LabelledMatrix as LabelledMatrix
from .data.normalise import normalise as normalise, size_factors as size_factors
from .data.transform import transform as transform
from .enrichment.over_representation import enrich as enrich
from .errors import (
    BayesieveError as BayesieveError,
    BayesieveWarning as BayesieveWarning,
    CalibrationWarning as CalibrationWarning,
    DataError as DataError,
    DataWarning as DataWarning,
    DegenerateFeatureError as DegenerateFeatureError,
    DegenerateFeatureWarning as DegenerateFeatureWarning,
    FileError as FileError,
    LabelError as LabelError,
    MissingExtraError as MissingExtraError,
    MissingValueError as MissingValueError,
    OptionError as OptionError,
    PriorError as PriorError,
    PriorWarning as PriorWarning,
    RuleError as RuleError,
)
from .estimator import OBFSelector as OBFSelector
from .io.annotations import read_gene_map as read_gene_map, read_gene_sets as read_gene_sets
from .io.contrasts.contrast_file import Contrast as Contrast, read_contrasts as read_contrasts
from .io.contrasts.screen_contrasts import screen_contrasts as screen_contrasts
from .io.results.read import StoredResult as StoredResult, read_result as read_result
from .io.results.write import write_result as write_result
from .io.statistics_file import read_statistics as read_statistics, write_statistics as write_statistics
from .io.tables.read_table import read_table as read_table
from .io.tables.summary import Summary as Summary
from .models import (
    CalibratedModel as CalibratedModel,
    GaussianModel as GaussianModel,
    Model as Model,
    NormalInverseGamma as NormalInverseGamma,
    log_evidence as log_evidence,
)
from .models.categorical import CategoricalModel as CategoricalModel
from .models.counts.negative_binomial import NegativeBinomialModel as NegativeBinomialModel
from .models.counts.poisson import PoissonModel as PoissonModel
from .models.mixed import MixedModel as MixedModel
from .models.patterns import Patterns as Patterns
from .planning.plan import Plan as Plan, plan as plan
from .planning.truth import StatedEffects as StatedEffects
from .posterior import (
    CountDistribution as CountDistribution,
    CountLaw as CountLaw,
    ErrorAnalysis as ErrorAnalysis,
    ExpectedROC as ExpectedROC,
    FeaturePosterior as FeaturePosterior,
    Loss as Loss,
    PoissonBinomial as PoissonBinomial,
    expected_by_chance as expected_by_chance,
    expected_roc as expected_roc,
    expected_under_null as expected_under_null,
)
from .posterior.checks import Check as Check, Checks as Checks
from .posterior.consistency import ConsistencyReport as ConsistencyReport, consistency_report as consistency_report
from .posterior.findings.effects import Effects as Effects, effects as effects
from .posterior.findings.finding import Finding as Finding
from .posterior.findings.fragility import Fragility as Fragility
from .posterior.findings.kinds import Kinds as Kinds, kinds as kinds
from .posterior.null.permutation_null import PermutationNull as PermutationNull
from .rivals.comparison import compare_methods as compare_methods
from .rivals.feature_scores import FeatureScores as FeatureScores, Rival as Rival
from .rivals.method_comparison import MethodComparison as MethodComparison
from .rivals.pairs.pair_screen import PairScreen as PairScreen, screen_pairs as screen_pairs
from .rivals.pearson_neyman import pearson_neyman as pearson_neyman
from .rivals.registry import score as score
from .screening.group_markers import GroupMarkers as GroupMarkers, GroupSelection as GroupSelection
from .screening.groups import screen_groups as screen_groups
from .screening.leave_one_out import fragility as fragility
from .screening.obf import screen as screen
from .screening.permutation_test import permutations as permutations
from .selection import (
    FalseDiscovery as FalseDiscovery,
    FixedSize as FixedSize,
    MinimalRisk as MinimalRisk,
    MostProbable as MostProbable,
    NeymanPearson as NeymanPearson,
    Selection as Selection,
)
from .selection.rules import Rule as Rule
from .sets.enumeration import enumerate_sets as enumerate_sets
from .sets.known import known_markers as known_markers, screen_with_known as screen_with_known
from .sets.priors import (
    CallablePrior as CallablePrior,
    IsingPrior as IsingPrior,
    ProductPrior as ProductPrior,
    SetPrior as SetPrior,
    SetTable as SetTable,
)
from .sets.set_posterior import FeatureSet as FeatureSet, SetPosterior as SetPosterior
from .sets.size_posterior import SizePosterior as SizePosterior, with_size_prior as with_size_prior
from .sets.size_prior import SizePrior as SizePrior
from .stats import Moments as Moments
from .stats.categories.category_counts import CategoryCounts as CategoryCounts
from .stats.events.event_totals import EventTotals as EventTotals
from .stats.foreign import (
    aggregated_statistics as aggregated_statistics,
    tidy_statistics as tidy_statistics,
)
from .stats.merging import merge_statistics as merge_statistics
from .stats.sites import SiteStatistics as SiteStatistics, StatisticsSet as StatisticsSet

__version__: str

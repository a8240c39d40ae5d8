from .comparison import check_methods as check_methods, compare_methods as compare_methods
from .feature_scores import FeatureScores as FeatureScores, Rival as Rival
from .inputs import two_class_values as two_class_values
from .method_comparison import MethodComparison as MethodComparison
from .obf import OBF_MODELS as OBF_MODELS, obf_posterior as obf_posterior
from .pairs.pair_screen import PairNull as PairNull, PairScreen as PairScreen, screen_pairs as screen_pairs
from .pearson_neyman import pearson_neyman as pearson_neyman
from .registry import (
    is_built_in as is_built_in,
    register as register,
    rival as rival,
    rival_names as rival_names,
    score as score,
)
from .sorted_values import SORTED_RIVALS as SORTED_RIVALS, sorted_scores as sorted_scores

from .known import (
    TOPS as TOPS,
    KnownMarkers as KnownMarkers,
    RecoveryCurve as RecoveryCurve,
    known_markers as known_markers,
    recovery_curve as recovery_curve,
    recovery_table as recovery_table,
)
from .over_representation import (
    MAX_SIZE as MAX_SIZE,
    MIN_SHARE as MIN_SHARE,
    MIN_SIZE as MIN_SIZE,
    Enrichment as Enrichment,
    GeneSets as GeneSets,
    enrich as enrich,
    set_title as set_title,
)
from .ranked_genes import RankedGenes as RankedGenes, marker_probability as marker_probability
from .ranking import GeneRanking as GeneRanking, collapse as collapse, names_in_order as names_in_order

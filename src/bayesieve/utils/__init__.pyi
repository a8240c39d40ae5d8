from .checks import (
    check_between as check_between,
    check_choice as check_choice,
    check_missing as check_missing,
    check_whole as check_whole,
    is_number as is_number,
    is_whole as is_whole,
)
from .compilation import compiled as compiled
from .errors import (
    FLAGGED as FLAGGED,
    JEFFREYS as JEFFREYS,
    PROPER as PROPER,
    TABLE as TABLE,
    BayesieveError as BayesieveError,
    BayesieveWarning as BayesieveWarning,
    CalibrationWarning as CalibrationWarning,
    ConvergenceWarning as ConvergenceWarning,
    DataError as DataError,
    DataWarning as DataWarning,
    DegenerateFeatureError as DegenerateFeatureError,
    DegenerateFeatureWarning as DegenerateFeatureWarning,
    FileError as FileError,
    LabelError as LabelError,
    Message as Message,
    MissingExtraError as MissingExtraError,
    MissingValueError as MissingValueError,
    OptionError as OptionError,
    Piece as Piece,
    PriorError as PriorError,
    PriorWarning as PriorWarning,
    RuleError as RuleError,
    SampleIds as SampleIds,
    Wording as Wording,
    option as option,
)
from .files import (
    can_name_files as can_name_files,
    check_file as check_file,
    check_writable as check_writable,
    decoding as decoding,
    hash_of_written as hash_of_written,
    is_device as is_device,
    make_folder as make_folder,
    parse_json as parse_json,
    read_json as read_json,
    read_toml as read_toml,
    replacing as replacing,
    separating_colons as separating_colons,
    together as together,
    toml_line as toml_line,
    toml_value as toml_value,
    wrap_read_errors as wrap_read_errors,
    write_files as write_files,
)
from .glimpse import (
    Glimpse as Glimpse,
    Glimpsed as Glimpsed,
    classes_in_words as classes_in_words,
    glimpse_of_classes as glimpse_of_classes,
    numbers as numbers,
    shorten as shorten,
)
from .installation import install_command as install_command
from .late import Late as Late, LateMethod as LateMethod
from .memory import free_memory as free_memory, memory_bytes as memory_bytes
from .messages import (
    did_you_mean as did_you_mean,
    expectation as expectation,
    join_words as join_words,
    list_names as list_names,
    plural as plural,
    printable as printable,
    warn as warn,
)
from .plotting import (
    BASE_STYLE as BASE_STYLE,
    BLACK as BLACK,
    BLUE as BLUE,
    FORMATS as FORMATS,
    GREEN as GREEN,
    GREY as GREY,
    ORANGE as ORANGE,
    PALETTE as PALETTE,
    PURPLE as PURPLE,
    SKY as SKY,
    VERMILION as VERMILION,
    load_matplotlib as load_matplotlib,
    normalise_formats as normalise_formats,
    open_figure as open_figure,
    render as render,
    round_numbers as round_numbers,
    stretch_near_zero as stretch_near_zero,
)
from .processes import (
    no_interruption as no_interruption,
    one_blas_thread as one_blas_thread,
    run_in_processes as run_in_processes,
)
from .stores import (
    has_tables as has_tables,
    meta_of as meta_of,
    open_store as open_store,
    using_store as using_store,
)
from .threads import for_each as for_each, n_threads_for as n_threads_for, run as run, share as share
from .typing import (
    BoolArray as BoolArray,
    CountArray as CountArray,
    FloatArray as FloatArray,
    IntArray as IntArray,
)
from .unpacking import (
    RATIO as RATIO,
    array_names as array_names,
    check_archive as check_archive,
    check_unpacked as check_unpacked,
    read_arrays as read_arrays,
)

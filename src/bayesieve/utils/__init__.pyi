from .compiled import compiled as compiled
from .files import (
    check_file as check_file,
    check_writable as check_writable,
    read_toml as read_toml,
    replacing as replacing,
    wrap_read_errors as wrap_read_errors,
)
from .messages import did_you_mean as did_you_mean, listed as listed
from .plotting import (
    BLACK as BLACK,
    BLUE as BLUE,
    GREEN as GREEN,
    GREY as GREY,
    ORANGE as ORANGE,
    PURPLE as PURPLE,
    SKY as SKY,
    VERMILION as VERMILION,
    load_matplotlib as load_matplotlib,
    round_numbers as round_numbers,
)
from .threads import for_each as for_each, n_threads_for as n_threads_for, run as run, share as share
from .typing import (
    BoolArray as BoolArray,
    CountArray as CountArray,
    FloatArray as FloatArray,
    IntArray as IntArray,
)

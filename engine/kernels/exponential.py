"""e to the x in float32, in plain arithmetic: a loop over it becomes vectors, which a call of the C
library's would not (Cephes, expf; the relative error is below 2e-7)."""

import numpy as np
from numba import njit

from intarsia.engine.kernels.scalars import float_of_bits, nearest

_f = np.float32
_LOG2_E, _LN2_HIGH, _LN2_LOW = _f(1.44269504), _f(0.693359375), _f(-2.12194440e-4)
_LEAST, _MOST, _HALF, _ONE = _f(-87.0), _f(88.0), _f(0.5), _f(1.0)
_C0, _C1, _C2 = _f(1.9875691500e-4), _f(1.3981999507e-3), _f(8.3334519073e-3)
_C3, _C4 = _f(4.1665795894e-2), _f(1.6666665459e-1)


@njit(inline="always", fastmath=True, error_model="numpy")
def exp(x):
    """Return e to the x, for x of float32."""
    x = min(max(x, _LEAST), _MOST)
    turns = nearest(x * _LOG2_E)
    r = x - turns * _LN2_HIGH - turns * _LN2_LOW
    p = ((((_C0 * r + _C1) * r + _C2) * r + _C3) * r + _C4) * r + _HALF
    power = (np.int32(turns) + np.int32(127)) << np.int32(23)
    return (p * r * r + r + _ONE) * float_of_bits(np.int32(power))

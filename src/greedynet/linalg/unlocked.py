"""BLAS and LAPACK without Python's lock, so that several threads compute at once.

SciPy's wrappers hold the lock while a function runs. The same functions are exported for Cython,
and ctypes releases the lock around a call. All arrays are float64 in Fortran order; the first
argument is overwritten.
"""

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import cython_blas, cython_lapack

from greedynet.support.types import Float64

# Prototypes of our own: other libraries may change those of `ctypes.pythonapi`.
_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)
_name = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.py_object)(
    ("PyCapsule_GetName", ctypes.pythonapi)
)
# Integers are those of the signature: 64 bits in some builds of SciPy.
_is_short = b" int *" in _name(cython_blas.__pyx_capi__["dsyrk"])
_Integer = ctypes.c_int if _is_short else ctypes.c_int64


def _function(module: Any, name: str) -> Callable[..., None]:
    """Return an exported function; all its arguments are pointers."""
    capsule = module.__pyx_capi__[name]
    signature = _name(capsule)
    n_arguments = signature.count(b"*")
    kind = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * n_arguments)
    return kind(_pointer(capsule, signature))


_dsyrk, _dtrsm = (_function(cython_blas, name) for name in ("dsyrk", "dtrsm"))
_dpotrf, _dpotri = (_function(cython_lapack, name) for name in ("dpotrf", "dpotri"))


def _char(letter: bytes) -> Any:
    return ctypes.c_char_p(letter)


def _int(value: int) -> Any:
    return ctypes.byref(_Integer(value))


def _double(value: float) -> Any:
    return ctypes.byref(ctypes.c_double(value))


def _data(A: Float64) -> int:
    if A.dtype != np.float64 or not A.flags.f_contiguous:
        raise ValueError("An array of float64 in Fortran order is needed.")
    return A.ctypes.data


def add_square(C: Float64, A: Float64, alpha: float) -> None:
    """Add `alpha A A'` to the lower triangle of `C`."""
    n, k = A.shape
    one, size, factor = _double(1.0), _int(n), _double(alpha)
    lda = _int(max(n, 1))
    _dsyrk(_char(b"L"), _char(b"N"), size, _int(k), factor, _data(A), lda, one, _data(C), lda)


def solve_right(B: Float64, L: Float64) -> None:
    """Replace `B` by `B L'^-1`, for a lower triangle `L`."""
    m, n = B.shape
    side, lower, transposed, diagonal = map(_char, (b"R", b"L", b"T", b"N"))
    sizes = _int(m), _int(n), _double(1.0)
    lda, ldb = _int(max(n, 1)), _int(max(m, 1))
    _dtrsm(side, lower, transposed, diagonal, *sizes, _data(L), lda, _data(B), ldb)


def cholesky(A: Float64) -> bool:
    """Replace the lower triangle of `A` by its Cholesky factor; False if it has none."""
    n, info = len(A), _Integer(0)
    _dpotrf(_char(b"L"), _int(n), _data(A), _int(max(n, 1)), ctypes.byref(info))
    return info.value == 0


def invert(L: Float64) -> None:
    """Replace the lower triangle of a Cholesky factor by that of the inverse of its matrix."""
    n, info = len(L), _Integer(0)
    _dpotri(_char(b"L"), _int(n), _data(L), _int(max(n, 1)), ctypes.byref(info))

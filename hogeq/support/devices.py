"""Devices that run the passes of game trees: a core, or a GPU, which nobody gets by default."""

from typing import Any, Final

from hogeq.support.messages import refusal

CPU: Final = "cpu"
CUDA: Final = "cuda"


def require_device(device: str) -> None:
    """Refuse names of no device, and a GPU where none is found."""
    if device not in {CPU, CUDA}:
        raise ValueError(refusal("device", device, f"{CPU} or {CUDA}", (CPU, CUDA)))
    if device == CUDA and not has_gpu():
        allowed = f"{CPU}, for numba finds no GPU; pip install 'hogeq[gpu]' brings what it needs"
        raise ValueError(refusal("device", device, allowed))


def has_gpu() -> bool:
    """Whether numba can use a GPU, or simulates one."""
    try:
        from numba import cuda
    except ImportError:  # announced to become a package of its own
        return False
    gpu: Any = cuda  # without types
    return bool(gpu.is_available())

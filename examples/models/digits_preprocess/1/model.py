import numpy as np
import triton_python_backend_utils as pb_utils

SIDE = 8
INK = 16.0
# Part of the picture that the digit fills, and what counts as ink at all, 0 to 1.
FILL = 0.92
VISIBLE = 0.2
GREY = np.array([0.299, 0.587, 0.114], np.float32)


class TritonPythonModel:
    """Turns a picture of any size into the 8 by 8 pixels that the model `digits` reads."""

    def execute(self, requests):
        return [self.answer(request) for request in requests]

    def answer(self, request):
        image = pb_utils.get_input_tensor_by_name(request, "image").as_numpy()
        try:
            pixels = prepare(image)
        except ValueError as error:
            refusal = pb_utils.TritonError(str(error), pb_utils.TritonError.INVALID_ARG)
            return pb_utils.InferenceResponse(error=refusal)
        tensor = pb_utils.Tensor("pixels", pixels.reshape(1, SIDE * SIDE))
        return pb_utils.InferenceResponse(output_tensors=[tensor])


def prepare(image):
    ink = find_ink(to_grey(image))
    rows, columns = np.flatnonzero((ink > VISIBLE).any(axis=1)), np.flatnonzero((ink > VISIBLE).any(axis=0))
    if rows.size == 0:
        raise ValueError("the picture shows nothing: all of it has one colour")
    top, bottom, left, right = rows[0], rows[-1] + 1, columns[0], columns[-1] + 1
    # A square around the digit, with a margin; what lies outside of the picture is paper.
    side = max(bottom - top, right - left) / FILL
    down = shares(ink.shape[0], (top + bottom - side) / 2, side)
    across = shares(ink.shape[1], (left + right - side) / 2, side)
    small = down @ ink @ across.T
    return (small / small.max() * INK).astype(np.float32)


def to_grey(image):
    height, width, channels = image.shape
    if height == 0 or width == 0 or channels not in (1, 3):
        raise ValueError(f"a picture is [height, width, 1 or 3], not {list(image.shape)}")
    return image[:, :, 0].astype(np.float32) if channels == 1 else image.astype(np.float32) @ GREY


def find_ink(grey):
    """How far each pixel is from the paper, 0 to 1; the paper is what most of the border shows, dark or bright."""
    border = np.concatenate([grey[0], grey[-1], grey[:, 0], grey[:, -1]])
    ink = np.abs(grey - np.median(border))
    return ink / max(ink.max(), 1.0)


def shares(length, start, side):
    """A matrix that averages `length` pixels into SIDE by the area that they cover of the square from `start`."""
    edges = start + side * np.arange(SIDE + 1) / SIDE
    first, last = np.maximum(edges[:-1, None], np.arange(length)), np.minimum(edges[1:, None], np.arange(length) + 1)
    return np.maximum(last - first, 0) * (SIDE / side)

#!/usr/bin/env python3
"""Draws the pictures in samples/digits_image and samples/digits_preprocess: a seven on white paper, a one on blue.

Needs the package numpy. The files in the repository are its output; writing them again gives the same bytes.
"""
import pathlib

import numpy as np

SAMPLES = pathlib.Path(__file__).parent / "samples"
SEVEN = [((4, 4), (19, 4)), ((19, 4), (10, 24))]
ONE = [((6, 9), (11, 4)), ((11, 4), (11, 20))]


def draw(width, height, strokes, radius):
    """Ink, 0 to 1: what lies within `radius` of a stroke, with soft edges."""
    y, x = np.mgrid[0:height, 0:width] + 0.5
    distance = np.full((height, width), np.inf)
    for (ax, ay), (bx, by) in strokes:
        along = ((x - ax) * (bx - ax) + (y - ay) * (by - ay)) / ((bx - ax) ** 2 + (by - ay) ** 2)
        along = np.clip(along, 0, 1)
        distance = np.minimum(distance, np.hypot(x - ax - along * (bx - ax), y - ay - along * (by - ay)))
    return np.clip(radius + 0.5 - distance, 0, 1)


def blend(ink, paper, pen):
    """Channels last, from the colour of the paper to that of the pen."""
    paper, pen = np.array(paper, float), np.array(pen, float)
    return np.rint(paper + ink[:, :, None] * (pen - paper)).astype(int)


def save(path, image):
    height, width, channels = image.shape
    rows = ",\n".join("        " + ", ".join(map(str, row.ravel().tolist())) for row in image)
    text = (
        '{\n  "inputs": [\n'
        f'    {{"name": "image", "datatype": "UINT8", "shape": [{height}, {width}, {channels}],\n'
        f'      "data": [\n{rows}\n      ]}}\n  ]\n}}\n'
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


seven = blend(draw(24, 28, SEVEN, 1.6), [255], [20])
one = blend(draw(18, 24, ONE, 1.4), [30, 60, 160], [250, 250, 240])
for model in ("digits_image", "digits_preprocess"):
    save(SAMPLES / model / "seven.json", seven)
    save(SAMPLES / model / "one-on-blue.json", one)

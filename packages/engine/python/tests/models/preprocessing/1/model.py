"""Texts to word numbers and their lengths, with a vocabulary that lies beside the model and code in a sibling file."""

import os

import numpy as np
import triton_python_backend_utils as pb_utils

from .tokens import split_words


class TritonPythonModel:
    def initialize(self, args):
        path = os.path.join(pb_utils.get_model_dir(), "vocabulary.txt")
        with open(path, encoding="utf-8") as file:
            self.numbers = {word.strip(): number for number, word in enumerate(file)}
        self.pieces = os.path.join(args["model_repository"], args["model_version"])

    def execute(self, requests):
        responses = []
        for request in requests:
            texts = pb_utils.get_input_tensor_by_name(request, "TEXT").as_numpy()
            words = [split_words(text.decode("utf-8")) for text in texts.reshape(-1)]
            width = max((len(line) for line in words), default=0)
            ids = np.full((len(words), width), -1, np.int64)
            for row, line in enumerate(words):
                ids[row, : len(line)] = [self.numbers.get(word, 0) for word in line]
            lower = np.array([" ".join(line) for line in words], dtype=object)
            responses.append(
                pb_utils.InferenceResponse([pb_utils.Tensor("IDS", ids), pb_utils.Tensor("LOWER", lower)])
            )
        return responses

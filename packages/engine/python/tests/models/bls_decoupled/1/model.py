"""Adds up all that a decoupled model answers."""

import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def execute(self, requests):
        responses = []
        for request in requests:
            inner = pb_utils.InferenceRequest(
                model_name="square",
                inputs=[pb_utils.get_input_tensor_by_name(request, "IN")],
                requested_output_names=["OUT"],
            )
            total, problems = 0, []
            for response in inner.exec(decoupled=True):
                if response.has_error():
                    problems.append(response.error())
                elif len(response.output_tensors()) > 0:
                    total += int(pb_utils.get_output_tensor_by_name(response, "OUT").as_numpy()[0])
            if problems:
                responses.append(pb_utils.InferenceResponse(error=problems[0]))
            else:
                responses.append(pb_utils.InferenceResponse([pb_utils.Tensor("SUM", np.array([total], np.int64))]))
        return responses

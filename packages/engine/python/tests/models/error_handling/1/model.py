"""Every second request gets an error of its own; the others of the batch are answered."""

import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def initialize(self, args):
        self.codes = [pb_utils.TritonError.INVALID_ARG, pb_utils.TritonError.CANCELLED, pb_utils.TritonError.NOT_FOUND]

    def execute(self, requests):
        responses = []
        for number, request in enumerate(requests):
            tensor = pb_utils.get_input_tensor_by_name(request, "IN")
            if number % 2 == 1:
                error = pb_utils.TritonError(f"request {number} is odd", self.codes[number // 2 % 3])
                responses.append(pb_utils.InferenceResponse(output_tensors=[], error=error))
            else:
                responses.append(pb_utils.InferenceResponse([pb_utils.Tensor("OUT", tensor.as_numpy())]))
        return responses

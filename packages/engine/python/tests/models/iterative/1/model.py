"""An iterative sequence: counts IN down by asking to be run again, and answers when it has arrived at zero."""

import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def initialize(self, args):
        self.left = {}

    def execute(self, requests):
        responses = []
        for request in requests:
            sequence = request.correlation_id()
            if request.flags() & pb_utils.TRITONSERVER_REQUEST_FLAG_SEQUENCE_START:
                self.left[sequence] = int(pb_utils.get_input_tensor_by_name(request, "IN").as_numpy()[0])
                request.set_flags(0)
            self.left[sequence] -= 1
            if self.left[sequence] > 0:
                request.set_release_flags(pb_utils.TRITONSERVER_REQUEST_RELEASE_RESCHEDULE)
                responses.append(None)
            else:
                out = pb_utils.Tensor("OUT", np.array([self.left.pop(sequence)], np.int32))
                responses.append(pb_utils.InferenceResponse([out]))
        return responses

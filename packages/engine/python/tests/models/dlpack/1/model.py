"""Takes and gives tensors through DLPack, once by capsules and once by the protocol's methods."""

import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def execute(self, requests):
        responses = []
        for request in requests:
            tensors = []
            for tensor in request.inputs():
                if tensor.name() == "PROTOCOL":
                    doubled = np.from_dlpack(tensor) * 2
                    tensors.append(pb_utils.Tensor.from_dlpack("PROTOCOL_OUT", doubled))
                else:
                    capsule = tensor.to_dlpack()
                    tensors.append(pb_utils.Tensor.from_dlpack(tensor.name() + "_OUT", capsule))
            responses.append(pb_utils.InferenceResponse(tensors))
        return responses

"""Decoupled: answers n with n times n, from within execute, the last time with the final flag."""

import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def execute(self, requests):
        for request in requests:
            value = pb_utils.get_input_tensor_by_name(request, "IN").as_numpy()
            sender = request.get_response_sender()
            count = int(value[0])
            for index in range(count):
                last = index == count - 1
                sender.send(
                    pb_utils.InferenceResponse([pb_utils.Tensor("OUT", value)]),
                    flags=pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL if last else 0,
                )
            if count == 0:
                sender.send(flags=pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL)
        return None

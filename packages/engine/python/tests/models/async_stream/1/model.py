"""Decoupled and asynchronous: batches overlap, each request counts up on its own clock."""

import asyncio

import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    async def execute(self, requests):
        await asyncio.gather(*[self.count(request) for request in requests])

    async def count(self, request):
        sender = request.get_response_sender()
        limit = int(pb_utils.get_input_tensor_by_name(request, "IN").as_numpy()[0])
        for number in range(limit):
            if sender.is_cancelled():
                error = pb_utils.TritonError("nobody listens", pb_utils.TritonError.CANCELLED)
                sender.send(
                    pb_utils.InferenceResponse(error=error), flags=pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL
                )
                return
            sender.send(pb_utils.InferenceResponse([pb_utils.Tensor("OUT", np.array([number], np.int32))]))
            await asyncio.sleep(0.005)
        sender.send(flags=pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL)

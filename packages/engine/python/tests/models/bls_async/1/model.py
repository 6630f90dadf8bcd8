"""Calls two models at the same time and puts their answers together."""

import asyncio

import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    async def execute(self, requests):
        responses = []
        for request in requests:
            inputs = request.inputs()
            calls = [
                pb_utils.InferenceRequest(
                    model_name=model, requested_output_names=["OUTPUT0", "OUTPUT1"], inputs=inputs
                ).async_exec()
                for model in ("add_sub", "sub_add")
            ]
            first, second = await asyncio.gather(*calls)
            for answer in (first, second):
                if answer.has_error():
                    raise pb_utils.TritonModelException(answer.error().message())
            responses.append(
                pb_utils.InferenceResponse(
                    [
                        pb_utils.get_output_tensor_by_name(first, "OUTPUT0"),
                        pb_utils.get_output_tensor_by_name(second, "OUTPUT1"),
                    ]
                )
            )
        return responses

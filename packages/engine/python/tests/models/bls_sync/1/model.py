"""Passes its inputs to the model that an input names, and raises if that fails."""

import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def execute(self, requests):
        responses = []
        for request in requests:
            model = pb_utils.get_input_tensor_by_name(request, "MODEL_NAME").as_numpy().item().decode("utf-8")
            inference_request = pb_utils.InferenceRequest(
                model_name=model,
                requested_output_names=["OUTPUT0", "OUTPUT1"],
                inputs=[pb_utils.get_input_tensor_by_name(request, name) for name in ("INPUT0", "INPUT1")],
                trace=request.trace(),
            )
            inference_response = inference_request.exec()
            if inference_response.has_error():
                raise pb_utils.TritonModelException(inference_response.error().message())
            outputs = [pb_utils.get_output_tensor_by_name(inference_response, n) for n in ("OUTPUT0", "OUTPUT1")]
            responses.append(pb_utils.InferenceResponse(output_tensors=outputs))
        return responses

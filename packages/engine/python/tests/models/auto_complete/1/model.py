"""Tells the server itself what it takes and gives; the config file may be empty."""

import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    @staticmethod
    def auto_complete_config(auto_complete_model_config):
        known = auto_complete_model_config.as_dict()
        given = {tensor["name"] for tensor in known.get("input", [])}
        for name in ("INPUT0", "INPUT1"):
            if name not in given:
                auto_complete_model_config.add_input({"name": name, "data_type": "TYPE_FP32", "dims": [4]})
        auto_complete_model_config.add_input(
            {"name": "SCALE", "data_type": "TYPE_FP32", "dims": [1], "optional": True}
        )
        auto_complete_model_config.add_output({"name": "OUTPUT0", "data_type": "TYPE_FP32", "dims": [4]})
        auto_complete_model_config.set_max_batch_size(4)
        auto_complete_model_config.set_dynamic_batching()
        return auto_complete_model_config

    def execute(self, requests):
        responses = []
        for request in requests:
            total = sum(pb_utils.get_input_tensor_by_name(request, n).as_numpy() for n in ("INPUT0", "INPUT1"))
            scale = pb_utils.get_input_tensor_by_name(request, "SCALE")
            if scale is not None:
                total = total * scale.as_numpy()
            responses.append(pb_utils.InferenceResponse([pb_utils.Tensor("OUTPUT0", total)]))
        return responses

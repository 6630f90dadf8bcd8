"""Decoupled: a thread for each request answers with the elements of IN, one by one, each after its delay in milliseconds."""

import json
import threading
import time

import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def initialize(self, args):
        if not pb_utils.using_decoupled_model_transaction_policy(json.loads(args["model_config"])):
            raise pb_utils.TritonModelException(f"the model `{args['model_name']}` is made for the decoupled policy")
        self.open = 0
        self.lock = threading.Lock()

    def execute(self, requests):
        for request in requests:
            values = pb_utils.get_input_tensor_by_name(request, "IN").as_numpy()
            delays = pb_utils.get_input_tensor_by_name(request, "DELAY").as_numpy()
            thread = threading.Thread(target=self.answer, args=(request.get_response_sender(), values, delays))
            thread.daemon = True
            with self.lock:
                self.open += 1
            thread.start()
        return None

    def answer(self, sender, values, delays):
        for index, (value, delay) in enumerate(zip(values, delays)):
            time.sleep(delay / 1000)
            tensors = [
                pb_utils.Tensor("OUT", values[index : index + 1]),
                pb_utils.Tensor("INDEX", delays[index : index + 1] * 0 + index),
            ]
            sender.send(pb_utils.InferenceResponse(output_tensors=tensors))
        sender.send(flags=pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL)
        with self.lock:
            self.open -= 1

    def finalize(self):
        while self.open > 0:
            time.sleep(0.01)
        print("every answer is out")

"""Counts its requests and rows, keeps a gauge and a histogram, and logs what it sees."""

import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def initialize(self, args):
        self.requests_family = pb_utils.MetricFamily(
            name="requests_seen", description="Requests that reached the model", kind=pb_utils.MetricFamily.COUNTER
        )
        self.rows_family = pb_utils.MetricFamily("rows", "Rows of the newest request", pb_utils.MetricFamily.GAUGE)
        self.sizes_family = pb_utils.MetricFamily("sizes", "Sizes", pb_utils.MetricFamily.HISTOGRAM)
        labels = {"model": args["model_name"], "version": args["model_version"]}
        self.seen = self.requests_family.Metric(labels=labels)
        self.rows = self.rows_family.Metric(labels=labels)
        self.sizes = self.sizes_family.Metric(labels=labels, buckets=[1, 10, 100])

    def execute(self, requests):
        logger = pb_utils.Logger
        responses = []
        for request in requests:
            data = request.inputs()[0].as_numpy()
            self.seen.increment(1)
            self.rows.set(len(data))
            self.sizes.observe(float(data.size))
            logger.log(f"{data.size} elements", logger.INFO)
            logger.log_warn("a warning")
            total = np.array([self.seen.value()], np.float64)
            responses.append(pb_utils.InferenceResponse([pb_utils.Tensor("TOTAL", total)]))
        return responses

    def finalize(self):
        del self.seen, self.rows, self.sizes
        del self.requests_family, self.rows_family, self.sizes_family

"""The config as `auto_complete_config` sees and completes it."""

from __future__ import annotations

_SCHEDULERS = ("sequence_batching", "ensemble_scheduling")


class ModelConfig:
    """Adds what the config file leaves open. What it says already stays, and a contradiction is a ValueError."""

    def __init__(self, model_config: dict) -> None:
        self._model_config = model_config

    def as_dict(self) -> dict:
        """The config itself, not a copy."""
        return self._model_config

    def set_max_batch_size(self, max_batch_size: int) -> None:
        """The config may allow less, not more."""
        configured = self._model_config.get("max_batch_size", 0)
        if configured > max_batch_size:
            raise ValueError(
                f"configuration specified max_batch_size {configured}, but in auto-complete-config function for model "
                f"'{self._name()}' specified max_batch_size {max_batch_size}"
            )
        self._model_config["max_batch_size"] = max_batch_size

    def set_dynamic_batching(self) -> None:
        for scheduler in _SCHEDULERS:
            if scheduler in self._model_config:
                raise ValueError(
                    f"Configuration specified scheduling_choice as '{scheduler}', but auto-complete-config function for "
                    f"model '{self._name()}' tries to set scheduling_choice as 'dynamic_batching'"
                )
        self._model_config.setdefault("dynamic_batching", {})

    def add_input(self, input: dict) -> None:  # noqa: A002 - the original's name
        """`name`, `data_type` and `dims`, and `optional` if it is."""
        self._check_properties("input", input, ("name", "data_type", "dims", "optional"))
        self._merge("input", input)

    def add_output(self, output: dict) -> None:
        """`name`, `data_type` and `dims`."""
        self._check_properties("output", output, ("name", "data_type", "dims"))
        self._merge("output", output)

    def set_model_transaction_policy(self, transaction_policy_dict: dict) -> None:
        """`{"decoupled": bool}`."""
        for key in transaction_policy_dict:
            if key != "decoupled":
                raise ValueError(
                    "model transaction property in auto-complete-config function for model "
                    f"'{self._name()}' contains property other than 'decoupled'."
                )
        decoupled = transaction_policy_dict.get("decoupled")
        policy = self._model_config.get("model_transaction_policy")
        if policy is not None and "decoupled" in policy and policy["decoupled"] != decoupled:
            raise ValueError(
                f"trying to change decoupled property in auto-complete-config for model '{self._name()}', "
                f"which is already set to '{policy['decoupled']}'."
            )
        self._model_config["model_transaction_policy"] = dict(transaction_policy_dict)

    def _name(self) -> str:
        return self._model_config.get("name", "")

    def _check_properties(self, kind: str, tensor: dict, allowed: tuple[str, ...]) -> None:
        place = f"auto-complete-config function for model '{self._name()}'"
        names = [f"'{name}'" for name in allowed]
        listed = f"{', '.join(names[:-1])} and {names[-1]}"
        for key in tensor:
            if key not in allowed:
                raise ValueError(
                    f"{kind} '{tensor.get('name', '')}' in {place} contains property other than {listed}."
                )
        if "name" not in tensor:
            raise ValueError(f"{kind} in {place} is missing 'name' property.")
        for key in ("data_type", "dims"):
            if key not in tensor:
                raise ValueError(f"{kind} '{tensor['name']}' in {place} is missing '{key}' property.")

    def _merge(self, kind: str, tensor: dict) -> None:
        tensors = self._model_config.setdefault(kind, [])
        for configured in tensors:
            if configured["name"] == tensor["name"]:
                self._check_agreement(kind, configured, tensor)
                configured.update(tensor)
                return
        tensors.append(dict(tensor))

    def _check_agreement(self, kind: str, configured: dict, tensor: dict) -> None:
        model, name = self._name(), tensor["name"]
        data_type = configured.get("data_type", "TYPE_INVALID")
        if data_type not in ("TYPE_INVALID", tensor["data_type"]):
            raise ValueError(
                f"unable to load model '{model}', configuration expects datatype {data_type} for {kind} '{name}', "
                f"model provides {tensor['data_type']}"
            )
        dims = configured.get("dims") or []
        if dims and [int(dim) for dim in dims] != [int(dim) for dim in tensor["dims"]]:
            raise ValueError(
                f"model '{model}', tensor '{name}': the model expects dims {tensor['dims']} but the model configuration "
                f"specifies dims {dims}"
            )
        optional = configured.get("optional")
        if kind == "input" and optional is not None and "optional" in tensor and optional != tensor["optional"]:
            raise ValueError(
                f"model '{model}', tensor '{name}': the model expects optional {tensor['optional']} but the model "
                f"configuration specifies optional {optional}"
            )

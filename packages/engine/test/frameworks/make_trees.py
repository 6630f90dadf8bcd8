"""Trees and estimators: `python make_trees.py DIRECTORY`."""

from __future__ import annotations

import os
import pickle

import joblib
import lightgbm
import numpy as np
import skops.io
import xgboost
from repository import Repository, parameter, tensor
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

made = Repository(["scikit-learn", "skops", "joblib", "xgboost-cpu", "lightgbm", "numpy"])
features, classes = load_iris(return_X_y=True)
features = features.astype(np.float32)
binary = (classes == 2).astype(int)
x = features[::37]
IN = tensor("input", "input__0", "FP32", [4])


def column(array: np.ndarray, dtype=np.float32) -> np.ndarray:
    return np.asarray(array).astype(dtype).reshape(len(array), -1)


def fil(name: str, width: int, options: dict[str, str], extra: str = "") -> str:
    parameters = "".join(parameter(*option) for option in options.items())
    out = tensor("output", "output__0", "FP32", [width])
    return made.add(name, 'backend: "fil"\nmax_batch_size: 32\ndynamic_batching {}\n' + IN + out + extra + parameters)


three = xgboost.XGBClassifier(n_estimators=5, max_depth=3).fit(features, classes)
two = xgboost.XGBClassifier(n_estimators=5, max_depth=3).fit(features, binary)
number = xgboost.XGBRegressor(n_estimators=5, max_depth=3).fit(features, features[:, 0] * 2)

three.save_model(os.path.join(fil("xgb_classes", 3, {"model_type": "xgboost_json", "output_class": "true", "predict_proba": "true"}), "xgboost.json"))
made.ask("xgb_classes", "XGBoost JSON, probabilities", {"input__0": x}, {"output__0": three.predict_proba(x)})

three.save_model(os.path.join(fil("xgb_class", 1, {"model_type": "xgboost_ubj", "output_class": "true"}), "xgboost.ubj"))
made.ask("xgb_class", "XGBoost UBJSON, the class", {"input__0": x}, {"output__0": column(three.predict(x))})

two.save_model(os.path.join(fil("xgb_binary", 1, {"model_type": "xgboost_json", "output_class": "true", "threshold": "0.9"}), "xgboost.json"))
made.ask("xgb_binary", "XGBoost, a threshold", {"input__0": x}, {"output__0": column(two.predict_proba(x)[:, 1] > 0.9)})

two.save_model(os.path.join(fil("xgb_binary_all", 2, {"model_type": "xgboost_json", "output_class": "true", "predict_proba": "true"}), "xgboost.json"))
made.ask("xgb_binary_all", "XGBoost, both probabilities", {"input__0": x}, {"output__0": two.predict_proba(x)})

shap = tensor("output", "treeshap_output", "FP32", [5])
number.save_model(os.path.join(fil("xgb_number", 1, {"model_type": "xgboost_json", "output_class": "false"}, shap), "xgboost.json"))
contributions = number.get_booster().predict(xgboost.DMatrix(x), pred_contribs=True)
made.ask("xgb_number", "XGBoost, regression and Shapley values", {"input__0": x}, {"output__0": column(number.predict(x)), "treeshap_output": contributions})

three.save_model(os.path.join(made.add("xgb_auto", 'backend: "fil"\n' + parameter("predict_proba", "true")), "xgboost.json"))
made.ask("xgb_auto", "XGBoost, configuration completed", {"input__0": x}, {"output__0": three.predict_proba(x)})

made.fail("xgb_auto", "another number of features", {"input__0": x[:, :3]}, "input__0")

light = lightgbm.LGBMClassifier(n_estimators=5, verbose=-1).fit(features, classes)
light.booster_.save_model(os.path.join(fil("lgb_classes", 3, {"model_type": "lightgbm", "output_class": "true", "predict_proba": "true"}), "model.txt"))
made.ask("lgb_classes", "LightGBM text, probabilities", {"input__0": x}, {"output__0": light.predict_proba(x).astype(np.float32)})

pair = lightgbm.LGBMClassifier(n_estimators=5, verbose=-1).fit(features, binary)
pair.booster_.save_model(os.path.join(fil("lgb_binary", 1, {"model_type": "lightgbm", "output_class": "false"}), "model.txt"))
made.ask("lgb_binary", "LightGBM, the probability", {"input__0": x}, {"output__0": column(pair.predict_proba(x)[:, 1])})

fil("fil_treelite", 1, {"model_type": "treelite_checkpoint"})
with open(os.path.join(made.models, "fil_treelite", "1", "xgboost.json"), "w") as file:
    file.write("{}")
made.refuse("fil_treelite", "a form that is not read", "save the model as XGBoost JSON or LightGBM text")

with open(os.path.join(fil("fil_damaged", 1, {"model_type": "xgboost_json"}), "xgboost.json"), "w") as file:
    file.write("no model")
made.refuse("fil_damaged", "a damaged file", "failed to load model 'fil_damaged': ")

pipeline = make_pipeline(StandardScaler(), LogisticRegression()).fit(features, np.array(["a", "b", "c"])[classes])
SK = 'backend: "sklearn"\nmax_batch_size: 32\n' + tensor("input", "features", "FP32", [4])
LABELS = tensor("output", "label", "STRING", [1]) + tensor("output", "probabilities", "FP32", [3])
skops.io.dump(pipeline, os.path.join(made.add("sk_skops", SK + LABELS), "model.skops"))
expected = {"label": column(pipeline.predict(x), object), "probabilities": pipeline.predict_proba(x).astype(np.float32)}
made.ask("sk_skops", "scikit-learn pipeline in skops, labels as texts", {"features": x}, expected)

forest = RandomForestClassifier(10, random_state=0).fit(features, classes)
ALLOW = parameter("ALLOW_PICKLE", "true")
INT = tensor("output", "predict", "INT64", [1])
joblib.dump(forest, os.path.join(made.add("sk_joblib", SK + INT + ALLOW), "model.joblib"))
made.ask("sk_joblib", "scikit-learn joblib, allowed", {"features": x}, {"predict": column(forest.predict(x), np.int64)})

joblib.dump(forest, os.path.join(made.add("sk_refused", SK + INT), "model.joblib"))
made.refuse("sk_refused", "a pickle that nobody allowed", "is a pickle: to load it is to run whatever code its author put in")

line = LinearRegression().fit(features[:, :2], features[:, 2])
columns = tensor("input", "length", "FP32", [1]) + tensor("input", "width", "FP32", [1]) + tensor("output", "value", "FP32", [1])
with open(os.path.join(made.add("sk_columns", 'backend: "sklearn"\nmax_batch_size: 32\n' + columns + ALLOW), "model.pkl"), "wb") as file:
    pickle.dump(line, file)
made.ask("sk_columns", "scikit-learn pickle, an input a column", {"length": x[:, :1], "width": x[:, 1:2]}, {"value": column(line.predict(x[:, :2]))})

custom = make_pipeline(FunctionTransformer(os.path.basename), LinearRegression())
skops.io.dump(custom, os.path.join(made.add("sk_untrusted", SK + INT), "model.skops"))
made.refuse("sk_untrusted", "skops with a type that nobody trusts", "name them in the parameter TRUSTED_TYPES")

made.save()

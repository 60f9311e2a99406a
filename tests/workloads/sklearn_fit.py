# SPDX-License-Identifier: Apache-2.0
"""Fits two models with scikit-learn; what it prints is the same in each run."""
import pathlib

import numpy
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

data = numpy.loadtxt(pathlib.Path(__file__).parent / "data" / "digits.csv", delimiter=",")
images, labels = data[:, :64] / 16, data[:, 64].astype(int)
for model in (LogisticRegression(max_iter=300), RandomForestClassifier(n_estimators=20, random_state=1)):
    model.fit(images[:1200], labels[:1200])
    print(f"sklearn: {type(model).__name__} {model.score(images[1200:], labels[1200:]):.3f}")

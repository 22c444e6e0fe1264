"""Scores of batches, in the manner of scikit-learn's "Out-of-core classification of text documents".

https://scikit-learn.org/stable/auto_examples/applications/plot_out_of_core_classification.html
"""

import numpy as np
from sklearn.linear_model import SGDClassifier


def features(number, rows):
    return np.random.default_rng(number).normal(size=(rows, 30))


def main():
    rows, classes = 5000, 40
    model = SGDClassifier(random_state=0)
    for number in range(2):
        model.partial_fit(features(number, rows), np.arange(rows) % classes, classes=np.arange(classes))
    scores = []
    for number in range(15):
        batch = features(100 + number, rows)
        scores.append(model.decision_function(batch))
    joined = np.concatenate(scores)
    print(joined.shape, f"{joined.max(axis=1).mean():.4f}")


main()

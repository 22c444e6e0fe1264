"""scikit-learn's estimators and metrics on tensors, with ``array_api_dispatch``."""

import numpy as np
import pytest
import sklearn
from sklearn import (
    decomposition,
    discriminant_analysis,
    kernel_approximation,
    linear_model,
    metrics,
    mixture,
    model_selection,
    naive_bayes,
    pipeline,
    preprocessing,
)

import tensix

generator = np.random.default_rng(3)
X = generator.standard_normal((60, 5))
TARGETS = X @ np.arange(5.0) + 0.1 * generator.standard_normal(60)
GUESSES = TARGETS + 0.2 * generator.standard_normal(60)
LABELS = (X[:, 0] + 0.3 * X[:, 1] > 0).astype(np.int64)
PREDICTED = (X[:, 0] > 0).astype(np.int64)
CHANCES = 1 / (1 + np.exp(-X[:, 0]))


@pytest.fixture(autouse=True)
def dispatch():
    with sklearn.config_context(array_api_dispatch=True):
        yield


def identify(value):
    return type(value).__name__ if isinstance(value, sklearn.base.BaseEstimator) else None


TRANSFORMERS = [
    decomposition.PCA(2),
    decomposition.PCA(2, svd_solver="randomized", power_iteration_normalizer="QR", random_state=0),
    kernel_approximation.Nystroem(n_components=5, random_state=0),
    preprocessing.Binarizer(),
    preprocessing.MaxAbsScaler(),
    preprocessing.MinMaxScaler(),
    preprocessing.Normalizer(),
    preprocessing.PolynomialFeatures(2),
    preprocessing.StandardScaler(),
]


@pytest.mark.parametrize("estimator", TRANSFORMERS, ids=identify)
def test_transformers(estimator, same_as_numpy):
    same_as_numpy(lambda x: sklearn.clone(estimator).fit(x).transform(x), X, atol=1e-9)


def test_kernels_are_centred(same_as_numpy):
    same_as_numpy(lambda k: preprocessing.KernelCenterer().fit_transform(k), X @ X.T)


def test_labels_are_encoded(same_as_numpy):
    same_as_numpy(lambda y: preprocessing.LabelEncoder().fit_transform(y), LABELS * 3)


REGRESSORS = [
    linear_model.Ridge(solver="svd"),
    linear_model.RidgeCV(),
    model_selection.GridSearchCV(linear_model.Ridge(solver="svd"), {"alpha": [0.1, 1.0]}),
    pipeline.make_pipeline(preprocessing.StandardScaler(), linear_model.Ridge(solver="svd")),
]


@pytest.mark.parametrize("estimator", REGRESSORS, ids=identify)
def test_regressors(estimator, same_as_numpy):
    same_as_numpy(lambda x, y: sklearn.clone(estimator).fit(x, y).predict(x), X, TARGETS)


CLASSIFIERS = [
    discriminant_analysis.LinearDiscriminantAnalysis(),
    linear_model.LogisticRegression(solver="lbfgs"),
    naive_bayes.GaussianNB(),
]


@pytest.mark.parametrize("estimator", CLASSIFIERS, ids=identify)
def test_classifiers(estimator, same_as_numpy):
    def fitted(x, y):
        model = sklearn.clone(estimator).fit(x, y)
        return model.predict(x), model.predict_proba(x)

    same_as_numpy(fitted, X, LABELS, atol=1e-5)  # the iterations of a solver stop where rounding makes them stop


def test_ridge_classifier(same_as_numpy):
    same_as_numpy(lambda x, y: linear_model.RidgeClassifier(solver="svd").fit(x, y).decision_function(x), X, LABELS)


def test_mixture(same_as_numpy):
    model = mixture.GaussianMixture(2, init_params="random", random_state=0)
    same_as_numpy(lambda x: sklearn.clone(model).fit(x).predict_proba(x), X, atol=1e-6)


def test_attributes_of_a_fitted_model_are_tensors():
    model = decomposition.PCA(2).fit(tensix.asarray(X))
    assert all(isinstance(value, tensix.Tensor) for value in [model.components_, model.mean_, model.singular_values_])


def test_data_is_split(same_as_numpy):
    same_as_numpy(lambda x, y: tuple(model_selection.train_test_split(x, y, random_state=0)), X, LABELS)


def test_cross_validation(same_as_numpy):
    model = linear_model.Ridge(solver="svd")
    same_as_numpy(lambda x, y: model_selection.cross_val_predict(model, x, y), X, TARGETS)


METRICS = [
    *[(name, LABELS, PREDICTED) for name in ["accuracy_score", "balanced_accuracy_score", "cohen_kappa_score"]],
    *[(name, LABELS, PREDICTED) for name in ["f1_score", "hamming_loss", "jaccard_score", "precision_score"]],
    *[(name, LABELS, PREDICTED) for name in ["recall_score", "zero_one_loss"]],
    *[(name, LABELS, CHANCES) for name in ["average_precision_score", "brier_score_loss", "log_loss"]],
    *[(name, TARGETS, GUESSES) for name in ["explained_variance_score", "max_error", "mean_absolute_error"]],
    *[(name, TARGETS, GUESSES) for name in ["mean_pinball_loss", "mean_squared_error", "median_absolute_error"]],
    *[(name, TARGETS, GUESSES) for name in ["r2_score", "root_mean_squared_error"]],
]


@pytest.mark.parametrize("name, truth, guess", METRICS, ids=[name for name, _, _ in METRICS])
def test_metrics_are_numbers(name, truth, guess):
    """Shares of counts are computed in the namespace's default type, float32."""
    metric = getattr(metrics, name)
    assert metric(tensix.asarray(truth), tensix.asarray(guess)) == pytest.approx(metric(truth, guess), rel=1e-6)


@pytest.mark.parametrize("name", [
    "additive_chi2_kernel", "chi2_kernel", "cosine_similarity", "euclidean_distances", "laplacian_kernel",
    "linear_kernel", "manhattan_distances", "polynomial_kernel", "rbf_kernel", "sigmoid_kernel",
])
def test_pairwise(name, same_as_numpy):
    same_as_numpy(getattr(metrics.pairwise, name), np.abs(X), np.abs(X[:20]) + 0.5)

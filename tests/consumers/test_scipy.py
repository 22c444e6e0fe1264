"""SciPy's functions on tensors, with ``SCIPY_ARRAY_API=1``: tensors come out, with the values of NumPy's arrays."""

import numpy as np
import pytest
from scipy import cluster, fft, integrate, interpolate, ndimage, optimize, signal, special, stats
from scipy.optimize import elementwise

import tensix

generator = np.random.default_rng(5)
SERIES = generator.standard_normal(64)
MATRIX = generator.standard_normal((6, 8))
IMAGE = generator.random((9, 9))
POINTS = generator.random((20, 2))
SHARES = generator.uniform(0.05, 0.95, 16)
TREE = cluster.hierarchy.linkage(POINTS)


def named(module, names, *arrays):
    """Return cases for functions of a module that are called with arrays only."""
    short = module.__name__.removeprefix("scipy.")
    return [case(f"{short}.{name}", getattr(module, name), *arrays) for name in names.split()]


def case(name, function, *arrays):
    return pytest.param(function, arrays, id=name)


SPECIAL = [
    *named(special, "digamma entr erf erfc expit exp1 gammaln i0 i1 j0 k0 log_ndtr log_softmax logit", SHARES),
    *named(special, "logsumexp ndtr ndtri sinc softmax", SHARES),
    *named(special, "binom chdtr gammainc rel_entr xlogy", SHARES, SHARES[::-1]),
    *named(special, "betainc", SHARES, SHARES[::-1], SHARES),
    case("special.logsumexp of rows", lambda x: special.logsumexp(x, axis=1, keepdims=True), MATRIX),
]

FFT = [
    *named(fft, "dct dctn dst fft fft2 fftn fftshift hfft idct ifft ifftn ihfft irfft rfft rfft2", MATRIX),
    case("fft.fht", lambda x: fft.fht(x, 0.1, 0.5), SERIES),
]

SIGNAL = [
    *named(signal, "detrend envelope hilbert medfilt", SERIES),
    *named(signal, "convolve correlate fftconvolve oaconvolve", SERIES, SHARES),
    case("signal.convolve2d", signal.convolve2d, IMAGE, MATRIX),
    case("signal.filtfilt", signal.filtfilt, np.array([0.2, 0.3]), np.array([1.0, 0.1]), SERIES),
    case("signal.freqz", signal.freqz, np.array([1.0, 0.5])),
    case("signal.lfilter", signal.lfilter, np.array([0.2, 0.3]), np.array([1.0, 0.1]), SERIES),
    case("signal.resample", lambda x: signal.resample(x, 20), SERIES),
    case("signal.savgol_filter", lambda x: signal.savgol_filter(x, 5, 2), SERIES),
    case("signal.sosfilt", signal.sosfilt, signal.butter(2, 0.3, output="sos"), SERIES),
    case("signal.tf2sos", signal.tf2sos, np.array([1.0, 0.2]), np.array([1.0, 0.5])),
    case("signal.upfirdn", signal.upfirdn, np.array([0.2, 0.3]), SERIES),
    case("signal.wiener", lambda x: signal.wiener(x, 3), SERIES),
]


def outcomes(names, *samples):
    """Return cases for statistical tests: their two numbers are compared."""

    def outcome(name):
        return lambda *xs: (getattr(stats, name)(*xs).statistic, getattr(stats, name)(*xs).pvalue)

    return [case(f"stats.{name}", outcome(name), *samples) for name in names.split()]


STATS = [
    *named(stats, "circmean entropy gmean hmean iqr kstat kurtosis moment rankdata sem skew tmean tstd tvar", SHARES),
    *named(stats, "variation zscore", SHARES),
    *outcomes("chisquare", SHARES),
    *outcomes("jarque_bera kurtosistest normaltest skewtest", SERIES),
    *outcomes("bartlett f_oneway pearsonr ttest_ind ttest_rel", SERIES, SERIES[::-1] ** 2),
    case("stats.false_discovery_control", stats.false_discovery_control, SHARES),
    case("stats.quantile", lambda x: stats.quantile(x, x[:1] * 0 + 0.3), SHARES),
    case("stats.trim_mean", lambda x: stats.trim_mean(x, 0.1), SHARES),
]

NDIMAGE = [
    *named(ndimage, "laplace prewitt sobel spline_filter", IMAGE),
    *named(ndimage, "binary_dilation binary_fill_holes distance_transform_edt", IMAGE > 0.5),
    case("ndimage.gaussian_filter", lambda x: ndimage.gaussian_filter(x, 1.0), IMAGE),
    case("ndimage.grey_erosion", lambda x: ndimage.grey_erosion(x, size=3), IMAGE),
    case("ndimage.map_coordinates", ndimage.map_coordinates, IMAGE, POINTS.T * 4),
    case("ndimage.median_filter", lambda x: ndimage.median_filter(x, 3), IMAGE),
    case("ndimage.rotate", lambda x: ndimage.rotate(x, 30), IMAGE),
    case("ndimage.zoom", lambda x: ndimage.zoom(x, 2), IMAGE),
]

CLUSTER = [
    *named(cluster.hierarchy, "average linkage ward", POINTS),
    *named(cluster.hierarchy, "cophenet inconsistent leaves_list maxdists", TREE),
    *named(cluster.vq, "whiten", POINTS),
    case("cluster.vq.vq", cluster.vq.vq, POINTS, POINTS[:3]),
    case("cluster.vq.kmeans2", lambda x: cluster.vq.kmeans2(x, 3, rng=1), POINTS),
    case("cluster.hierarchy.fcluster", lambda x: cluster.hierarchy.fcluster(x, 0.2), TREE),
]

NUMBERS = np.arange(16.0)

ANALYSIS = [
    *named(integrate, "cumulative_trapezoid trapezoid", SERIES),
    case("integrate.tanhsinh", lambda x: integrate.tanhsinh(lambda t: t**2, x, x + 1.0).integral, SHARES),
    case("interpolate.CubicSpline", lambda x, y: interpolate.CubicSpline(x, y)(x + 0.25), NUMBERS, SHARES),
    case("interpolate.Akima1DInterpolator", lambda x, y: interpolate.Akima1DInterpolator(x, y)(x), NUMBERS, SHARES),
    case("interpolate.make_interp_spline", lambda x, y: interpolate.make_interp_spline(x, y)(x), NUMBERS, SHARES),
    case("optimize.elementwise.find_root",
         lambda x: elementwise.find_root(lambda t: t**3 - 0.5, (x * 0, x + 3)).x, SHARES),
    case("optimize.elementwise.find_minimum",
         lambda x: elementwise.find_minimum(lambda t: (t - 0.5) ** 2, (x - 3, x, x + 3)).x, SHARES),
    case("optimize.rosen", optimize.rosen, SHARES),
]


@pytest.mark.parametrize("function, arrays", [*SPECIAL, *FFT, *SIGNAL, *STATS, *NDIMAGE, *CLUSTER, *ANALYSIS])
def test_tensors_give_tensors_with_the_values_of_numpy(function, arrays, same_as_numpy):
    same_as_numpy(function, *arrays)


def test_inputs_are_left_as_they_are():
    x = tensix.asarray(SERIES.copy())
    signal.detrend(x)
    fft.fft(x)
    special.softmax(x)
    stats.zscore(x)
    np.testing.assert_array_equal(np.asarray(x), SERIES)


def test_windows_are_made_in_the_namespace():
    window = signal.windows.hann(8, xp=tensix)
    assert isinstance(window, tensix.Tensor)
    np.testing.assert_allclose(np.asarray(window), signal.windows.hann(8))


def test_arrays_and_tensors_do_not_mix():
    with pytest.raises(TypeError, match="Multiple namespaces"):
        signal.convolve(tensix.asarray(SERIES), SERIES)


def test_ufuncs_without_support_are_computed_over_the_memory():
    """What SciPy has not ported is a ufunc of NumPy's, which takes tensors as all of them do."""
    found = special.jv(1.0, tensix.asarray(SHARES))
    assert isinstance(found, tensix.Tensor)
    np.testing.assert_array_equal(np.asarray(found), special.jv(1.0, SHARES))

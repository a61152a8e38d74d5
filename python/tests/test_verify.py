"""ropewalk.verify: right results, a mistake, limits, refusals."""

import golden
import numpy as np
import pytest

import ropewalk


def query():
    return golden.load("data/smollm2_query.safetensors")[0]


def test_right_results():
    t = query()
    report = ropewalk.verify("rotate", t, {"y": t["y"]}, pairing="half",
                             exact=True)
    assert report["ok"] and report["diagnosis"] == []
    assert report["outputs"]["y"]["elements"] == t["y"].size
    dx, dcos, dsin = ropewalk.rotate_backward(t["dy"], t["cos"], t["sin"],
                                              t["x"])
    result = {"dx": dx, "dcos": dcos, "dsin": dsin}
    for limit in ({}, {"exact": True}, {"reference": "contract", "ulp": 0}):
        report = ropewalk.verify("backward", t, result, pairing="half",
                                 **limit)
        assert report["ok"] and list(report["outputs"]) == list(result)


def test_a_mistake():
    t = query()
    y = ropewalk.rotate(t["x"], t["cos"], -t["sin"])
    report = ropewalk.verify("rotate", t, {"y": y}, pairing="half", worst=2)
    assert not report["ok"]
    assert [c["cause"] for c in report["diagnosis"]] == ["sin-negated"]
    assert report["diagnosis"][0]["explains"] == 1.0
    (b, s, n, d), _ = report["outputs"]["y"]["worst"]
    got = report["outputs"]["y"]["worst_errors"][0]["got"]
    assert got == y[b, s, n, d]
    report = ropewalk.verify("rotate", t, {"y": y}, pairing="half",
                             diagnose=False)
    assert not report["ok"] and report["diagnosis"] == []


def test_by_position():
    t, _ = golden.load("data/smollm2_cached.safetensors")
    inputs = {k: t[k] for k in ("positions", "cache", "query", "key")}
    result = {"query": t["query_out"], "key": t["key"]}
    report = ropewalk.verify("cached", inputs, result, style="neox",
                             head_size=64)
    assert report["outputs"]["query"]["ok"]
    assert report["diagnosis"][0]["cause"] == "not-rotated"
    assert report["diagnosis"][0]["outputs"] == ["key"]


def test_tolerances():
    t = query()
    y = t["y"] + np.float32(1e-3)
    assert not ropewalk.verify("rotate", t, {"y": y}, pairing="half",
                               diagnose=False)["ok"]
    assert ropewalk.verify("rotate", t, {"y": y}, pairing="half",
                           atol=2e-3)["ok"]


@pytest.mark.parametrize(("operation", "result", "options", "words"), [
    ("turn", {"y": 0}, {}, "operation"),
    ("rotate", {}, {}, "y: is needed"),
    ("rotate", {"y": np.zeros((1, 2), np.float32)}, {}, "y: shape"),
    ("rotate", {"y": 0}, {"reference": "best"}, "reference"),
    ("rotate", {"y": 0}, {"exact": True, "ulp": 1.0}, "limit"),
    ("rotate", {"y": 0}, {"pairing": "third"}, "pairing"),
    ("backward", {}, {}, "dx"),
])
def test_refusals(operation, result, options, words):
    t = query()
    result = {k: t["y"] if isinstance(v, int) else v
              for k, v in result.items()}
    with pytest.raises(ValueError, match=words):
        ropewalk.verify(operation, t, result, **{"pairing": "half", **options})

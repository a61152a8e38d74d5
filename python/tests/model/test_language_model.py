"""A real language model, with and without patch_transformers."""

import copy
import importlib.util
import os
import pathlib
import subprocess
import sys

import pytest
import torch
import transformers

import ropewalk.torch as rt

HERE = pathlib.Path(__file__).resolve().parent
EXAMPLE = HERE.parents[2] / "examples/python/language_model.py"


@pytest.fixture(scope="module")
def example():
    spec = importlib.util.spec_from_file_location("language_model", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def loaded(example):
    return example.load()


@pytest.fixture(scope="module")
def ids(loaded):
    text = ("Rotary position embeddings rotate pairs of columns of queries "
            "and keys by angles that grow with the position of a token.")
    return loaded[1](text, return_tensors="pt")["input_ids"]


def count_calls(monkeypatch):
    calls = []
    original = rt.rotary_qk

    def counted(*arguments, **named):
        calls.append(arguments[0].dtype)
        return original(*arguments, **named)

    monkeypatch.setattr(rt, "rotary_qk", counted)
    return calls


def test_logits_have_the_same_bits(loaded, ids, monkeypatch):
    model, _ = loaded
    with torch.no_grad():
        want = model(ids).logits
        calls = count_calls(monkeypatch)
        with rt.patch_transformers(model):
            calls.clear()  # patching tries the function out
            got = model(ids).logits
        assert len(calls) == model.config.num_hidden_layers
        assert torch.equal(got, want)
        assert torch.equal(model(ids).logits, want)
        assert len(calls) == model.config.num_hidden_layers


def test_loss_gradients_are_the_same(loaded, ids):
    model, _ = loaded
    gradients = []
    for patched in (False, True):
        patch = rt.patch_transformers(model) if patched else None
        model.zero_grad()
        loss = model(ids, labels=ids).loss
        loss.backward()
        gradients.append([loss.detach(), *(p.grad.clone() for p in
                                           model.parameters())])
        if patch is not None:
            patch.undo()
    model.zero_grad()
    assert len(gradients[0]) > 200
    assert all(map(torch.equal, *gradients))


def test_the_answer_is_the_same(loaded, example):
    model, tokenizer = loaded
    question = "Name three rivers of Europe."
    seen = []
    want = example.answer(model, tokenizer, question, 24, seen.append)
    with rt.patch_transformers(model):
        assert example.answer(model, tokenizer, question, 24,
                              lambda n: None) == want
    assert seen == list(range(25)) and len(want) > 20


def test_bf16(loaded, ids):
    # The model's own bfloat16() refuses, since its file was quantized.
    model = torch.nn.Module.bfloat16(copy.deepcopy(loaded[0]))
    with torch.no_grad():
        want = model(ids).logits
        with rt.patch_transformers(model):
            got = model(ids).logits
    assert got.dtype == want.dtype
    # One rounding instead of three: not the same bits, but the same words.
    assert not torch.equal(got, want)
    assert (got.argmax(-1) == want.argmax(-1)).float().mean() > 0.9


def test_patching_twice_and_refusals(loaded):
    model, _ = loaded
    module = transformers.models.llama.modeling_llama
    original = module.apply_rotary_pos_emb
    with rt.patch_transformers(module) as patch:
        assert patch.modules == [module]
        patched = module.apply_rotary_pos_emb
        assert patched is not original
        with rt.patch_transformers(model) as second:
            assert second.modules == []
        assert module.apply_rotary_pos_emb is patched
    assert module.apply_rotary_pos_emb is original
    with pytest.raises(TypeError, match="must be a model or a module"):
        rt.patch_transformers("llama")
    with pytest.raises(ValueError, match="no function"):
        rt.patch_transformers(torch.nn.Linear(2, 2))
    # GPT-J's pairs lie side by side.
    other = transformers.models.cohere.modeling_cohere
    with pytest.raises(ValueError, match="is not the rotation that Llama"):
        rt.patch_transformers(other)


def test_the_example_runs():
    done = subprocess.run([sys.executable, EXAMPLE, "--tokens", "8"],
                          text=True, check=False, capture_output=True)
    assert done.returncode == 0, done.stderr
    as_it_is, ropewalk = done.stdout.splitlines()[-2:]
    assert as_it_is.split(": ", 1)[1] == ropewalk.split(": ", 1)[1]


def test_step_sharded_over_the_sequence(loaded, ids, tmp_path):
    model, _ = loaded
    file = tmp_path / "model.pt"
    torch.save((model, ids), file)
    done = subprocess.run(
        [sys.executable, "-m", "torch.distributed.run", "--standalone",
         "--nproc-per-node=2", HERE.parent / "process.py",
         HERE / "sharded_step.py", file],
        text=True, check=False, capture_output=True, timeout=300,
        env={**os.environ, "GLOO_SOCKET_IFNAME": "lo"})
    assert done.returncode == 0, done.stderr
    assert "all the same" in done.stdout

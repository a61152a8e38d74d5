/* ropewalk from C: rotates query and key of two tokens by their positions,
   with one plan for all steps of a loop.

       cc -std=c99 main.c -o main -lropewalk

   Prints the query of each step. */

#include <stdio.h>
#include <stdlib.h>

#include "ropewalk.h"

enum { kTokens = 2, kHeads = 2, kHeadSize = 4, kRows = 8 };

static void check(ropewalk_code code) {
  if (code == ROPEWALK_OK) return;
  fprintf(stderr, "%d: %s\n", (int)code, ropewalk_message());
  exit(1);
}

static ropewalk_plan* make_plan(void) {
  const int64_t positions_shape[] = {kTokens};
  const int64_t cache_shape[] = {kRows, kHeadSize};
  const int64_t query_shape[] = {kTokens, kHeads * kHeadSize};
  const ropewalk_tensor positions =
      ropewalk_contiguous(ROPEWALK_I64, 1, positions_shape);
  const ropewalk_tensor cache =
      ropewalk_contiguous(ROPEWALK_F32, 2, cache_shape);
  const ropewalk_tensor query =
      ropewalk_contiguous(ROPEWALK_F32, 2, query_shape);

  ropewalk_cached_options options = {0};
  options.head_size = kHeadSize;
  ropewalk_cached_tensors tensors = {0};
  tensors.positions = &positions;
  tensors.cache = &cache;
  tensors.query = &query;
  tensors.query_out = &query;
  ropewalk_plan* plan = NULL;
  check(ropewalk_plan_cached(&options, &tensors, &plan));
  return plan;
}

int main(void) {
  /* Row p: two cosines, two sines; here cos = p and sin = 1. */
  float cache[kRows][kHeadSize];
  for (int p = 0; p < kRows; ++p) {
    cache[p][0] = cache[p][1] = (float)p;
    cache[p][2] = cache[p][3] = 1;
  }
  ropewalk_plan* plan = make_plan();
  void* workspace = NULL; /* this plan needs none */
  ropewalk_run_options run = {0};
  run.workspace = workspace;
  run.workspace_size = ropewalk_plan_workspace(plan);

  for (int step = 0; step < 2; ++step) {
    const int64_t positions[kTokens] = {step, step + 3};
    float query[kTokens * kHeads * kHeadSize];
    for (int i = 0; i < kTokens * kHeads * kHeadSize; ++i) {
      query[i] = (float)(i % 5);
    }
    ropewalk_cached_buffers buffers = {0};
    buffers.positions = positions;
    buffers.cache = cache;
    buffers.query = query;
    buffers.query_out = query; /* in place */
    check(ropewalk_run_cached(plan, &buffers, &run));
    printf("step %d:", step);
    for (int i = 0; i < kTokens * kHeads * kHeadSize; ++i) {
      printf(" %g", query[i]);
    }
    printf("\n");
  }
  ropewalk_plan_destroy(plan);
  return 0;
}

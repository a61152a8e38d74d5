/* The C API, compiled as C99. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ropewalk.h"

static int failures = 0;

#define EXPECT(condition)                                                      \
  do {                                                                         \
    if (!(condition)) {                                                        \
      ++failures;                                                              \
      fprintf(stderr, "line %d: %s; last message: %s\n", __LINE__, #condition, \
              ropewalk_message());                                             \
    }                                                                          \
  } while (0)

static int equal(const float* a, const float* b, int count) {
  return memcmp(a, b, (size_t)count * sizeof(float)) == 0;
}

static ropewalk_tensor row(int64_t width) {
  return ropewalk_contiguous(ROPEWALK_F32, 1, &width);
}

static void test_forward(void) {
  const ropewalk_tensor four = row(4);
  const float x[] = {1, 2, 3, 4}, cos[] = {0, 0, 0, 0}, sin[] = {1, 1, 1, 1};
  const float turned[][4] = {
      {-3, -4, 1, 2}, {-2, 1, -4, 3}, {-2, 1, -4, 3}, {-2, -4, 1, 3}};
  for (int pairing = 0; pairing < 4; ++pairing) {
    float y[4], y2[4];
    ropewalk_rotate_options options = {0};
    options.pairing = pairing;
    ropewalk_rotate_tensors tensors = {&four, &four, &four,
                                       &four, &four, &four};
    ropewalk_rotate_buffers buffers = {x, cos, sin, y, x, y2};
    ropewalk_plan* plan = NULL;
    EXPECT(ropewalk_plan_rotate(&options, &tensors, &plan) == ROPEWALK_OK);
    EXPECT(ropewalk_run_rotate(plan, &buffers, NULL) == ROPEWALK_OK);
    EXPECT(equal(y, turned[pairing], 4));
    EXPECT(equal(y2, turned[pairing], 4));
    ropewalk_plan_destroy(plan);
  }
}

static void test_slice(void) {
  const ropewalk_tensor six = row(6), two = row(2);
  const float cos[] = {0, 0}, sin[] = {1, 1};
  const float expected[] = {1, 2, -4, 3, 5, 6};
  float x[] = {1, 2, 3, 4, 5, 6};
  ropewalk_rotate_options options = {ROPEWALK_HALF, 1, 2, 4};
  ropewalk_rotate_tensors tensors = {&six, &two, &two, &six, NULL, NULL};
  ropewalk_rotate_buffers buffers = {x, cos, sin, x, NULL, NULL};
  ropewalk_run_options run = {0};
  ropewalk_plan* plan = NULL;
  run.single_thread = 1;
  EXPECT(ropewalk_plan_rotate(&options, &tensors, &plan) == ROPEWALK_OK);
  EXPECT(ropewalk_run_rotate(plan, &buffers, &run) == ROPEWALK_OK);
  EXPECT(equal(x, expected, 6));
  ropewalk_plan_destroy(plan);
}

static void test_backward(void) {
  const ropewalk_tensor four = row(4);
  const float g[] = {1, 2, 3, 4}, zero[] = {0, 0, 0, 0}, x[] = {5, 6, 7, 8};
  const float expected_dx[] = {9, 16, -1, -4};
  const float expected_dcos[] = {5, 12, 21, 32};
  const float expected_dsin[] = {-7, -16, 15, 24};
  float dx[4], dcos[4], dsin[4];
  ropewalk_rotate_options options = {0};
  ropewalk_backward_tensors tensors = {0};
  tensors.dy = tensors.cos = tensors.sin = &four;
  tensors.x = tensors.dx = tensors.dcos = tensors.dsin = &four;
  ropewalk_backward_buffers buffers = {0};
  buffers.dy = buffers.sin = g;
  buffers.cos = zero;
  buffers.x = x;
  buffers.dx = dx;
  buffers.dcos = dcos;
  buffers.dsin = dsin;
  ropewalk_plan* plan = NULL;
  EXPECT(ropewalk_plan_backward(&options, &tensors, &plan) == ROPEWALK_OK);
  const size_t size = ropewalk_plan_workspace(plan);
  char* memory = malloc(size + 64);
  ropewalk_run_options run = {0};
  run.workspace = memory + 64 - (uintptr_t)memory % 64;
  run.workspace_size = size;
  EXPECT(ropewalk_run_backward(plan, &buffers, &run) == ROPEWALK_OK);
  EXPECT(equal(dx, expected_dx, 4));
  EXPECT(equal(dcos, expected_dcos, 4));
  EXPECT(equal(dsin, expected_dsin, 4));
  free(memory);
  ropewalk_plan_destroy(plan);
}

static ropewalk_plan* cached_plan(int gptj) {
  const int64_t one = 1, shape[] = {4, 4}, query_shape[] = {1, 4};
  const ropewalk_tensor positions = ropewalk_contiguous(ROPEWALK_I64, 1, &one);
  const ropewalk_tensor cache = ropewalk_contiguous(ROPEWALK_F32, 2, shape);
  const ropewalk_tensor query =
      ropewalk_contiguous(ROPEWALK_F32, 2, query_shape);
  ropewalk_cached_options options = {0};
  options.head_size = 4;
  options.gptj = gptj;
  ropewalk_cached_tensors tensors = {0};
  tensors.positions = &positions;
  tensors.cache = &cache;
  tensors.query = tensors.query_out = &query;
  tensors.key = tensors.key_out = &query;
  ropewalk_plan* plan = NULL;
  EXPECT(ropewalk_plan_cached(&options, &tensors, &plan) == ROPEWALK_OK);
  return plan;
}

static void test_cached(void) {
  const float cache[4][4] = {{0}, {0}, {1, 2, 3, 4}, {0}};
  const float x[] = {1, 1, 1, 1};
  const float neox[] = {-2, -2, 4, 6}, gptj[] = {-2, 4, -2, 6};
  float q[4], k[4];
  int64_t position = 2;
  for (int style = 0; style < 2; ++style) {
    ropewalk_plan* plan = cached_plan(style);
    ropewalk_cached_buffers buffers = {&position, cache, x, q, x, k};
    position = 2;
    EXPECT(ropewalk_run_cached(plan, &buffers, NULL) == ROPEWALK_OK);
    EXPECT(equal(q, style ? gptj : neox, 4));
    EXPECT(equal(k, style ? gptj : neox, 4));
    position = 4;
    EXPECT(ropewalk_run_cached(plan, &buffers, NULL) == ROPEWALK_BAD_POSITION);
    EXPECT(strstr(ropewalk_message(), "4") != NULL);
    EXPECT(equal(q, style ? gptj : neox, 4)); /* nothing was written */
    ropewalk_plan_destroy(plan);
  }
}

static void test_refusals(void) {
  const ropewalk_tensor four = row(4), three = row(3);
  ropewalk_tensor strange = row(4);
  ropewalk_rotate_options options = {0};
  ropewalk_rotate_tensors good = {&four, &four, &four, &four, NULL, NULL};
  ropewalk_rotate_tensors odd = {&three, &three, &three, &three, NULL, NULL};
  ropewalk_rotate_tensors none = {&four, NULL, &four, &four, NULL, NULL};
  ropewalk_rotate_tensors dtype = {&strange, &four, &four, &four, NULL, NULL};
  ropewalk_plan* plan = NULL;
  strange.dtype = 77;
  EXPECT(ropewalk_plan_rotate(&options, &odd, &plan) == ROPEWALK_BAD_SHAPE);
  EXPECT(ropewalk_plan_rotate(&options, &none, &plan) == ROPEWALK_NULL_POINTER);
  EXPECT(strstr(ropewalk_message(), "cos") != NULL);
  EXPECT(ropewalk_plan_rotate(NULL, &good, &plan) == ROPEWALK_NULL_POINTER);
  EXPECT(ropewalk_plan_rotate(&options, &good, NULL) == ROPEWALK_NULL_POINTER);
  EXPECT(ropewalk_plan_rotate(&options, &dtype, &plan) == ROPEWALK_BAD_DTYPE);
  options.pairing = 4;
  EXPECT(ropewalk_plan_rotate(&options, &good, &plan) == ROPEWALK_BAD_OPTION);
  EXPECT(plan == NULL);
  options.pairing = 0;
  EXPECT(ropewalk_plan_rotate(&options, &good, &plan) == ROPEWALK_OK);
  ropewalk_rotate_buffers buffers = {0};
  EXPECT(ropewalk_run_rotate(plan, &buffers, NULL) == ROPEWALK_NULL_POINTER);
  EXPECT(ropewalk_run_rotate(NULL, &buffers, NULL) == ROPEWALK_NULL_POINTER);
  EXPECT(ropewalk_run_rotate(plan, NULL, NULL) == ROPEWALK_NULL_POINTER);
  ropewalk_cached_buffers other = {0};
  EXPECT(ropewalk_run_cached(plan, &other, NULL) != ROPEWALK_OK);
  EXPECT(ropewalk_force_target("no such") == ROPEWALK_BAD_OPTION);
  EXPECT(ropewalk_force_target(NULL) == ROPEWALK_NULL_POINTER);
  EXPECT(ropewalk_force_target("") == ROPEWALK_OK);
  ropewalk_plan_destroy(plan);
  ropewalk_plan_destroy(NULL);
}

/* Runs the tasks one by one; `self` counts them. */
static int one_by_one(void* self, size_t count, ropewalk_task task,
                      void* context) {
  for (size_t i = 0; i < count; ++i) task(context, i, 0, 1);
  *(size_t*)self += count;
  return 0;
}

static int broken(void* self, size_t count, ropewalk_task task, void* context) {
  (void)self, (void)count, (void)task, (void)context;
  return 1;
}

static void test_executor(void) {
  enum { kRows = 4096, kWidth = 64 };
  const int64_t shape[] = {kRows, kWidth}, table_shape[] = {1, kWidth};
  const ropewalk_tensor x = ropewalk_contiguous(ROPEWALK_F32, 2, shape);
  const ropewalk_tensor t = ropewalk_contiguous(ROPEWALK_F32, 2, table_shape);
  float* data = calloc(kRows * kWidth, sizeof(float));
  float* out = calloc(kRows * kWidth, sizeof(float));
  float table[kWidth];
  size_t tasks = 0;
  for (int i = 0; i < kWidth; ++i) table[i] = 1;
  for (int i = 0; i < kRows * kWidth; ++i) data[i] = (float)(i % 7);
  ropewalk_rotate_options options = {0};
  ropewalk_rotate_tensors tensors = {&x, &t, &t, &x, NULL, NULL};
  ropewalk_rotate_buffers buffers = {data, table, table, out, NULL, NULL};
  ropewalk_executor executor = {4, one_by_one, &tasks};
  ropewalk_run_options run = {0};
  ropewalk_plan* plan = NULL;
  run.executor = &executor;
  EXPECT(ropewalk_plan_rotate(&options, &tensors, &plan) == ROPEWALK_OK);
  EXPECT(ropewalk_plan_workspace(plan) == 0);
  EXPECT(ropewalk_run_rotate(plan, &buffers, &run) == ROPEWALK_OK);
  EXPECT(tasks > 1);
  EXPECT(out[0] == data[0] - data[32] && out[32] == data[32] + data[0]);
  executor.parallel_for = broken;
  EXPECT(ropewalk_run_rotate(plan, &buffers, &run) == ROPEWALK_BAD_EXECUTOR);
  executor.parallel_for = NULL;
  EXPECT(ropewalk_run_rotate(plan, &buffers, &run) == ROPEWALK_NULL_POINTER);
  ropewalk_plan_destroy(plan);
  free(data);
  free(out);
}

static void test_descriptions(void) {
  const ropewalk_tensor four = row(4);
  ropewalk_rotate_options options = {0};
  ropewalk_rotate_tensors tensors = {&four, &four, &four, &four, NULL, NULL};
  ropewalk_plan* plan = NULL;
  char text[8];
  EXPECT(ropewalk_plan_rotate(&options, &tensors, &plan) == ROPEWALK_OK);
  EXPECT(ropewalk_plan_describe(plan, text, sizeof(text)) > 7);
  EXPECT(strlen(text) == 7);
  EXPECT(ropewalk_plan_describe(plan, NULL, 0) > 7);
  ropewalk_plan_destroy(plan);
  EXPECT(strchr(ropewalk_version(), '.') != NULL);
  ropewalk_set_threads(3);
  EXPECT(ropewalk_threads() == 3);
  ropewalk_set_threads(0);
  EXPECT(ropewalk_threads() >= 1);
  const int64_t shape[] = {2, 3, 4};
  const ropewalk_tensor t = ropewalk_contiguous(ROPEWALK_F16, 3, shape);
  EXPECT(t.strides[0] == 12 && t.strides[1] == 4 && t.strides[2] == 1);
}

int main(void) {
  test_forward();
  test_slice();
  test_backward();
  test_cached();
  test_refusals();
  test_executor();
  test_descriptions();
  if (failures == 0) printf("the C API is as expected\n");
  return failures != 0;
}

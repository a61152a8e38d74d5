/* A client in C99: rotates 2 tokens with 3 heads of 8 columns, pairing
   "interleave", in place. */

#include <stdio.h>
#include <stdlib.h>

#include "acl/acl.h"
#include "aclnnop/aclnn_rotary_position_embedding.h"

static void check(int status, const char* call) {
  if (status == 0) return;
  fprintf(stderr, "%s: %d: %s\n", call, status, aclGetRecentErrMsg());
  exit(1);
}

/* Small numbers; `step` makes them differ. */
static void fill(float* values, int count, int step) {
  for (int i = 0; i < count; ++i) {
    values[i] = (float)(i * step % 9 - 4) * 0.25f;
  }
}

static aclTensor* tensor(const int64_t* shape, void* data) {
  return aclCreateTensor(shape, 4, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, shape, 4,
                         data);
}

/* Memory on the device with a copy of the values. */
static void* upload(const float* values, size_t size) {
  void* data = NULL;
  check(aclrtMalloc(&data, size, ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc");
  check(aclrtMemcpy(data, size, values, size, ACL_MEMCPY_HOST_TO_DEVICE),
        "aclrtMemcpy");
  return data;
}

int main(void) {
  const int64_t x_shape[] = {1, 2, 3, 8};
  const int64_t table_shape[] = {1, 2, 1, 8};
  float x[48], cos[16], sin[16];
  fill(x, 48, 1);
  fill(cos, 16, 2);
  fill(sin, 16, 5);

  aclrtStream stream = NULL;
  check(aclInit(NULL), "aclInit");
  check(aclrtSetDevice(0), "aclrtSetDevice");
  check(aclrtCreateStream(&stream), "aclrtCreateStream");

  void* data[] = {upload(x, sizeof(x)), upload(cos, sizeof(cos)),
                  upload(sin, sizeof(sin))};
  aclTensor* tx = tensor(x_shape, data[0]);
  aclTensor* tcos = tensor(table_shape, data[1]);
  aclTensor* tsin = tensor(table_shape, data[2]);

  uint64_t size = 0;
  aclOpExecutor* executor = NULL;
  check(aclnnRotaryPositionEmbeddingGetWorkspaceSize(tx, tcos, tsin, 1, tx,
                                                     &size, &executor),
        "phase one");
  void* workspace = NULL;
  if (size > 0) {
    check(aclrtMalloc(&workspace, size, ACL_MEM_MALLOC_HUGE_FIRST),
          "aclrtMalloc");
  }
  check(aclnnRotaryPositionEmbedding(workspace, size, executor, stream),
        "phase two");
  check(aclrtSynchronizeStream(stream), "aclrtSynchronizeStream");
  check(
      aclrtMemcpy(x, sizeof(x), data[0], sizeof(x), ACL_MEMCPY_DEVICE_TO_HOST),
      "aclrtMemcpy");
  printf("out:");
  for (int i = 0; i < 48; ++i) printf(" %.9g", x[i]);
  printf("\n");

  aclDestroyTensor(tx);
  aclDestroyTensor(tcos);
  aclDestroyTensor(tsin);
  for (int i = 0; i < 3; ++i) aclrtFree(data[i]);
  if (workspace != NULL) aclrtFree(workspace);
  aclrtDestroyStream(stream);
  aclrtResetDevice(0);
  aclFinalize();
  return 0;
}

/* ropewalk for C (C99), and for all languages that call C: the operators of
   ropewalk/ops.h, whose comments hold the formulas and rules.

   A function that can fail returns a ropewalk_code; ropewalk_message() then
   says why. No function throws, prints or ends the program. */

#ifndef ROPEWALK_H_
#define ROPEWALK_H_

#include <stddef.h>
#include <stdint.h>

#include "ropewalk/export.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Why a call was refused. Numbers stay what they are. */
typedef int32_t ropewalk_code;
enum {
  ROPEWALK_OK = 0,
  ROPEWALK_NULL_POINTER = 1,  /* a required pointer is null */
  ROPEWALK_BAD_DTYPE = 2,     /* not supported, or not with the others */
  ROPEWALK_BAD_SHAPE = 3,     /* rank, size, stride or broadcast */
  ROPEWALK_BAD_OPTION = 4,    /* pairing, slice, head size, target name, ... */
  ROPEWALK_BAD_POSITION = 5,  /* outside of the cache */
  ROPEWALK_OVERLAP = 6,       /* of an output and another tensor */
  ROPEWALK_OUT_OF_MEMORY = 7, /* memory, or a workspace that is too small */
  ROPEWALK_BAD_EXECUTOR = 8   /* the caller's parallel-for left out tasks */
};

/* Why this thread's last refused call was refused; never null. */
ROPEWALK_EXPORT const char* ropewalk_message(void);
/* Of the linked library, such as "0.1.0". */
ROPEWALK_EXPORT const char* ropewalk_version(void);

typedef int32_t ropewalk_dtype;
enum {
  ROPEWALK_F32 = 0,
  ROPEWALK_F16 = 1,
  ROPEWALK_BF16 = 2,
  ROPEWALK_F64 = 3,
  ROPEWALK_I32 = 4, /* positions only */
  ROPEWALK_I64 = 5  /* positions only */
};

/* How a tensor lies in memory. Strides count elements; 0 and negative ones are
   fine for inputs. */
typedef struct ropewalk_tensor {
  ropewalk_dtype dtype;
  int32_t rank; /* 1 to 8 */
  int64_t shape[8];
  int64_t strides[8];
} ropewalk_tensor;

/* Row-major, without gaps. A rank that is not 0 to 8 is kept, for the operator
   to refuse. */
ROPEWALK_EXPORT ropewalk_tensor ropewalk_contiguous(ropewalk_dtype dtype,
                                                    int32_t rank,
                                                    const int64_t* shape);

/* Which two elements of a row rotate together. */
typedef int32_t ropewalk_pairing;
enum {
  ROPEWALK_HALF = 0,           /* (i, i + D/2) */
  ROPEWALK_INTERLEAVE = 1,     /* (2k, 2k + 1) */
  ROPEWALK_QUARTER = 2,        /* (i, i + D/4) inside each half */
  ROPEWALK_INTERLEAVE_HALF = 3 /* reads (2k, 2k + 1), writes (k, k + D/2) */
};

/* A plan: an operator checked and prepared once, run many times, also by
   several threads at once. */
typedef struct ropewalk_plan ropewalk_plan;

ROPEWALK_EXPORT void ropewalk_plan_destroy(ropewalk_plan* plan); /* or null */
/* Workspace that a run needs; 0 for most plans. */
ROPEWALK_EXPORT size_t ropewalk_plan_workspace(const ropewalk_plan* plan);
/* Writes one line for logs, cut to `size` bytes with the final 0; returns the
   length of the whole line. */
ROPEWALK_EXPORT size_t ropewalk_plan_describe(const ropewalk_plan* plan,
                                              char* text, size_t size);

/* A parallel-for of the host program. `parallel_for` calls
   task(context, i, worker, workers) for each i below `count`, and returns when
   all calls have; `worker` is below `workers`, which is at most `max_workers`,
   and no two tasks run at once with the same one. It returns 0, or another
   number where it failed. */
typedef void (*ropewalk_task)(void* context, size_t task, size_t worker,
                              size_t workers);
typedef struct ropewalk_executor {
  size_t max_workers; /* at least 1 */
  int (*parallel_for)(void* self, size_t count, ropewalk_task task,
                      void* context);
  void* self;
} ropewalk_executor;

/* How a plan is run. Null instead of it: no workspace, the library's threads.
 */
typedef struct ropewalk_run_options {
  void* workspace; /* 64-byte aligned */
  size_t workspace_size;
  const ropewalk_executor* executor; /* null: the library's threads */
  int32_t single_thread; /* 1: on the calling thread, without an executor */
} ropewalk_run_options;

/* --- Forward: y = x * cos + rot(x) * sin -------------------------------- */

typedef struct ropewalk_rotate_options {
  ropewalk_pairing pairing;
  int32_t has_slice; /* 1: only the columns [start, end) rotate */
  int64_t start, end;
} ropewalk_rotate_options;

/* x2 and y2, a second operand, may be null together. */
typedef struct ropewalk_rotate_tensors {
  const ropewalk_tensor *x, *cos, *sin, *y, *x2, *y2;
} ropewalk_rotate_tensors;

typedef struct ropewalk_rotate_buffers {
  const void *x, *cos, *sin;
  void* y;
  const void* x2;
  void* y2;
} ropewalk_rotate_buffers;

ROPEWALK_EXPORT ropewalk_code ropewalk_plan_rotate(
    const ropewalk_rotate_options* options,
    const ropewalk_rotate_tensors* tensors, ropewalk_plan** plan);
ROPEWALK_EXPORT ropewalk_code ropewalk_run_rotate(
    const ropewalk_plan* plan, const ropewalk_rotate_buffers* buffers,
    const ropewalk_run_options* options);

/* --- Backward ----------------------------------------------------------- */

/* dy, cos and sin are there; dx may be null; dcos and dsin may be null
   together, and need x; dy2, x2, dx2 are a second operand. */
typedef struct ropewalk_backward_tensors {
  const ropewalk_tensor *dy, *cos, *sin;
  const ropewalk_tensor *x, *dx, *dcos, *dsin;
  const ropewalk_tensor *dy2, *x2, *dx2;
} ropewalk_backward_tensors;

typedef struct ropewalk_backward_buffers {
  const void *dy, *cos, *sin, *x;
  void *dx, *dcos, *dsin;
  const void *dy2, *x2;
  void* dx2;
} ropewalk_backward_buffers;

ROPEWALK_EXPORT ropewalk_code ropewalk_plan_backward(
    const ropewalk_rotate_options* options,
    const ropewalk_backward_tensors* tensors, ropewalk_plan** plan);
ROPEWALK_EXPORT ropewalk_code ropewalk_run_backward(
    const ropewalk_plan* plan, const ropewalk_backward_buffers* buffers,
    const ropewalk_run_options* options);

/* --- By position -------------------------------------------------------- */

typedef struct ropewalk_cached_options {
  int64_t head_size;
  int32_t gptj;             /* 0: pairs (i, i + R/2); 1: (2k, 2k + 1) */
  int32_t interleaved_axes; /* 0: sections one after the other; 1: mixed */
  int32_t backward;         /* 1: gradients of the inputs from the outputs' */
  const int64_t* sections;  /* may be null; read by the plan only */
  size_t section_count;
} ropewalk_cached_options;

/* key and key_out may be null together. */
typedef struct ropewalk_cached_tensors {
  const ropewalk_tensor *positions, *cache, *query, *query_out;
  const ropewalk_tensor *key, *key_out;
} ropewalk_cached_tensors;

typedef struct ropewalk_cached_buffers {
  const void *positions, *cache, *query;
  void* query_out;
  const void* key;
  void* key_out;
} ropewalk_cached_buffers;

ROPEWALK_EXPORT ropewalk_code ropewalk_plan_cached(
    const ropewalk_cached_options* options,
    const ropewalk_cached_tensors* tensors, ropewalk_plan** plan);
ROPEWALK_EXPORT ropewalk_code ropewalk_run_cached(
    const ropewalk_plan* plan, const ropewalk_cached_buffers* buffers,
    const ropewalk_run_options* options);

/* --- Threads and SIMD --------------------------------------------------- */

ROPEWALK_EXPORT size_t ropewalk_threads(void);
/* For later runs on the library's threads; 0: what the environment says. */
ROPEWALK_EXPORT void ropewalk_set_threads(size_t threads);
/* Forces a SIMD target, such as "AVX2", for later plans; "": the best. */
ROPEWALK_EXPORT ropewalk_code ropewalk_force_target(const char* name);

#ifdef __cplusplus
}
#endif

#endif /* ROPEWALK_H_ */

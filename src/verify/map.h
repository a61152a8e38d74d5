// The largest errors, by place.

#ifndef ROPEWALK_SRC_VERIFY_MAP_H_
#define ROPEWALK_SRC_VERIFY_MAP_H_

#include "ropewalk/verify.h"

namespace ropewalk::verify {

/// An empty map over so many positions, columns and heads.
ErrorMap MakeMap(int64_t positions, int64_t columns, int64_t heads);

/// Adds a row of errors in ulp.
void AddToMap(int64_t position, int64_t head, const double* ulp, ErrorMap* map);
void MergeMap(const ErrorMap& from, ErrorMap* map);

}  // namespace ropewalk::verify

#endif  // ROPEWALK_SRC_VERIFY_MAP_H_
